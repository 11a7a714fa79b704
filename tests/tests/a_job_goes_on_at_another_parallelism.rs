//! A job that was stopped goes on at another parallelism: each key goes on once, where it is at home now, and
//! splits move with their positions. What cannot be spread is refused before the first event.

use std::time::Duration;
use streamwork::MemoryStore;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;

const EVENTS: u64 = 400;
const KEYS: u64 = 50;

/// Counts what its instance gets.
#[derive(Component, Clone, Default)]
struct Own {
    #[state]
    count: u64,
}

impl Operator for Own {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        self.count += 1;
        out.emit(n);
        Ok(())
    }
}

fn job() -> Job {
    Job::new("rescaled").delivery(Delivery::exactly_once(Duration::from_millis(2)))
}

fn keyed(parallelism: usize, got: &Collect<(u64, u64)>) -> Job {
    let job = job();
    job.source(FromIter::new(0..EVENTS).splits(5))
        .rate(4_000.0)
        .parallelism(parallelism)
        .key_by_value(|n: &u64| n % KEYS)
        .fold(0_u64, |count, _| *count += 1)
        .parallelism(parallelism)
        .sink(got.clone())
        .parallelism(parallelism);
    job
}

#[test]
fn every_key_goes_on_once() {
    for seed in 0..20 {
        for parallelism in [1, 2, 3, 7] {
            let (got, store) = (Collect::new(), MemoryStore::new());
            let scheduler = |seed| Scheduler::seeded(seed).store(store.clone());
            let stopped = scheduler(seed).stop_after(250).run(keyed(4, &got)).unwrap();
            assert_eq!(stopped.status(), JobStatus::Stopped);
            assert!((1..EVENTS as usize).contains(&got.len()), "seed {seed}: {}", got.len());
            let outcome = scheduler(seed + 100).run(keyed(parallelism, &got)).unwrap();
            assert_eq!(outcome.status(), JobStatus::Finished);
            let mut all = got.take();
            all.sort_unstable();
            let expected: Vec<(u64, u64)> =
                (0..KEYS).flat_map(|key| (1..=EVENTS / KEYS).map(move |n| (key, n))).collect();
            assert_eq!(all, expected, "seed {seed}, at {parallelism}");
        }
    }
}

#[test]
fn what_belongs_to_an_instance_is_refused_and_goes_on_as_it_was() {
    for seed in 0..20 {
        let (got, store) = (Collect::new(), MemoryStore::new());
        let scheduler = || Scheduler::seeded(seed).store(store.clone());
        let own = |parallelism| {
            let job = job();
            let numbers = job.source(FromIter::new(0..EVENTS).splits(5)).rate(4_000.0);
            numbers.apply(Own::default()).parallelism(parallelism).sink(got.clone());
            job
        };
        scheduler().stop_after(400).run(own(2)).unwrap();
        let before = got.len();
        let error = scheduler().run(own(3)).unwrap_err();
        assert!(matches!(error, Error::Incompatible { .. }), "{error}");
        assert!(error.to_string().contains("`own.count` was saved by 2 instances"), "{error}");
        assert_eq!(got.len(), before, "no event has come through");
        assert_eq!(scheduler().run(own(2)).unwrap().status(), JobStatus::Finished);
        let mut all = got.take();
        all.sort_unstable();
        assert_eq!(all, (0..EVENTS).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn a_source_with_a_split_for_each_instance_keeps_its_parallelism() {
    let (got, store) = (Collect::new(), MemoryStore::new());
    let scheduler = || Scheduler::seeded(1).store(store.clone());
    let run = |parallelism| {
        let job = job();
        let numbers = job.source(FromIter::new(0..EVENTS)).rate(4_000.0).parallelism(parallelism);
        numbers.sink(got.clone());
        job
    };
    scheduler().stop_after(400).run(run(2)).unwrap();
    let error = scheduler().run(run(3)).unwrap_err().to_string();
    assert!(error.contains("\"from-iter\" falls into 3 splits, and had 2"), "{error}");
    assert_eq!(scheduler().run(run(2)).unwrap().status(), JobStatus::Finished);
    let mut all = got.take();
    all.sort_unstable();
    assert_eq!(all, (0..EVENTS).collect::<Vec<_>>());
}
