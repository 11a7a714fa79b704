//! [`Delivery`]: what a job promises about each event, and [`Checkpoints`]: when it takes them.

use std::fmt;
use std::time::Duration;

/// What is promised about each event.
///
/// ```
/// use std::time::Duration;
/// use streamwork::Delivery;
///
/// assert_eq!(Delivery::default(), Delivery::at_most_once());
/// let exact = Delivery::exactly_once(Duration::from_secs(1));
/// assert_eq!(exact.to_string(), "exactly-once");
/// assert!(exact.checkpoints().is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Delivery {
    /// Each event is processed once or not at all. What fails is lost and counted, and so is what was
    /// under way in a process that dies.
    #[default]
    AtMostOnce,
    /// Each event is processed at least once: after a failure, all events since the last checkpoint
    /// again. Barriers are not aligned, so no link waits for another.
    AtLeastOnceByCheckpoints(Checkpoints),
    /// Each event has its effect on state, and on sinks that commit, exactly once.
    ExactlyOnce(Checkpoints),
}

impl Delivery {
    /// The default: a failure loses events, and nothing is repeated.
    #[must_use]
    pub const fn at_most_once() -> Self {
        Self::AtMostOnce
    }

    /// Nothing is lost; what came after the last checkpoint is repeated after a failure. `checkpoints` is
    /// the time between two of them, or [`Checkpoints`] with more settings.
    #[must_use]
    pub fn at_least_once_by_checkpoints(checkpoints: impl Into<Checkpoints>) -> Self {
        Self::AtLeastOnceByCheckpoints(checkpoints.into())
    }

    /// Nothing is lost and nothing is counted twice. `checkpoints` is the time between two of them, or
    /// [`Checkpoints`] with more settings.
    #[must_use]
    pub fn exactly_once(checkpoints: impl Into<Checkpoints>) -> Self {
        Self::ExactlyOnce(checkpoints.into())
    }

    /// How checkpoints are taken, if they are.
    #[must_use]
    pub const fn checkpoints(self) -> Option<Checkpoints> {
        match self {
            Self::AtMostOnce => None,
            Self::AtLeastOnceByCheckpoints(checkpoints) | Self::ExactlyOnce(checkpoints) => {
                Some(checkpoints)
            }
        }
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::AtMostOnce => "at-most-once",
            Self::AtLeastOnceByCheckpoints(_) => "at-least-once-checkpoints",
            Self::ExactlyOnce(_) => "exactly-once",
        })
    }
}

/// When a job takes checkpoints, and how many it keeps.
///
/// ```
/// use std::time::Duration;
/// use streamwork::{Checkpoints, Delivery};
///
/// let often = Checkpoints::every(Duration::from_millis(100)).keep(5);
/// assert_eq!(Delivery::exactly_once(often).checkpoints(), Some(often));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoints {
    pub(crate) every: Duration,
    pub(crate) keep: usize,
    pub(crate) timeout: Duration,
}

impl Checkpoints {
    /// One checkpoint every so often, counted from the beginning of one to that of the next; the next one
    /// waits until the one before is published. Below a millisecond is a millisecond.
    #[must_use]
    pub fn every(interval: Duration) -> Self {
        let every = interval.max(Duration::from_millis(1));
        Self { every, keep: 3, timeout: Duration::from_secs(60) }
    }

    /// How many are kept (3, at least 1), beside savepoints.
    #[must_use]
    pub fn keep(self, checkpoints: usize) -> Self {
        Self { keep: checkpoints.max(1), ..self }
    }

    /// After this long (60 s) a checkpoint that is not complete is given up.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }
}

impl From<Duration> for Checkpoints {
    fn from(interval: Duration) -> Self {
        Self::every(interval)
    }
}
