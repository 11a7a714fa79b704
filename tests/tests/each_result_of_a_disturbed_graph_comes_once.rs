//! Random graphs with state of every kind, disturbed in every way: components that fail, a store that fails
//! for a while, checkpoints that take too long, a process that dies, again and again, and comes back with
//! other parallelisms. What a naive evaluation says comes out in the end, each result once.
//!
//! `STREAMWORK_SEEDS=5000` takes so many seeds.

use std::time::Duration;
use streamwork::prelude::*;
use streamwork::testing::{FaultyStore, Scheduler};
use streamwork::{Checkpoints, MemoryStore};
use streamwork_tests::ExactGraph;

fn seeds() -> u64 {
    std::env::var("STREAMWORK_SEEDS").map_or(500, |seeds| seeds.parse().expect("a number"))
}

/// What was met on the way, over all seeds.
#[derive(Debug, Default)]
struct Met {
    runs: u64,
    killed: u64,
    completed: u64,
    restored: u64,
    restarts: u64,
    given_up: u64,
    results: usize,
}

fn disturb(seed: u64, met: &mut Met) {
    let mut graph = ExactGraph::seeded(seed, 1 + seed as usize % 4);
    let timeout = Duration::from_millis(if seed % 5 == 3 { 40 } else { 60_000 });
    let every = Duration::from_millis(1 + seed % 3);
    let checkpoints = Checkpoints::every(every).timeout(timeout).keep(1 + seed as usize % 3);
    let first = 1 + seed * 7 % 40;
    let broken = if seed % 4 == 1 { first..first + 10 } else { 0..0 };
    let store = FaultyStore::failing(MemoryStore::new(), broken);
    let kills = seed % 6;
    for run in 0.. {
        let job = graph.job(run, seed.is_multiple_of(2) || run == 1, checkpoints);
        let mut scheduler = Scheduler::seeded(seed * 100 + run).store(store.clone());
        if run < kills {
            scheduler = scheduler.kill_after(1 + (seed * 131 + run * 977) % 1_200 + run * 300);
        }
        let outcome = scheduler.run(job).unwrap_or_else(|error| panic!("{error}\n{graph:?}"));
        met.runs += 1;
        met.restored += u64::from(outcome.checkpoints().restored.is_some());
        met.restarts += u64::from(outcome.restarts() > 0);
        met.completed += outcome.checkpoints().completed;
        met.given_up += outcome.checkpoints().failed;
        match outcome.status() {
            JobStatus::Finished => break,
            JobStatus::Killed => met.killed += 1,
            status => panic!("{status}\n{graph:?}"),
        }
    }
    met.results += graph.results();
    if let Some(difference) = graph.difference() {
        panic!("{difference}");
    }
}

#[test]
fn whatever_happens_to_it() {
    let mut met = Met::default();
    let seeds = seeds();
    (0..seeds).for_each(|seed| disturb(seed, &mut met));
    assert!(met.killed > seeds && met.given_up > seeds, "{met:?}");
    assert!(met.completed > seeds * 2 && met.restored > seeds / 4, "{met:?}");
    assert!(met.restarts > seeds / 2, "{met:?}");
}
