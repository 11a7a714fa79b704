//! [`Totals`], [`UsageTotals`] which adds them up, and [`Report`] where they can be read.

use super::{Payment, UsageAnalyzer};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::{Arc, OnceLock};
use streamwork::prelude::*;
use streamwork::{BoxError, SavedState};

/// What payments come to. Displays as the line that the program prints.
///
/// ```
/// use examples::jobs::usage::{Payment, Totals};
///
/// let mut totals = Totals::default();
/// totals.count(&Payment { line: 1, cents: 4_200 });
/// assert_eq!(totals.to_string(), r#"{"transactions":1,"fraud":0,"cents":4200}"#);
/// ```
#[derive(Event, State, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// How many there were.
    pub transactions: u64,
    /// How many of them were fraud.
    pub fraud: u64,
    /// How much in all. There is room for as many of the largest as `transactions` can count.
    pub cents: i128,
}

impl Totals {
    /// One more payment.
    pub fn count(&mut self, payment: &Payment) {
        self.transactions += 1;
        self.fraud += u64::from(payment.is_fraud());
        self.cents += i128::from(payment.cents);
    }

    /// Those that a checkpoint of the job holds.
    ///
    /// # Errors
    /// The checkpoint is one of another job.
    pub fn saved(state: &SavedState) -> Result<Self, BoxError> {
        let parts: Vec<(u64, Self)> = state.keyed(UsageAnalyzer::NAME)?;
        let mut totals = Self::default();
        parts.iter().for_each(|(_, part)| totals.add(part));
        Ok(totals)
    }

    /// Those of other payments as well.
    pub fn add(&mut self, other: &Self) {
        self.transactions += other.transactions;
        self.fraud += other.fraud;
        self.cents += other.cents;
    }
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { transactions, fraud, cents } = self;
        write!(f, r#"{{"transactions":{transactions},"fraud":{fraud},"cents":{cents}}}"#)
    }
}

/// Where the totals are when the job has come to its end. Its clones are one.
#[derive(Clone, Debug, Default)]
pub struct Report(Arc<OnceLock<Totals>>);

impl Report {
    /// The totals; `None` before the end, and if the job was stopped.
    #[must_use]
    pub fn get(&self) -> Option<Totals> {
        self.0.get().copied()
    }
}

/// Adds up what the analyzers have counted.
#[derive(Component, Clone, Debug)]
#[component(name = "usage totals")]
pub struct UsageTotals {
    #[state]
    totals: Totals,
    report: Report,
}

impl UsageTotals {
    /// The name of the operator.
    pub const NAME: &str = "usage totals";

    /// The sums are left in `report`.
    #[must_use]
    pub fn reporting_to(report: &Report) -> Self {
        Self { totals: Totals::default(), report: report.clone() }
    }
}

impl Operator for UsageTotals {
    type In = Totals;
    type Out = Nothing;

    fn apply(&mut self, part: Totals, _: &mut Emitter<Nothing>) -> Result<()> {
        self.totals.add(&part);
        Ok(())
    }

    fn finish(&mut self, _: &mut Emitter<Nothing>) -> Result<()> {
        // There is one instance, and it finishes once.
        self.report.0.get_or_init(|| self.totals);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_do_not_overflow() {
        let payment = |cents| Payment { line: 1, cents };
        let mut totals = Totals::default();
        for cents in [i64::MAX, i64::MAX, i64::MIN] {
            totals.count(&payment(cents));
        }
        let text = r#"{"transactions":3,"fraud":2,"cents":9223372036854775806}"#;
        assert_eq!(totals.to_string(), text);
        totals.add(&totals.clone());
        assert_eq!((totals.transactions, totals.cents), (6, 2 * (i128::from(i64::MAX) - 1)));
    }

    #[test]
    fn they_are_kept_as_they_are() {
        let cents = i128::from(i64::MIN) * 3;
        let totals = Totals { transactions: u64::MAX, fraud: 7, cents };
        let kept = streamwork::Handle::new(&totals).unwrap();
        assert_eq!(kept.get::<Totals>().unwrap(), totals);
    }
}
