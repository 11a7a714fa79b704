//! [`Analyzer`]: the operator around an analysis.

use super::{Analyst, Score, Scored, Transaction};
use std::marker::PhantomData;
use streamwork::prelude::*;

/// One way to look at the transactions of an account.
///
/// It is a pure function of the account's history and the transaction, so that it can be tried without
/// a job:
///
/// ```
/// use examples::jobs::fraud::{Analysis, AverageTicket, Score, Simulation};
///
/// let mut history = Default::default();
/// let usual = Simulation::seeded(1).transaction(0);
/// for _ in 0..5 {
///     assert_eq!(AverageTicket::score(&mut history, &usual), Score::ZERO);
/// }
/// let large = examples::jobs::fraud::Transaction { amount: 100.0 * usual.amount, ..usual };
/// assert_eq!(AverageTicket::score(&mut history, &large), Score::ONE);
/// ```
pub trait Analysis: Clone + Send + 'static {
    /// Who does it.
    const BY: Analyst;

    /// What is kept of an account: no more than a fixed size.
    type History: Default + State;

    /// How suspicious a transaction is after what came before; it becomes part of the history.
    fn score(history: &mut Self::History, transaction: &Transaction) -> Score;
}

/// Scores each transaction by the history of its account.
#[derive(Debug)]
pub struct Analyzer<A>(PhantomData<fn() -> A>);

impl<A: Analysis> Analyzer<A> {
    /// Knows no account yet.
    #[must_use]
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl<A: Analysis> Default for Analyzer<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A> Clone for Analyzer<A> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

/// It is named for its analysis, so it says itself what the derive would.
impl<A: Analysis> Component for Analyzer<A> {
    type Saved = ();

    fn name(&self) -> &str {
        A::BY.component()
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<A: Analysis> KeyedOperator for Analyzer<A> {
    type Key = i64;
    type In = Transaction;
    type Out = Scored;
    type State = A::History;

    fn apply(
        &mut self,
        _account: &i64,
        transaction: Transaction,
        history: &mut Keyed<A::History>,
        out: &mut Emitter<Scored>,
    ) -> Result<()> {
        let score = A::score(history, &transaction);
        out.emit(Scored { transaction: transaction.id, by: A::BY, score });
        Ok(())
    }
}
