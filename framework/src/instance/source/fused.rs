//! [`FusedSource`]: a source and the closures right behind it, as one source.

use crate::component::{BoxError, Component, Context, Result, StateField};
use crate::emitter::Emitter;
use crate::event::Event;
use crate::guard::{Panic, catch, drop_quietly, raise};
use crate::instance::losses::Losses;
use crate::source::{Immediate, Progress, Source, Splits, Taker};
use crate::state::{FieldReader, FieldWriter, StateError};
use crate::step::{Failures, Held, Steps};
use std::fmt;
use std::mem::needs_drop;

/// A source that leads each event through closures as it makes it: none is stored that they leave out.
pub(crate) struct FusedSource<S, C> {
    source: S,
    steps: C,
    losses: Losses,
}

impl<S, C> FusedSource<S, C> {
    pub(crate) fn new(source: S, steps: C, losses: Losses) -> Self {
        Self { source, steps, losses }
    }
}

impl<S, C> Component for FusedSource<S, C>
where
    S: Component,
    C: Send + 'static,
{
    type Saved = S::Saved;

    const STATE: &'static [StateField] = S::STATE;

    const BY_FIELD: bool = S::BY_FIELD;
    const BLOCKING: bool = S::BLOCKING;

    fn name(&self) -> &str {
        self.source.name()
    }

    fn save(&self) -> S::Saved {
        self.source.save()
    }

    fn load(&mut self, saved: S::Saved) {
        self.source.load(saved);
    }

    fn encode(saved: &S::Saved, fields: &mut FieldWriter) -> Result<(), StateError> {
        S::encode(saved, fields)
    }

    fn decode(fields: &FieldReader<'_>) -> Result<S::Saved, StateError> {
        S::decode(fields)
    }
}

impl<S: Immediate, C: Steps<S::Out>> Source for FusedSource<S, C> {
    type Out = C::Out;

    const RESUMES: bool = S::RESUMES;
    const DRAINS: bool = S::DRAINS;

    fn replays(&self) -> bool {
        self.source.replays()
    }

    fn splits(&self) -> Result<Splits> {
        self.source.splits()
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.source.setup(ctx).await
    }

    async fn next(&mut self, out: &mut Emitter<C::Out>) -> Result<Progress> {
        // Each event becomes one at most, so there is room for all.
        let most = out.room().max(1);
        let made = out.buffer();
        made.reserve(most);
        let before = made.len();
        let Self { source, steps, losses } = self;
        let mut run = Run {
            steps: &*steps,
            made,
            failures: Failures::default(),
            leading: false,
            lost: Vec::new(),
        };
        let mut left = most;
        let progress = loop {
            match catch(|| lead(source, &mut left, &mut run)) {
                Ok(progress) => break progress,
                // The source's own: the call leaves no trace.
                Err(panic) if !std::mem::take(&mut run.leading) => raise(panic),
                Err(panic) => run.note_panic(panic),
            }
        };
        let (taken, lost) = ((most - left) as u64, run.lost.len() as u64);
        let outputs = (run.made.len() - before) as u64;
        let counters = losses.counters();
        // What was made is counted when the engine takes it.
        counters.emitted.add(taken - outputs);
        counters.filtered.add(taken - outputs - lost);
        counters.lost_in_steps.add(lost);
        for loss in run.lost {
            match loss {
                Loss::Error(step, error) => losses.error(step, error),
                Loss::Panic(step, panic) => losses.panic(step, panic),
            }
        }
        progress
    }
}

/// Kept apart, and small, for the compiler's sake.
#[inline(never)]
fn lead<S: Immediate, C: Steps<S::Out>>(
    source: &mut S,
    left: &mut usize,
    run: &mut Run<'_, C, C::Out>,
) -> Result<Progress> {
    source.produce(left, run)
}

/// An event that a closure lost, and by which.
enum Loss {
    Error(usize, BoxError),
    Panic(Option<usize>, Panic),
}

/// Leads the events of one call through the closures.
struct Run<'a, C, T> {
    steps: &'a C,
    /// Has room for all that they can become.
    made: &'a mut Vec<T>,
    failures: Failures,
    /// Set by a panic that came out of the closures, and not out of the source.
    leading: bool,
    lost: Vec<Loss>,
}

impl<S: Event, C: Steps<S>> Taker<S> for Run<'_, C, C::Out> {
    #[inline(always)]
    fn take(&mut self, make: impl FnOnce() -> S) {
        // Looked at before the event is made: the compiler then sees that there is room, and works out
        // what a filter leaves out only as far as the filter needs it.
        assert!(self.made.len() < self.made.capacity(), "each event becomes one at most");
        let event = make();
        if needs_drop::<S>() {
            // No panic may meet the event's destructor, which could panic as well.
            let Self { steps, made, failures, .. } = &mut *self;
            let push = &mut |item: C::Item<'_>| made.push(item.take());
            if let Err(panic) = catch(|| steps.lead(&event, failures, push)) {
                self.note_panic(panic);
            }
            drop_quietly(event);
        } else {
            let Self { steps, made, failures, leading, .. } = &mut *self;
            let guard = Leading(leading);
            steps.lead(&event, failures, &mut |item| made.push(item.take()));
            std::mem::forget(guard);
        }
        if C::FAILS && self.failures.failed() {
            self.note_error();
        }
    }
}

impl<C, T> Run<'_, C, T> {
    #[cold]
    fn note_error(&mut self) {
        self.lost.extend(self.failures.take().map(|(step, error)| Loss::Error(step, error)));
    }

    #[cold]
    fn note_panic(&mut self, panic: Panic) {
        // An error that came before it is not told: the event is lost once.
        self.failures.take().into_iter().for_each(drop_quietly);
        self.lost.push(Loss::Panic(self.failures.take_panicked(), panic));
    }
}

struct Leading<'a>(&'a mut bool);

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        *self.0 = true;
    }
}

impl<S, C> fmt::Debug for FusedSource<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FusedSource").field("losses", &self.losses).finish_non_exhaustive()
    }
}
