//! Credits: what bounds a link, and from where backpressure comes.
//!
//! A [`Credit`] is a token in the frame. It comes home when it is dropped: after the events were
//! processed, when a panic unwinds, with a stale frame, with a mailbox that died. It comes home
//! through [`LinkState`], beside the mailbox, and wakes the sender if that waits.

use super::LinkLimits;
use futures::task::AtomicWaker;
use std::any::Any;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Waker;

/// How fast an instance gets through its events, as it measured itself; its senders read it.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    picos_per_event: AtomicU64,
}

impl Pace {
    const UNKNOWN: u64 = 0;

    pub(crate) fn publish(&self, picos_per_event: u64) {
        self.picos_per_event.store(picos_per_event.max(1), Ordering::Relaxed);
    }

    /// How many events fit into `delay`: at least one; a few as long as nothing is known.
    fn events_within(&self, delay: std::time::Duration) -> usize {
        const AT_FIRST: usize = 16;
        match self.picos_per_event.load(Ordering::Relaxed) {
            Self::UNKNOWN => AT_FIRST,
            picos => {
                let events = delay.as_nanos().saturating_mul(1_000) / u128::from(picos);
                usize::try_from(events).unwrap_or(usize::MAX).max(1)
            }
        }
    }
}

/// The state that both ends of a link share.
pub(crate) struct LinkState {
    limits: LinkLimits,
    pace: Arc<Pace>,
    frames: AtomicUsize,
    events: AtomicUsize,
    bytes: AtomicUsize,
    sender_waits: AtomicBool,
    sender: AtomicWaker,
    /// Emptied buffers on their way back.
    spare: Mutex<Vec<Box<dyn Any + Send>>>,
}

/// What may be sent in one frame now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) events: usize,
    pub(crate) bytes: usize,
    /// No events are under way: one may go, however heavy it is.
    pub(crate) empty: bool,
}

impl LinkState {
    pub(crate) fn new(limits: LinkLimits, pace: Arc<Pace>) -> Arc<Self> {
        Arc::new(Self {
            limits,
            pace,
            frames: AtomicUsize::new(0),
            events: AtomicUsize::new(0),
            bytes: AtomicUsize::new(0),
            sender_waits: AtomicBool::new(false),
            sender: AtomicWaker::new(),
            spare: Mutex::new(Vec::new()),
        })
    }

    /// What may be sent now; `None` if not even a frame without events may. Only the one sender
    /// takes credits, so the answer holds until it does.
    pub(crate) fn room(&self) -> Option<Room> {
        if self.frames.load(Ordering::SeqCst) >= self.limits.frames {
            return None;
        }
        let events = self.events.load(Ordering::SeqCst);
        let bytes = self.bytes.load(Ordering::SeqCst);
        let allowed = self.pace.events_within(self.limits.delay);
        Some(Room {
            events: allowed.saturating_sub(events).min(self.most_events()),
            bytes: self.limits.bytes.saturating_sub(bytes),
            empty: events == 0,
        })
    }

    /// How many events a frame may have, for the time that the receiver needs for them: half of what
    /// may be under way, so that it has the other half while credit comes home.
    pub(crate) fn most_events(&self) -> usize {
        self.pace.events_within(self.limits.delay).div_ceil(2)
    }

    /// Takes the credit for a frame that [`room`](Self::room) allowed.
    pub(crate) fn take(self: &Arc<Self>, events: usize, bytes: usize) -> Credit {
        self.frames.fetch_add(1, Ordering::SeqCst);
        self.events.fetch_add(events, Ordering::SeqCst);
        self.bytes.fetch_add(bytes, Ordering::SeqCst);
        Credit { link: Arc::clone(self), events, bytes }
    }

    /// Asks to be woken when there is room again. The caller looks once more after this call, so
    /// that a credit that comes home in between is not missed.
    pub(crate) fn wait(&self, waker: &Waker) {
        self.sender.register(waker);
        self.sender_waits.store(true, Ordering::SeqCst);
    }

    fn release(&self, events: usize, bytes: usize) {
        self.events.fetch_sub(events, Ordering::SeqCst);
        self.bytes.fetch_sub(bytes, Ordering::SeqCst);
        let frames = self.frames.fetch_sub(1, Ordering::SeqCst) - 1;
        // Waking the sender for each frame would make the two take turns, frame by frame. Half is
        // early enough: the receiver is still busy with the rest.
        if frames <= self.limits.frames / 2 && self.sender_waits.swap(false, Ordering::SeqCst) {
            self.sender.wake();
        }
    }

    /// A buffer that came back.
    pub(crate) fn reuse(&self) -> Option<Box<dyn Any + Send>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    #[cfg(test)]
    pub(crate) fn in_flight(&self) -> (usize, usize, usize) {
        let read = |n: &AtomicUsize| n.load(Ordering::SeqCst);
        (read(&self.frames), read(&self.events), read(&self.bytes))
    }
}

impl fmt::Debug for LinkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkState")
            .field("frames", &self.frames)
            .field("events", &self.events)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// The right to have one frame under way; gives itself back when dropped.
#[derive(Debug)]
pub(crate) struct Credit {
    link: Arc<LinkState>,
    events: usize,
    bytes: usize,
}

impl Credit {
    pub(crate) fn events(&self) -> usize {
        self.events
    }

    /// Sends an emptied buffer back with the credit.
    pub(crate) fn recycle(self, buffer: Box<dyn Any + Send>) {
        let mut spare = self.link.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < self.link.limits.frames {
            spare.push(buffer);
        }
        drop(spare);
        drop(self);
    }
}

impl Drop for Credit {
    fn drop(&mut self) {
        self.link.release(self.events, self.bytes);
    }
}

#[cfg(test)]
mod tests;
