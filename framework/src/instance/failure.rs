//! What went wrong in user code, and where.

use crate::component::{BoxError, Fatal};
use crate::id::InstanceId;
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
    Error(Arc<BoxError>),
    /// `setup` returned an error.
    Setup(Arc<BoxError>),
    /// `finish` or `flush` returned an error.
    Finish(Arc<BoxError>),
    /// The engine itself lost the instance.
    Died,
}

impl Cause {
    pub(crate) fn error(error: BoxError) -> Self {
        Self::Error(Arc::new(Fatal::unwrap(error)))
    }

    pub(crate) fn setup(error: BoxError) -> Self {
        Self::Setup(Arc::new(Fatal::unwrap(error)))
    }

    pub(crate) fn finish(error: BoxError) -> Self {
        Self::Finish(Arc::new(Fatal::unwrap(error)))
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
            Self::Error(e) | Self::Setup(e) | Self::Finish(e) => Some(&***e),
            Self::Panic { .. } | Self::Died => None,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panic { message, place } => {
                f.write_str("panic")?;
                if let Some(place) = place {
                    write!(f, " at {place}")?;
                }
                // On one line, as everything that is logged.
                let lines: Vec<&str> = message.lines().map(str::trim).collect();
                write!(f, ": {}", lines.join("; "))
            }
            Self::Error(e) => chain(f, "error", &***e),
            Self::Setup(e) => chain(f, "setup failed", &***e),
            Self::Finish(e) => chain(f, "finish failed", &***e),
            Self::Died => f.write_str("the actor died"),
        }
    }
}

/// An error with what it came from, on one line.
fn chain(
    f: &mut fmt::Formatter<'_>,
    what: &str,
    error: &(dyn std::error::Error + 'static),
) -> fmt::Result {
    write!(f, "{what}: {error}")?;
    let mut next = error.source();
    while let Some(error) = next {
        write!(f, ": {error}")?;
        next = error.source();
    }
    Ok(())
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.event {
            Some(n) => write!(f, "{} at event {n}: {}", self.instance, self.cause),
            None => write!(f, "{}: {}", self.instance, self.cause),
        }
    }
}
