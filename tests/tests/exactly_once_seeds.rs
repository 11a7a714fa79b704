//! Exactly once, in any interleaving: jobs that fail, are killed and start again end with the totals of
//! one that was never disturbed.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;
use streamwork::MemoryStore;
use streamwork::prelude::*;
use streamwork::testing::{Fault, Faulty, FaultyStore, Scheduler};

/// Counts by key, and emits the count.
#[derive(Component, Clone)]
struct Count;

impl KeyedOperator for Count {
    type Key = u64;
    type In = u64;
    type Out = Counted;
    type State = u64;

    fn apply(
        &mut self,
        key: &u64,
        _: u64,
        count: &mut Keyed<u64>,
        out: &mut Emitter<Counted>,
    ) -> Result<()> {
        **count += 1;
        out.emit(Counted { key: *key, count: **count });
        Ok(())
    }
}

#[derive(Event, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Counted {
    key: u64,
    count: u64,
}

const EVENTS: u64 = 600;
const KEYS: u64 = 7;

fn job(got: &Collect<Counted>, panic_at: Option<u64>) -> Job {
    job_with(got, panic_at, Duration::from_secs(60))
}

fn job_with(got: &Collect<Counted>, panic_at: Option<u64>, timeout: Duration) -> Job {
    let checkpoints = Checkpoints::every(Duration::from_millis(2)).timeout(timeout);
    let delivery = Delivery::exactly_once(checkpoints);
    let job = Job::new("counts").delivery(delivery);
    let fault = panic_at.map(|event| Fault::parse(&format!("panic:count:{event}")).unwrap());
    let counter = Faulty::new(Count, fault);
    job.source(FromIter::new(0..EVENTS).splits(5))
        .parallelism(2)
        .key_by_value(|n: &u64| n % KEYS)
        .apply(counter)
        .named("count")
        .parallelism(3)
        .sink(got.clone())
        .parallelism(2);
    job
}

fn expected() -> Vec<Counted> {
    let mut all = Vec::new();
    let mut counts = BTreeMap::new();
    for n in 0..EVENTS {
        let count = counts.entry(n % KEYS).or_insert(0);
        *count += 1;
        all.push(Counted { key: n % KEYS, count: *count });
    }
    all.sort();
    all
}

fn sorted(got: &Collect<Counted>) -> Vec<Counted> {
    let mut all = got.take();
    all.sort();
    all
}

#[test]
fn a_failure_goes_back_to_the_last_checkpoint() {
    for seed in 0..40 {
        let got = Collect::new();
        let outcome = Scheduler::seeded(seed).run(job(&got, Some(1 + seed * 4))).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished, "seed {seed}");
        let (seen, tree) = (sorted(&got), outcome.tree());
        assert!(seen == expected(), "seed {seed}: {} results\n{tree}", seen.len());
    }
}

#[test]
fn a_job_that_is_killed_anywhere_goes_on_where_it_was() {
    for seed in 0..40 {
        let got = Collect::new();
        let store = MemoryStore::new();
        let mut runs = 0;
        loop {
            runs += 1;
            let scheduler = Scheduler::seeded(seed * 100 + runs).store(store.clone());
            let outcome = scheduler.kill_after(40 * runs + seed).run(job(&got, None)).unwrap();
            if outcome.status() == JobStatus::Finished {
                break;
            }
            assert_eq!(outcome.status(), JobStatus::Killed, "seed {seed}");
        }
        assert!(runs > 3, "seed {seed}: it ended in run {runs}");
        let seen = sorted(&got);
        assert!(seen == expected(), "seed {seed}: {} results", seen.len());
    }
}

#[test]
fn a_store_that_fails_for_a_while_costs_checkpoints_and_no_event() {
    for seed in 0..40 {
        let got = Collect::new();
        let store = FaultyStore::failing(MemoryStore::new(), seed % 20 + 1..seed % 20 + 14);
        let outcome = Scheduler::seeded(seed).store(store.clone()).run(job(&got, None)).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished, "seed {seed}");
        assert!(store.writes() > seed % 20, "seed {seed}: {} writes", store.writes());
        let seen = sorted(&got);
        assert!(seen == expected(), "seed {seed}: {} results", seen.len());
    }
}

#[test]
fn a_checkpoint_that_takes_too_long_is_given_up_and_loses_nothing() {
    let mut given_up = 0;
    for seed in 0..40 {
        let got = Collect::new();
        let job = job_with(&got, None, Duration::from_millis(8));
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished, "seed {seed}");
        given_up += outcome.checkpoints().failed;
        let seen = sorted(&got);
        assert!(seen == expected(), "seed {seed}: {} results", seen.len());
    }
    assert!(given_up > 0);
}
