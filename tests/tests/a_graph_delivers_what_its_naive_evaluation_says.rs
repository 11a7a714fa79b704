//! Random graphs of every shape: each event arrives where a naive evaluation of the same graph says,
//! under either shell, and every counter adds up.

use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork_tests::{RandomGraph, assert_adds_up};

fn under_the_scheduler(parallelism: usize) {
    for seed in 0..400 {
        let mut graph = RandomGraph::seeded(seed, parallelism);
        let outcome = Scheduler::seeded(seed).run(graph.job()).expect("it runs to its end");
        graph.check(&outcome);
    }
}

#[test]
fn with_one_instance() {
    under_the_scheduler(1);
}

#[test]
fn with_two_instances() {
    under_the_scheduler(2);
}

#[test]
fn with_four_instances() {
    under_the_scheduler(4);
}

/// Ended before its time, a graph has lost nothing uncounted.
#[test]
fn stopped_or_drained_it_adds_up() {
    let mut dropped = 0;
    for seed in 0..400 {
        let mut graph = RandomGraph::seeded(seed, 1 + seed as usize % 3);
        let outcome = Scheduler::seeded(seed).stop_after(seed * 17 % 900).run(graph.job()).unwrap();
        assert_adds_up(&outcome, &format!("stopped, {graph:?}"));
        dropped += outcome.dropped();

        let mut graph = RandomGraph::seeded(seed, 1 + seed as usize % 3);
        let scheduler = Scheduler::seeded(seed).drain_after(seed * 17 % 900);
        let outcome = scheduler.run(graph.job()).unwrap();
        assert_adds_up(&outcome, &format!("drained, {graph:?}"));
        assert_eq!(outcome.dropped(), 0, "drained, {graph:?}");
    }
    assert!(dropped > 10_000, "too late to test anything: {dropped}");
}

#[test]
fn on_threads() {
    for seed in 1_000..1_060 {
        for parallelism in [1, 2, 4] {
            let mut graph = RandomGraph::seeded(seed, parallelism);
            let outcome = Engine::new().arbiters(3).run(graph.job()).unwrap();
            graph.check(&outcome);
        }
    }
}
