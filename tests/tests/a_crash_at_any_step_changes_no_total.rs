//! A job that is killed at any of its steps, and again on its way back, ends with the totals of one that was
//! never disturbed: whether a state is half written, a checkpoint is prepared and not published, published
//! and not committed, or committed and not noted.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

use std::collections::BTreeMap;
use std::time::Duration;
use streamwork::MemoryStore;
use streamwork::prelude::*;
use streamwork::testing::{FaultyStore, Scheduler};

const EVENTS: u64 = 60;
const KEYS: u64 = 4;

fn job(got: &Collect<(u64, u64)>) -> Job {
    let job = Job::new("counts").delivery(Delivery::exactly_once(Duration::from_millis(1)));
    job.source(FromIter::new(0..EVENTS).splits(3))
        .rate(2_000.0)
        .parallelism(2)
        .key_by_value(|n: &u64| n % KEYS)
        .fold(0_u64, |count, _| *count += 1)
        .parallelism(2)
        .sink(got.clone())
        .parallelism(2);
    job
}

fn assert_exact(got: &Collect<(u64, u64)>, what: &str) {
    let mut counts = BTreeMap::<u64, Vec<u64>>::new();
    got.take().into_iter().for_each(|(key, n)| counts.entry(key).or_default().push(n));
    assert_eq!(counts.len() as u64, KEYS, "{what}");
    for (key, mut counts) in counts {
        counts.sort_unstable();
        let all: Vec<u64> = (1..=EVENTS / KEYS).collect();
        assert_eq!(counts, all, "key {key}, {what}");
    }
}

/// Runs it up to one of these steps after the other, and then to its end. Says whether it was killed every
/// time.
fn killed_at(steps: &[u64]) -> bool {
    let (got, store) = (Collect::new(), MemoryStore::new());
    let run = |i: usize, scheduler: Scheduler| {
        let outcome = scheduler.store(store.clone()).run(job(&got)).unwrap();
        // What was put and not published is on no disk, as often as it is.
        if i.is_multiple_of(2) {
            store.lose_unpublished();
        }
        outcome.status()
    };
    let kill = |(i, step): (usize, &u64)| {
        let scheduler = Scheduler::seeded(7 + i as u64).kill_after(*step);
        run(i + *step as usize, scheduler) == JobStatus::Killed
    };
    let killed = steps.iter().enumerate().all(kill);
    assert_eq!(run(1, Scheduler::seeded(99)), JobStatus::Finished, "{steps:?}");
    assert_exact(&got, &format!("killed at {steps:?}"));
    killed
}

#[test]
fn killed_once() {
    let steps = (1..).take_while(|step| killed_at(&[*step])).count();
    assert!(steps > 100, "{steps}");
}

#[test]
fn killed_again_on_its_way_back() {
    for second in [1, 5, 20, 60, 150] {
        let mut step = 1;
        while killed_at(&[step, second]) {
            step += 7;
        }
        assert!(step > 100, "{step}, {second}");
    }
}

#[test]
fn any_write_may_fail() {
    for write in 1.. {
        let got = Collect::new();
        let store = FaultyStore::failing(MemoryStore::new(), write..write + 1);
        let outcome = Scheduler::seeded(3).store(store.clone()).run(job(&got)).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished, "write {write}");
        assert_exact(&got, &format!("write {write} failed"));
        let has_failed = store.writes() >= write;
        assert_eq!(outcome.checkpoints().failed, u64::from(has_failed), "write {write}");
        if !has_failed {
            assert!(write > 20, "{write}");
            break;
        }
    }
}
