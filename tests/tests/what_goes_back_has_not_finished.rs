//! A region that goes back is not at its end, whatever its sources have said before.

use std::time::Duration;
use streamwork::MemoryStore;
use streamwork::prelude::*;
use streamwork::testing::{Faulty, Scheduler};

const SEEDS: u64 = 60;
const EVENTS: u64 = 60;

/// Under exactly-once, with checkpoints all the time.
fn job() -> Job {
    Job::new("back").delivery(Delivery::exactly_once(Duration::from_millis(1)))
}

fn sorted(got: &Collect<u64>) -> Vec<u64> {
    let mut all = got.take();
    all.sort_unstable();
    all
}

#[test]
fn an_event_that_always_fails_fails_the_job_and_never_finishes_it() {
    for seed in 0..SEEDS {
        let job = job();
        job.source(FromIter::new(0..EVENTS))
            .sink(TryForEach::new(|n| if n == 30 { Err("never".into()) } else { Ok(()) }))
            .may_repeat();
        match Scheduler::seeded(seed).store(MemoryStore::new()).run(job) {
            Err(Error::Failed { failure, .. }) => {
                assert!(failure.to_string().contains("never"), "seed {seed}: {failure}");
            }
            other => panic!("seed {seed}: {other:?}"),
        }
    }
}

#[test]
fn a_failure_while_the_sources_come_to_their_end_loses_nothing() {
    for seed in 0..SEEDS {
        let got = Collect::new();
        let job = job();
        job.source(FromIter::new(0..EVENTS)).sink(Faulty::panic_at(got.clone(), 1 + seed % EVENTS));
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished, "seed {seed}");
        assert_eq!(sorted(&got), (0..EVENTS).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn a_failure_is_one_restart_however_many_instances_go_back() {
    for seed in 0..SEEDS {
        let job = job();
        job.source(FromIter::new(0..EVENTS).splits(2))
            .parallelism(3) // one of them has no split
            .sink(Faulty::panic_at(Collect::new(), 20));
        job.source(FromIter::new(0..EVENTS)).named("apart").sink(Collect::new()).named("from it");
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        let restarts = |name| outcome.component(name).unwrap().restarts;
        let counts = ["from-iter", "collect", "apart", "from it"].map(restarts);
        assert_eq!(counts, [0, 1, 0, 0], "seed {seed}");
    }
}

#[test]
fn nor_does_one_while_those_of_another_region_do() {
    for seed in 0..SEEDS {
        let (got, other) = (Collect::new(), Collect::new());
        let job = job();
        job.source(FromIter::new(0..EVENTS)).named("one").sink(Faulty::panic_at(got.clone(), 50));
        job.source(FromIter::new(0..seed * 20)).named("two").sink(other.clone()).named("the other");
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished, "seed {seed}");
        assert_eq!(sorted(&got), (0..EVENTS).collect::<Vec<_>>(), "seed {seed}");
        assert_eq!(sorted(&other), (0..seed * 20).collect::<Vec<_>>(), "seed {seed}");
    }
}
