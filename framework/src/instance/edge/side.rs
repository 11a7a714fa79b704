//! [`SideEdge`]: events of one type travel as another.

use super::{Edge, copy};
use crate::event::Event;
use crate::instance::failure::Failure;
use crate::link::Control;
use crate::metrics::Counters;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

/// An edge that wraps each event into another type before it is routed.
pub(crate) struct SideEdge<S, T, E> {
    wrap: fn(S) -> T,
    wrapped: Vec<T>,
    counters: Arc<Counters>,
    next: E,
}

impl<S, T, E: Edge<T>> SideEdge<S, T, E> {
    pub(crate) fn new(wrap: fn(S) -> T, counters: Arc<Counters>, next: E) -> Self {
        Self { wrap, wrapped: Vec::new(), counters, next }
    }
}

impl<S: Event, T: Event, E: Edge<T>> Edge<S> for SideEdge<S, T, E> {
    fn push(&mut self, batch: &mut Vec<S>) {
        self.wrapped.extend(batch.drain(..).map(self.wrap));
        self.next.push(&mut self.wrapped);
    }

    fn offer(&mut self, batch: &[S]) {
        let clones = copy(batch);
        self.counters.misrouted.add((batch.len() - clones.len()) as u64);
        self.wrapped.extend(clones.into_iter().map(self.wrap));
        self.next.push(&mut self.wrapped);
    }

    fn looks(&self) -> bool {
        false
    }

    fn push_control(&mut self, control: Control) {
        self.next.push_control(control);
    }

    fn flush(&mut self) {
        self.next.flush();
    }

    fn is_blocked(&mut self, waker: &Waker) -> bool {
        self.next.is_blocked(waker)
    }

    fn waits(&self) -> bool {
        self.next.waits()
    }

    fn most(&mut self) -> usize {
        self.next.most()
    }

    fn discard(&mut self) -> u64 {
        self.next.discard()
    }

    fn take_failure(&mut self) -> Option<Failure> {
        self.next.take_failure()
    }
}

impl<S, T, E> fmt::Debug for SideEdge<S, T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SideEdge").field("wrapped", &self.wrapped.len()).finish_non_exhaustive()
    }
}
