//! Holds a source to a rate.

use crate::time::Moment;
use std::time::Duration;

/// Event n (from 0) is due `n / rate` seconds after the first. What a source missed because it was
/// blocked is made up for, but never more than a tenth of a second of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    per_second: f64,
    /// When event 0 was due.
    origin: Option<Moment>,
    emitted: u64,
}

impl Pacer {
    const MOST_BEHIND: f64 = 0.1;
    /// A thousand events a microsecond: no limit in practice, and no number overflows.
    const FASTEST: f64 = 1e9;

    pub(crate) fn new(per_second: f64) -> Self {
        Self { per_second: per_second.min(Self::FASTEST), origin: None, emitted: 0 }
    }

    /// When event `n` is due, after the origin. The same rounding for every question about it.
    fn due(&self, n: u64) -> Duration {
        Duration::try_from_secs_f64(n as f64 / self.per_second).unwrap_or(Duration::MAX)
    }

    /// How many events may leave now.
    pub(crate) fn allowed(&mut self, now: Moment) -> usize {
        let origin = *self.origin.get_or_insert(now);
        let elapsed = now.since(origin);
        // The estimate is off by one at most where floats round.
        let mut due = (elapsed.as_secs_f64() * self.per_second) as u64;
        while self.due(due) <= elapsed {
            due += 1;
        }
        while due > 0 && self.due(due - 1) > elapsed {
            due -= 1;
        }
        let missed = due.saturating_sub(self.emitted);
        let most = ((Self::MOST_BEHIND * self.per_second) as u64).max(1);
        if missed > most {
            self.origin = Some(origin + self.due(missed - most));
        }
        usize::try_from(missed.min(most)).unwrap_or(usize::MAX)
    }

    pub(crate) fn record(&mut self, events: u64) {
        self.emitted += events;
    }

    /// When the next event is due.
    pub(crate) fn next(&self) -> Moment {
        self.origin.unwrap_or(Moment::START) + self.due(self.emitted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn any_rate_is_survived() {
        for rate in [f64::MIN_POSITIVE, 1e-9, 1e300, f64::MAX] {
            let mut pacer = Pacer::new(rate);
            assert_eq!(pacer.allowed(Moment::START), 1);
            pacer.record(1);
            assert!(pacer.next() > Moment::START);
            let late = Moment::START + Duration::MAX;
            pacer.record(pacer.clone().allowed(late) as u64);
            pacer.allowed(late);
        }
    }

    #[test]
    fn a_long_block_is_not_made_up_for() {
        let mut pacer = Pacer::new(1_000.0);
        let start = Moment::START;
        assert_eq!(pacer.allowed(start), 1);
        pacer.record(1);
        let later = start + Duration::from_secs(60);
        assert_eq!(pacer.allowed(later), 100);
        pacer.record(100);
        assert_eq!(pacer.allowed(later), 0);
        assert!(pacer.next() > later && pacer.next().since(later) <= Duration::from_millis(1));
    }

    proptest! {
        /// At the moment that is named for it the next event may leave, and not before.
        #[test]
        fn the_next_event_leaves_when_it_is_due(rate in 0.001_f64..1e7, rounds in 1_usize..200) {
            let mut pacer = Pacer::new(rate);
            let start = Moment::START + Duration::from_secs(5);
            let mut now = start;
            let mut emitted = 0_u64;
            for _ in 0..rounds {
                let allowed = pacer.allowed(now);
                prop_assert!(allowed >= 1);
                pacer.record(allowed as u64);
                emitted += allowed as u64;
                prop_assert_eq!(pacer.allowed(now), 0);
                prop_assert!(pacer.next() > now);
                now = pacer.next();
            }
            let ideal = now.since(start).as_secs_f64() * rate;
            prop_assert!((emitted as f64 - ideal).abs() < 1.5 + ideal * 1e-6, "{} {}", emitted, ideal);
        }
    }
}
