//! [`Faulty`]: a component that fails on cue.

use super::Fault;
use crate::channel::ChannelInfo;
use crate::component::{Component, Context, Result, StateField};
use crate::emitter::Emitter;
use crate::operator::{KeyedOperator, KeyedTwoInput, Operator, TwoInput};
use crate::sink::Sink;
use crate::source::{Progress, Source, Splits};
use crate::state::Keyed;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{self, Poll};

/// A component that fails on cue, and is otherwise the one inside. Its clones count the events of the
/// instance that is to fail together, so that it goes on counting when it was built anew. An operator
/// with two inputs counts the events of both sides.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing::{Fault, Faulty};
///
/// let got = Collect::new();
/// let job = Job::new("faulty");
/// let sink = Faulty::new(got.clone(), Some(Fault::error("collect", 2)));
/// job.source(FromIter::new(1..=3_u64)).sink(sink);
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!((got.take(), outcome.failed()), (vec![1, 3], 1));
/// ```
#[derive(Clone, Debug)]
pub struct Faulty<C> {
    inner: C,
    fault: Option<Fault>,
    events: Arc<AtomicU64>,
    /// Whether this is the instance that is to fail.
    armed: bool,
}

impl<C: Component> Faulty<C> {
    /// Wraps a component. A fault for a component of another name does nothing.
    pub fn new(component: C, fault: Option<Fault>) -> Self {
        let fault = fault.filter(|fault| fault.component() == component.name());
        Self { inner: component, fault, events: Arc::default(), armed: false }
    }

    fn arm(&mut self, ctx: &Context) {
        self.armed = self.fault.as_ref().is_some_and(|fault| fault.is_of(ctx.index()));
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref().filter(|_| self.armed)
    }

    /// One more event has come; fails if it is its turn.
    fn count(&self) -> Result<()> {
        match self.fault() {
            None => Ok(()),
            Some(fault) => {
                let event = self.events.fetch_add(1, Ordering::Relaxed) + 1;
                if fault.hits(event) { fault.strike(event) } else { Ok(()) }
            }
        }
    }
}

impl<C: Component> Component for Faulty<C> {
    type Saved = C::Saved;

    const STATE: &'static [StateField] = C::STATE;
    const BLOCKING: bool = C::BLOCKING;
    const CHANNELS: &'static [ChannelInfo] = C::CHANNELS;

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn parallelism(&self) -> usize {
        self.inner.parallelism()
    }

    fn save(&self) -> C::Saved {
        self.inner.save()
    }

    fn load(&mut self, saved: C::Saved) {
        self.inner.load(saved);
    }
}

impl<O: Operator> Operator for Faulty<O> {
    type In = O::In;
    type Out = O::Out;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.arm(ctx);
        self.inner.setup(ctx)
    }

    fn apply(&mut self, event: O::In, out: &mut Emitter<O::Out>) -> Result<()> {
        self.count()?;
        self.inner.apply(event, out)
    }

    fn finish(&mut self, out: &mut Emitter<O::Out>) -> Result<()> {
        self.inner.finish(out)
    }
}

impl<O: KeyedOperator> KeyedOperator for Faulty<O> {
    type Key = O::Key;
    type In = O::In;
    type Out = O::Out;
    type State = O::State;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.arm(ctx);
        self.inner.setup(ctx)
    }

    fn apply(
        &mut self,
        key: &O::Key,
        event: O::In,
        state: &mut Keyed<O::State>,
        out: &mut Emitter<O::Out>,
    ) -> Result<()> {
        self.count()?;
        self.inner.apply(key, event, state, out)
    }

    fn finish(&mut self, key: &O::Key, state: O::State, out: &mut Emitter<O::Out>) -> Result<()> {
        self.inner.finish(key, state, out)
    }
}

impl<O: TwoInput> TwoInput for Faulty<O> {
    type Left = O::Left;
    type Right = O::Right;
    type Out = O::Out;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.arm(ctx);
        self.inner.setup(ctx)
    }

    fn apply_left(&mut self, event: O::Left, out: &mut Emitter<O::Out>) -> Result<()> {
        self.count()?;
        self.inner.apply_left(event, out)
    }

    fn apply_right(&mut self, event: O::Right, out: &mut Emitter<O::Out>) -> Result<()> {
        self.count()?;
        self.inner.apply_right(event, out)
    }

    fn finish(&mut self, out: &mut Emitter<O::Out>) -> Result<()> {
        self.inner.finish(out)
    }
}

impl<O: KeyedTwoInput> KeyedTwoInput for Faulty<O> {
    type Key = O::Key;
    type Left = O::Left;
    type Right = O::Right;
    type Out = O::Out;
    type State = O::State;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.arm(ctx);
        self.inner.setup(ctx)
    }

    fn apply_left(
        &mut self,
        key: &O::Key,
        event: O::Left,
        state: &mut Keyed<O::State>,
        out: &mut Emitter<O::Out>,
    ) -> Result<()> {
        self.count()?;
        self.inner.apply_left(key, event, state, out)
    }

    fn apply_right(
        &mut self,
        key: &O::Key,
        event: O::Right,
        state: &mut Keyed<O::State>,
        out: &mut Emitter<O::Out>,
    ) -> Result<()> {
        self.count()?;
        self.inner.apply_right(key, event, state, out)
    }

    fn finish(&mut self, key: &O::Key, state: O::State, out: &mut Emitter<O::Out>) -> Result<()> {
        self.inner.finish(key, state, out)
    }
}

impl<S: Sink> Sink for Faulty<S> {
    type In = S::In;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.arm(ctx);
        self.inner.setup(ctx)
    }

    fn poll_ready(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        self.inner.poll_ready(cx)
    }

    fn write(&mut self, event: S::In) -> Result<()> {
        self.count()?;
        self.inner.write(event)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }

    fn finish(&mut self) -> Result<()> {
        self.inner.finish()
    }

    fn poll_flush(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        self.inner.poll_flush(cx)
    }

    fn poll_finish(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        self.inner.poll_finish(cx)
    }
}

/// An error takes the n-th event with it; a panic makes the source read it again, if it has a
/// position to go back to.
impl<S: Source> Source for Faulty<S> {
    type Out = S::Out;

    const RESUMES: bool = S::RESUMES;
    const DRAINS: bool = S::DRAINS;

    fn splits(&self) -> Result<Splits> {
        self.inner.splits()
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.arm(ctx);
        self.inner.setup(ctx).await
    }

    async fn next(&mut self, out: &mut Emitter<S::Out>) -> Result<Progress> {
        let Some(fault) = self.fault().cloned() else { return self.inner.next(out).await };
        let limit = out.limit();
        let before = self.events.load(Ordering::Relaxed);
        let next = before + 1;
        // Up to the event before the fault, or the event of the fault alone.
        let until = if fault.hits(next) { 1 } else { fault.event.saturating_sub(next) };
        if let Ok(until) = usize::try_from(until)
            && until > 0
        {
            out.set_limit(limit.min(out.len() + until));
        }
        let start = out.len();
        let progress = self.inner.next(out).await;
        out.set_limit(limit);
        let emitted = (out.len() - start) as u64;
        self.events.fetch_add(emitted, Ordering::Relaxed);
        if emitted > 0 && fault.hits(next) {
            out.buffer().remove(start);
            // What went with it into channels: the call was for this event alone.
            out.parts().1.take_back();
            fault.strike(next)?;
        }
        progress
    }
}
