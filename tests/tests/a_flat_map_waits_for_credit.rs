//! A closure that makes many events of one makes no more than there is credit for: only what a single
//! event becomes is made at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork_tests::{Census, Live, Permits, Waits, assert_adds_up, small_links, wait_until};

/// At first each event becomes one, then some become a thousand: nothing foretells it.
fn copies(n: u64) -> u64 {
    if n < 5_000 { 1 } else { 1_000 }
}

const EVENTS: u64 = 5_300;
const MADE: u64 = 5_000 + 300 * 1_000;

fn sum(into: &Arc<AtomicU64>) -> ForEach<Live, impl FnMut(Live) + Clone + use<>> {
    let into = Arc::clone(into);
    ForEach::new(move |event: Live| {
        into.fetch_add(event.number(), Ordering::Relaxed);
    })
}

fn made(census: &Census) -> impl Fn(&u64) -> Vec<Live> + Clone + Send + use<> {
    let census = census.clone();
    move |n| (0..copies(*n)).map(|_| Live::new(*n, &census)).collect()
}

/// Alone on its source, and beside another reader, whose batches it may not take.
#[test]
fn what_is_alive_is_what_one_event_becomes() {
    for beside in [false, true] {
        let (census, permits, got) = (Census::default(), Permits::none(), Arc::default());
        let job = Job::new("many");
        let numbers = job.source(Generator::indexed(|n| n).events(EVENTS));
        let many = numbers.flat_map(made(&census)).filter(|_| true);
        many.sink(Waits::new(sum(&got), &permits)).named("slow");
        if beside {
            numbers.sink(ForEach::new(|_: u64| {})).named("beside");
        }
        let handle = Engine::new().start(job).unwrap();
        for step in 1..=10 {
            permits.give(1_000);
            wait_until("the sink waits", || permits.taken() == 1_000 * step);
        }
        permits.give(MADE);
        let outcome = handle.wait().unwrap();
        let expected: u64 = (0..EVENTS).map(|n| n * copies(n)).sum();
        assert_eq!(got.load(Ordering::Relaxed), expected);
        assert_eq!(outcome.component("generator").unwrap().expanded, MADE - EVENTS);
        assert_adds_up(&outcome, "");
        assert!(census.most() < 3_500, "{} events were alive at once", census.most());
        assert_eq!(census.alive(), 0);
    }
}

/// One event becomes 100,000.
#[test]
fn a_hundred_thousand_of_one() {
    let (census, got) = (Census::default(), Arc::new(AtomicU64::new(0)));
    let job = Job::new("huge");
    let born = census.clone();
    let numbers = job.source(Generator::indexed(|n| n).events(20));
    let huge = numbers.flat_map(move |n| {
        let (n, born) = (*n, born.clone());
        (0..100_000).map(move |_| Live::new(n, &born))
    });
    huge.sink(sum(&got)).parallelism(2);
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!(got.load(Ordering::Relaxed), 100_000 * 190);
    assert_eq!(outcome.events_out(), 2_000_000);
    assert!(census.most() < 103_000, "{} events were alive at once", census.most());
}

/// Two readers, of which one has several closures one behind the other.
fn chains(events: u64, got: &Collect<u64>) -> Job {
    let job = Job::new("chains").link_limits(small_links());
    let numbers = job.source(FromIter::new(0..events)).parallelism(2);
    let many = numbers.flat_map(|n| vec![*n; (*n % 40) as usize]).boxed();
    many.filter(|n| n % 2 == 0).flat_map(|n| [*n, *n]).sink(got.clone()).named("twice");
    many.sink(got.clone()).named("once").parallelism(2);
    numbers.sink(got.clone()).named("as-it-is");
    job
}

#[test]
fn in_any_order_nothing_is_lost() {
    for seed in 0..300 {
        let got = Collect::new();
        let outcome = Scheduler::seeded(seed).run(chains(120, &got)).unwrap();
        let mut events = got.take();
        events.sort_unstable();
        let times = |n: u64| 1 + n % 40 * if n.is_multiple_of(2) { 3 } else { 1 };
        let expected = (0..120).flat_map(|n| vec![n; times(n) as usize]);
        assert!(events.into_iter().eq(expected), "seed {seed}");
        assert_adds_up(&outcome, &format!("seed {seed}"));
    }
}

#[test]
fn what_waited_at_a_stop_is_counted_and_a_drain_loses_none() {
    let mut dropped = 0;
    for seed in 0..300 {
        let got = Collect::new();
        let scheduler = Scheduler::seeded(seed).stop_after(20 + seed * 7 % 400);
        let outcome = scheduler.run(chains(u64::MAX, &got)).unwrap();
        assert_eq!(outcome.status(), JobStatus::Stopped);
        assert_eq!(outcome.events_out(), got.len() as u64, "seed {seed}");
        assert_adds_up(&outcome, &format!("seed {seed}, stopped"));
        dropped += outcome.dropped();

        let got = Collect::new();
        let scheduler = Scheduler::seeded(seed).drain_after(20 + seed * 7 % 400);
        let outcome = scheduler.run(chains(u64::MAX, &got)).unwrap();
        assert_eq!((outcome.status(), outcome.dropped()), (JobStatus::Drained, 0), "seed {seed}");
        assert_adds_up(&outcome, &format!("seed {seed}, drained"));
    }
    assert!(dropped > 10_000, "too late to test anything: {dropped}");
}
