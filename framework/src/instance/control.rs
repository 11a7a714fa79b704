//! Control out of band: what must not wait behind the data in a mailbox.

use futures::task::AtomicWaker;
use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};
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
}

/// The orders given to one instance, with the waker of whoever is to read them.
#[derive(Default)]
pub(crate) struct ControlCell {
    word: AtomicU8,
    waker: AtomicWaker,
}

impl ControlCell {
    pub(crate) fn give(&self, command: Command) {
        self.word.fetch_or(command as u8, Ordering::SeqCst);
        self.waker.wake();
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
