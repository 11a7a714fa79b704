//! [`Simulation`]: transactions that nobody made.

use super::{Place, Position, Transaction};
use streamwork::{EventTime, key_hash};
use uuid::{Builder, Uuid};

/// Makes up transactions: accounts that pay near their homes what they usually pay, and here and there
/// somebody else with their card. Transaction n depends on the seed and n alone.
///
/// ```
/// use examples::jobs::fraud::Simulation;
///
/// let [one, same, other] = [1, 1, 2].map(|seed| Simulation::seeded(seed).transaction(7));
/// assert_eq!(one, same);
/// assert_ne!(one.id, other.id);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Simulation {
    seed: u64,
}

const ACCOUNTS: u64 = 50;
/// 2026-01-01T00:00Z. The time of day would not be the same in the next run.
const START: i64 = 1_767_225_600_000;
/// From one transaction to the next, in milliseconds.
const STEP: i64 = 2_000;
/// Of this many transactions in a row ...
const BLOCK: u64 = 200;
/// ... these are one account's.
const BURST: std::ops::Range<u64> = 100..118;

impl Simulation {
    /// The same seed gives the same transactions.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { seed }
    }

    /// Transaction number `n`, from 0.
    #[must_use]
    pub fn transaction(&self, n: u64) -> Transaction {
        let account = match BURST.contains(&(n % BLOCK)) {
            true => self.random("burst", n / BLOCK) % ACCOUNTS,
            false => self.random("account", n) % ACCOUNTS,
        };
        let step = STEP.saturating_mul(i64::try_from(n).unwrap_or(i64::MAX));
        Transaction {
            id: self.id(n),
            account: i64::try_from(account + 1).unwrap_or(i64::MAX),
            time: EventTime::from_millis(START.saturating_add(step)),
            amount: self.amount(account, n),
            place: Place::At(self.position(account, n)),
        }
    }

    fn id(&self, n: u64) -> Uuid {
        let bytes = u128::from(self.random("id", 0)) << 64 | u128::from(n);
        Builder::from_random_bytes(bytes.to_be_bytes()).into_uuid()
    }

    /// Half to one and a half of what the account usually pays; one time in a hundred much more.
    fn amount(&self, account: u64, n: u64) -> f32 {
        let usual = 10.0 + 90.0 * self.share("usual", account);
        let times = match self.random("large", n) % 100 {
            0 => 20.0,
            _ => 0.5 + self.share("amount", n),
        };
        ((usual * times * 100.0).round() / 100.0) as f32
    }

    /// Within a kilometre or so of home; one time in a hundred on another continent.
    fn position(&self, account: u64, n: u64) -> Position {
        let around = |what, number, most: f64| (2.0 * self.share(what, number) - 1.0) * most;
        let home = Position {
            latitude: around("latitude", account, 55.0),
            longitude: around("longitude", account, 170.0),
        };
        if self.random("far", n).is_multiple_of(100) {
            let east = if home.longitude < 0.0 { 90.0 } else { -90.0 };
            return Position { latitude: -home.latitude, longitude: home.longitude + east };
        }
        Position {
            latitude: home.latitude + around("north", n, 0.01),
            longitude: home.longitude + around("east", n, 0.01),
        }
    }

    fn random(&self, what: &'static str, number: u64) -> u64 {
        key_hash(&(self.seed, what, number))
    }

    /// From 0 to 1.
    fn share(&self, what: &'static str, number: u64) -> f64 {
        (self.random(what, number) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn transactions_are_plausible_and_no_two_are_one() {
        let simulation = Simulation::seeded(1);
        let transactions: Vec<_> = (0..10_000).map(|n| simulation.transaction(n)).collect();
        let ids: HashSet<_> = transactions.iter().map(|t| t.id).collect();
        let accounts: HashSet<_> = transactions.iter().map(|t| t.account).collect();
        assert_eq!((ids.len(), accounts.len()), (10_000, 50));
        for transaction in &transactions {
            assert!((5.0..=2_000.0).contains(&transaction.amount), "{transaction}");
            let Some(at) = transaction.place.position() else { panic!("{transaction}") };
            assert!(at.latitude.abs() <= 90.0 && at.longitude.abs() <= 180.0, "{transaction}");
        }
        assert!(transactions.is_sorted_by_key(|transaction| transaction.time));
    }

    #[test]
    fn a_share_is_even() {
        let simulation = Simulation::seeded(1);
        let sum: f64 = (0..10_000).map(|n| simulation.share("any", n)).sum();
        assert!((4_800.0..5_200.0).contains(&sum), "{sum}");
    }
}
