//! A closure that fails loses the event at hand, for everybody behind it and for nobody else; it is
//! counted once, under its own name, and neither the component nor the source notices.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use streamwork::Cause;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork_tests::assert_adds_up;

const EVENTS: u64 = 1_000;
const BAD: u64 = 500;

/// How a closure fails on the event on cue.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Panic,
    Error,
    Fatal,
}

impl Kind {
    fn call(self, n: u64) -> Result<u64> {
        match self {
            _ if n != BAD => Ok(n),
            Self::Panic => panic!("the event on cue"),
            Self::Error => Err("the event on cue".into()),
            Self::Fatal => Err(Fatal::new("the event on cue").into()),
        }
    }
}

/// Runs a job under some interleavings, and on threads.
fn everywhere(check: impl Fn(&dyn Fn(Job) -> std::result::Result<Outcome, Error>, &str)) {
    for seed in 0..25 {
        check(&|job| Scheduler::seeded(seed).run(job), &format!("seed {seed}"));
    }
    check(&|job| Engine::new().run(job), "on threads");
}

fn sorted(events: &Collect<u64>) -> Vec<u64> {
    let mut events = events.take();
    events.sort_unstable();
    events
}

fn all() -> Vec<u64> {
    (1..=EVENTS).collect()
}

fn without_the_bad() -> Vec<u64> {
    (1..=EVENTS).filter(|n| *n != BAD).collect()
}

/// Behind the closure two sinks and a filter with a sink; beside it a sink on the source.
#[test]
fn it_is_missing_on_every_stream_behind_and_nowhere_else() {
    for kind in [Kind::Panic, Kind::Error] {
        everywhere(|run, what| {
            let calls = Arc::new(AtomicU64::new(0));
            let [first, second, even, direct] = [(); 4].map(|()| Collect::new());
            let job = Job::new("behind");
            let readings = job.source(FromIter::new(1..=EVENTS)).named("readings");
            let called = Arc::clone(&calls);
            let behind = readings
                .try_map(move |n| {
                    called.fetch_add(1, Ordering::Relaxed);
                    kind.call(*n)
                })
                .boxed();
            behind.sink(first.clone()).named("first").parallelism(2);
            behind.sink(second.clone()).named("second");
            behind.filter(|n| n % 2 == 0).sink(even.clone()).named("even");
            readings.sink(direct.clone()).named("direct");
            let outcome = run(job).unwrap();
            assert_eq!(sorted(&first), without_the_bad(), "{kind:?}, {what}");
            assert_eq!(sorted(&second), without_the_bad(), "{kind:?}, {what}");
            let halves = without_the_bad().into_iter().filter(|n| n % 2 == 0);
            assert!(sorted(&even).into_iter().eq(halves), "{kind:?}, {what}");
            assert_eq!(sorted(&direct), all(), "{kind:?}, {what}");
            assert_eq!((outcome.failed(), outcome.restarts()), (1, 0), "{kind:?}, {what}");
            assert_eq!(outcome.step("try_map#1 after readings").unwrap().failed, 1);
            assert_eq!(outcome.step("filter#2 after readings").unwrap().failed, 0);
            assert_eq!(outcome.component("readings").unwrap().emitted, EVENTS, "{what}");
            // Once for each event, however many read what comes out.
            assert_eq!(calls.load(Ordering::Relaxed), EVENTS, "{kind:?}, {what}");
            assert_adds_up(&outcome, what);
        });
    }
}

/// Of three steps in one chain, any may be the one that fails.
#[test]
fn a_chain_names_the_step_that_failed() {
    for kind in [Kind::Panic, Kind::Error] {
        for place in 1..=3 {
            everywhere(|run, what| {
                let at = |step| move |n: &u64| if step == place { kind.call(*n) } else { Ok(*n) };
                let got = Collect::new();
                let job = Job::new("chain");
                let readings = job.source(FromIter::new(1..=EVENTS)).named("readings");
                readings
                    .try_map(at(1))
                    .try_map(at(2))
                    .try_map(at(3))
                    .sink(got.clone())
                    .parallelism(2);
                let outcome = run(job).unwrap();
                assert_eq!(sorted(&got), without_the_bad(), "{kind:?} at {place}, {what}");
                for step in 1..=3 {
                    let counts = outcome.step(&format!("try_map#{step} after readings")).unwrap();
                    assert_eq!(counts.failed, u64::from(step == place), "{kind:?} at {place}");
                }
                assert_eq!((outcome.failed(), outcome.restarts()), (1, 0));
                assert_adds_up(&outcome, what);
            });
        }
    }
}

/// Boxed behind boxed: what reads the stream before the closure that fails gets everything.
#[test]
fn streams_before_it_are_whole() {
    for kind in [Kind::Panic, Kind::Error] {
        everywhere(|run, what| {
            let [before, between, behind] = [(); 3].map(|()| Collect::new());
            let job = Job::new("boxed");
            let readings = job.source(FromIter::new(1..=EVENTS)).named("readings");
            let one = readings.map(|n| *n).boxed();
            let two = one.try_map(move |n| kind.call(*n)).boxed();
            let three = two.map(|n| *n).boxed();
            one.sink(before.clone()).named("before");
            two.sink(between.clone()).named("between");
            three.sink(behind.clone()).named("behind");
            let outcome = run(job).unwrap();
            assert_eq!(sorted(&before), all(), "{kind:?}, {what}");
            assert_eq!(sorted(&between), without_the_bad(), "{kind:?}, {what}");
            assert_eq!(sorted(&behind), without_the_bad(), "{kind:?}, {what}");
            assert_eq!((outcome.failed(), outcome.restarts()), (1, 0), "{what}");
            assert_eq!(outcome.step("try_map#2 after readings").unwrap().failed, 1);
            assert_adds_up(&outcome, what);
        });
    }
}

/// A panic of the iterator itself, or an error of the step behind it: the items before go as well.
#[test]
fn a_flat_map_that_fails_in_the_middle_leaves_nothing() {
    everywhere(|run, what| {
        let [panicked, failed] = [(); 2].map(|()| Collect::new());
        let job = Job::new("middle");
        let readings = job.source(FromIter::new(1..=EVENTS)).named("readings");
        let thrice = |n: &u64| {
            (0..3).map({
                let n = *n;
                move |i| {
                    assert!((n, i) != (BAD, 1), "in the middle");
                    3 * n + i
                }
            })
        };
        readings.flat_map(thrice).sink(panicked.clone()).named("panicked");
        readings
            .flat_map(|n| (3 * n..3 * n + 3).collect::<Vec<_>>())
            .try_map(|m| if *m == 3 * BAD + 1 { Err("in the middle".into()) } else { Ok(*m) })
            .sink(failed.clone())
            .named("failed");
        let outcome = run(job).unwrap();
        let expected: Vec<u64> =
            without_the_bad().into_iter().flat_map(|n| 3 * n..3 * n + 3).collect();
        assert_eq!(sorted(&panicked), expected, "{what}");
        assert_eq!(sorted(&failed), expected, "{what}");
        assert_eq!((outcome.failed(), outcome.restarts()), (2, 0), "{what}");
        assert_eq!(outcome.step("flat_map#1 after readings").unwrap().failed, 1);
        assert_eq!(outcome.step("try_map#3 after readings").unwrap().failed, 1);
        assert_adds_up(&outcome, what);
    });
}

#[test]
fn the_job_ends_with_it_if_that_is_asked_for() {
    for (kind, on_error) in [(Kind::Error, OnError::Fail), (Kind::Fatal, OnError::Skip)] {
        everywhere(|run, what| {
            let job = Job::new("strict");
            let readings = job.source(FromIter::new(1..=EVENTS)).named("readings");
            let checked = readings.map(|n| *n).try_map(move |n| kind.call(*n)).on_error(on_error);
            let behind = checked.boxed();
            behind.sink(ForEach::new(|_| {})).named("one");
            behind.filter(|_| true).sink(ForEach::new(|_| {})).named("two");
            let error = run(job).unwrap_err();
            let failure = error.failure().unwrap();
            assert_eq!(failure.step.as_deref(), Some("try_map#2 after readings"), "{what}");
            assert_eq!(failure.instance.to_string(), "readings[0]");
            assert!(matches!(failure.cause, Cause::Error(_)), "{failure}");
            let text = error.to_string();
            let end = "readings[0], try_map#2 after readings: error: the event on cue";
            assert!(text.ends_with(end), "{kind:?}, {what}: {text}");
        });
    }
}

/// Emits one event and then waits for ever.
#[derive(Component, Clone, Debug)]
struct Once {
    #[state]
    done: bool,
}

impl Source for Once {
    type Out = u64;

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        if self.done {
            std::future::pending::<()>().await;
        }
        out.emit(BAD);
        self.done = true;
        Ok(Progress::More)
    }
}

/// The failure comes up as the last thing that an instance does before it waits.
#[test]
fn the_job_ends_with_it_even_if_nothing_follows() {
    everywhere(|run, what| {
        let job = Job::new("quiet");
        let readings = job.source(Once { done: false }).named("readings");
        let checked = readings.try_map(|n| Kind::Error.call(*n)).on_error(OnError::Fail);
        checked.sink(ForEach::new(|_| {}));
        let error = run(job).unwrap_err();
        assert!(error.to_string().contains("try_map#1 after readings"), "{what}: {error}");
        let job = Job::new("quiet");
        let passed = job.source(Once { done: false }).map(|n| *n).named("passed");
        let checked = passed.try_map(|n| Kind::Error.call(*n)).on_error(OnError::Fail);
        checked.sink(ForEach::new(|_| {}));
        let error = run(job).unwrap_err();
        assert!(error.to_string().contains("try_map#1 after passed"), "{what}: {error}");
    });
}
