//! Graphs that nobody would write, and user types that panic where nobody expects it: they run, and
//! every event is accounted for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use streamwork::Channel;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork_tests::{assert_adds_up, small_links};

/// Runs a job under some interleavings, and on threads.
fn everywhere(make: impl Fn() -> Job, check: impl Fn(&Outcome)) {
    for seed in 0..20 {
        check(&Scheduler::seeded(seed).run(make()).expect("it runs to its end"));
    }
    check(&Engine::new().run(make()).expect("it runs to its end"));
}

#[test]
fn five_hundred_components_in_a_line() {
    let got = Collect::new();
    let job = Job::new("line");
    let mut stream: Stream<u64> = job.source(FromIter::new(0..1_000_u64)).clone();
    for i in 0..500 {
        stream = stream.map(|n| n + 1).named(&format!("plus-{i}")).clone();
    }
    stream.sink(got.clone());
    Engine::new().run(job).unwrap();
    assert!(got.take().into_iter().eq(500..1_500));
}

#[test]
fn two_hundred_boxed_streams_in_a_line() {
    let got = Collect::new();
    let job = Job::new("boxed");
    let mut stream: Stream<u64> = job.source(FromIter::new(0..1_000_u64)).clone();
    for _ in 0..200 {
        stream = stream.map(|n| n + 1).boxed();
    }
    stream.sink(got.clone());
    Engine::new().run(job).unwrap();
    assert!(got.take().into_iter().eq(200..1_200));
}

#[test]
fn two_hundred_streams_into_one_sink() {
    let got = Collect::new();
    let job = Job::new("many");
    let sources: Vec<_> = (0..200)
        .map(|i| job.source(FromIter::new(0..100_u64)).named(&format!("source-{i}")))
        .collect();
    Streams::of(sources).sink(got.clone()).parallelism(3);
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!(got.take().into_iter().sum::<u64>(), 200 * 4_950);
    assert_adds_up(&outcome, "");
}

#[test]
fn thirty_closures_in_a_chain() {
    let got = Collect::new();
    let job = Job::new("chain");
    let numbers = job.source(FromIter::new(0..1_000_u64)).named("numbers");
    macro_rules! six {
        ($stream:expr) => {
            $stream
                .map(|n| n + 1)
                .filter(|n| *n > 0)
                .try_map(|n| Ok(n + 1))
                .inspect(|_| {})
                .map(|n| n + 1)
                .flat_map(|n| [*n])
        };
    }
    let chain = six!(six!(six!(six!(six!(numbers)))));
    chain.try_map(|n| if *n == 500 { Err("500".into()) } else { Ok(*n) }).sink(got.clone());
    let outcome = Engine::new().run(job).unwrap();
    assert!(got.take().into_iter().eq((15..1_015).filter(|n| *n != 500)));
    assert_eq!(outcome.step("try_map#31 after numbers").unwrap().failed, 1);
}

#[test]
fn names_of_any_characters_and_the_last_one_counts() {
    let long = "x".repeat(5_000);
    for name in ["a/b", "ü ö", "a\nb", " ", "a\"b", "#1 after x", "[0]", &long, "\0"] {
        let job = Job::new(name);
        let numbers = job.source(FromIter::new(0..10_u64)).named("first").named(name);
        let checked = numbers.try_map(|n| if *n == 3 { Err("three".into()) } else { Ok(*n) });
        checked.sink(Collect::new()).named("not-this").named("this");
        let outcome = Engine::new().run(job).unwrap();
        assert_eq!(outcome.component(name).unwrap().emitted, 10);
        assert_eq!(outcome.component("this").unwrap().applied, 9);
        assert!(outcome.component("first").or(outcome.component("not-this")).is_none());
        assert_eq!(outcome.step(&format!("try_map#1 after {name}")).unwrap().failed, 1);
    }
}

#[test]
fn one_sink_applied_three_times_is_three_components() {
    let got = Collect::new();
    let job = Job::new("thrice");
    let numbers = job.source(FromIter::new(0..10_u64));
    numbers.sink(got.clone()).named("one");
    numbers.sink(got.clone()).named("two");
    numbers.map(|n| n + 10).sink(got.clone()).named("three");
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!(outcome.tree().components.len(), 4);
    let mut events = got.take();
    events.sort_unstable();
    assert!(events.into_iter().eq((0..10).flat_map(|n| [n, n]).chain(10..20)));
}

const LATE: Channel<u64> = Channel::new("late");

/// What is added to a job that runs already changes nothing, and panics nowhere.
#[test]
fn a_started_job_can_not_be_changed() {
    let (got, never) = (Collect::new(), Collect::new());
    let job = Job::new("started");
    let numbers = job.source(FromIter::new(0..10_u64));
    let doubled = numbers.map(|n| 2 * n).named("doubled");
    doubled.sink(got.clone());
    let handle = Engine::new().start(job).unwrap();
    doubled.channel(LATE).map(|n| *n).filter(|_| true).sink(never.clone()).named("never");
    numbers.flat_map(|n| [*n]).named("never-either").sink(never.clone());
    Streams::of((&numbers, &doubled)).key_by_value(|n: &u64| *n).fold(0_u64, |n, _| *n += 1);
    let outcome = handle.wait().unwrap();
    assert_eq!(outcome.tree().components.len(), 3);
    assert_eq!((got.len(), never.len()), (10, 0));
}

/// Panics when it is cloned or dropped, if it is number 50.
#[derive(Debug)]
struct Shaky {
    number: u64,
    clones: bool,
    drops: bool,
}

impl Clone for Shaky {
    fn clone(&self) -> Self {
        assert!(self.clones || self.number != 50, "cloned");
        Self { ..*self }
    }
}

impl Drop for Shaky {
    fn drop(&mut self) {
        assert!(self.drops || self.number != 50 || std::thread::panicking(), "dropped");
    }
}

impl Event for Shaky {}

/// Counts events, and never drops one.
fn keeper(count: &Arc<AtomicU64>) -> ForEach<Shaky, impl FnMut(Shaky) + Clone + use<>> {
    let count = Arc::clone(count);
    ForEach::new(move |event: Shaky| {
        std::mem::forget(event);
        count.fetch_add(1, Ordering::Relaxed);
    })
}

#[test]
fn an_event_whose_clone_panics_is_lost_where_it_had_to_be_cloned() {
    everywhere(
        || {
            let count = Arc::default();
            let job = Job::new("shaky").link_limits(small_links());
            let make = |number| Shaky { number, clones: false, drops: true };
            let events = job.source(Generator::indexed(make).events(100)).named("events");
            events.filter(|_| true).sink(keeper(&count)).named("passed");
            let even = events.filter(|e| e.number % 2 == 0).boxed();
            even.group(All).sink(keeper(&count)).named("even").parallelism(2);
            events.map(|e| e.number).sink(ForEach::new(|_| {})).named("numbers");
            events.sink(keeper(&count)).named("moved");
            job
        },
        |outcome| {
            let applied = |name| outcome.component(name).unwrap().applied;
            assert_eq!((applied("passed"), applied("even")), (99, 2 * 49));
            assert_eq!((applied("numbers"), applied("moved")), (100, 100));
            assert_eq!((outcome.failed(), outcome.restarts()), (2, 0));
            assert_eq!(outcome.step("filter#1 after events").unwrap().failed, 1);
            assert_adds_up(outcome, "");
        },
    );
}

#[test]
fn an_event_that_panics_when_a_filter_drops_it_is_lost_alone() {
    everywhere(
        || {
            let count = Arc::default();
            let job = Job::new("shaky").link_limits(small_links());
            let make = |number| Shaky { number, clones: true, drops: false };
            let events = job.source(Generator::indexed(make).events(100)).named("events");
            let made = events.map(|e| Shaky { ..*e });
            made.filter(|e| e.number != 50).sink(keeper(&count)).named("filtered");
            events.sink(keeper(&count)).named("moved");
            job
        },
        |outcome| {
            let applied = |name| outcome.component(name).unwrap().applied;
            assert_eq!((applied("filtered"), applied("moved")), (99, 100));
            assert_eq!((outcome.failed(), outcome.restarts()), (1, 0));
            assert_adds_up(outcome, "");
        },
    );
}

/// Panics when it is dropped.
#[derive(Clone)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn an_iterator_that_panics_when_it_is_dropped_loses_its_event() {
    everywhere(
        || {
            let job = Job::new("iterators");
            let numbers = job.source(FromIter::new(0..10_u64));
            let twice = numbers.flat_map(|n| {
                let (n, bomb) = (*n, (*n == 5).then(|| Bomb));
                (0..2).map(move |i| 2 * n + i + u64::from(bomb.is_some()))
            });
            twice.sink(ForEach::new(|_| {}));
            job
        },
        |outcome| {
            assert_eq!((outcome.failed(), outcome.events_out()), (1, 18));
            assert_adds_up(outcome, "");
        },
    );
}

/// Two of them on one stream: the second panic must not meet the first.
#[test]
fn closures_that_panic_when_they_are_dropped_harm_nobody() {
    everywhere(
        || {
            let job = Job::new("closures");
            let numbers = job.source(FromIter::new(0..10_u64)).parallelism(2);
            for name in ["one", "two"] {
                let bomb = Bomb;
                let armed = numbers.map(move |n| n + (size_of_val(&bomb) as u64));
                armed.sink(ForEach::new(|_| {})).named(name);
            }
            job
        },
        |outcome| {
            assert_eq!((outcome.status(), outcome.events_out()), (JobStatus::Finished, 20));
            assert_adds_up(outcome, "");
        },
    );
}

/// An error that panics when it is dropped.
#[derive(Debug)]
struct Loud;

impl std::fmt::Display for Loud {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a bomb")
    }
}

impl std::error::Error for Loud {}

impl Drop for Loud {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

#[test]
fn errors_of_closures_that_panic_when_they_are_dropped_lose_their_event_alone() {
    for on_error in [OnError::Skip, OnError::Fail] {
        let got = Collect::new();
        let job = Job::new("bombs");
        job.source(FromIter::new(0..40_u64))
            .try_map(|n| if n % 2 == 0 { Ok(*n) } else { Err(Loud.into()) })
            .on_error(on_error)
            .sink(got.clone());
        match (on_error, Engine::new().run(job)) {
            (OnError::Skip, Ok(outcome)) => assert_eq!((got.len(), outcome.failed()), (20, 20)),
            (OnError::Fail, Err(error)) => {
                let text = error.to_string();
                assert!(text.contains("try_map#1 after from-iter: error: a bomb"), "{text}");
                std::mem::forget(error);
            }
            other => panic!("{other:?}"),
        }
    }
}
