//! The items of an iterator.

use super::{Immediate, Progress, Source, Splits, Taker};
use crate::component::{Component, Context, Rescale, Result, StateField};
use crate::emitter::Emitter;
use crate::event::Event;
use crate::state::{FieldReader, FieldWriter, StateError};
use std::fmt;

/// Emits what an iterator yields. Of p instances, instance i takes the items i, i + p, i + 2p, ...
///
/// ```
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("numbers");
/// job.source(FromIter::new(0..6_u64)).parallelism(2).group(Forward).sink(got.clone()).parallelism(2);
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.of_instance(1), [1, 3, 5]);
/// ```
///
/// The position is the number of items taken. To go on from there after a restart, the iterator is
/// cloned and advanced.
///
/// # Cancel safety
/// `setup` and `next` never wait, so nothing is dropped on its way.
#[derive(Clone)]
pub struct FromIter<I> {
    items: I,
    taken: u64,
    splits: Splits,
    /// To skip before the first item, and between two items.
    skip: (u64, u64),
}

impl<I> FromIter<I>
where
    I: Iterator + Clone + Send + 'static,
{
    /// A source of the items of `items`, which must be `Clone` as an iterator: each split walks through
    /// a clone of its own.
    pub fn new(items: impl IntoIterator<IntoIter = I>) -> Self {
        let items = items.into_iter();
        Self { items, taken: 0, splits: Splits::PerInstance, skip: (0, 0) }
    }

    /// Fixes the number of splits, so that it does not follow the parallelism. With 0 splits the
    /// source ends at once.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("in-order");
    /// job.source(FromIter::new(0..6_u64).splits(1)).parallelism(2).sink(got.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.take(), [0, 1, 2, 3, 4, 5]);
    /// ```
    #[must_use]
    pub fn splits(mut self, count: usize) -> Self {
        self.splits = Splits::Fixed(count);
        self
    }
}

impl<I: Iterator> FromIter<I> {
    /// The next item of the split; `None` at the end.
    #[inline]
    fn item(&mut self) -> Result<Option<I::Item>> {
        let skip = usize::try_from(self.skip.0)?;
        let item = if skip == 0 { self.items.next() } else { self.items.nth(skip) };
        if item.is_some() {
            self.skip.0 = self.skip.1;
            self.taken += 1;
        }
        Ok(item)
    }
}

impl<I> Component for FromIter<I>
where
    I: Iterator + Clone + Send + 'static,
{
    type Saved = u64;

    const STATE: &'static [StateField] = &[StateField::new::<u64>("taken", "u64", Rescale::Refuse)];

    const BY_FIELD: bool = true;

    fn name(&self) -> &str {
        "from-iter"
    }

    fn save(&self) -> u64 {
        self.taken
    }

    fn load(&mut self, taken: u64) {
        self.taken = taken;
    }

    fn encode(taken: &u64, fields: &mut FieldWriter) -> Result<(), StateError> {
        fields.put("taken", taken)
    }

    fn decode(fields: &FieldReader<'_>) -> Result<u64, StateError> {
        fields.check(Self::STATE)?;
        fields.plain(&Self::STATE[0], None)
    }
}

impl<I> Source for FromIter<I>
where
    I: Iterator<Item: Event> + Clone + Send + 'static,
{
    type Out = I::Item;

    fn splits(&self) -> Result<Splits> {
        Ok(self.splits)
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        let (index, count) = (ctx.split().index as u64, ctx.split().count as u64);
        self.skip = (index + self.taken * count, count - 1);
        Ok(())
    }

    async fn next(&mut self, out: &mut Emitter<I::Item>) -> Result<Progress> {
        while !out.is_full() {
            match self.item()? {
                Some(item) => out.emit(item),
                None => return Ok(Progress::End),
            }
        }
        Ok(Progress::More)
    }
}

impl<I> Immediate for FromIter<I>
where
    I: Iterator<Item: Event> + Clone + Send + 'static,
{
    fn produce(&mut self, left: &mut usize, taker: &mut impl Taker<I::Item>) -> Result<Progress> {
        while *left > 0 {
            let Some(item) = self.item()? else { return Ok(Progress::End) };
            *left -= 1;
            taker.take(|| item);
        }
        Ok(Progress::More)
    }
}

impl<I> fmt::Debug for FromIter<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromIter").field("taken", &self.taken).finish_non_exhaustive()
    }
}
