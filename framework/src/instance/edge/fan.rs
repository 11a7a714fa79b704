//! [`Fan`]: all edges of one stream.

use super::Edge;
use crate::guard::drop_each;
use crate::instance::failure::Failure;
use crate::link::Control;
use crate::metrics::Counters;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

/// The edges of one stream. Each gets every event: the last one the batch itself, those before it a
/// look at it, of which they clone what they send.
pub(crate) struct Fan<T> {
    edges: Vec<Box<dyn Edge<T>>>,
    counters: Arc<Counters>,
}

impl<T> Fan<T> {
    pub(crate) fn new(mut edges: Vec<Box<dyn Edge<T>>>, counters: Arc<Counters>) -> Self {
        // The batch itself goes to one that would have to clone it. Else they keep their order.
        edges.sort_by_key(|edge| !edge.looks());
        Self { edges, counters }
    }

    /// Gives all of `batch` to every edge, and leaves it empty.
    pub(crate) fn push(&mut self, batch: &mut Vec<T>) {
        match self.edges.split_last_mut() {
            None => {
                self.counters.unread.add(batch.len() as u64);
                drop_each(batch.drain(..));
            }
            Some((last, others)) => {
                self.counters.copies.add((batch.len() * others.len()) as u64);
                others.iter_mut().for_each(|edge| edge.offer(batch));
                last.push(batch);
            }
        }
    }

    pub(crate) fn push_control(&mut self, control: Control) {
        self.edges.iter_mut().for_each(|edge| edge.push_control(control));
    }

    pub(crate) fn flush(&mut self) {
        self.edges.iter_mut().for_each(|edge| edge.flush());
    }

    pub(crate) fn is_blocked(&mut self, waker: &Waker) -> bool {
        // Each edge asks for its own credit, so none may be left out.
        self.edges.iter_mut().fold(false, |blocked, edge| edge.is_blocked(waker) | blocked)
    }

    pub(crate) fn waits(&self) -> bool {
        self.edges.iter().any(|edge| edge.waits())
    }

    /// What the slowest receiver takes at a time; no bound without receivers.
    pub(crate) fn most(&mut self) -> usize {
        self.edges.iter_mut().map(|edge| edge.most()).min().unwrap_or(usize::MAX)
    }

    pub(crate) fn discard(&mut self) -> u64 {
        self.edges.iter_mut().map(|edge| edge.discard()).sum()
    }

    pub(crate) fn take_failure(&mut self) -> Option<Failure> {
        self.edges.iter_mut().find_map(|edge| edge.take_failure())
    }
}

/// Closures are the user's, and so are their destructors.
impl<T> Drop for Fan<T> {
    fn drop(&mut self) {
        drop_each(self.edges.drain(..));
    }
}

impl<T> fmt::Debug for Fan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fan").field("edges", &self.edges.len()).finish_non_exhaustive()
    }
}
