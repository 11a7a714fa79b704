//! A sink that commits is asked to prepare and to commit at its moments, and no other sink is.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

use std::sync::{Arc, Mutex};
use std::task::{self, Poll};
use streamwork::prelude::*;
use streamwork::testing::{Faulty, SinkHarness};
use streamwork::{CheckpointId, Effect, Handle};

/// Notes what is done to it and its clones.
#[derive(Component, Clone, Default)]
struct Noting {
    index: usize,
    open: Vec<u64>,
    fails_to: &'static str,
    notes: Arc<Mutex<Vec<String>>>,
}

impl Noting {
    fn failing_to(what: &'static str) -> Self {
        Self { fails_to: what, ..Self::default() }
    }

    fn note(&self, what: &str, rest: impl std::fmt::Display) -> Result<()> {
        self.notes.lock().unwrap().push(format!("{what} {rest}"));
        if what == self.fails_to { Err(format!("cannot {what}").into()) } else { Ok(()) }
    }

    /// Sorted, since instances take turns.
    fn notes(&self) -> Vec<String> {
        let mut notes = std::mem::take(&mut *self.notes.lock().unwrap());
        notes.sort();
        notes
    }
}

impl TwoPhaseSink for Noting {
    type In = u64;
    type Handle = (usize, Vec<u64>);

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.index = ctx.index();
        Ok(())
    }

    fn write(&mut self, n: u64) -> Result<()> {
        self.open.push(n);
        Ok(())
    }

    fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Self::Handle>> {
        let at = if checkpoint == CheckpointId::END { "the end" } else { "a checkpoint" };
        self.note("prepare", format!("{} at {at}", self.index))?;
        let open = std::mem::take(&mut self.open);
        Ok((!open.is_empty()).then_some((self.index, open)))
    }

    fn commit(&mut self, (index, numbers): Self::Handle) -> Result<()> {
        self.note("commit", format!("{numbers:?} of {index}, set up as {}", self.index))
    }
}

fn run<S: Sink<In = u64> + Clone>(sink: S, parallelism: usize) -> Result<Outcome, Error> {
    let job = Job::new("noted");
    job.source(FromIter::new(0..4_u64)).sink(sink).parallelism(parallelism);
    Engine::new().run(job)
}

#[test]
fn without_checkpoints_each_instance_commits_at_the_end_what_it_wrote() {
    let noting = Noting::default();
    run(noting.clone(), 2).unwrap();
    let expected = [
        "commit [0, 2] of 0, set up as 0",
        "commit [1, 3] of 1, set up as 1",
        "prepare 0 at the end",
        "prepare 1 at the end",
    ];
    assert_eq!(noting.notes(), expected);
}

#[test]
fn an_instance_without_events_commits_nothing() {
    let noting = Noting::default();
    let job = Job::new("noted");
    job.source(FromIter::new([1_u64])).filter(|_| false).sink(noting.clone());
    Engine::new().run(job).unwrap();
    assert_eq!(noting.notes(), ["prepare 0 at the end"]);
}

#[test]
fn what_cannot_be_prepared_or_committed_at_the_end_fails_the_job() {
    for what in ["prepare", "commit"] {
        let noting = Noting::failing_to(what);
        let error = run(noting.clone(), 1).unwrap_err().to_string();
        assert!(error.contains(&format!("cannot {what}")), "{error}");
        let notes = noting.notes();
        assert_eq!(notes.iter().filter(|note| note.starts_with(what)).count(), 1, "{notes:?}");
    }
}

#[test]
fn what_an_instance_wrote_that_panicked_is_not_committed() {
    let noting = Noting::default();
    let outcome = run(Faulty::panic_at(noting.clone(), 3), 1).unwrap();
    assert_eq!(outcome.restarts(), 1);
    assert_eq!(noting.notes(), ["commit [3] of 0, set up as 0", "prepare 0 at the end"]);
}

#[test]
fn with_checkpoints_the_end_commits_nothing_and_a_clone_of_the_prototype_commits_a_checkpoint() {
    let noting = Noting::default();
    let mut harness = SinkHarness::new(noting.clone());
    harness.instance(1, 2).checkpointed();
    harness.write(5).unwrap();
    harness.finish().unwrap();
    assert_eq!(noting.notes(), [""; 0]);
    let handle = harness.prepare(CheckpointId(7)).unwrap().unwrap();
    assert_eq!(noting.notes(), ["prepare 1 at a checkpoint"]);
    harness.commit(handle).unwrap();
    assert_eq!(noting.notes(), ["commit [5] of 1, set up as 0"]);
    assert!(harness.prepare(CheckpointId(8)).unwrap().is_none());
}

/// Has the methods of a sink that commits, and says that it is another.
#[derive(Component, Clone)]
struct Other;

impl Sink for Other {
    type In = u64;

    const EFFECT: Effect = Effect::Idempotent;

    fn write(&mut self, _: u64) -> Result<()> {
        Ok(())
    }

    fn prepare(&mut self, _: CheckpointId) -> Result<Option<Handle>> {
        panic!("nobody may ask for it")
    }
}

#[test]
fn a_sink_that_does_not_commit_is_not_asked_to() {
    let outcome = run(Other, 1).unwrap();
    assert_eq!(outcome.events_out(), 4);
}

#[test]
fn a_fault_leaves_the_sink_inside_what_it_is() {
    fn effect<S: Sink>(_: &S) -> Effect {
        S::EFFECT
    }
    assert_eq!(effect(&Faulty::new(Noting::default(), None)), Effect::Committing);
    assert_eq!(effect(&Faulty::new(Other, None)), Effect::Idempotent);
    let got = Collect::new();
    let mut harness = SinkHarness::new(Faulty::error_at(got.clone(), 2));
    harness.checkpointed().write(1).unwrap();
    harness.write(2).unwrap_err();
    let handle = harness.prepare(CheckpointId(1)).unwrap().unwrap();
    harness.write(3).unwrap();
    harness.prepare(CheckpointId(2)).unwrap();
    harness.clean_up().unwrap();
    harness.commit(handle).unwrap();
    assert_eq!(got.take(), [0; 0], "what is cleaned up is gone");
}

/// Has room for one event, and is never flushed.
#[derive(Component, Clone, Default)]
struct Narrow {
    full: bool,
}

impl Sink for Narrow {
    type In = u64;

    fn poll_ready(&mut self, _: &mut task::Context<'_>) -> Poll<Result<()>> {
        if self.full { Poll::Pending } else { Poll::Ready(Ok(())) }
    }

    fn write(&mut self, _: u64) -> Result<()> {
        self.full = true;
        Ok(())
    }

    fn poll_flush(&mut self, _: &mut task::Context<'_>) -> Poll<Result<()>> {
        Poll::Pending
    }
}

#[test]
#[should_panic = "there is no room for the event"]
fn a_harness_does_not_write_where_there_is_no_room() {
    let mut harness = SinkHarness::new(Narrow::default());
    harness.write(1).unwrap();
    drop(harness.write(2));
}

#[test]
#[should_panic = "it is not flushed"]
fn a_harness_does_not_prepare_what_is_not_flushed() {
    let mut harness = SinkHarness::new(Narrow::default());
    assert!(!harness.flush().unwrap());
    drop(harness.prepare(CheckpointId(1)));
}

#[test]
#[should_panic = "set up already"]
fn a_harness_is_told_of_checkpoints_before_it_is_set_up() {
    let mut harness = SinkHarness::new(Other);
    harness.setup().unwrap();
    harness.checkpointed();
}
