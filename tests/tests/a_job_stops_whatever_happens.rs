//! A job that is told to stop does so, also while something in it fails; and what fails it is not lost by
//! that.

use std::time::Duration;
use streamwork::MemoryStore;
use streamwork::prelude::*;
use streamwork::testing::{Faulty, Scheduler};

fn exactly_once() -> Delivery {
    Delivery::exactly_once(Duration::from_millis(2))
}

/// Panics at every event from the twentieth on.
fn crash_loop(got: &Collect<u64>) -> Job {
    let job = Job::new("loops").delivery(exactly_once());
    let often = RestartStrategy { restarts: 1_000_000, ..RestartStrategy::default() };
    let job = job.restarts(often);
    let sink = Faulty::panic_at(got.clone(), 20).always();
    job.source(Generator::indexed(|n| n)).sink(sink).on_error(OnError::Skip);
    job
}

#[test]
fn a_job_in_a_crash_loop_stops() {
    for seed in 0..60 {
        let got = Collect::new();
        let scheduler = Scheduler::seeded(seed).stop_after(20 + seed * 17).at_most(200_000);
        let outcome = scheduler.run(crash_loop(&got)).unwrap();
        assert_eq!(outcome.status(), JobStatus::Stopped, "seed {seed}");
    }
}

#[test]
fn a_closure_that_is_to_fail_the_job_does_so_before_it_stops() {
    let mut failed = 0;
    for seed in 0..200 {
        let got = Collect::new();
        let store = MemoryStore::new();
        let job = || {
            let job = Job::new("strict").delivery(exactly_once());
            job.source(Generator::indexed(|n| n).events(300))
                .rate(100_000.0)
                .try_map(|n: &u64| if *n == 100 { Err("a hundred".into()) } else { Ok(*n) })
                .on_error(OnError::Fail)
                .sink(got.clone());
            job
        };
        // However it ends, the event is never behind it.
        for run in 0..40 {
            let scheduler = Scheduler::seeded(seed * 100 + run).store(store.clone());
            match scheduler.stop_after(10 + seed % 50).run(job()) {
                Ok(outcome) => assert_eq!(outcome.status(), JobStatus::Stopped, "seed {seed}"),
                Err(error) => {
                    assert!(error.to_string().contains("a hundred"), "{error}");
                    failed += 1;
                    break;
                }
            }
        }
        assert!(got.take().iter().all(|n| *n < 100), "seed {seed}");
    }
    assert!(failed > 100, "{failed}");
}
