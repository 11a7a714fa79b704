//! A source that is at its end beside one that never has anything: checkpoints go on, nothing ends by itself, and
//! what is done is done for the next starts too.

use std::time::Duration;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork::{CheckpointId, MemoryStore};
use streamwork_tests::wait_until;

const FEW: u64 = 3;

/// Never has anything, and has a position all the same.
#[derive(Component, Clone, Default)]
struct Silent {
    #[state]
    position: u64,
}

impl Source for Silent {
    type Out = u64;

    async fn next(&mut self, _: &mut Emitter<u64>) -> Result<Progress> {
        std::future::pending().await
    }
}

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

type Got = Collect<(bool, u64)>;

/// How the two stand to each other.
#[derive(Clone, Copy, Debug)]
enum Beside {
    /// They have nothing to do with each other.
    Apart,
    /// They flow together, and what is done has a branch of its own too.
    Together,
    /// As together, with a third that has something all the time.
    Busy,
}

const ALL: [Beside; 3] = [Beside::Apart, Beside::Together, Beside::Busy];

/// `few` gets what comes of the source that is done, `all` of all of them.
fn job(beside: Beside, few: &Got, all: &Got) -> Job {
    let job = Job::new("beside").delivery(Delivery::exactly_once(Duration::from_millis(2)));
    let done = job.source(FromIter::new(0..FEW)).named("done");
    let silent = job.source(Silent::default()).named("silent");
    done.apply(Total::default()).named("few").sink(few.clone()).named("of few");
    let mut streams = vec![silent.group(Shuffle::new())];
    if !matches!(beside, Beside::Apart) {
        streams.push(done.group(Shuffle::new()));
    }
    if matches!(beside, Beside::Busy) {
        let busy = job.source(Generator::indexed(|n| FEW + n)).rate(2_000.0).named("busy");
        streams.push(busy.group(Shuffle::new()));
    }
    Streams::of(streams).apply(Total::default()).named("all").sink(all.clone()).named("of all");
    job
}

#[track_caller]
fn assert_few(few: &Got, what: &str) {
    let mut got = few.take();
    got.sort_unstable();
    let numbers = (0..FEW).map(|n| (false, n));
    assert_eq!(got, numbers.chain([(true, FEW)]).collect::<Vec<_>>(), "{what}");
}

#[test]
fn checkpoints_go_on_and_what_is_done_stays_done() {
    for (seed, beside) in (0..10).flat_map(|seed| ALL.map(|beside| (seed, beside))) {
        let what = format!("{beside:?}, seed {seed}");
        let (few, all, store) = (Got::new(), Got::new(), MemoryStore::new());
        let scheduler = |run: u64| Scheduler::seeded(seed * 10 + run).store(store.clone());
        let first = scheduler(0).stop_after(600).run(job(beside, &few, &all)).unwrap();
        assert_eq!(first.status(), JobStatus::Stopped, "{what}");
        let taken = first.checkpoints();
        assert!(taken.completed > 10 && taken.failed == 0, "{what}: {taken:?}");
        assert_few(&few, &what);

        let again = scheduler(1).stop_after(600).run(job(beside, &few, &all)).unwrap();
        let taken = again.checkpoints();
        assert_eq!(taken.restored, first.checkpoints().last, "{what}");
        assert!(taken.completed > 10 && taken.failed == 0, "{what}: {taken:?}");
        assert_eq!(again.component("done").unwrap().emitted, 0, "{what}");
        assert!(few.is_empty(), "{what}: it has ended once");

        let drained = scheduler(2).drain_after(300).run(job(beside, &few, &all)).unwrap();
        assert_eq!(drained.status(), JobStatus::Drained, "{what}");
        assert_eq!(drained.component("done").unwrap().emitted, 0, "{what}");
        assert!(few.is_empty(), "{what}: it has ended once");
        // What they flow into ends once, with everything that has ever come.
        let mut got = all.take();
        got.sort_unstable();
        let (end, numbers) = got.split_last().unwrap();
        assert_eq!(*end, (true, numbers.len() as u64), "{what}");
        assert!(
            numbers.iter().copied().eq((0..numbers.len() as u64).map(|n| (false, n))),
            "{what}"
        );
        let expected = match beside {
            Beside::Apart => 0..=0,
            Beside::Together => FEW..=FEW,
            Beside::Busy => FEW + 1..=u64::MAX,
        };
        assert!(expected.contains(&(numbers.len() as u64)), "{what}: {}", numbers.len());
    }
}

#[test]
fn wherever_the_job_is_killed() {
    for (step, beside) in (1..150).step_by(3).flat_map(|step| ALL.map(|beside| (step, beside))) {
        let what = format!("{beside:?}, step {step}");
        let (few, all, store) = (Got::new(), Got::new(), MemoryStore::new());
        let scheduler = || Scheduler::seeded(step).store(store.clone());
        scheduler().kill_after(step).run(job(beside, &few, &all)).unwrap();
        let stopped = scheduler().stop_after(600).run(job(beside, &few, &all)).unwrap();
        assert_eq!(stopped.status(), JobStatus::Stopped, "{what}");
        assert_few(&few, &what);
    }
}

#[test]
fn with_threads_too() {
    let (few, all, store) = (Got::new(), Got::new(), MemoryStore::new());
    let engine = Engine::new().arbiters(2).store(store);
    for run in 0..3 {
        let handle = engine.start(job(Beside::Together, &few, &all)).unwrap();
        wait_until("it runs", || handle.status() == JobStatus::Running);
        if run == 0 {
            wait_until("what there is has come", || few.len() as u64 == FEW + 1);
        }
        let taken: Vec<CheckpointId> =
            ["a", "b", "c"].map(|name| handle.savepoint(&format!("{name}{run}")).unwrap()).into();
        assert!(taken.is_sorted_by(|a, b| a < b), "{taken:?}");
        assert_eq!(handle.status(), JobStatus::Running, "silence ends nothing");
        let done = handle.component("done").unwrap().emitted;
        assert_eq!(done, if run == 0 { FEW } else { 0 });
        handle.stop();
        assert_eq!(handle.wait().unwrap().status(), JobStatus::Stopped);
    }
    assert_few(&few, "over three runs");
}
