//! An event for k subscribers is cloned k - 1 times: the last of them gets the event itself, and a
//! filter clones what it lets through.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use streamwork::prelude::*;
use streamwork::testing::Scheduler;

const EVENTS: u64 = 1_000;

/// An event of 1 KiB that counts its clones.
#[derive(Debug)]
struct Counting {
    number: u64,
    clones: Arc<AtomicU64>,
    padding: [u64; 126],
}

impl Clone for Counting {
    fn clone(&self) -> Self {
        self.clones.fetch_add(1, Ordering::Relaxed);
        Self { clones: Arc::clone(&self.clones), ..Self::new(self.number, &self.clones) }
    }
}

impl Counting {
    fn new(number: u64, clones: &Arc<AtomicU64>) -> Self {
        Self { number, clones: Arc::clone(clones), padding: [number; 126] }
    }
}

impl Event for Counting {}

fn events(clones: &Arc<AtomicU64>) -> Generator<impl Fn(u64) -> Counting + Clone + use<>> {
    let clones = Arc::clone(clones);
    Generator::indexed(move |n| Counting::new(n, &clones)).events(EVENTS)
}

/// Counts what it gets, and looks that it is whole.
fn counter(count: &Arc<AtomicU64>) -> ForEach<Counting, impl FnMut(Counting) + Clone + use<>> {
    let count = Arc::clone(count);
    ForEach::new(move |event: Counting| {
        assert_eq!(event.padding, [event.number; 126]);
        count.fetch_add(1, Ordering::Relaxed);
    })
}

#[test]
fn four_sinks_cost_three_clones() {
    for seed in 0..20 {
        let (clones, count) = (Arc::default(), Arc::default());
        let job = Job::new("four");
        let source = job.source(events(&clones));
        for i in 0..4 {
            source.sink(counter(&count)).named(&format!("sink-{i}")).parallelism(1 + i);
        }
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 4 * EVENTS);
        assert_eq!(clones.load(Ordering::Relaxed), 3 * EVENTS, "seed {seed}");
        assert_eq!(outcome.component("generator").unwrap().copies, 3 * EVENTS);
    }
}

#[test]
fn on_threads_too() {
    let (clones, count) = (Arc::default(), Arc::default());
    let job = Job::new("four");
    let source = job.source(events(&clones));
    for i in 0..4 {
        source.sink(counter(&count)).named(&format!("sink-{i}"));
    }
    Engine::new().run(job).unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 4 * EVENTS);
    assert_eq!(clones.load(Ordering::Relaxed), 3 * EVENTS);
}

#[test]
fn a_shared_payload_is_not_cloned() {
    let clones: Arc<AtomicU64> = Arc::default();
    let count = Arc::new(AtomicU64::new(0));
    let job = Job::new("shared");
    let source = job.source(
        Generator::indexed({
            let clones = Arc::clone(&clones);
            move |n| Arc::new(Counting::new(n, &clones))
        })
        .events(EVENTS),
    );
    for i in 0..4 {
        let count = Arc::clone(&count);
        let sink = ForEach::new(move |_: Arc<Counting>| {
            count.fetch_add(1, Ordering::Relaxed);
        });
        source.group(All).sink(sink).named(&format!("sink-{i}")).parallelism(2);
    }
    Engine::new().run(job).unwrap();
    assert_eq!(count.load(Ordering::Relaxed), 8 * EVENTS);
    assert_eq!(clones.load(Ordering::Relaxed), 0);
}

/// Two filters that let a tenth through, beside a sink that gets everything.
#[test]
fn a_filter_clones_what_passes() {
    let (clones, passed, everything) = (Arc::default(), Arc::default(), Arc::default());
    let job = Job::new("filters");
    let source = job.source(events(&clones));
    source.filter(|e| e.number % 10 == 0).sink(counter(&passed)).named("tens");
    source.filter(|e| e.number % 10 == 1).sink(counter(&passed)).named("ones");
    source.sink(counter(&everything)).named("everything");
    let outcome = Engine::new().run(job).unwrap();
    assert_eq!(passed.load(Ordering::Relaxed), EVENTS / 5);
    assert_eq!(everything.load(Ordering::Relaxed), EVENTS);
    assert_eq!(clones.load(Ordering::Relaxed), EVENTS / 5);
    assert_eq!(outcome.component("generator").unwrap().filtered, 2 * EVENTS * 9 / 10);
}

/// A map reads the event and makes another: nothing is cloned on its way there.
#[test]
fn a_map_clones_nothing() {
    let clones = Arc::default();
    let (numbers, doubled) = (Collect::new(), Collect::new());
    let job = Job::new("maps");
    let source = job.source(events(&clones));
    source.map(|e| e.number).sink(numbers.clone()).named("numbers");
    source.inspect(|_| {}).map(|e| 2 * e.number).sink(doubled.clone()).named("doubled");
    Engine::new().run(job).unwrap();
    assert!(numbers.take().into_iter().eq(0..EVENTS));
    assert_eq!(doubled.len() as u64, EVENTS);
    assert_eq!(clones.load(Ordering::Relaxed), 0);
}
