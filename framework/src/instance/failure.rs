//! What went wrong in user code, and where.

use crate::component::{BoxError, Fatal};
use crate::id::InstanceId;
use std::fmt;
use std::sync::Arc;

/// A failure of user code in one instance.
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
