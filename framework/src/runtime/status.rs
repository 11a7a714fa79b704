//! [`JobStatus`]: what a job is doing.

use std::fmt;

/// What a job is doing.
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("endless");
/// job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {}));
/// let handle = Engine::new().start(job).unwrap();
/// handle.kill();
/// let status = handle.wait().unwrap().status();
/// assert_eq!(status, JobStatus::Killed);
/// assert_eq!(status.to_string(), "killed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JobStatus {
    /// Instances are being set up.
    Starting,
    /// Events flow.
    Running,
    /// The sources were told to end; what is under way is processed.
    Draining,
    /// Told to stop; what is under way is dropped.
    Stopping,
    /// Told to end now.
    Killing,
    /// A failure is ending it.
    Failing,
    /// All sources came to their end and everything was processed.
    Finished,
    /// As finished, because it was asked to.
    Drained,
    /// It was stopped.
    Stopped,
    /// It was killed.
    Killed,
    /// A failure ended it.
    Failed,
}

impl JobStatus {
    pub(crate) fn is_running(self) -> bool {
        matches!(self, Self::Starting | Self::Running | Self::Draining)
    }

    /// The status of a job that was in this one when its last instance ended.
    pub(crate) fn ended(self) -> Self {
        match self {
            Self::Starting | Self::Running => Self::Finished,
            Self::Draining => Self::Drained,
            Self::Stopping => Self::Stopped,
            Self::Killing => Self::Killed,
            Self::Failing => Self::Failed,
            over => over,
        }
    }
}

impl fmt::Display for JobStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Draining => "draining",
            Self::Stopping => "stopping",
            Self::Killing => "being killed",
            Self::Failing => "failing",
            Self::Finished => "finished",
            Self::Drained => "drained",
            Self::Stopped => "stopped",
            Self::Killed => "killed",
            Self::Failed => "failed",
        })
    }
}
