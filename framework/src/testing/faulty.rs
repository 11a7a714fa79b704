//! [`Faulty`]: a component that fails on cue.

use super::Fault;
use crate::channel::ChannelInfo;
use crate::component::{Component, Context, Result, StateField};
use crate::emitter::Emitter;
use crate::id::CheckpointId;
use crate::operator::{KeyedOperator, KeyedTwoInput, Operator, TwoInput};
use crate::sink::{Effect, Handle, Sink};
use crate::source::{Progress, Source, Splits};
use crate::state::Keyed;
use crate::state::{FieldReader, FieldWriter, StateError};
use crate::time::EventTime;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{self, Poll};

/// A component that fails on cue, and is otherwise the one inside. Its clones count the events of the
/// instance that is to fail together, so that it goes on counting when it was built anew. An operator
/// with two inputs counts the events of both sides.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing::Faulty;
///
/// let got = Collect::new();
/// let job = Job::new("faulty");
/// job.source(FromIter::new(1..=3_u64)).sink(Faulty::error_at(got.clone(), 2));
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!((got.take(), outcome.failed()), (vec![1, 3], 1));
/// ```
///
/// A program that is told on its command line what is to fail wraps all of its components by
/// [`new`](Self::new), with the [`Fault`] that it read.
#[derive(Clone, Debug)]
pub struct Faulty<C> {
    inner: C,
    fault: Option<Fault>,
    events: Arc<AtomicU64>,
    /// Whether this is the instance that is to fail.
    armed: bool,
}

impl<C: Component> Faulty<C> {
    /// Panics at event `event` (from 1) of instance 0.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::Faulty;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("panic");
    /// job.source(FromIter::new(1..=3_u64)).sink(Faulty::panic_at(got.clone(), 2)).named("numbers");
    /// let outcome = Engine::new().run(job).unwrap();
    /// assert_eq!((got.take(), outcome.restarts()), (vec![1, 3], 1));
    /// ```
    ///
    /// # Panics
    /// If `event` is 0: the events are counted from 1, so it would never come.
    #[track_caller]
    pub fn panic_at(component: C, event: u64) -> Self {
        Self::at(component, event, Fault::panic)
    }

    /// Fails with an error at event `event` (from 1) of instance 0.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::{self, Faulty};
    ///
    /// let got = Collect::new();
    /// let job = Job::new("errors");
    /// let sink = Faulty::error_at(got.clone(), 2).of_instance(1).always();
    /// job.source(FromIter::new(0..6_u64)).sink(sink).parallelism(2);
    /// let outcome = testing::run(job).unwrap();
    /// assert_eq!((got.of_instance(0), got.of_instance(1)), (vec![0, 2, 4], vec![1]));
    /// assert_eq!(outcome.failed(), 2);
    /// ```
    ///
    /// # Panics
    /// If `event` is 0: the events are counted from 1, so it would never come.
    #[track_caller]
    pub fn error_at(component: C, event: u64) -> Self {
        Self::at(component, event, Fault::error)
    }

    #[track_caller]
    fn at(component: C, event: u64, fault: impl FnOnce(&str, u64) -> Fault) -> Self {
        assert!(event > 0, "events are counted from 1: there is no event 0 to fail at");
        let fault = fault(component.name(), event);
        Self { inner: component, fault: Some(fault), events: Arc::default(), armed: false }
    }

    /// The same at every event from that one on. [`error_at`](Self::error_at) has an example.
    #[must_use]
    pub fn always(self) -> Self {
        Self { fault: self.fault.map(Fault::always), ..self }
    }

    /// The same in instance `index`, where it is instance 0 otherwise. [`error_at`](Self::error_at) has an
    /// example.
    #[must_use]
    pub fn of_instance(self, index: usize) -> Self {
        Self { fault: self.fault.map(|fault| fault.of_instance(index)), ..self }
    }

    /// Wraps a component, which fails if the fault is for its name, and passes everything through
    /// otherwise: so all components of a job can be wrapped, and the fault that was read from a command
    /// line picks one. The name is the component's own, which `.named(..)` on a stage does not change.
    /// A test that means this very component says [`panic_at`](Self::panic_at) or
    /// [`error_at`](Self::error_at), which can't miss it.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::{Fault, Faulty};
    ///
    /// let got = Collect::new();
    /// let fault = Fault::parse("error:collect:2").unwrap();
    /// let job = Job::new("two");
    /// job.source(Faulty::new(FromIter::new(1..=3_u64), Some(fault.clone())))
    ///     .sink(Faulty::new(got.clone(), Some(fault)));
    /// let outcome = Engine::new().run(job).unwrap();
    /// assert_eq!((got.take(), outcome.component("collect").unwrap().failed), (vec![1, 3], 1));
    /// ```
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

    const BY_FIELD: bool = C::BY_FIELD;
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

    fn encode(saved: &C::Saved, fields: &mut FieldWriter) -> Result<(), StateError> {
        C::encode(saved, fields)
    }

    fn decode(fields: &FieldReader<'_>) -> Result<C::Saved, StateError> {
        C::decode(fields)
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

    fn on_timer(
        &mut self,
        key: &O::Key,
        at: EventTime,
        state: &mut Keyed<O::State>,
        out: &mut Emitter<O::Out>,
    ) -> Result<()> {
        self.inner.on_timer(key, at, state, out)
    }

    fn finish(
        &mut self,
        key: &O::Key,
        state: &mut Keyed<O::State>,
        out: &mut Emitter<O::Out>,
    ) -> Result<()> {
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

    fn on_timer(
        &mut self,
        key: &O::Key,
        at: EventTime,
        state: &mut Keyed<O::State>,
        out: &mut Emitter<O::Out>,
    ) -> Result<()> {
        self.inner.on_timer(key, at, state, out)
    }

    fn finish(
        &mut self,
        key: &O::Key,
        state: &mut Keyed<O::State>,
        out: &mut Emitter<O::Out>,
    ) -> Result<()> {
        self.inner.finish(key, state, out)
    }
}

impl<S: Sink> Sink for Faulty<S> {
    type In = S::In;

    const EFFECT: Effect = S::EFFECT;

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

    fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Handle>> {
        self.inner.prepare(checkpoint)
    }

    fn commit(&mut self, handle: Handle) -> Result<()> {
        self.inner.commit(handle)
    }

    fn discard(&mut self, handle: Handle) -> Result<()> {
        self.inner.discard(handle)
    }

    fn clean_up(&mut self, owner: &str, component: &str) -> Result<()> {
        self.inner.clean_up(owner, component)
    }
}

/// An error takes the n-th event with it; a panic makes the source read it again, if it has a
/// position to go back to.
impl<S: Source> Source for Faulty<S> {
    type Out = S::Out;

    const RESUMES: bool = S::RESUMES;
    const DRAINS: bool = S::DRAINS;

    fn replays(&self) -> bool {
        self.inner.replays()
    }

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
