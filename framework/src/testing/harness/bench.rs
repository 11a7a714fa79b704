//! What all harnesses have in common.

use crate::channel::{Channel, ChannelInfo};
use crate::component::{Component, Context, Result};
use crate::emitter::{Emitter, Trial};
use crate::event::Event;
use crate::instance::{Finish, Logic};
use crate::testing::context;
use crate::time::{Clock, ManualClock};
use std::fmt;
use std::sync::Arc;
use std::task::{self, Poll, Waker};
use std::time::Duration;

/// One instance's logic with its emitter, driven by hand.
pub(super) struct Bench<L, T> {
    pub(super) logic: L,
    component: String,
    channels: &'static [ChannelInfo],
    ctx: Context,
    clock: ManualClock,
    set_up: bool,
    finished: bool,
    /// Of the call at hand.
    out: Emitter<T>,
    /// Of the calls before, and not taken yet.
    kept: Emitter<T>,
    /// The stream that events come from.
    stream: Arc<[Arc<str>]>,
}

impl<L: Logic> Bench<L, L::Out> {
    pub(super) fn new<C: Component>(component: C, logic: impl FnOnce(C) -> L) -> Self {
        let name = component.name().to_owned();
        let clock = ManualClock::new();
        let clocked = Arc::new(clock.clone()) as Arc<dyn Clock>;
        Self {
            ctx: Context { clock: clocked, ..context(&name, 0, 1) },
            component: name,
            channels: C::CHANNELS,
            logic: logic(component),
            clock,
            set_up: false,
            finished: false,
            out: Emitter::new(),
            kept: Emitter::new(),
            stream: Arc::new([]),
        }
    }

    pub(super) fn place(&mut self, index: usize, parallelism: usize) {
        assert!(!self.set_up, "the instance is set up already");
        assert!(index < parallelism, "there is no instance {index} of {parallelism}");
        let Context { clock, checkpointed, .. } = self.ctx.clone();
        self.ctx = Context { clock, checkpointed, ..context(&self.component, index, parallelism) };
    }

    pub(super) fn take_checkpoints(&mut self) {
        assert!(!self.set_up, "the instance is set up already");
        self.ctx.checkpointed = true;
    }

    /// Of the job and of the component.
    pub(super) fn names(&self) -> (&str, &str) {
        (self.ctx.job(), self.ctx.instance().component.as_str())
    }

    /// Puts another in its place, to be set up.
    pub(super) fn put(&mut self, logic: L) {
        self.logic = logic;
        self.set_up = false;
        self.finished = false;
    }

    pub(super) fn set_up(&mut self) -> Result<()> {
        self.logic.setup(&self.ctx)?;
        self.set_up = true;
        Ok(())
    }

    pub(super) fn set_up_first(&mut self) -> Result<()> {
        if self.set_up { Ok(()) } else { self.set_up() }
    }

    /// Makes one call. What it emits is kept if it ends well.
    fn call<R>(
        &mut self,
        call: impl FnOnce(&mut L, &mut Emitter<L::Out>) -> Result<R>,
    ) -> Result<R> {
        let trial = Trial::begin(&mut self.out);
        let result = call(&mut self.logic, trial.out)?;
        trial.keep();
        self.kept.take_from(&mut self.out);
        Ok(result)
    }

    pub(super) fn set_stream(&mut self, name: &str) {
        self.stream = Arc::new([name.into()]);
    }

    pub(super) fn apply(&mut self, event: L::In) -> Result<()> {
        assert!(!self.finished, "no event follows the end of data");
        self.set_up_first()?;
        self.out.set_streams(Arc::clone(&self.stream));
        self.call(|logic, out| logic.apply(event, out))
    }

    pub(super) fn set_ttl(&mut self, ttl: Duration) {
        assert!(!self.set_up, "the instance is set up already");
        self.logic.set_ttl(ttl);
    }

    /// Lets time pass, and does what falls due meanwhile, at the moment at which it does.
    pub(super) fn advance(&mut self, duration: Duration) -> Result<()> {
        assert!(!self.finished, "no timer fires after the end of data");
        self.set_up_first()?;
        let end = self.clock.now() + duration;
        loop {
            let due = self.logic.due().filter(|due| *due <= end);
            let now = self.clock.now();
            self.clock.advance(due.unwrap_or(end).since(now));
            if due.is_none() {
                return Ok(());
            }
            self.call(|logic, out| logic.on_time(out))?;
        }
    }

    pub(super) fn finish(&mut self) -> Result<()> {
        assert!(!self.finished, "the data can't end twice");
        self.set_up_first()?;
        self.finished = true;
        let mut cx = task::Context::from_waker(Waker::noop());
        while self.call(|logic, out| match logic.poll_finish(out, &mut cx) {
            Poll::Ready(finished) => finished.map(|finish| finish == Finish::More),
            Poll::Pending => Ok(true),
        })? {}
        Ok(())
    }

    pub(super) fn take(&mut self) -> Vec<L::Out> {
        std::mem::take(self.kept.buffer())
    }

    pub(super) fn take_channel<T: Event>(&mut self, channel: Channel<T>) -> Vec<T> {
        let declared = self.channels.iter().any(|info| info.is(&channel.info()));
        assert!(
            declared,
            "{} declares no channel {}, so nobody could subscribe to it: name it in \
             `#[component(channels = [..])]`",
            self.component,
            channel.info()
        );
        let (_, channels) = self.kept.parts();
        let events = std::mem::take(channels.touch(channel));
        channels.keep();
        events
    }

    pub(super) fn clock(&self) -> &ManualClock {
        &self.clock
    }
}

impl<L, T> fmt::Debug for Bench<L, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Harness")
            .field("instance", &self.ctx.instance)
            .field("outputs", &self.kept.len())
            .finish_non_exhaustive()
    }
}
