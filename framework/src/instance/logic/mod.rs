//! [`Logic`]: what the machine of operators and sinks calls, whatever kind of component it drives.

mod keyed;
mod two_input;

pub(crate) use keyed::KeyedLogic;
pub(crate) use two_input::{KeyedTwoInputLogic, LeftOf, RightOf, Side, TwoInputLogic};

use super::kept::Kept;
use super::saving::{Restorer, Saver};
use crate::checkpoint::ComponentManifest;
use crate::component::{Context, Result};
use crate::emitter::Emitter;
use crate::event::{Event, Nothing};
use crate::id::CheckpointId;
use crate::operator::Operator;
use crate::sink::{Effect, Sink};
use crate::time::Moment;
use std::task::{self, Poll, ready};
#[cfg(feature = "test-util")]
use std::time::Duration;

/// What operators and sinks have in common.
pub(crate) trait Logic: Send {
    type In: Event;
    type Out: Event;

    /// What it keeps in checkpoints.
    fn kept() -> Kept;

    /// What keeps it from reading what was kept before, in words.
    fn differences(old: &ComponentManifest) -> Vec<String>;

    /// Takes back what a checkpoint holds; called before [`setup`](Self::setup).
    fn restore(&mut self, restorer: &Restorer<'_>) -> Result<()>;

    fn setup(&mut self, ctx: &Context) -> Result<()>;

    /// Gives what is to be in a checkpoint; what was written has been flushed before.
    fn save(&mut self, saver: &mut Saver) -> Result<()>;

    fn apply(&mut self, event: Self::In, out: &mut Emitter<Self::Out>) -> Result<()>;

    /// From now on, what a failed call has changed in the state of a key is undone.
    fn undo_failed(&mut self) {}

    /// Whether it gains something from a look at events before they are applied.
    const WARMS: bool = false;

    /// These events are about to be applied. Changes nothing, and does not panic.
    fn warm(&self, events: &[Self::In]) {
        let _ = events;
    }

    /// Whether the next event may be applied.
    #[inline]
    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_flush(&mut self, _: &mut task::Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// Called again until it is done.
    fn poll_finish(
        &mut self,
        out: &mut Emitter<Self::Out>,
        cx: &mut task::Context<'_>,
    ) -> Poll<Result<Finish>>;

    /// Whether it may have something to do without an event.
    const TIMED: bool = false;

    /// How long states live; before they are restored and it is set up.
    #[cfg(feature = "test-util")]
    fn set_ttl(&mut self, _: Duration) {}

    /// When it next has something to do without an event, if it has; it may be due already.
    fn due(&mut self) -> Option<Moment> {
        None
    }

    /// Does some of what is due: fires one timer at most, and says whether it did.
    fn on_time(&mut self, out: &mut Emitter<Self::Out>) -> Result<bool> {
        let _ = out;
        Ok(false)
    }

    /// Whether the panic that was just caught came up before the component was called, so that it can go
    /// on with the next event.
    fn is_spared(&mut self) -> bool {
        false
    }
}

/// How far a component has come with its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// A part is done: there is more to do, after a look at credit, orders and the clock.
    More,
    Done,
}

/// An operator as logic.
#[derive(Debug)]
pub(crate) struct OperatorLogic<O>(pub(crate) O);

impl<O: Operator> Logic for OperatorLogic<O> {
    type In = O::In;
    type Out = O::Out;

    fn kept() -> Kept {
        Kept::fields_of::<O>()
    }

    fn differences(old: &ComponentManifest) -> Vec<String> {
        Kept::differences::<O>(old)
    }

    fn restore(&mut self, restorer: &Restorer<'_>) -> Result<()> {
        restorer.component(&mut self.0)
    }

    fn save(&mut self, saver: &mut Saver) -> Result<()> {
        saver.component(&self.0)
    }

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.0.setup(ctx)
    }

    #[inline]
    fn apply(&mut self, event: O::In, out: &mut Emitter<O::Out>) -> Result<()> {
        self.0.apply(event, out)
    }

    fn poll_finish(
        &mut self,
        out: &mut Emitter<O::Out>,
        _: &mut task::Context<'_>,
    ) -> Poll<Result<Finish>> {
        Poll::Ready(self.0.finish(out).map(|()| Finish::Done))
    }
}

/// A sink as logic: it emits nothing.
#[derive(Debug)]
pub(crate) struct SinkLogic<S> {
    pub(crate) sink: S,
    /// Events written since the last checkpoint.
    written: u64,
    /// Somebody else commits what it prepares.
    checkpointed: bool,
}

impl<S: Sink> SinkLogic<S> {
    pub(crate) fn new(sink: S) -> Self {
        Self { sink, written: 0, checkpointed: false }
    }

    /// The end of a job without checkpoints is the only time to commit, and nobody else does it.
    fn commit_at_the_end(&mut self) -> Result<()> {
        if self.checkpointed || S::EFFECT != Effect::Committing {
            return Ok(());
        }
        match self.sink.prepare(CheckpointId::END)? {
            Some(handle) => self.sink.commit(handle),
            None => Ok(()),
        }
    }
}

impl<S: Sink> Logic for SinkLogic<S> {
    type In = S::In;
    type Out = Nothing;

    fn kept() -> Kept {
        Kept::fields_of::<S>()
    }

    fn differences(old: &ComponentManifest) -> Vec<String> {
        Kept::differences::<S>(old)
    }

    fn restore(&mut self, restorer: &Restorer<'_>) -> Result<()> {
        restorer.component(&mut self.sink)
    }

    fn save(&mut self, saver: &mut Saver) -> Result<()> {
        saver.component(&self.sink)?;
        let handle = self.sink.prepare(saver.checkpoint())?;
        saver.handle(handle, std::mem::take(&mut self.written));
        Ok(())
    }

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.checkpointed = ctx.is_checkpointed();
        self.sink.setup(ctx)
    }

    #[inline]
    fn apply(&mut self, event: S::In, _: &mut Emitter<Nothing>) -> Result<()> {
        self.sink.write(event)?;
        self.written += 1;
        Ok(())
    }

    #[inline]
    fn poll_ready(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        self.sink.poll_ready(cx)
    }

    fn poll_flush(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        self.sink.poll_flush(cx)
    }

    fn poll_finish(
        &mut self,
        _: &mut Emitter<Nothing>,
        cx: &mut task::Context<'_>,
    ) -> Poll<Result<Finish>> {
        ready!(self.sink.poll_finish(cx))?;
        Poll::Ready(self.commit_at_the_end().map(|()| Finish::Done))
    }
}
