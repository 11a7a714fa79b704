//! Sinks that wait until they are let go on.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context as TaskContext, Poll, Waker};
use streamwork::prelude::*;

/// Permits to write an event each. Who has to wait for one is woken when there are some.
#[derive(Clone, Debug, Default)]
pub struct Permits(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    left: u64,
    taken: u64,
    waiting: Vec<Waker>,
}

impl Permits {
    /// None, to begin with.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Gives out `more`.
    pub fn give(&self, more: u64) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.left = state.left.saturating_add(more);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// How many were asked for and given.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).taken
    }

    /// How many wait for one.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).waiting.len()
    }

    /// Takes one, as soon as there is one.
    pub fn poll_take(&self, cx: &mut TaskContext<'_>) -> Poll<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.left > 0 {
            state.left -= 1;
            state.taken += 1;
            return Poll::Ready(());
        }
        state.waiting.retain(|waker| !waker.will_wake(cx.waker()));
        state.waiting.push(cx.waker().clone());
        Poll::Pending
    }
}

/// A sink that needs a permit for each event.
#[derive(Clone, Debug)]
pub struct Waits<S> {
    inner: S,
    permits: Permits,
    has_one: bool,
}

impl<S> Waits<S> {
    /// `sink`, which writes an event for each permit.
    pub fn new(sink: S, permits: &Permits) -> Self {
        Self { inner: sink, permits: permits.clone(), has_one: false }
    }
}

impl<S: Component> Component for Waits<S> {
    type Saved = S::Saved;

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn save(&self) -> S::Saved {
        self.inner.save()
    }

    fn load(&mut self, saved: S::Saved) {
        self.inner.load(saved);
    }
}

impl<S: Sink> Sink for Waits<S> {
    type In = S::In;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.inner.setup(ctx)
    }

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<()>> {
        if !self.has_one && self.permits.poll_take(cx).is_pending() {
            return Poll::Pending;
        }
        self.has_one = true;
        Poll::Ready(Ok(()))
    }

    fn write(&mut self, event: S::In) -> Result<()> {
        self.has_one = false;
        self.inner.write(event)
    }

    fn flush(&mut self) -> Result<()> {
        self.inner.flush()
    }

    fn finish(&mut self) -> Result<()> {
        self.inner.finish()
    }
}
