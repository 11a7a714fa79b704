//! A job that has come to its end, by itself or drained, is over: another start says so and runs nothing. One
//! that was stopped goes on. What a component does at its end it does once, wherever the job was killed.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

use std::time::Duration;
use streamwork::MemoryStore;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;

/// Passes numbers on, and says at its end how many it were.
#[derive(Component, Clone, Default)]
struct Total {
    #[state]
    total: u64,
}

impl Operator for Total {
    type In = u64;
    type Out = (bool, u64);

    fn apply(&mut self, n: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
        self.total += 1;
        out.emit((false, n));
        Ok(())
    }

    fn finish(&mut self, out: &mut Emitter<Self::Out>) -> Result<()> {
        out.emit((true, self.total));
        Ok(())
    }
}

fn job(events: u64, got: &Collect<(bool, u64)>) -> Job {
    let job = Job::new("total").delivery(Delivery::exactly_once(Duration::from_millis(2)));
    let numbers = job.source(Generator::indexed(|n| n).events(events).splits(2)).rate(2_000.0);
    numbers.apply(Total::default()).sink(got.clone());
    job
}

fn assert_all(got: &Collect<(bool, u64)>, what: &str) {
    let mut all = got.take();
    all.sort_unstable();
    let (ends, numbers) = all.pop().zip(Some(all)).unwrap();
    assert_eq!(ends, (true, numbers.len() as u64), "{what}");
    let expected: Vec<_> = (0..numbers.len() as u64).map(|n| (false, n)).collect();
    assert_eq!(numbers, expected, "{what}");
}

#[test]
fn at_the_end_of_its_data() {
    for seed in 0..20 {
        let (got, store) = (Collect::new(), MemoryStore::new());
        let scheduler = || Scheduler::seeded(seed).store(store.clone());
        let first = scheduler().run(job(40, &got)).unwrap();
        assert_eq!((first.status(), got.len()), (JobStatus::Finished, 41));
        assert_all(&got, "the first run");
        let again = scheduler().run(job(40, &got)).unwrap();
        assert_eq!((again.status(), again.events_in()), (JobStatus::Finished, 0));
        assert_eq!(again.checkpoints().restored, first.checkpoints().last);
        assert!(got.is_empty());
    }
}

#[test]
fn wherever_it_is_killed_its_end_comes_once() {
    for step in 1.. {
        let (got, store) = (Collect::new(), MemoryStore::new());
        let scheduler = Scheduler::seeded(step).store(store.clone());
        let killed = scheduler.kill_after(step).run(job(40, &got)).unwrap();
        let outcome = Scheduler::seeded(step).store(store).run(job(40, &got)).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished, "step {step}");
        assert_eq!(got.len(), 41, "step {step}");
        assert_all(&got, &format!("step {step}"));
        if killed.status() == JobStatus::Finished && step > 1_000 {
            break;
        }
    }
}

#[test]
fn stopped_it_goes_on() {
    for seed in 0..20 {
        let (got, store) = (Collect::new(), MemoryStore::new());
        let scheduler = || Scheduler::seeded(seed).store(store.clone());
        let stopped = scheduler().stop_after(100).run(job(200, &got)).unwrap();
        assert_eq!(stopped.status(), JobStatus::Stopped);
        assert!(got.len() < 200, "seed {seed}");
        let outcome = scheduler().run(job(200, &got)).unwrap();
        assert_eq!((outcome.status(), got.len()), (JobStatus::Finished, 201), "seed {seed}");
        assert_eq!(outcome.checkpoints().restored, stopped.checkpoints().last);
        assert_all(&got, &format!("seed {seed}"));
    }
}

#[test]
fn drained_it_is_over() {
    for seed in 0..20 {
        let (got, store) = (Collect::new(), MemoryStore::new());
        let scheduler = || Scheduler::seeded(seed).store(store.clone());
        let drained = scheduler().drain_after(200).run(job(u64::MAX, &got)).unwrap();
        assert_eq!(drained.status(), JobStatus::Drained);
        assert!(got.len() > 1, "seed {seed}");
        let again = scheduler().run(job(u64::MAX, &got)).unwrap();
        assert_eq!((again.status(), again.events_in()), (JobStatus::Finished, 0));
        // Each split has come as far as it had.
        let mut all = got.take();
        all.sort_unstable();
        let last = all.pop();
        assert_eq!(last, Some((true, drained.events_in())), "seed {seed}");
        let came = all.len() as u64;
        all.dedup();
        assert_eq!((came, all.len() as u64), (drained.events_in(), came), "seed {seed}");
    }
}
