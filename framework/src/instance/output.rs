//! [`Output`]: all that an instance sends, and when it leaves.

use super::edge::{Edge, EdgeCounts};
use super::meter::SLICE;
use crate::emitter::Emitter;
use crate::event::Event;
use crate::guard::{catch, drop_each};
use crate::link::{BatchSize, Control};
use crate::metrics::Counters;
use crate::time::Moment;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

/// The emitter of an instance, with the edges that take its batches.
///
/// A full batch leaves at once. A partial one leaves when the instance has nothing more to read,
/// before a control element, and after eight input frames or a millisecond at the latest.
pub(crate) struct Output<T> {
    pub(crate) emitter: Emitter<T>,
    edges: Vec<Box<dyn Edge<T>>>,
    counters: Arc<Counters>,
    counted: EdgeCounts,
    /// Events in the emitter that were counted.
    noted: usize,
    frames: u32,
    flushed: Moment,
}

impl<T: Event> Output<T> {
    const FRAMES: u32 = 8;
    /// A buffer for more events than this, which one call has filled, is not kept.
    const LARGE: usize = 1 << 14;

    pub(crate) fn new(edges: Vec<Box<dyn Edge<T>>>, counters: Arc<Counters>) -> Self {
        let counted = EdgeCounts::default();
        let emitter = Emitter::with_room(1);
        let mut this =
            Self { emitter, edges, counters, counted, noted: 0, frames: 0, flushed: Moment::START };
        this.set_limit();
        this
    }

    /// A batch is no larger than what the slowest receiver takes in a frame: what waits here waits
    /// in front of the next control element.
    fn set_limit(&mut self) {
        let most = self.edges.iter_mut().map(|edge| edge.most()).min().unwrap_or(usize::MAX);
        self.emitter.set_limit(BatchSize::for_type::<T>().events.min(most));
    }

    /// Counts what was emitted since the last time.
    pub(crate) fn note(&mut self) {
        let emitted = self.emitter.len();
        self.counters.emitted.add((emitted - self.noted) as u64);
        self.noted = emitted;
    }

    /// Routes what was emitted.
    pub(crate) fn route(&mut self) {
        self.note();
        let emitted = std::mem::take(&mut self.noted);
        if emitted == 0 {
            return;
        }
        let buffer = self.emitter.buffer();
        match self.edges.split_last_mut() {
            None => {
                self.counters.unread.add(emitted as u64);
                drop_each(buffer.drain(..));
            }
            Some((last, others)) => {
                for edge in others.iter_mut() {
                    let mut copies = copy(buffer);
                    self.counters.misrouted.add((emitted - copies.len()) as u64);
                    edge.push(&mut copies);
                }
                self.counters.copies.add((emitted * others.len()) as u64);
                last.push(buffer);
            }
        }
        if buffer.capacity() > Self::LARGE {
            *buffer = Vec::new();
        }
        self.count();
        self.set_limit();
    }

    fn count(&mut self) {
        let mut now = EdgeCounts::default();
        for counts in self.edges.iter().map(|edge| edge.counts()) {
            now.sent += counts.sent;
            now.copies += counts.copies;
            now.misrouted += counts.misrouted;
        }
        self.counters.sent.add(now.sent - self.counted.sent);
        self.counters.copies.add(now.copies - self.counted.copies);
        self.counters.misrouted.add(now.misrouted - self.counted.misrouted);
        self.counted = now;
    }

    /// An input frame, or a call of a source, is done.
    pub(crate) fn frame_done(&mut self, now: Moment) {
        self.frames += 1;
        if self.frames >= Self::FRAMES {
            self.flush(now);
        }
    }

    /// Flushes if the last time is a millisecond ago.
    pub(crate) fn flush_if_due(&mut self, now: Moment) {
        if now.since(self.flushed) >= SLICE {
            self.flush(now);
        }
    }

    /// Sends everything that credit allows.
    pub(crate) fn flush(&mut self, now: Moment) {
        self.route();
        self.edges.iter_mut().for_each(|edge| edge.flush());
        self.count();
        self.frames = 0;
        self.flushed = now;
    }

    /// Puts a control element behind everything emitted so far.
    pub(crate) fn control(&mut self, control: Control) {
        self.route();
        self.edges.iter_mut().for_each(|edge| edge.push_control(control));
        self.count();
    }

    /// Whether frames wait for credit; the waker is then woken when some comes home.
    pub(crate) fn is_blocked(&mut self, waker: &Waker) -> bool {
        let blocked = self.edges.iter_mut().filter_map(|edge| edge.is_blocked(waker).then_some(()));
        let blocked = blocked.count() > 0;
        self.count();
        blocked
    }

    /// Whether frames wait for credit.
    pub(crate) fn waits(&self) -> bool {
        self.edges.iter().any(|edge| edge.waits())
    }

    /// Drops and counts what was not sent.
    pub(crate) fn discard(&mut self) {
        self.note();
        let emitted = std::mem::take(&mut self.noted) as u64;
        drop_each(self.emitter.buffer().drain(..));
        let unsent: u64 = self.edges.iter_mut().map(|edge| edge.discard()).sum();
        self.counters.unsent.add(unsent + emitted);
    }
}

/// A copy of a batch, without the events whose `clone` panics.
fn copy<T: Clone>(batch: &[T]) -> Vec<T> {
    catch(|| batch.to_vec())
        .unwrap_or_else(|_| batch.iter().filter_map(|event| catch(|| event.clone()).ok()).collect())
}

impl<T> fmt::Debug for Output<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("edges", &self.edges.len()).finish_non_exhaustive()
    }
}
