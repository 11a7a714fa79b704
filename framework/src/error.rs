//! The errors that leave the crate.

use crate::checkpoint::{DataDirError, RecoveryError, StoreError};
use crate::component::causes;
use crate::id::{CheckpointId, ComponentName};
use crate::instance::{Cause, Failure};
use crate::job::{Problem, Problems};
use crate::metrics::Counts;
use std::fmt;

/// Why a job did not run, or did not end well.
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("sealed");
/// job.source(FromIter::new(1..=3_u64)).sink(TryForEach::new(|n| {
///     if n == 2 { Err(Fatal::new("no twos").into()) } else { Ok(()) }
/// }));
/// match Engine::new().run(job) {
///     Err(Error::Failed { failure, exhausted: false, .. }) => assert_eq!(failure.event, Some(2)),
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The job was refused before it ran. All problems are in here, not only the first.
    #[error("job {job:?} can't run: {problems}")]
    Refused {
        /// The job's name.
        job: String,
        /// What is wrong with it.
        problems: Problems,
    },
    /// The job failed while it ran.
    #[error("job {job:?} failed: {failure}{}", if *.exhausted { " (the restarts are used up)" } else { "" })]
    Failed {
        /// The job's name.
        job: String,
        /// The failure that ended it.
        failure: Box<Failure>,
        /// Whether it was one too many, after restarts.
        exhausted: bool,
        /// What each component had counted by then.
        counts: Vec<(ComponentName, Counts)>,
    },
    /// User code failed while the job was put together: a `clone` panicked, or a source could not say
    /// into which splits it falls.
    #[error("job {job:?} could not be put together: {cause}")]
    Assembly {
        /// The job's name.
        job: String,
        /// What happened.
        cause: Cause,
    },
    /// The job's data directory could not be had.
    #[error("job {job:?} cannot use its data directory")]
    DataDirectory {
        /// The job's name.
        job: String,
        /// Why not.
        #[source]
        source: DataDirError,
    },
    /// There is a checkpoint, and the job cannot go on from it.
    #[error("job {job:?} cannot go on from where it was")]
    Recovery {
        /// The job's name.
        job: String,
        /// Why not.
        #[source]
        source: RecoveryError,
    },
    /// The checkpoint was taken of another job than this has become.
    #[error("job {job:?} cannot go on from checkpoint {checkpoint}: {}", .differences.join("; "))]
    Incompatible {
        /// The job's name.
        job: String,
        /// The checkpoint, which is left as it is.
        checkpoint: CheckpointId,
        /// What has changed, in words.
        differences: Vec<String>,
    },
    /// The store of checkpoints could not be used.
    #[error("job {job:?} cannot use its store of checkpoints")]
    Store {
        /// The job's name.
        job: String,
        /// Why not.
        #[source]
        source: StoreError,
    },
    /// What a sink has prepared in an earlier run could not be committed.
    #[error(
        "job {job:?} cannot go on: what {sink:?} has prepared for checkpoint {checkpoint} ({events} \
         events) cannot be committed: {problem}"
    )]
    Commit {
        /// The job's name.
        job: String,
        /// The sink.
        sink: String,
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// How many events that are.
        events: u64,
        /// What the sink says, and how often it was asked.
        problem: String,
    },
    /// What a sink has prepared in an earlier run, and is in no checkpoint, could not be removed.
    #[error("job {job:?} cannot go on: {sink:?} cannot remove what an earlier run left: {problem}")]
    CleanUp {
        /// The job's name.
        job: String,
        /// The sink.
        sink: String,
        /// What the sink says.
        problem: String,
    },
    /// There is no savepoint of this name.
    #[error("there is no savepoint {name:?} of job {job:?}: {problem}")]
    Savepoint {
        /// The job's name.
        job: String,
        /// The savepoint's.
        name: String,
        /// Why not.
        problem: String,
    },
    /// The engine's own thread ended before the job did.
    #[error("the engine of job {job:?} died")]
    EngineDied {
        /// The job's name.
        job: String,
    },
    /// The engine could not be started.
    #[error("the engine could not start {what}")]
    Engine {
        /// What it tried to start.
        what: &'static str,
        /// Why it could not.
        #[source]
        source: std::io::Error,
    },
}

impl Error {
    /// The problems of a job that was refused; empty otherwise.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::Problem;
    ///
    /// let error = Engine::new().run(Job::new("nothing")).unwrap_err();
    /// assert_eq!(error.problems(), [Problem::Empty]);
    /// assert!(error.failure().is_none());
    /// ```
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        match self {
            Self::Refused { problems, .. } => problems.as_slice(),
            _ => &[],
        }
    }

    /// The failure that ended the job, if one did.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("sealed");
    /// job.source(FromIter::new(1..=3_u64)).sink(TryForEach::new(|_| Err(Fatal::new("full").into())));
    /// let error = Engine::new().run(job).unwrap_err();
    /// assert_eq!(error.failure().unwrap().to_string(), "try-for-each[0] at event 1: error: full");
    /// assert!(error.problems().is_empty());
    /// ```
    #[must_use]
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed { failure, .. } => Some(failure),
            _ => None,
        }
    }

    /// What the component named `name` had counted when the job failed; `None` if it did not run, and if
    /// it has no such component. As [`Outcome::component`](crate::Outcome::component).
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("sealed");
    /// job.source(FromIter::new(1..=3_u64)).sink(TryForEach::new(|n| {
    ///     if n == 3 { Err(Fatal::new("no threes").into()) } else { Ok(()) }
    /// }));
    /// let error = Engine::new().run(job).unwrap_err();
    /// assert_eq!(error.component("try-for-each").unwrap().applied, 2);
    /// assert!(error.component("nobody").is_none());
    /// ```
    #[must_use]
    pub fn component(&self, name: &str) -> Option<Counts> {
        match self {
            Self::Failed { counts, .. } => {
                counts.iter().find(|(component, _)| component.as_str() == name).map(|(_, c)| *c)
            }
            _ => None,
        }
    }
}

/// As its `Display`, with all that it came from: `main` prints an error that it returns by its `Debug`.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        causes(self).try_for_each(|cause| write!(f, ": {cause}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_debug_names_every_cause() {
        let source = std::io::Error::other("no space");
        let source = StoreError::Io { what: "write 7".to_owned(), source };
        let source = DataDirError::Store { path: "dir".into(), source };
        let text = format!("{:?}", Error::DataDirectory { job: "numbers".to_owned(), source });
        assert!(text.starts_with("job \"numbers\"") && text.contains("\"dir\""), "{text}");
        assert!(text.ends_with(": write 7 failed: no space"), "{text}");
    }
}
