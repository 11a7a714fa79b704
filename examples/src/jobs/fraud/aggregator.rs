//! [`ScoreAggregator`]: adds up what the analyzers say of a transaction, and decides.

use super::{Analyst, Score, ScoreStore, Scored};
use crate::console::Console;
use serde::{Deserialize, Serialize};
use std::fmt;
use streamwork::prelude::*;
use uuid::Uuid;

/// What becomes of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It goes through.
    Approved,
    /// Its scores add up to one or more: it is refused.
    Fraud,
}

impl Decision {
    /// The decision about a transaction whose scores add up to `total`.
    ///
    /// ```
    /// use examples::jobs::fraud::{Decision, Score};
    ///
    /// assert_eq!(Decision::of(Score::of(0.999)), Decision::Approved);
    /// assert_eq!(Decision::of(Score::ONE), Decision::Fraud);
    /// ```
    #[must_use]
    pub fn of(total: Score) -> Self {
        if total >= Score::ONE { Self::Fraud } else { Self::Approved }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Approved => "approved",
            Self::Fraud => "fraud",
        })
    }
}

/// What was said of one transaction so far.
#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
pub struct Tally([Option<Score>; Analyst::ALL.len()]);

impl Tally {
    fn put(&mut self, by: Analyst, score: Score) {
        self.0[by as usize] = Some(score);
    }

    fn is_complete(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }

    fn total(&self) -> Score {
        self.0.iter().flatten().copied().sum()
    }

    fn decision(&self, id: &Uuid) -> String {
        let total = self.total();
        let scores = Analyst::ALL.map(|by| match self.0[by as usize] {
            Some(score) => format!("{by}: {score}"),
            None => format!("{by}: missing"),
        });
        let decision = Decision::of(total);
        format!(
            "Transaction decision: {id} ==> {decision} [{}; total: {total}]\n",
            scores.join("; ")
        )
    }
}

impl ScoreAggregator {
    /// The name of the operator.
    pub const NAME: &str = "score aggregator";
}

/// Adds up the scores of each transaction, prints and stores the sum at each change, and decides when
/// all three scores are there. Then it forgets the transaction.
///
/// A score that was lost on its way never comes. Such a transaction is decided at the end, by the
/// scores that are there.
#[derive(Component, Clone, Debug)]
#[component(name = "score aggregator")]
pub struct ScoreAggregator {
    store: ScoreStore,
    console: Console,
}

impl ScoreAggregator {
    /// Puts sums into `store`.
    #[must_use]
    pub fn new(store: ScoreStore, console: Console) -> Self {
        Self { store, console }
    }
}

impl KeyedOperator for ScoreAggregator {
    type Key = Uuid;
    type In = Scored;
    type Out = Nothing;
    type State = Tally;

    fn apply(
        &mut self,
        id: &Uuid,
        scored: Scored,
        tally: &mut Keyed<Tally>,
        _: &mut Emitter<Nothing>,
    ) -> Result<()> {
        tally.put(scored.by, scored.score);
        let total = tally.total();
        self.store.put(*id, total);
        let mut block = format!("Transaction score change: {id} ==> {total}\n");
        if tally.is_complete() {
            block += &tally.take().decision(id);
        }
        self.console.print(&block)
    }

    fn finish(
        &mut self,
        id: &Uuid,
        tally: &mut Keyed<Tally>,
        _: &mut Emitter<Nothing>,
    ) -> Result<()> {
        self.console.print(&tally.take().decision(id))
    }
}
