//! Random graphs of every shape: each event arrives where a naive evaluation of the same graph says,
//! under either shell, and every counter adds up.

use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork_tests::RandomGraph;

fn under_the_scheduler(parallelism: usize) {
    for seed in 0..400 {
        let mut graph = RandomGraph::seeded(seed, parallelism);
        let outcome = Scheduler::seeded(seed).run(graph.job()).unwrap();
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
