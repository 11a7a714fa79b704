//! When to try again, and when to give up. Pure.

use crate::time::Moment;
use std::time::Duration;

/// The pauses between failures that follow each other: 50 ms, and twice as long each time up to a
/// second, until the whole has taken too long.
#[derive(Clone, Debug)]
pub(super) struct Backoff {
    give_up_after: Duration,
    pause: Duration,
    /// When it is given up; set while there are failures.
    deadline: Option<Moment>,
}

impl Backoff {
    pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(50);
    pub(super) const LONGEST_PAUSE: Duration = Duration::from_secs(1);

    pub(super) fn new(give_up_after: Duration) -> Self {
        Self { give_up_after, pause: Self::FIRST_PAUSE, deadline: None }
    }

    /// It works: failures before count no longer.
    pub(super) fn reset(&mut self) {
        self.pause = Self::FIRST_PAUSE;
        self.deadline = None;
    }

    /// The time begins to run, if it does not run yet. Gives the end.
    pub(super) fn begin(&mut self, now: Moment) -> Moment {
        *self.deadline.get_or_insert(now + self.give_up_after)
    }

    /// It failed: the moment to try again, or `None` to give up. The last try is at the end.
    pub(super) fn failed(&mut self, now: Moment) -> Option<Moment> {
        let deadline = self.begin(now);
        if now >= deadline {
            return None;
        }
        let again = (now + self.pause).min(deadline);
        self.pause = (self.pause * 2).min(Self::LONGEST_PAUSE);
        Some(again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::START + Duration::from_millis(millis)
    }

    #[test]
    fn pauses_double_up_to_a_second_and_the_last_try_is_at_the_end() {
        let mut backoff = Backoff::new(Duration::from_secs(4));
        let mut now = at(7);
        backoff.begin(now);
        let mut tries = Vec::new();
        while let Some(again) = backoff.failed(now) {
            tries.push(again);
            now = again;
        }
        assert_eq!(tries, [57, 157, 357, 757, 1_557, 2_557, 3_557, 4_007].map(at));
    }

    #[test]
    fn success_ends_a_row_of_failures() {
        let mut backoff = Backoff::new(Duration::from_millis(60));
        assert_eq!(backoff.failed(at(0)), Some(at(50)));
        assert_eq!(backoff.failed(at(50)), Some(at(60)));
        backoff.reset();
        assert_eq!(backoff.failed(at(60)), Some(at(110)));
        assert_eq!(backoff.failed(at(500)), None);
    }
}
