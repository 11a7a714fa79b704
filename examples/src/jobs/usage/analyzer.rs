//! [`UsageAnalyzer`]: judges each payment, and counts.

use super::{Payment, Totals};
use serde::{Deserialize, Serialize};
use streamwork::prelude::*;

/// What is written about a payment.
#[derive(Event, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The number of its line.
    pub line: u64,
    /// How much.
    pub cents: i64,
    /// Whether it is fraud.
    pub fraud: bool,
}

/// Judges each payment, and counts the payments of each part. The counts are its state: what goes on
/// from a checkpoint goes on with them. At the end they leave by the channel [`TOTALS`](Self::TOTALS).
#[derive(Component, Clone, Debug)]
#[component(name = "system usage analyzer", channels = [UsageAnalyzer::TOTALS])]
pub struct UsageAnalyzer;

impl UsageAnalyzer {
    /// The name of the operator.
    pub const NAME: &str = "system usage analyzer";

    /// What was counted of one part.
    pub const TOTALS: Channel<Totals> = Channel::new("totals");
}

impl KeyedOperator for UsageAnalyzer {
    type Key = u64;
    type In = Payment;
    type Out = Verdict;
    type State = Totals;

    fn apply(
        &mut self,
        _: &u64,
        payment: Payment,
        totals: &mut Keyed<Totals>,
        out: &mut Emitter<Verdict>,
    ) -> Result<()> {
        totals.count(&payment);
        let Payment { line, cents } = payment;
        out.emit(Verdict { line, cents, fraud: payment.is_fraud() });
        Ok(())
    }

    fn finish(
        &mut self,
        _: &u64,
        totals: &mut Keyed<Totals>,
        out: &mut Emitter<Verdict>,
    ) -> Result<()> {
        out.emit_to(Self::TOTALS, **totals);
        Ok(())
    }
}
