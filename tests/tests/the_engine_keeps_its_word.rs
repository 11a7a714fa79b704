//! The engine with its threads and a data directory: a slow branch and small links keep no checkpoint from being
//! taken, nothing is lost by a failure, and what it cannot have it says, within bounds.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::testing::{Fault, Faulty};
use streamwork::{
    CheckpointId, CheckpointStore, Clock, DataDirError, Generation, MemoryStore, SegmentId,
    StoreError, SystemClock,
};
use streamwork_tests::{Heavy, wait_until};

/// A directory of a test, which is gone with it.
struct Directory(PathBuf);

impl Directory {
    fn new(test: &str) -> Self {
        let name = format!("streamwork-engine-{test}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn engine(&self) -> Engine {
        Engine::new().arbiters(2).data_dir(self.0.join("kept"))
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

/// Counts what it passes on.
#[derive(Component, Clone, Default)]
struct Count {
    #[state]
    count: u64,
}

impl Operator for Count {
    type In = u64;
    type Out = (u64, u64);

    fn apply(&mut self, n: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
        self.count += 1;
        out.emit((self.count, n));
        Ok(())
    }
}

/// Takes a millisecond for each event.
fn slowly(event: &Heavy) -> u64 {
    let clock = SystemClock::new();
    let until = clock.now() + Duration::from_millis(1);
    while clock.now() < until {
        std::thread::yield_now();
    }
    event.number
}

#[test]
fn a_diamond_with_a_slow_branch_and_one_without_events_takes_its_checkpoints() {
    const EVENTS: u64 = 800;
    let directory = Directory::new("diamond");
    let got = Collect::new();
    let job = Job::new("diamond")
        .delivery(Delivery::exactly_once(Duration::from_millis(10)))
        .link_limits(LinkLimits { frames: 1, ..LinkLimits::default() });
    let numbers = job.source(Generator::indexed(Heavy::new).events(EVENTS));
    let fast = numbers.map(|event| event.number).named("fast");
    let slow = numbers.map(slowly).named("slow");
    let none = numbers.filter(|_| false).map(|event| event.number).named("none");
    let branches = [fast, slow, none].map(|branch| branch.group(Shuffle::new()));
    Streams::of(branches).apply(Count::default()).sink(got.clone());
    let outcome = directory.engine().run(job).unwrap();
    assert_eq!(outcome.status(), JobStatus::Finished);
    // The one at the end is not all: the slow branch takes as long as eighty of them.
    let checkpoints = outcome.checkpoints();
    assert!(checkpoints.completed > 2, "{checkpoints:?}");
    assert_eq!((outcome.restarts(), outcome.failed(), outcome.dropped()), (0, 0, 0));
    let (mut counts, mut numbers): (Vec<u64>, Vec<u64>) = got.take().into_iter().unzip();
    counts.sort_unstable();
    numbers.sort_unstable();
    assert_eq!(counts, (1..=2 * EVENTS).collect::<Vec<_>>());
    assert_eq!(numbers, (0..EVENTS).flat_map(|n| [n, n]).collect::<Vec<_>>());
}

const EVENTS: u64 = 4_000;

/// Counts numbers, and panics at one of them.
fn panicking(delivery: Delivery, sink: &Collect<(u64, u64)>) -> Job {
    let job = Job::new("counts").delivery(delivery);
    let numbers = job.source(FromIter::new(0..EVENTS).splits(3)).parallelism(2).rate(20_000.0);
    let fault = Fault::panic("count", EVENTS / 2);
    let counter = Faulty::new(Count::default(), Some(fault));
    numbers.apply(counter).sink(sink.clone());
    job
}

#[test]
fn at_least_once_loses_nothing_to_a_panic() {
    let (directory, got) = (Directory::new("at-least-once"), Collect::new());
    let delivery = Delivery::at_least_once_by_checkpoints(Duration::from_millis(5));
    let outcome = directory.engine().run(panicking(delivery, &got)).unwrap();
    assert_eq!((outcome.status(), outcome.restarts() > 0), (JobStatus::Finished, true));
    assert!(outcome.checkpoints().completed > 0);
    let all = got.take();
    let came: BTreeSet<u64> = all.iter().map(|(_, n)| *n).collect();
    assert!(came.into_iter().eq(0..EVENTS), "of {} events some are missing", all.len());
    // What was counted is what was seen since the checkpoint, so no event counts for nothing.
    assert!(all.iter().map(|(count, _)| *count).max() >= Some(EVENTS), "{:?}", all.last());
}

#[test]
fn exactly_once_repeats_nothing_after_a_panic() {
    let (directory, got) = (Directory::new("exactly-once"), Collect::new());
    let delivery = Delivery::exactly_once(Duration::from_millis(5));
    let outcome = directory.engine().run(panicking(delivery, &got)).unwrap();
    assert_eq!((outcome.status(), outcome.restarts() > 0), (JobStatus::Finished, true));
    let (mut counts, mut numbers): (Vec<u64>, Vec<u64>) = got.take().into_iter().unzip();
    counts.sort_unstable();
    numbers.sort_unstable();
    assert_eq!(counts, (1..=EVENTS).collect::<Vec<_>>());
    assert_eq!(numbers, (0..EVENTS).collect::<Vec<_>>());
}

/// A job without an end.
fn endless(name: &str) -> Job {
    let job = Job::new(name).delivery(Delivery::exactly_once(Duration::from_millis(5)));
    let numbers = job.source(Generator::indexed(|n| n)).rate(1_000.0);
    numbers.apply(Count::default()).sink(Collect::new());
    job
}

/// A store that panics when it is to put its segment of this number.
#[derive(Clone, Debug)]
struct Panicking {
    inner: MemoryStore,
    puts: Arc<AtomicU64>,
    panics_at: u64,
    _held: Held,
}

/// Counts stores, and is slow to let one go.
#[derive(Debug)]
struct Held(Arc<AtomicU64>);

impl Clone for Held {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(&self.0))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        (0..20_000).for_each(|_| std::thread::yield_now());
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl CheckpointStore for Panicking {
    fn begin(&mut self) -> Result<Generation, StoreError> {
        self.inner.begin()
    }

    fn reserve(&mut self, count: u64) -> Result<CheckpointId, StoreError> {
        self.inner.reserve(count)
    }

    fn put(&mut self, id: SegmentId, bytes: &[u8]) -> Result<(), StoreError> {
        let put = self.puts.fetch_add(1, Ordering::Relaxed) + 1;
        assert!(put != self.panics_at, "a store that panics on cue");
        self.inner.put(id, bytes)
    }

    fn publish(
        &mut self,
        generation: Generation,
        id: CheckpointId,
        manifest: &[u8],
    ) -> Result<(), StoreError> {
        self.inner.publish(generation, id, manifest)
    }

    fn manifests(&self) -> Result<Vec<CheckpointId>, StoreError> {
        self.inner.manifests()
    }

    fn manifest(&self, id: CheckpointId) -> Result<Vec<u8>, StoreError> {
        self.inner.manifest(id)
    }

    fn segment(&self, id: SegmentId) -> Result<Vec<u8>, StoreError> {
        self.inner.segment(id)
    }

    fn segments(&self) -> Result<Vec<SegmentId>, StoreError> {
        self.inner.segments()
    }

    fn remove_manifest(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        self.inner.remove_manifest(id)
    }

    fn remove_segment(&mut self, id: SegmentId) -> Result<(), StoreError> {
        self.inner.remove_segment(id)
    }

    fn reopen(&mut self) -> Result<(), StoreError> {
        self.inner.reopen()
    }
}

#[test]
fn a_job_that_has_ended_has_let_go_of_its_store() {
    let count = Arc::new(AtomicU64::new(1));
    let (inner, puts, held) = (MemoryStore::new(), Arc::default(), Held(Arc::clone(&count)));
    let store = Panicking { inner, puts, panics_at: u64::MAX, _held: held };
    let engine = Engine::new().store(store);
    // The second run finds that the job is over.
    for events in [10, 0] {
        let job = Job::new("numbers").delivery(Delivery::exactly_once(Duration::from_millis(1)));
        job.source(FromIter::new(0..10_u64)).sink(Collect::new());
        let outcome = engine.run(job).unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 1, "there is only the one that the engine has");
        assert_eq!(outcome.events_in(), events);
    }
}

#[test]
fn a_store_that_panics_fails_the_job() {
    for panics_at in [1, 7] {
        let (inner, puts) = (MemoryStore::new(), Arc::default());
        let held = Held(Arc::new(AtomicU64::new(1)));
        let store = Panicking { inner, puts, panics_at, _held: held };
        let handle = Engine::new().store(store.clone()).start(endless("numbers")).unwrap();
        wait_until("the job has failed", || handle.status() == JobStatus::Failed);
        let error = handle.wait().unwrap_err();
        assert!(matches!(error, Error::Failed { .. }), "{error}");
        assert!(error.to_string().contains("the writer of checkpoints died"), "{error}");
        assert_eq!(store.puts.load(Ordering::Relaxed), panics_at);
    }
}

#[test]
fn a_directory_is_used_by_one_job_at_a_time() {
    let directory = Directory::new("locked");
    let first = directory.engine().start(endless("numbers")).unwrap();
    wait_until("it runs", || first.status() == JobStatus::Running);
    let error = directory.engine().run(endless("numbers")).unwrap_err();
    let is_locked = |error: &Error| {
        matches!(error, Error::DataDirectory { source: DataDirError::Locked { .. }, .. })
    };
    assert!(is_locked(&error), "{error:?}");
    let error = directory.engine().fresh().run(endless("numbers")).unwrap_err();
    assert!(is_locked(&error), "{error:?}");
    // The first has not noticed, and afterwards the next one has it.
    first.stop();
    let stopped = first.wait().unwrap();
    assert_eq!((stopped.status(), stopped.restarts()), (JobStatus::Stopped, 0));
    let next = directory.engine().start(endless("numbers")).unwrap();
    wait_until("it runs", || next.status() == JobStatus::Running);
    next.stop();
    let next = next.wait().unwrap();
    assert_eq!(next.checkpoints().restored, stopped.checkpoints().last);
    assert!(next.checkpoints().restored.is_some());
}

#[test]
fn a_directory_of_another_job_is_refused_and_left() {
    let directory = Directory::new("another");
    let first = directory.engine().start(endless("numbers")).unwrap();
    first.stop();
    let stopped = first.wait().unwrap();
    match directory.engine().run(endless("letters")).unwrap_err() {
        Error::DataDirectory { source: DataDirError::OtherJob { found, job, .. }, .. } => {
            assert_eq!((&*found, &*job), ("numbers", "letters"));
        }
        other => panic!("{other:?}"),
    }
    let again = directory.engine().start(endless("numbers")).unwrap();
    again.stop();
    assert_eq!(again.wait().unwrap().checkpoints().restored, stopped.checkpoints().last);
}

#[test]
fn a_file_is_no_directory() {
    let directory = Directory::new("file");
    fs::write(directory.0.join("kept"), "text").unwrap();
    let error = directory.engine().run(endless("numbers")).unwrap_err();
    let refused = matches!(&error, Error::DataDirectory { source: DataDirError::NoDirectory { path }, .. }
        if *path == directory.0.join("kept"));
    assert!(refused, "{error:?}");
    assert_eq!(fs::read_to_string(directory.0.join("kept")).unwrap(), "text");
}
