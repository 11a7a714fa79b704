//! Control out of band: what must not wait behind the data in a mailbox.

use crate::checkpoint::Barrier;
use crate::id::CheckpointId;
use futures::task::AtomicWaker;
use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Waker;

/// An order to an instance. Orders are read between events, and by whoever waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Command {
    /// The rest of the job is set up: a source may read.
    Go = 1,
    /// A source ends as if its input had.
    Drain = 1 << 1,
    /// Drop everything and report the end.
    Halt = 1 << 2,
    /// Build the component anew and go on.
    Restart = 1 << 3,
    /// A source closes its links without the end of data: what is under way is processed, and
    /// nothing is finished.
    Retire = 1 << 4,
    /// A source sends the barrier that lies beside.
    Checkpoint = 1 << 5,
    /// The checkpoints up to the one that lies beside are given up.
    Abort = 1 << 6,
    /// A source that has come to its end, or was paused, closes its links: all is committed.
    Close = 1 << 7,
}

/// A barrier to be sent by a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trigger {
    pub(crate) barrier: Barrier,
    /// No event follows it.
    pub(crate) is_last: bool,
}

/// The orders given to one instance, with the waker of whoever is to read them.
#[derive(Default)]
pub(crate) struct ControlCell {
    word: AtomicU8,
    waker: AtomicWaker,
    trigger: Mutex<Option<Trigger>>,
    aborted: AtomicU64,
}

impl ControlCell {
    pub(crate) fn give(&self, command: Command) {
        self.word.fetch_or(command as u8, Ordering::SeqCst);
        self.waker.wake();
    }

    /// Gives a source the order to send a barrier.
    pub(crate) fn trigger(&self, trigger: Trigger) {
        *self.trigger.lock().unwrap_or_else(PoisonError::into_inner) = Some(trigger);
        self.give(Command::Checkpoint);
    }

    /// The barrier that is to be sent, once.
    pub(crate) fn take_trigger(&self) -> Option<Trigger> {
        if !self.take(Command::Checkpoint) {
            return None;
        }
        self.trigger.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Gives up the checkpoints up to `id`.
    pub(crate) fn abort(&self, id: CheckpointId) {
        self.aborted.fetch_max(id.0, Ordering::SeqCst);
        self.give(Command::Abort);
    }

    /// The highest checkpoint that is given up, if there is news of that.
    pub(crate) fn take_abort(&self) -> Option<CheckpointId> {
        let aborted = || CheckpointId(self.aborted.load(Ordering::SeqCst));
        self.take(Command::Abort).then(aborted)
    }

    pub(crate) fn has(&self, command: Command) -> bool {
        self.word.load(Ordering::SeqCst) & command as u8 != 0
    }

    /// Whether the order was given; it is used up.
    pub(crate) fn take(&self, command: Command) -> bool {
        self.has(command)
            && self.word.fetch_and(!(command as u8), Ordering::SeqCst) & command as u8 != 0
    }

    /// Asks to be woken at the next order. Orders are read after this call.
    pub(crate) fn register(&self, waker: &Waker) {
        self.waker.register(waker);
    }
}

impl fmt::Debug for ControlCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlCell").field("word", &self.word).finish_non_exhaustive()
    }
}
