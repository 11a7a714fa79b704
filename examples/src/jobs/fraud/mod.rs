//! Chapter 4: transactions that three analyzers look at, each in its own way, and an aggregator that
//! decides when all three have spoken.

mod aggregator;
mod amount;
mod analyzer;
mod average_ticket;
mod frequency;
mod line;
mod proximity;
mod score;
mod simulation;
mod source;
mod store;
mod transaction;
mod utc;

pub use aggregator::{Decision, ScoreAggregator};
pub use analyzer::{Analysis, Analyzer};
pub use average_ticket::AverageTicket;
pub use frequency::Frequency;
pub use line::{IntoTransaction, LineError};
pub use proximity::Proximity;
pub use score::{Analyst, Score, Scored};
pub use simulation::Simulation;
pub use source::TransactionSource;
pub use store::ScoreStore;
pub use transaction::{Place, Position, Transaction};

use super::Setting;
use streamwork::prelude::*;

/// The components of the job.
pub const FRAUD_DETECTION: [&str; 5] = [
    TransactionSource::NAME,
    Analyst::AverageTicket.component(),
    Analyst::Proximity.component(),
    Analyst::Frequency.component(),
    ScoreAggregator::NAME,
];

/// Finds fraud among transactions: `transaction source` -> three analyzers by account ->
/// `score aggregator` by transaction. The scores are put into `store` as they change.
///
/// The analyzers look at what an account did before, so they want its transactions in order. Those of
/// one source instance come in order; with several `sources` there is none between them, and the
/// scores of an account depend on who was first.
///
/// ```
/// use examples::jobs::fraud::{Score, ScoreStore, Simulation, fraud_detection};
/// use examples::{Console, Setting};
/// use streamwork::prelude::*;
///
/// let simulation = Simulation::seeded(1);
/// let input = FromIter::new((0..3).map(move |n| simulation.transaction(n)));
/// let (console, store) = (Console::memory(), ScoreStore::keeping(100));
/// let job = fraud_detection(input, 1, 2, &store, &Setting::printing_to(console.clone()));
/// Engine::new().run(job).unwrap();
/// assert_eq!(console.text().matches("Transaction score change: ").count(), 9);
/// assert_eq!(console.text().matches("Transaction decision: ").count(), 3);
/// assert_eq!(store.get(simulation.transaction(2).id, Score::ONE), Score::ZERO);
/// ```
pub fn fraud_detection<S>(
    input: S,
    sources: usize,
    parallelism: usize,
    store: &ScoreStore,
    setting: &Setting,
) -> Job
where
    S: Source<Out: IntoTransaction> + Clone,
{
    let source = TransactionSource::new(input, setting.console.clone());
    let aggregator = ScoreAggregator::new(store.clone(), setting.console.clone());

    let job = Job::new("fraud-detection").delivery(setting.delivery);
    let source = job.source(setting.faulty(source)).parallelism(sources);
    let transactions = setting.pace(source);
    Streams::of([
        analyzed::<AverageTicket>(&transactions, parallelism, setting),
        analyzed::<Proximity>(&transactions, parallelism, setting),
        analyzed::<Frequency>(&transactions, parallelism, setting),
    ])
    .key_by(|scored: &Scored| &scored.transaction)
    .apply(setting.faulty(aggregator))
    .parallelism(parallelism);
    job
}

/// The scores that an analyzer gives, which knows each account's history.
fn analyzed<A: Analysis>(
    transactions: &Stream<Transaction>,
    parallelism: usize,
    setting: &Setting,
) -> Stage<Scored> {
    transactions
        .key_by(|transaction: &Transaction| &transaction.account)
        .apply(setting.faulty(Analyzer::<A>::new()))
        .parallelism(parallelism)
}
