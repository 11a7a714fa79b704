//! [`SettableClock`]: a clock for tests of what happens when the time of day is set.

use super::{Clock, EventTime, ManualClock, Moment};
use futures::future::BoxFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// A manual clock whose time of day can be set, forwards and back.
#[derive(Clone, Debug, Default)]
pub(crate) struct SettableClock {
    clock: ManualClock,
    offset: Arc<AtomicI64>,
}

impl SettableClock {
    pub(crate) fn advance(&self, duration: Duration) {
        self.clock.advance(duration);
    }

    /// Sets the time of day forwards by so many milliseconds.
    pub(crate) fn set_by(&self, millis: i64) {
        self.offset.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for SettableClock {
    fn now(&self) -> Moment {
        self.clock.now()
    }

    fn time_of_day(&self) -> EventTime {
        let day = self.clock.time_of_day().as_millis();
        EventTime::from_millis(day + self.offset.load(Ordering::Relaxed))
    }

    fn sleep_until(&self, moment: Moment) -> BoxFuture<'static, ()> {
        self.clock.sleep_until(moment)
    }
}
