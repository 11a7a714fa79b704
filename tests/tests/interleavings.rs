//! Whole jobs under thousands of interleavings: nothing is lost, doubled or reordered on a link,
//! whether the job runs to its end, is drained or is stopped.

use std::collections::BTreeMap;
use streamwork::Counts;
use streamwork::prelude::*;
use streamwork::testing::{Fault, Faulty, Scheduler};
use streamwork_tests::{CountBy, Heavy, Multiply, small_links};

const EVENTS: u64 = 120;
const FACTOR: u64 = 3;
const KEYS: u64 = 5;

type Row = (u64, u64, u64);

/// Two sources, an operator that multiplies, a keyed count of three instances, two sinks.
fn job(rows: &Collect<Row>, fault: Option<Fault>) -> Job {
    let job = Job::new("interleavings").link_limits(small_links());
    job.source(Faulty::new(FromIter::new((0..EVENTS).map(Heavy::new)), fault.clone()))
        .parallelism(2)
        .apply(Faulty::new(Multiply { factor: FACTOR }, fault.clone()))
        .parallelism(2)
        .group(Fields::by(|event: &Heavy| event.number % KEYS))
        .apply(Faulty::new(CountBy::modulo(KEYS), fault))
        .parallelism(3)
        .sink(rows.clone())
        .parallelism(2);
    job
}

/// Sums over all components: nothing that was emitted is unaccounted for.
fn assert_adds_up(outcome: &Outcome, seed: u64) {
    let all: Counts =
        outcome.tree().components.iter().flat_map(|c| &c.instances).map(|i| i.counts).sum();
    for component in &outcome.tree().components {
        let c: Counts = component.instances.iter().map(|i| i.counts).sum();
        // A source's failures are no events that it received.
        if component.role != "source" {
            assert_eq!(c.received, c.applied + c.failed + c.discarded, "seed {seed}: {c:?}");
        }
        let left = c.sent + c.misrouted + c.unread + c.unsent;
        assert_eq!(c.emitted + c.copies, left, "seed {seed}: {c:?}");
    }
    assert_eq!(all.sent, all.received + all.stale, "seed {seed}: {all:?}");
    assert_eq!(outcome.dropped(), all.dropped(), "seed {seed}: {all:?}");
}

/// Per key the counts are 1, 2, 3, ...
fn assert_counts(rows: &[Row], seed: u64) {
    let mut counts: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (key, count, _) in rows {
        counts.entry(*key).or_default().push(*count);
    }
    for (key, mut seen) in counts {
        seen.sort_unstable();
        let expected: Vec<u64> = (1..=seen.len() as u64).collect();
        assert_eq!(seen, expected, "seed {seed}, key {key}");
    }
}

#[test]
fn to_the_end_everything_arrives_once() {
    for seed in 0..1_500 {
        let rows = Collect::new();
        let outcome = Scheduler::seeded(seed).run(job(&rows, None)).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished);
        assert_eq!((outcome.failed(), outcome.dropped()), (0, 0), "seed {seed}");
        assert_adds_up(&outcome, seed);
        let rows = rows.take();
        assert_counts(&rows, seed);
        let mut numbers: Vec<u64> = rows.iter().map(|(_, _, number)| *number).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..EVENTS * FACTOR), "seed {seed}");
    }
}

#[test]
fn drained_at_any_moment_what_was_read_is_processed() {
    let mut drained = 0;
    for seed in 0..1_500 {
        let rows = Collect::new();
        let scheduler = Scheduler::seeded(seed).drain_after(seed * 7 % 600);
        let outcome = scheduler.run(job(&rows, None)).unwrap();
        drained += u64::from(outcome.status() == JobStatus::Drained);
        assert_adds_up(&outcome, seed);
        assert_eq!(outcome.dropped(), 0, "seed {seed}");
        assert_eq!(outcome.events_in() * FACTOR, rows.len() as u64, "seed {seed}");
        assert_counts(&rows.take(), seed);
    }
    assert!(drained > 500, "the drains came too late to test anything: {drained}");
}

#[test]
fn stopped_at_any_moment_what_was_dropped_is_counted() {
    let (mut stopped, mut dropped) = (0, 0);
    for seed in 0..1_500 {
        let rows = Collect::new();
        let scheduler = Scheduler::seeded(seed).stop_after(seed * 7 % 600);
        let outcome = scheduler.run(job(&rows, None)).unwrap();
        stopped += u64::from(outcome.status() == JobStatus::Stopped);
        dropped += outcome.dropped();
        assert_adds_up(&outcome, seed);
        assert_eq!(outcome.events_out(), rows.len() as u64, "seed {seed}");
        let mut numbers: Vec<u64> = rows.take().iter().map(|(_, _, number)| *number).collect();
        numbers.sort_unstable();
        let rows = numbers.len();
        numbers.dedup();
        assert_eq!(numbers.len(), rows, "seed {seed}: an event came out twice");
    }
    assert!(stopped > 500 && dropped > 1_000, "too late to test anything: {stopped}, {dropped}");
}

#[test]
fn a_panic_anywhere_loses_its_event_and_no_other() {
    for seed in 0..900 {
        let rows = Collect::new();
        let component = ["from-iter", "multiply", "count-by"][seed as usize % 3];
        let fault = Fault::panic(component, seed / 3 % 30 + 1);
        let outcome = Scheduler::seeded(seed).run(job(&rows, Some(fault))).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished);
        let (failed, lost) = match component {
            // A source goes on at its position: the event is read again.
            "from-iter" => (0, 0),
            "multiply" => (1, FACTOR),
            _ => (1, 1),
        };
        assert_eq!((outcome.restarts(), outcome.failed()), (1, failed), "seed {seed}");
        assert_adds_up(&outcome, seed);
        assert_eq!(rows.len() as u64, EVENTS * FACTOR - lost, "seed {seed} {component}");
    }
}

#[test]
fn an_error_anywhere_loses_its_event_and_restarts_nothing() {
    for seed in 0..900 {
        let rows = Collect::new();
        let component = ["from-iter", "multiply", "count-by"][seed as usize % 3];
        let fault = Fault::error(component, seed / 3 % 30 + 1);
        let outcome = Scheduler::seeded(seed).run(job(&rows, Some(fault))).unwrap();
        assert_eq!((outcome.restarts(), outcome.failed()), (0, 1), "seed {seed}");
        assert_adds_up(&outcome, seed);
        let lost = if component == "count-by" { 1 } else { FACTOR };
        assert_eq!(rows.len() as u64, EVENTS * FACTOR - lost, "seed {seed} {component}");
        assert_counts(&rows.take(), seed);
    }
}

/// 3.8 and 3.14: what one sender sends to one receiver arrives in order.
#[test]
fn order_is_kept_on_every_link() {
    for seed in 0..500 {
        let got = Collect::new();
        let job = Job::new("order").link_limits(small_links());
        job.source(FromIter::new((0..EVENTS).map(Heavy::new)))
            .parallelism(2)
            .group(Fields::by(|event: &Heavy| event.number % KEYS))
            .sink(got.clone())
            .parallelism(3);
        Scheduler::seeded(seed).run(job).unwrap();
        let events = (0..3).map(|i| got.of_instance(i));
        for events in events {
            for sender in 0..2 {
                let numbers = events.iter().map(|e| e.number).filter(|n| n % 2 == sender);
                assert!(numbers.is_sorted(), "seed {seed}, sender {sender}");
            }
        }
    }
}

/// Emits its numbers, then an error that would come again.
#[derive(Component, Clone, Debug)]
struct Breaks {
    #[state]
    emitted: u64,
}

impl Source for Breaks {
    type Out = Heavy;

    async fn next(&mut self, out: &mut Emitter<Heavy>) -> Result<Progress> {
        if self.emitted == 40 {
            return Err(Fatal::new("broken").into());
        }
        out.emit(Heavy::new(self.emitted));
        self.emitted += 1;
        Ok(Progress::More)
    }
}

#[test]
fn sources_that_are_lost_together_lose_nothing_that_they_had_emitted() {
    for seed in 0..300 {
        let got = Collect::new();
        let job = Job::new("both").link_limits(small_links());
        job.source(Breaks { emitted: 0 }).parallelism(2).sink(got.clone());
        let error = Scheduler::seeded(seed).run(job).unwrap_err();
        assert!(error.to_string().ends_with("error: broken"), "{error}");
        let streamwork::Error::Failed { counts, .. } = error else { panic!("it failed otherwise") };
        assert_eq!(got.len() as u64, counts[0].1.emitted, "seed {seed}");
    }
}

/// Can't be flushed once it is finished.
#[derive(Component, Clone, Debug, Default)]
struct Closed {
    finished: bool,
}

impl Sink for Closed {
    type In = Heavy;

    fn write(&mut self, _: Heavy) -> Result<()> {
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.finished { Err("flushed after finish".into()) } else { Ok(()) }
    }

    fn finish(&mut self) -> Result<()> {
        self.finished = true;
        Ok(())
    }
}

#[test]
fn nothing_is_flushed_after_finish() {
    for seed in 0..300 {
        let job = Job::new("closed").link_limits(small_links());
        job.source(FromIter::new((0..20).map(Heavy::new))).parallelism(2).sink(Closed::default());
        assert_eq!(Scheduler::seeded(seed).run(job).unwrap().events_out(), 20, "seed {seed}");
    }
}

#[test]
fn the_rate_is_shared_among_the_instances() {
    let got = Collect::new();
    let job = Job::new("rate");
    job.source(FromIter::new(0..400_u64)).parallelism(4).rate(100.0).sink(got.clone());
    let clock = std::sync::Arc::new(std::sync::Mutex::new(None));
    let seen = std::sync::Arc::clone(&clock);
    job.source(FromIter::new(0..1_u64)).named("clock").apply_with("hold", move |ctx| {
        *seen.lock().unwrap() = Some(std::sync::Arc::clone(ctx.clock()));
        CountFirst
    });
    Scheduler::seeded(1).run(job).unwrap();
    let clock = clock.lock().unwrap().take().unwrap();
    let seconds = clock.now().since(streamwork::Moment::START).as_secs_f64();
    // 100 events for each of four instances, at 25 a second.
    assert!((3.9..5.0).contains(&seconds), "{seconds}");
}

#[derive(Component, Clone, Debug)]
struct CountFirst;

impl Operator for CountFirst {
    type In = u64;
    type Out = streamwork::Nothing;

    fn apply(&mut self, _: u64, _: &mut Emitter<Self::Out>) -> Result<()> {
        Ok(())
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    let run = |seed| {
        let rows = Collect::new();
        Scheduler::seeded(seed).run(job(&rows, None)).unwrap();
        rows.take()
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}
