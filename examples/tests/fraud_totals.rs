//! Each transaction gets three scores and one decision, and the sum is what somebody comes to who looks
//! at one transaction after the other. Also in any order in which the instances get their turns.

#![expect(clippy::unwrap_used, reason = "a test may")]

use examples::jobs::fraud::{
    Analysis, AverageTicket, Decision, Frequency, Proximity, Score, ScoreStore, Simulation,
    fraud_detection,
};
use examples::{Console, Setting};
use std::collections::{BTreeMap, HashMap};
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use uuid::Uuid;

/// The scores of an account's transactions, one after the other.
#[derive(Default)]
struct Account {
    average_ticket: <AverageTicket as Analysis>::History,
    proximity: <Proximity as Analysis>::History,
    frequency: <Frequency as Analysis>::History,
}

/// What the transactions' scores add up to, evaluated one transaction after the other.
fn one_by_one(simulation: Simulation, events: u64) -> BTreeMap<Uuid, Score> {
    let mut accounts = HashMap::<i64, Account>::new();
    let totals = (0..events).map(|n| {
        let transaction = simulation.transaction(n);
        let account = accounts.entry(transaction.account).or_default();
        let scores = [
            AverageTicket::score(&mut account.average_ticket, &transaction),
            Proximity::score(&mut account.proximity, &transaction),
            Frequency::score(&mut account.frequency, &transaction),
        ];
        (transaction.id, scores.into_iter().sum())
    });
    totals.collect()
}

fn job(simulation: Simulation, events: u64, store: &ScoreStore, console: &Console) -> Job {
    let input = Generator::indexed(move |n| simulation.transaction(n)).events(events);
    fraud_detection(input, 1, 2, store, &Setting::printing_to(console.clone()))
}

/// Checks what a job printed and stored.
#[track_caller]
fn check(expected: &BTreeMap<Uuid, Score>, outcome: &Outcome, store: &ScoreStore, text: &str) {
    let events = expected.len() as u64;
    assert_eq!((outcome.events_in(), outcome.events_out()), (events, 3 * events));
    assert_eq!((outcome.failed(), outcome.dropped()), (0, 0));
    let mut changes = BTreeMap::<Uuid, u64>::new();
    let mut decisions = BTreeMap::<Uuid, Vec<String>>::new();
    for line in text.lines() {
        if let Some(change) = line.strip_prefix("Transaction score change: ") {
            *changes.entry(change[..36].parse().unwrap()).or_default() += 1;
        } else if let Some(decision) = line.strip_prefix("Transaction decision: ") {
            let (id, decision) = decision.split_once(" ==> ").unwrap();
            let (verdict, rest) = decision.split_once(' ').unwrap();
            let (_, total) = rest.split_once("total: ").unwrap();
            let decision = format!("{verdict} {}", total.trim_end_matches(']'));
            decisions.entry(id.parse().unwrap()).or_default().push(decision);
        }
    }
    assert_eq!((changes.len(), decisions.len()), (expected.len(), expected.len()));
    for (id, total) in expected {
        assert_eq!(changes[id], 3, "{id}");
        assert_eq!(decisions[id], [format!("{} {total}", Decision::of(*total))], "{id}");
        assert_eq!(store.get(*id, Score::of(0.123)), *total, "{id}");
    }
}

#[test]
fn ten_thousand_transactions_are_decided_as_one_by_one() {
    let simulation = Simulation::seeded(1);
    let expected = one_by_one(simulation, 10_000);
    let fraud = expected.values().filter(|total| **total >= Score::ONE).count();
    assert!((100..2_000).contains(&fraud), "{fraud} are too few or too many to show anything");
    let (store, console) = (ScoreStore::keeping(10_000), Console::memory());
    let outcome = Engine::new().run(job(simulation, 10_000, &store, &console)).unwrap();
    check(&expected, &outcome, &store, &console.text());
}

#[test]
fn ten_thousand_transactions_are_decided_as_one_by_one_in_any_order_of_turns() {
    let simulation = Simulation::seeded(2);
    let expected = one_by_one(simulation, 10_000);
    for seed in 0..3 {
        let (store, console) = (ScoreStore::keeping(10_000), Console::memory());
        let job = job(simulation, 10_000, &store, &console);
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        check(&expected, &outcome, &store, &console.text());
    }
}

#[test]
fn few_transactions_in_many_orders_of_turns() {
    let simulation = Simulation::seeded(3);
    let expected = one_by_one(simulation, 150);
    for seed in 0..100 {
        let (store, console) = (ScoreStore::keeping(150), Console::memory());
        let job = job(simulation, 150, &store, &console);
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        check(&expected, &outcome, &store, &console.text());
    }
}

/// The store is bounded, and whoever has a clone of it reads it.
#[test]
fn another_component_reads_the_scores() {
    let simulation = Simulation::seeded(1);
    let expected = one_by_one(simulation, 1_000);
    let (store, console) = (ScoreStore::keeping(100), Console::memory());
    Engine::new().run(job(simulation, 1_000, &store, &console)).unwrap();
    assert_eq!(store.len(), 100);

    // Another job, which only has a clone of the store.
    let reader = store.clone();
    let found = Collect::new();
    let job = Job::new("reader");
    job.source(FromIter::new((0..1_000).map(move |n| simulation.transaction(n).id)))
        .map(move |id| (*id, reader.get(*id, Score::ZERO).to_string()))
        .sink(found.clone());
    Engine::new().run(job).unwrap();
    let found = found.take();
    assert_eq!(found.len(), 1_000);
    let suspicious: Vec<_> = found.iter().filter(|(_, score)| score != "0.0").collect();
    assert!((1..=100).contains(&suspicious.len()), "{}", suspicious.len());
    for (id, score) in suspicious {
        assert_eq!(*score, expected[id].to_string());
    }
}
