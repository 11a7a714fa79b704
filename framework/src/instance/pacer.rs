//! Holds a source to a rate.

use crate::time::Moment;
use std::time::Duration;

/// Event n may leave `n / rate` seconds after the first. What a source missed because it was blocked
/// is made up for, but never more than a tenth of a second of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacer {
    per_second: f64,
    /// The moment for which `due` counts from zero.
    origin: Option<Moment>,
    emitted: u64,
}

impl Pacer {
    const MOST_BEHIND: Duration = Duration::from_millis(100);

    pub(crate) fn new(per_second: f64) -> Self {
        Self { per_second, origin: None, emitted: 0 }
    }

    /// How many events may leave now.
    pub(crate) fn allowed(&mut self, now: Moment) -> usize {
        let origin = *self.origin.get_or_insert(now);
        let due = now.since(origin).as_secs_f64() * self.per_second;
        let most =
            self.emitted as f64 + (Self::MOST_BEHIND.as_secs_f64() * self.per_second).max(1.0);
        if due > most {
            self.origin = Some(now);
            self.emitted = 0;
            return (most - self.emitted as f64).max(1.0) as usize;
        }
        (due.floor() as u64 + 1).saturating_sub(self.emitted) as usize
    }

    pub(crate) fn record(&mut self, events: u64) {
        self.emitted += events;
    }

    /// When the next event is due.
    pub(crate) fn next(&self) -> Moment {
        let after = self.emitted as f64 / self.per_second;
        let after = Duration::try_from_secs_f64(after).unwrap_or(Duration::MAX);
        self.origin.unwrap_or(Moment::START) + after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_a_second_is_one_each_ten_milliseconds() {
        let mut pacer = Pacer::new(100.0);
        let mut now = Moment::START + Duration::from_secs(5);
        for n in 0..50 {
            assert_eq!(pacer.allowed(now), 1, "event {n}");
            pacer.record(1);
            assert_eq!(pacer.allowed(now), 0);
            assert_eq!(pacer.next(), now + Duration::from_millis(10));
            now = pacer.next();
        }
    }

    #[test]
    fn a_long_block_is_not_made_up_for() {
        let mut pacer = Pacer::new(1_000.0);
        let start = Moment::START;
        assert_eq!(pacer.allowed(start), 1);
        pacer.record(1);
        let later = start + Duration::from_secs(60);
        let burst = pacer.allowed(later);
        assert!((1..=101).contains(&burst), "{burst}");
        pacer.record(burst as u64);
        assert_eq!(pacer.allowed(later), 0);
    }
}
