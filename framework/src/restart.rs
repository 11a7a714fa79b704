//! When a broken instance is built anew, and when it is given up. Pure.

use crate::time::Moment;
use std::collections::VecDeque;
use std::time::Duration;

/// How often, and how soon, an instance is built anew after a panic.
///
/// ```
/// use streamwork::prelude::*;
///
/// let patient = RestartStrategy { restarts: 100, ..RestartStrategy::default() };
/// let job = Job::new("patient").restarts(patient);
/// job.source(FromIter::new(1..=3_u64)).sink(ForEach::new(|n| assert!(n != 2, "no twos")));
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!((outcome.restarts(), outcome.failed(), outcome.events_out()), (1, 1, 2));
/// assert_eq!(RestartStrategy::default().restarts, 10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartStrategy {
    /// Restarts of one instance (10) ...
    pub restarts: u32,
    /// ... within this time (60 s). One more, and the job fails.
    pub within: Duration,
    /// The pause before a restart (10 ms); it doubles with each one.
    pub pause: Duration,
    /// The longest pause (1 s).
    pub longest_pause: Duration,
    /// After this long without a failure (10 s) the pause begins anew.
    pub healthy_after: Duration,
}

impl Default for RestartStrategy {
    fn default() -> Self {
        Self {
            restarts: 10,
            within: Duration::from_secs(60),
            pause: Duration::from_millis(10),
            longest_pause: Duration::from_secs(1),
            healthy_after: Duration::from_secs(10),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    RestartAfter(Duration),
    GiveUp,
}

/// The restarts of one instance so far.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    spent: VecDeque<Moment>,
    row: u32,
}

impl Budget {
    /// The instance broke at `now`.
    pub(crate) fn spend(&mut self, strategy: &RestartStrategy, now: Moment) -> Decision {
        let healthy = self.spent.back().is_some_and(|t| now.since(*t) >= strategy.healthy_after);
        while self.spent.front().is_some_and(|t| now.since(*t) > strategy.within) {
            self.spent.pop_front();
        }
        if self.spent.len() >= strategy.restarts as usize {
            return Decision::GiveUp;
        }
        self.row = if healthy { 0 } else { self.row };
        let pause = strategy.pause.saturating_mul(1_u32.checked_shl(self.row).unwrap_or(u32::MAX));
        self.spent.push_back(now);
        self.row = (self.row + 1).min(31);
        Decision::RestartAfter(pause.min(strategy.longest_pause))
    }

    /// The last restart is not to count.
    pub(crate) fn give_back(&mut self) {
        self.spent.pop_back();
        self.row = self.row.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::START + Duration::from_millis(millis)
    }

    #[test]
    fn pauses_double_up_to_the_longest_and_the_eleventh_is_one_too_many() {
        let strategy = RestartStrategy::default();
        let mut budget = Budget::default();
        let pauses: Vec<_> = (0..11).map(|i| budget.spend(&strategy, at(i))).collect();
        let expected = [10, 20, 40, 80, 160, 320, 640, 1_000, 1_000, 1_000];
        for (pause, millis) in pauses.iter().zip(expected) {
            assert_eq!(*pause, Decision::RestartAfter(Duration::from_millis(millis)));
        }
        assert_eq!(pauses[10], Decision::GiveUp);
    }

    #[test]
    fn old_restarts_are_forgotten() {
        let strategy = RestartStrategy { restarts: 1, ..RestartStrategy::default() };
        let mut budget = Budget::default();
        let first = Decision::RestartAfter(Duration::from_millis(10));
        assert_eq!(budget.spend(&strategy, at(0)), first);
        assert_eq!(budget.spend(&strategy, at(59_000)), Decision::GiveUp);
        assert_eq!(budget.spend(&strategy, at(61_000)), first);
    }
}
