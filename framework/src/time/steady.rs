//! [`SteadyTime`]: a time of day that never steps back.

use super::{Clock, EventTime, Moment};
use std::sync::Arc;
use std::time::Duration;

/// The time of day as an instance sees it. It follows the clock forwards. When the clock is set back, it
/// goes on from where it was, as fast as the clock that never steps back: so it neither decreases nor stands
/// still.
#[derive(Clone, Debug)]
pub(crate) struct SteadyTime {
    clock: Arc<dyn Clock>,
    /// When it was `day`.
    moment: Moment,
    day: EventTime,
}

impl SteadyTime {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let (moment, day) = (clock.now(), clock.time_of_day());
        Self { clock, moment, day }
    }

    pub(crate) fn now(&mut self) -> EventTime {
        let moment = self.clock.now();
        let steady = self.day + moment.since(self.moment);
        let day = self.clock.time_of_day();
        if day > steady {
            (self.moment, self.day) = (moment, day);
            return day;
        }
        steady
    }

    /// When it will be `time`, if nobody sets the clock forwards.
    pub(crate) fn moment_of(&self, time: EventTime) -> Moment {
        let millis = time.as_millis().saturating_sub(self.day.as_millis());
        self.moment + Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SettableClock;
    use proptest::prelude::*;

    #[test]
    fn a_clock_that_is_set_back_does_not_stop_it() {
        let clock = SettableClock::default();
        clock.advance(Duration::from_secs(7_200));
        let mut time = SteadyTime::new(Arc::new(clock.clone()));
        clock.set_by(-3_600_000);
        assert_eq!(time.now(), EventTime::from_millis(7_200_000));
        clock.advance(Duration::from_millis(5));
        assert_eq!(time.now(), EventTime::from_millis(7_200_005));
        clock.set_by(3_601_000);
        assert_eq!(time.now(), EventTime::from_millis(7_201_005));
    }

    proptest! {
        /// It never decreases, is never behind the clock, and is what was asked for at the moment that is
        /// named for it.
        #[test]
        fn it_is_due_when_it_says(
            steps in prop::collection::vec((0_u64..5_000, -20_i64..20, 0_i64..50), 1..60),
        ) {
            let clock = SettableClock::default();
            let mut time = SteadyTime::new(Arc::new(clock.clone()));
            let mut last = time.now();
            for (micros, set, ahead) in steps {
                clock.advance(Duration::from_micros(micros));
                clock.set_by(set);
                let now = time.now();
                prop_assert!(now >= last && now >= clock.time_of_day());
                let at = now + Duration::from_millis(ahead as u64);
                let due = time.moment_of(at);
                prop_assert!(due <= clock.now() + Duration::from_millis(ahead as u64));
                clock.advance(due.since(clock.now()));
                last = time.now();
                prop_assert!(last >= at);
            }
        }
    }
}
