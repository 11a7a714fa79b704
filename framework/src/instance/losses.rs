//! [`Losses`]: events that closures lost.

use super::edge::Sending;
use super::failure::{Cause, Failure};
use super::failure_is_logged;
use crate::component::{BoxError, Fatal, OnError};
use crate::guard::{Panic, drop_quietly};
use crate::step::StepInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Counts and logs what the closures of one chain lose in one instance, and keeps the failure that is to
/// end the job. Clones share all of it.
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    sender: Sending,
    infos: Arc<[Arc<StepInfo>]>,
    failure: Arc<Mutex<Option<Failure>>>,
    /// The job ends with one.
    ends: Arc<AtomicBool>,
}

impl Losses {
    pub(crate) fn new(sender: Sending, infos: Arc<[Arc<StepInfo>]>) -> Self {
        Self { sender, infos, failure: Arc::default(), ends: Arc::default() }
    }

    /// An event was lost to an error of step `step`.
    #[cold]
    pub(crate) fn error(&self, step: usize, error: BoxError) {
        let last = Fatal::is(&*error) || self.infos[step].on_error == OnError::Fail;
        self.lose(step, Cause::error(error), last);
    }

    /// An event was lost to a panic: of step `step`, or of a clone of an event behind the last one.
    #[cold]
    pub(crate) fn panic(&self, step: Option<usize>, panic: Panic) {
        self.lose(step.unwrap_or(self.infos.len() - 1), Cause::from(panic), false);
    }

    /// An event was lost. If that is to be the `last`, the job ends with it.
    fn lose(&self, step: usize, cause: Cause, last: bool) {
        let info = &self.infos[step];
        let failed = info.failed.fetch_add(1, Ordering::Relaxed) + 1;
        let instance = self.sender.instance.clone();
        let failure = Failure { instance, event: None, step: Some(Arc::clone(&info.name)), cause };
        self.sender.counters.note_failure(&failure);
        if last {
            self.ends.store(true, Ordering::Relaxed);
            let mut kept = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.is_none() {
                *kept = Some(failure);
                return;
            }
        }
        if failure_is_logged(failed) {
            tracing::warn!(
                job = &*self.sender.job,
                component = %self.sender.instance.component,
                instance = self.sender.instance.index,
                failed,
                "event lost: {failure}",
            );
        }
        drop_quietly(failure);
    }

    /// Whether the job ends with what was lost.
    pub(crate) fn ends_the_job(&self) -> bool {
        self.ends.load(Ordering::Relaxed)
    }

    /// The failure that is to end the job, once.
    pub(crate) fn take_failure(&self) -> Option<Failure> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Where the chain's events are counted.
    pub(crate) fn counters(&self) -> &crate::metrics::Counters {
        &self.sender.counters
    }
}
