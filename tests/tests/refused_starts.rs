//! A job that has become another since its last checkpoint is refused in words, and the checkpoint stays.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

use std::time::Duration;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork::{KeyGroups, MemoryStore};

/// Counts what it gets.
#[derive(Component, Clone, Default)]
struct Count {
    #[state]
    count: u64,
}

impl Operator for Count {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        self.count += 1;
        out.emit(n);
        Ok(())
    }
}

/// A source of ten splits, and what follows it.
fn job(build: impl FnOnce(&Stream<u64>)) -> Job {
    let job = Job::new("changing").delivery(Delivery::exactly_once(Duration::from_millis(1)));
    let numbers = job.source(FromIter::new(0..2_000_u64).splits(10)).rate(10_000.0);
    build(&numbers.named("numbers"));
    job
}

fn before(numbers: &Stream<u64>) {
    let keyed = numbers.key_by_value(|n: &u64| n % 7).fold(0_u64, |sum, n| *sum += n);
    keyed.named("sums").map(|(_, sum)| *sum).sink(Collect::new()).named("of sums");
    let counted = numbers.apply(Count::default()).named("count").parallelism(2);
    counted.sink(Collect::new()).named("of count");
}

/// A store with a checkpoint of [`before`].
fn stopped() -> MemoryStore {
    let store = MemoryStore::new();
    let stopped = Scheduler::seeded(1).store(store.clone()).stop_after(300).run(job(before));
    let stopped = stopped.unwrap();
    assert_eq!(stopped.status(), JobStatus::Stopped);
    assert!(stopped.checkpoints().completed > 0 && stopped.events_in() < 2_000);
    store
}

#[track_caller]
fn refused(after: Job, expected: &[&str]) {
    let store = stopped();
    let error = Scheduler::seeded(2).store(store.clone()).run(after).unwrap_err();
    assert!(matches!(error, Error::Incompatible { .. }), "{error}");
    for part in expected {
        assert!(error.to_string().contains(part), "{error}");
    }
    // The program of before goes on from it.
    let outcome = Scheduler::seeded(3).store(store).run(job(before)).unwrap();
    assert_eq!(outcome.status(), JobStatus::Finished);
    assert!(outcome.checkpoints().restored.is_some());
}

#[test]
fn a_component_that_is_gone_with_its_state() {
    let after = |numbers: &Stream<u64>| {
        numbers.apply(Count::default()).named("count").parallelism(2).sink(Collect::new());
    };
    let words = "has no component \"sums\" any more, and its state would be lost";
    refused(job(after), &[words, "`Job::drop_state_of(\"sums\")`"]);
}

#[test]
fn unless_that_is_accepted() {
    let job = job(|numbers| {
        let counted = numbers.apply(Count::default()).named("count").parallelism(2);
        counted.sink(Collect::new()).named("of count");
        numbers.sink(Collect::new()).named("new");
    });
    let job = job.drop_state_of("sums").drop_state_of("of sums");
    let store = stopped();
    let outcome = Scheduler::seeded(2).store(store).run(job);
    let outcome = outcome.unwrap();
    assert_eq!(outcome.status(), JobStatus::Finished);
    assert!(outcome.checkpoints().restored.is_some());
}

#[test]
fn keys_of_another_type() {
    let after = |numbers: &Stream<u64>| {
        before_without_sums(numbers);
        let keyed = numbers.key_by_value(|n: &u64| (n % 7) as u32).fold(0_u64, |sum, n| *sum += n);
        keyed.named("sums").map(|(_, sum)| *sum).sink(Collect::new()).named("of sums");
    };
    refused(job(after), &["\"sums\": its keys: u64 before, u32 now"]);
}

#[test]
fn keys_that_are_none_any_more() {
    let after = |numbers: &Stream<u64>| {
        before_without_sums(numbers);
        numbers.map(|n| n + 1).named("sums").sink(Collect::new()).named("of sums");
    };
    refused(job(after), &["\"sums\": it kept state of keys (u64), and keeps none now"]);
}

#[test]
fn a_component_of_another_role() {
    let after = |numbers: &Stream<u64>| {
        before_without_sums(numbers);
        numbers.sink(Collect::new()).named("sums");
        numbers.sink(Collect::new()).named("of sums");
    };
    refused(job(after), &["\"sums\" was an operator, and is a sink now: give it another name"]);
}

#[test]
fn a_plain_field_at_another_parallelism() {
    let after = |numbers: &Stream<u64>| {
        let keyed = numbers.key_by_value(|n: &u64| n % 7).fold(0_u64, |sum, n| *sum += n);
        keyed.named("sums").map(|(_, sum)| *sum).sink(Collect::new()).named("of sums");
        let counted = numbers.apply(Count::default()).named("count").parallelism(3);
        counted.sink(Collect::new()).named("of count");
    };
    let words = "the state field `count.count` was saved by 2 instances and can't be given to 3";
    refused(job(after), &[words]);
}

#[test]
fn another_number_of_key_groups_or_splits() {
    let words = "it was taken with 128 key groups, and the job has 64: set `Job::key_groups`";
    refused(job(before).key_groups(KeyGroups::new(64).unwrap()), &[words]);

    let after = Job::new("changing").delivery(Delivery::exactly_once(Duration::from_millis(1)));
    before(&after.source(FromIter::new(0..2_000_u64).splits(9)).named("numbers"));
    refused(after, &["\"numbers\" falls into 9 splits, and had 10"]);
}

fn before_without_sums(numbers: &Stream<u64>) {
    let counted = numbers.apply(Count::default()).named("count").parallelism(2);
    counted.sink(Collect::new()).named("of count");
}

#[test]
fn a_sink_that_is_gone_with_what_it_has_prepared() {
    let after = |numbers: &Stream<u64>| {
        let keyed = numbers.key_by_value(|n: &u64| n % 7).fold(0_u64, |sum, n| *sum += n);
        keyed.named("sums").map(|(_, sum)| *sum).sink(Collect::new()).named("renamed");
        before_without_sums(numbers);
    };
    refused(job(after), &["no sink \"of sums\" any more", "`Job::drop_state_of(\"of sums\")`"]);
}
