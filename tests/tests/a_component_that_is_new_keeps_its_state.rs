//! A keyed component that is added to a job which goes on has nothing in the checkpoint before, and all that
//! it counts in those after.

use std::collections::BTreeMap;
use std::time::Duration;
use streamwork::MemoryStore;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;

const EVENTS: u64 = 20_000;
const KEYS: u64 = 500;

type Counts = Collect<(u64, u64)>;

fn job(old: &Counts, new: Option<&Counts>) -> Job {
    let job = Job::new("grows").delivery(Delivery::exactly_once(Duration::from_millis(5)));
    let numbers = job.source(Generator::indexed(|n| n).events(EVENTS)).rate(20_000.0);
    let count = |name: &str, got: &Counts| {
        let counts = numbers.key_by_value(|n: &u64| n % KEYS).fold(0_u64, |n, _| *n += 1);
        counts.named(name).sink(got.clone()).named(&format!("from {name}"));
    };
    count("old", old);
    if let Some(new) = new {
        count("new", new);
    }
    job
}

/// The last count of each key.
fn last(got: &Counts) -> BTreeMap<u64, u64> {
    let mut last = BTreeMap::new();
    for (key, count) in got.take() {
        let before = last.insert(key, count);
        assert!(before.is_none_or(|before| before + 1 == count), "{key}: {count} after {before:?}");
    }
    last
}

#[test]
fn what_a_new_component_has_counted_is_in_the_next_checkpoint() {
    for seed in 0..3 {
        let store = MemoryStore::new();
        let run = |seed| Scheduler::seeded(seed).store(store.clone());
        let (old, new) = (Collect::new(), Collect::new());
        let first = run(seed).stop_after(400).run(job(&old, None)).unwrap();
        assert_eq!(first.status(), JobStatus::Stopped);
        let before = old.len() as u64;
        let second = run(seed + 1).stop_after(400).run(job(&old, Some(&new))).unwrap();
        assert_eq!(second.status(), JobStatus::Stopped);
        assert!(!new.is_empty() && old.len() < EVENTS as usize, "{} results", old.len());
        run(seed + 2).run(job(&old, Some(&new))).unwrap();
        assert_eq!(last(&old).values().sum::<u64>(), EVENTS, "seed {seed}");
        assert_eq!(last(&new).values().sum::<u64>(), EVENTS - before, "seed {seed}");
    }
}
