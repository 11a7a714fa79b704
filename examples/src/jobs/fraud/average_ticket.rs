//! [`AverageTicket`]: is it more money than usual?

use super::{Analysis, Analyst, Score, Transaction};
use std::collections::VecDeque;

/// Compares the amount with the mean of the account's last 20: twice as much is usual, ten times as
/// much is certainly not, and between the two the score rises evenly.
///
/// The first three transactions of an account say nothing, nor does money that is paid back.
#[derive(Clone, Debug)]
pub struct AverageTicket;

const KEPT: usize = 20;
const ENOUGH: usize = 3;
const USUAL: f64 = 2.0;
const CERTAINLY_NOT: f64 = 10.0;

impl Analysis for AverageTicket {
    const BY: Analyst = Analyst::AverageTicket;

    type History = VecDeque<f64>;

    fn score(history: &mut VecDeque<f64>, transaction: &Transaction) -> Score {
        let amount = f64::from(transaction.amount);
        // What is paid back would pull the mean down to where everything looks large.
        if amount <= 0.0 {
            return Score::ZERO;
        }
        let score = score(amount, history);
        history.push_back(amount);
        if history.len() > KEPT {
            history.pop_front();
        }
        score
    }
}

/// `before` are amounts above zero.
fn score(amount: f64, before: &VecDeque<f64>) -> Score {
    if before.len() < ENOUGH {
        return Score::ZERO;
    }
    let mean = before.iter().sum::<f64>() / before.len() as f64;
    Score::rising(amount / mean, USUAL, CERTAINLY_NOT)
}

#[cfg(test)]
mod tests {
    use super::super::Simulation;
    use super::*;

    #[track_caller]
    fn check(amounts: &[f32], expected: &[&str]) {
        let mut history = VecDeque::new();
        let scores = amounts.iter().map(|amount| {
            let transaction =
                Transaction { amount: *amount, ..Simulation::seeded(1).transaction(0) };
            AverageTicket::score(&mut history, &transaction).to_string()
        });
        assert_eq!(scores.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn between_twice_and_ten_times_the_mean_the_score_rises() {
        check(&[10.0, 10.0, 10.0, 20.0], &["0.0", "0.0", "0.0", "0.0"]);
        check(&[10.0, 10.0, 10.0, 60.0], &["0.0", "0.0", "0.0", "0.5"]);
        check(&[10.0, 10.0, 10.0, 100.0], &["0.0", "0.0", "0.0", "1.0"]);
    }

    #[test]
    fn the_first_three_say_nothing() {
        check(&[1.0, 1000.0, 1e30], &["0.0", "0.0", "0.0"]);
    }

    #[test]
    fn money_that_is_paid_back_does_not_count() {
        check(&[10.0, -10.0, 10.0, 0.0, 60.0, 60.0], &["0.0", "0.0", "0.0", "0.0", "0.0", "0.031"]);
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_oldest_is_forgotten() {
        let mut history = VecDeque::new();
        for n in 0..100 {
            let amount = if n < 50 { 1.0 } else { 100.0 };
            let transaction = Transaction { amount, ..Simulation::seeded(1).transaction(0) };
            AverageTicket::score(&mut history, &transaction);
        }
        assert_eq!(history, [100.0; KEPT]);
    }
}
