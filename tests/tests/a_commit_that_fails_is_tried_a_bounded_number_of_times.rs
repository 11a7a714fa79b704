//! A commit that fails for a while costs time and no event. One that never works ends the job, with an error
//! that says whose it is, of which checkpoint, and how many events wait for it; or is left out, where that
//! was asked for. So also for one that is left from an earlier run.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork::{CheckpointId, MemoryStore};

/// Checkpoints, each with what was committed of it.
type Entries = Arc<Mutex<Vec<(u64, Vec<u64>)>>>;

/// Enters numbers into a list; the first commits fail.
#[derive(Component, Clone, Default)]
struct Enter {
    open: Vec<u64>,
    entries: Entries,
    failures: Arc<AtomicU32>,
    tries: Arc<AtomicU32>,
    /// A number that can never be committed.
    never: Option<u64>,
}

impl Enter {
    fn failing(times: u32) -> Self {
        Self { failures: Arc::new(AtomicU32::new(times)), ..Self::default() }
    }

    fn entries(&self) -> Vec<u64> {
        let mut entries: Vec<u64> =
            self.entries.lock().unwrap().iter().flat_map(|(_, numbers)| numbers.clone()).collect();
        entries.sort_unstable();
        entries
    }
}

impl TwoPhaseSink for Enter {
    type In = u64;
    type Handle = (u64, Vec<u64>);

    fn setup(&mut self, _: &Context) -> Result<()> {
        self.open.clear();
        Ok(())
    }

    fn write(&mut self, n: u64) -> Result<()> {
        self.open.push(n);
        Ok(())
    }

    fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Self::Handle>> {
        let open = std::mem::take(&mut self.open);
        Ok((!open.is_empty()).then_some((checkpoint.0, open)))
    }

    fn commit(&mut self, (checkpoint, numbers): Self::Handle) -> Result<()> {
        self.tries.fetch_add(1, Ordering::Relaxed);
        let fails = self.failures.load(Ordering::Relaxed);
        if fails > 0 {
            self.failures.store(fails - 1, Ordering::Relaxed);
            return Err("the ledger is locked".into());
        }
        if self.never.is_some_and(|never| numbers.contains(&never)) {
            return Err("expired".into());
        }
        let mut entries = self.entries.lock().unwrap();
        let first = numbers[0];
        if !entries.iter().any(|(id, known)| *id == checkpoint && known.contains(&first)) {
            entries.push((checkpoint, numbers));
        }
        Ok(())
    }
}

fn job(enter: &Enter, on_error: Option<OnError>) -> Job {
    let job = Job::new("entered").delivery(Delivery::exactly_once(Duration::from_millis(2)));
    let sink = job.source(FromIter::new(0..100_u64).splits(1)).rate(1_000.0).sink(enter.clone());
    if let Some(on_error) = on_error {
        sink.on_commit_error(on_error);
    }
    job
}

fn all() -> Vec<u64> {
    (0..100).collect()
}

#[test]
fn one_that_works_in_the_end_costs_no_event() {
    for seed in 0..20 {
        for times in 1..8 {
            let enter = Enter::failing(times);
            let outcome = Scheduler::seeded(seed).run(job(&enter, None)).unwrap();
            assert_eq!((outcome.status(), outcome.dropped()), (JobStatus::Finished, 0));
            assert!(outcome.checkpoints().completed > 2, "{:?}", outcome.checkpoints());
            assert_eq!(enter.entries(), all(), "seed {seed}, {times} times");
        }
    }
}

#[test]
fn one_that_never_works_fails_the_job_and_the_next_start_tries_again() {
    for seed in 0..20 {
        let (enter, store) = (Enter::failing(u32::MAX), MemoryStore::new());
        let scheduler = || Scheduler::seeded(seed).store(store.clone());
        let error = scheduler().run(job(&enter, None)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("enter[0]: what it has prepared for checkpoint "), "{text}");
        assert!(text.contains(" events) cannot be committed: the ledger is locked"), "{text}");
        assert!(text.contains("(tried 8 times)"), "{text}");
        assert_eq!(enter.entries(), [0; 0]);

        let tries = enter.tries.swap(0, Ordering::Relaxed);
        assert!((8..100).contains(&tries), "{tries}");
        let error = scheduler().run(job(&enter, None)).unwrap_err();
        let Error::Commit { ref sink, events, .. } = error else { panic!("{error}") };
        assert_eq!((sink.as_str(), enter.tries.load(Ordering::Relaxed)), ("enter", 8));
        assert!(events > 0 && error.to_string().contains(&format!("({events} events)")), "{error}");

        enter.failures.store(7, Ordering::Relaxed);
        let outcome = scheduler().run(job(&enter, None)).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished);
        assert_eq!(enter.entries(), all(), "seed {seed}");
    }
}

#[test]
fn one_that_never_works_is_left_out_where_that_was_asked_for() {
    for seed in 0..20 {
        let enter = Enter { never: Some(40), ..Enter::default() };
        let outcome = Scheduler::seeded(seed).run(job(&enter, Some(OnError::Skip))).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished, "seed {seed}");
        let entries = enter.entries();
        assert!(!entries.contains(&40) && entries.contains(&99), "{entries:?}");
        assert_eq!(entries.len() as u64 + outcome.dropped(), 100, "seed {seed}");
        assert_eq!(all().iter().filter(|n| entries.contains(n)).count(), entries.len());
    }
}

#[test]
fn so_is_one_that_is_left_from_an_earlier_run() {
    let mut left = 0;
    for step in (1..).step_by(3) {
        let (enter, store) = (Enter { never: Some(40), ..Enter::default() }, MemoryStore::new());
        let scheduler = |seed: u64| Scheduler::seeded(seed).store(store.clone());
        let killed = scheduler(0).kill_after(step).run(job(&enter, None));
        // Once it fails by itself, nothing else happens later.
        let Ok(killed) = killed else { break };
        assert_eq!(killed.status(), JobStatus::Killed, "step {step}");
        if let Err(error) = scheduler(1).run(job(&enter, None)) {
            if matches!(error, Error::Commit { .. }) {
                left += 1;
            }
            let outcome = scheduler(2).run(job(&enter, Some(OnError::Skip))).unwrap();
            assert_eq!(outcome.status(), JobStatus::Finished, "step {step}");
            let entries = enter.entries();
            assert!(!entries.contains(&40) && entries.contains(&99), "{entries:?}");
            assert_eq!(entries.len() as u64 + outcome.dropped(), 100, "step {step}");
        }
    }
    assert!(left > 1, "{left}");
}

#[test]
fn a_checkpoint_without_events_has_nothing_to_commit() {
    let enter = Enter::failing(u32::MAX);
    let job = Job::new("entered").delivery(Delivery::exactly_once(Duration::from_millis(2)));
    let numbers = job.source(FromIter::new(0..100_u64)).rate(1_000.0);
    numbers.filter(|_| false).sink(enter.clone());
    let outcome = Scheduler::seeded(1).run(job).unwrap();
    assert_eq!((outcome.status(), enter.tries.load(Ordering::Relaxed)), (JobStatus::Finished, 0));
    assert!(outcome.checkpoints().completed > 5, "{:?}", outcome.checkpoints());
}
