//! Which step failed, and what is known of each.

use crate::component::{BoxError, OnError};
use crate::guard::drop_quietly;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// One step of a stream, for all instances that run it.
#[derive(Debug)]
pub(crate) struct StepInfo {
    /// As in `map#2 after readings`.
    pub(crate) name: Arc<str>,
    pub(crate) on_error: OnError,
    /// Events that it has lost.
    pub(crate) failed: AtomicU64,
}

/// The failure of the event at hand.
#[derive(Debug, Default)]
pub struct Failures {
    /// The step that runs, where a panic came up.
    panicked: Cell<Option<usize>>,
    failed: Cell<bool>,
    error: RefCell<Option<(usize, BoxError)>>,
}

impl Failures {
    /// Calls step `step`. If that panics, it is known which one did.
    #[inline]
    pub(crate) fn watch<R>(&self, step: usize, call: impl FnOnce() -> R) -> R {
        let mark = Mark { failures: self, step };
        let result = call();
        std::mem::forget(mark);
        result
    }

    /// Step `step` returned an error.
    #[cold]
    pub(crate) fn note(&self, step: usize, error: BoxError) {
        self.failed.set(true);
        // The first error of an event is the one that is told.
        match &mut *self.error.borrow_mut() {
            Some(_) => drop_quietly(error),
            none => *none = Some((step, error)),
        }
    }

    #[inline]
    pub(crate) fn failed(&self) -> bool {
        self.failed.get()
    }

    /// The error that was returned, and by which step.
    pub(crate) fn take(&self) -> Option<(usize, BoxError)> {
        self.failed.set(false);
        self.error.borrow_mut().take()
    }

    /// The step that panicked; `None` if a clone of an event did.
    pub(crate) fn take_panicked(&self) -> Option<usize> {
        self.panicked.take()
    }
}

struct Mark<'a> {
    failures: &'a Failures,
    step: usize,
}

impl Drop for Mark<'_> {
    fn drop(&mut self) {
        self.failures.panicked.set(Some(self.step));
    }
}
