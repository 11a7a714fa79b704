//! [`Frequency`]: are there too many at once?

use super::{Analysis, Analyst, Score, Transaction};
use std::collections::VecDeque;

/// Counts the account's transactions within a minute, this one included: five are usual, fifteen are
/// certainly not, and between the two the score rises evenly.
///
/// Near is what is less than a minute before or after, so that what comes a little late counts too.
#[derive(Clone, Debug)]
pub struct Frequency;

const MINUTE: u64 = 60_000;
const USUAL: usize = 5;
const CERTAINLY_NOT: usize = 15;

impl Analysis for Frequency {
    const BY: Analyst = Analyst::Frequency;

    /// The times of the last transactions, in milliseconds: as many as can make a difference.
    type History = VecDeque<i64>;

    fn score(history: &mut VecDeque<i64>, transaction: &Transaction) -> Score {
        let now = transaction.time.as_millis();
        history.push_back(now);
        if history.len() > CERTAINLY_NOT {
            history.pop_front();
        }
        score(history.iter().filter(|then| now.abs_diff(**then) < MINUTE).count())
    }
}

fn score(count: usize) -> Score {
    Score::rising(count as f64, USUAL as f64, CERTAINLY_NOT as f64)
}

#[cfg(test)]
mod tests {
    use super::super::Simulation;
    use super::*;
    use streamwork::EventTime;

    fn scores(times: impl IntoIterator<Item = i64>) -> (Vec<String>, VecDeque<i64>) {
        let mut history = VecDeque::new();
        let mut scores = Vec::new();
        for time in times {
            let time = EventTime::from_millis(time);
            let transaction = Transaction { time, ..Simulation::seeded(1).transaction(0) };
            scores.push(Frequency::score(&mut history, &transaction).to_string());
        }
        (scores, history)
    }

    #[test]
    fn from_five_to_fifteen_within_a_minute_the_score_rises() {
        let (scores, history) = scores((0..20).map(|n| n * 1_000));
        assert_eq!(scores[..7], ["0.0", "0.0", "0.0", "0.0", "0.0", "0.1", "0.2"]);
        assert_eq!(scores[13..17], ["0.9", "1.0", "1.0", "1.0"]);
        assert_eq!(history.len(), CERTAINLY_NOT);
    }

    #[test]
    fn a_minute_apart_is_not_near() {
        assert!(scores((0..50).map(|n| n * 12_000)).0.iter().all(|score| score == "0.0"));
        assert_eq!(scores((0..50).map(|n| n * 11_999)).0[49], "0.1");
    }

    #[test]
    fn what_comes_late_counts_where_it_belongs() {
        // Of the five that came before it, the first four are less than a minute later.
        let (scores, _) = scores([100_000, 100_001, 100_002, 100_003, 100_004, 40_004, 0]);
        assert_eq!(scores[4..], ["0.0", "0.0", "0.0"]);
        let (scores, _) = self::scores([100_000, 100_001, 100_002, 100_003, 100_004, 40_005, 0]);
        assert_eq!(scores[4..], ["0.0", "0.1", "0.0"]);
    }
}
