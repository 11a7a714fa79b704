//! [`Payment`]: what the job wants to know of a transaction.

use super::cents::cents;
use serde::{Deserialize, Serialize};
use streamwork::prelude::*;

/// Somebody pays.
#[derive(Event, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// The number of its line, from 1.
    pub line: u64,
    /// How much; below zero it is a refund.
    pub cents: i64,
}

impl Payment {
    /// From this many cents on it is fraud.
    const FRAUD: i64 = 80_000;

    /// The parts in which payments are counted. It is fixed: what was counted is found again when the
    /// job goes on with another number of instances.
    const PARTS: u64 = 64;

    /// Reads `amount,merchandise`; further fields are ignored, as in the book.
    ///
    /// # Errors
    /// The amount has more than two decimals, or is no finite decimal number; or the merchandise is no
    /// whole number.
    pub fn read(line: u64, text: &str) -> Result<Self, LineError> {
        let fields = text.strip_suffix('\r').unwrap_or(text).split(',');
        let mut fields = fields.take(2);
        let amount = fields.next().and_then(cents);
        let merchandise = fields.next().and_then(|text| text.parse::<i64>().ok());
        match (amount, merchandise) {
            (Some(cents), Some(_)) => Ok(Self { line, cents }),
            _ => Err(LineError { line }),
        }
    }

    /// Whether it is fraud.
    #[must_use]
    pub fn is_fraud(&self) -> bool {
        self.cents >= Self::FRAUD
    }

    /// The part in which it is counted.
    #[must_use]
    pub fn part(&self) -> u64 {
        self.line % Self::PARTS
    }
}

/// A line that is no payment. Displays as what is to be said of it in the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} needs to be in this format: {{amount}},{{merchandiseId}}, with two decimals at most. \
     For example: 42.00,3"
)]
pub struct LineError {
    line: u64,
}

/// A line for a random number: a payment up to 500, or one time in fifty one from 500 to 1,500.
#[must_use]
pub fn random_payment(random: u64) -> String {
    let (large, size, merchandise) = (random % 50, random >> 8, random >> 40);
    let cents = match large {
        0 => 50_000 + size % 100_000,
        _ => 1 + size % 50_000,
    };
    format!("{}.{:02},{}", cents / 100, cents % 100, 1 + merchandise % 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_those_of_the_book() {
        for text in ["42.00,3", "42.00 ,3", " 42,+3", "42,-7", "42,3\r", "42,3,x,y", "42,3,"] {
            assert_eq!(Payment::read(7, text), Ok(Payment { line: 7, cents: 4_200 }), "{text:?}");
        }
        for text in [
            "",
            "abc",
            "100",
            ",3",
            "42,",
            ",",
            "42,3.0",
            "42, 3",
            "42,3 ",
            "42;3",
            "42.001,3",
            "NaN,3",
            "42,9223372036854775808",
            "42,3\r\r",
        ] {
            assert_eq!(Payment::read(7, text), Err(LineError { line: 7 }), "{text:?}");
        }
        assert!(
            LineError { line: 7 }
                .to_string()
                .starts_with("line 7 needs to be in this format: {amount}")
        );
    }

    #[test]
    fn fraud_begins_at_800() {
        for (cents, is_fraud) in [(79_999, false), (80_000, true), (i64::MIN, false)] {
            assert_eq!(Payment { line: 1, cents }.is_fraud(), is_fraud, "{cents}");
        }
    }

    #[test]
    fn made_up_lines_are_payments_and_some_are_fraud() {
        let lines = (0..10_000_u64).map(|n| random_payment(streamwork::key_hash(&n)));
        let payments: Vec<Payment> = lines.map(|line| Payment::read(1, &line).unwrap()).collect();
        let fraud = payments.iter().filter(|payment| payment.is_fraud()).count();
        assert!((50..500).contains(&fraud), "{fraud}");
        assert!(payments.iter().all(|payment| (1..150_000).contains(&payment.cents)));
    }
}
