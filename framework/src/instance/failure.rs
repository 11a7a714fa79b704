//! What went wrong in user code, and where.

use crate::component::{BoxError, Fatal, with_causes};
use crate::guard::{Panic, catch};
use crate::id::{CheckpointId, InstanceId};
use std::fmt;
use std::sync::Arc;

/// A failure of user code in one instance.
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("sealed");
/// job.source(FromIter::new(1..=3_u64)).sink(TryForEach::new(|n| {
///     if n == 2 { Err(Fatal::new("no twos").into()) } else { Ok(()) }
/// }));
/// let error = Engine::new().run(job).unwrap_err();
/// let failure = error.failure().unwrap();
/// assert_eq!(failure.instance.component.as_str(), "try-for-each");
/// assert_eq!(failure.event, Some(2));
/// assert_eq!(failure.cause.to_string(), "error: no twos");
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// Where it happened.
    pub instance: InstanceId,
    /// Which event was at hand: the n-th that this instance processed since the job began.
    pub event: Option<u64>,
    /// The closure on an edge that it happened in, as in `map#2 after readings`; `None` if it was the
    /// component itself.
    pub step: Option<Arc<str>>,
    /// What happened.
    pub cause: Cause,
}

/// What happened. The variants are told apart because different things are to be done about them.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::Cause;
///
/// let once = RestartStrategy { restarts: 0, ..RestartStrategy::default() };
/// let job = Job::new("fragile").restarts(once);
/// job.source(FromIter::new(["car"])).sink(ForEach::new(|kind| panic!("no {kind}")));
/// let error = Engine::new().run(job).unwrap_err();
/// match &error.failure().unwrap().cause {
///     Cause::Panic { message, .. } => assert_eq!(message, "no car"),
///     other => panic!("{other}"),
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// User code panicked.
    Panic {
        /// Its message.
        message: String,
        /// Where in the source, as `file:line`.
        place: Option<String>,
    },
    /// User code returned an error while it processed events.
    Error(UserError),
    /// `setup` returned an error.
    Setup(UserError),
    /// `flush` returned an error.
    Flush(UserError),
    /// `finish` returned an error.
    Finish(UserError),
    /// What a checkpoint is to hold of the instance could not be saved.
    Save(UserError),
    /// What a checkpoint holds of the instance could not be restored.
    Restore(UserError),
    /// A checkpoint is published, and what a sink has prepared for it could not be committed.
    Commit {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// How many events that are.
        events: u64,
        /// What the sink says, and how often it was asked.
        problem: String,
    },
    /// The job cannot go on without a checkpoint that could not be written or read.
    Checkpoint(String),
    /// The engine itself lost the instance.
    Died,
}

/// An error that user code returned, with its text.
///
/// The text is made once, where the error came up: the threads that report it run no user code.
#[derive(Clone)]
pub struct UserError {
    text: String,
    error: Arc<BoxError>,
}

impl UserError {
    pub(crate) fn new(error: BoxError) -> Self {
        let error = Fatal::unmarked(error);
        let text = catch(|| with_causes(&*error));
        let text = text.unwrap_or_else(|panic| format!("an error without a text ({panic})"));
        Self { text, error: Arc::new(error) }
    }

    /// One of which only the text is known any more.
    pub(crate) fn known(text: String) -> Self {
        let error = Arc::new(BoxError::from(text.clone()));
        Self { text, error }
    }
}

impl fmt::Display for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for UserError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

impl From<Panic> for Cause {
    fn from(Panic { message, place }: Panic) -> Self {
        Self::Panic { message, place }
    }
}

impl Cause {
    pub(crate) fn error(error: BoxError) -> Self {
        Self::Error(UserError::new(error))
    }

    pub(crate) fn setup(error: BoxError) -> Self {
        Self::Setup(UserError::new(error))
    }

    pub(crate) fn flush(error: BoxError) -> Self {
        Self::Flush(UserError::new(error))
    }

    pub(crate) fn finish(error: BoxError) -> Self {
        Self::Finish(UserError::new(error))
    }

    pub(crate) fn save(error: BoxError) -> Self {
        Self::Save(UserError::new(error))
    }

    pub(crate) fn restore(error: BoxError) -> Self {
        Self::Restore(UserError::new(error))
    }

    /// The error that user code returned, if that was the cause; without the mark of [`Fatal`].
    ///
    /// ```
    /// use std::num::ParseIntError;
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("strict");
    /// job.source(FromIter::new(["1", "x"])).sink(TryForEach::new(|text: &str| {
    ///     text.parse::<u64>().map_err(Fatal::new)?;
    ///     Ok(())
    /// }));
    /// let error = Engine::new().run(job).unwrap_err();
    /// let cause = &error.failure().unwrap().cause;
    /// assert!(cause.user_error().unwrap().is::<ParseIntError>());
    /// ```
    #[must_use]
    pub fn user_error(&self) -> Option<&(dyn std::error::Error + Send + Sync + 'static)> {
        match self {
            Self::Error(e)
            | Self::Setup(e)
            | Self::Flush(e)
            | Self::Finish(e)
            | Self::Save(e)
            | Self::Restore(e) => Some(&**e.error),
            Self::Panic { .. } | Self::Commit { .. } | Self::Checkpoint(_) | Self::Died => None,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic { message, place } => {
                let panic = Panic { message: message.clone(), place: place.clone() };
                panic.fmt(f)
            }
            Self::Error(e) => write!(f, "error: {e}"),
            Self::Setup(e) => write!(f, "setup failed: {e}"),
            Self::Flush(e) => write!(f, "flush failed: {e}"),
            Self::Finish(e) => write!(f, "finish failed: {e}"),
            Self::Save(e) => write!(f, "it could not be saved: {e}"),
            Self::Restore(e) => write!(f, "it could not be restored: {e}"),
            Self::Commit { checkpoint, events, problem } => write!(
                f,
                "what it has prepared for checkpoint {checkpoint} ({events} events) cannot be \
                 committed: {problem}"
            ),
            Self::Checkpoint(problem) => f.write_str(problem),
            Self::Died => f.write_str("the actor died"),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.instance)?;
        if let Some(step) = &self.step {
            write!(f, ", {step}")?;
        }
        if let Some(n) = self.event {
            write!(f, " at event {n}")?;
        }
        write!(f, ": {}", self.cause)
    }
}
