//! Events made from their number.

use super::{Immediate, Progress, Source, Splits, Taker};
use crate::component::{Component, Context, Rescale, Result, StateField};
use crate::emitter::Emitter;
use crate::event::Event;
use crate::state::{FieldReader, FieldWriter, StateError};
use std::fmt;

/// Makes event n by calling a function with a number that is random, but the same in every run: a
/// simulated input. Of p splits, split i makes the events i, i + p, i + 2p, ...
///
/// ```
/// use streamwork::prelude::*;
///
/// let run = |seed| {
///     let got = Collect::new();
///     let job = Job::new("dice");
///     job.source(Generator::seeded(seed, |n| n % 6 + 1).events(5)).sink(got.clone());
///     Engine::new().run(job).unwrap();
///     got.take()
/// };
/// assert_eq!(run(1).len(), 5);
/// assert_eq!(run(1), run(1));
/// assert_ne!(run(1), run(2));
/// ```
///
/// [`SourceStage::rate`](crate::SourceStage::rate) holds it to a rate.
///
/// The position is the number of events made. If the function panics, the source is built anew there
/// and the call comes again; one that panics again and again uses up the restarts.
///
/// # Cancel safety
/// `setup` and `next` never wait, so nothing is dropped on its way.
#[derive(Clone)]
pub struct Generator<F> {
    make: F,
    seed: Option<u64>,
    events: u64,
    made: u64,
    splits: Splits,
    next: u64,
    step: u64,
}

impl<F> Generator<F> {
    /// `make` gets the event's number, from 0.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("squares");
    /// job.source(Generator::indexed(|n| n * n).events(4)).sink(got.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.take(), [0, 1, 4, 9]);
    /// ```
    pub fn indexed(make: F) -> Self {
        Self {
            make,
            seed: None,
            events: u64::MAX,
            made: 0,
            splits: Splits::PerInstance,
            next: 0,
            step: 1,
        }
    }

    /// `make` gets a random number that depends on the seed and the event's number alone
    /// (`SplitMix64` of the two).
    pub fn seeded(seed: u64, make: F) -> Self {
        Self { seed: Some(seed), ..Self::indexed(make) }
    }

    /// Ends after this many events, over all instances. Without it the input is endless.
    #[must_use]
    pub fn events(mut self, events: u64) -> Self {
        self.events = events;
        self
    }

    /// Fixes the number of splits, so that it does not follow the parallelism. With 0 splits the
    /// source ends at once.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("splits");
    /// let numbers = job.source(Generator::indexed(|n| n).events(6).splits(3)).parallelism(2);
    /// numbers.group(Forward).sink(got.clone()).parallelism(2);
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.of_instance(1), [1, 4]);
    ///
    /// let empty = Job::new("no-splits");
    /// empty.source(Generator::indexed(|n| n).splits(0)).sink(got.clone());
    /// assert_eq!(Engine::new().run(empty).unwrap().events_in(), 0);
    /// ```
    #[must_use]
    pub fn splits(mut self, count: usize) -> Self {
        self.splits = Splits::Fixed(count);
        self
    }
}

/// How many events a loop has made. However it ends, that goes to where it is to be known.
struct Done<'a> {
    events: u64,
    first: u64,
    step: u64,
    next: &'a mut u64,
    made: &'a mut u64,
    left: &'a mut usize,
}

impl Done<'_> {
    /// The number of the next event, which counts as made.
    #[inline(always)]
    fn number(&mut self) -> u64 {
        let number = self.first.wrapping_add(self.events.wrapping_mul(self.step));
        self.events += 1;
        number
    }
}

impl Drop for Done<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        *self.next = self.first.saturating_add(self.events.saturating_mul(self.step));
        *self.made += self.events;
        *self.left -= self.events as usize;
    }
}

impl<T, F> Immediate for Generator<F>
where
    T: Event,
    F: Fn(u64) -> T + Send + 'static,
{
    #[inline]
    fn produce(&mut self, left: &mut usize, taker: &mut impl Taker<T>) -> Result<Progress> {
        let count = self.left().min(*left as u64);
        if self.left() == 0 {
            return Ok(Progress::End);
        }
        let Self { make, seed, step, next, made, .. } = self;
        let mut done = Done { events: 0, first: *next, step: *step, next, made, left };
        match *seed {
            Some(seed) => {
                while done.events < count {
                    let n = done.number();
                    taker.take(|| make(mix(seed, n)));
                }
            }
            None => {
                while done.events < count {
                    let n = done.number();
                    taker.take(|| make(n));
                }
            }
        }
        Ok(Progress::More)
    }
}

/// Emits what `make` makes of `first`, `first + step` and so on, `count` times.
///
/// Kept apart, and small, for the compiler's sake: the whole loop is in registers then.
#[inline(never)]
fn fill<T>(out: &mut Emitter<T>, count: u64, first: u64, step: u64, make: impl Fn(u64) -> T) {
    let mut next = first;
    out.extend((0..count).map(|_| {
        let n = next;
        next = next.wrapping_add(step);
        make(n)
    }));
}

#[inline]
fn mix(seed: u64, n: u64) -> u64 {
    let mut z = seed.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl<F> Generator<F> {
    /// How many events the split still has.
    fn left(&self) -> u64 {
        self.events.saturating_sub(self.next).div_ceil(self.step)
    }
}

impl<F: Send + 'static> Component for Generator<F> {
    type Saved = u64;

    const STATE: &'static [StateField] = &[StateField::new::<u64>("made", "u64", Rescale::Refuse)];

    const BY_FIELD: bool = true;

    fn name(&self) -> &str {
        "generator"
    }

    fn save(&self) -> u64 {
        self.made
    }

    fn load(&mut self, made: u64) {
        self.made = made;
    }

    fn encode(made: &u64, fields: &mut FieldWriter) -> Result<(), StateError> {
        fields.put("made", made)
    }

    fn decode(fields: &FieldReader<'_>) -> Result<u64, StateError> {
        fields.check(Self::STATE)?;
        fields.plain(&Self::STATE[0], None)
    }
}

impl<T, F> Source for Generator<F>
where
    T: Event,
    F: Fn(u64) -> T + Send + 'static,
{
    type Out = T;

    fn splits(&self) -> Result<Splits> {
        Ok(self.splits)
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.step = ctx.split().count as u64;
        self.next = (ctx.split().index as u64).saturating_add(self.made.saturating_mul(self.step));
        Ok(())
    }

    async fn next(&mut self, out: &mut Emitter<T>) -> Result<Progress> {
        if self.left() == 0 {
            return Ok(Progress::End);
        }
        let count = self.left().min(out.room() as u64);
        let (first, step) = (self.next, self.step);
        match self.seed {
            Some(seed) => fill(out, count, first, step, |n| (self.make)(mix(seed, n))),
            None => fill(out, count, first, step, &self.make),
        }
        self.made += count;
        self.next = first.saturating_add(count.saturating_mul(step));
        // Held to a rate, it does not wait for an event that never comes.
        Ok(if self.left() == 0 { Progress::End } else { Progress::More })
    }
}

impl<F> fmt::Debug for Generator<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Generator")
            .field("seed", &self.seed)
            .field("events", &self.events)
            .field("made", &self.made)
            .finish_non_exhaustive()
    }
}
