//! Event time, watermarks, and the clock that everything else asks for the time of day.

mod clock;
#[cfg(test)]
mod settable;
mod steady;

pub use clock::{Clock, ManualClock, Moment, SystemClock};
#[cfg(test)]
pub(crate) use settable::SettableClock;
pub(crate) use steady::SteadyTime;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// When an event happened: signed milliseconds since 1970-01-01T00:00Z. Arithmetic saturates.
///
/// ```
/// use std::time::Duration;
/// use streamwork::EventTime;
///
/// let t = EventTime::from_millis(-5) + Duration::from_millis(7);
/// assert_eq!(t.as_millis(), 2);
/// assert_eq!(EventTime::MAX + Duration::from_secs(1), EventTime::MAX);
/// ```
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EventTime(i64);

impl EventTime {
    /// The earliest time there is.
    pub const MIN: Self = Self(i64::MIN);
    /// The latest time there is.
    pub const MAX: Self = Self(i64::MAX);

    /// The time `millis` milliseconds after the epoch (before it, if negative).
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0
    }
}

fn millis(d: Duration) -> i64 {
    i64::try_from(d.as_millis()).unwrap_or(i64::MAX)
}

impl std::ops::Add<Duration> for EventTime {
    type Output = Self;
    fn add(self, d: Duration) -> Self {
        Self(self.0.saturating_add(millis(d)))
    }
}

impl std::ops::Sub<Duration> for EventTime {
    type Output = Self;
    fn sub(self, d: Duration) -> Self {
        Self(self.0.saturating_sub(millis(d)))
    }
}

impl fmt::Display for EventTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms", self.0)
    }
}

/// A promise in the stream: no more events before this time.
///
/// ```
/// use streamwork::{EventTime, Watermark};
///
/// let w = Watermark(EventTime::from_millis(10));
/// assert!(w.is_behind(EventTime::from_millis(9)) && !w.is_behind(EventTime::from_millis(10)));
/// ```
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Watermark(pub EventTime);

impl Watermark {
    /// Whether an event of time `t` comes after this promise was given.
    #[must_use]
    pub fn is_behind(self, t: EventTime) -> bool {
        t < self.0
    }
}
