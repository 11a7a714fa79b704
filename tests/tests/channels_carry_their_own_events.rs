//! Who subscribes to a channel gets its events and no others; what is emitted where nobody subscribes
//! is counted; and an event that fails takes back what it emitted anywhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use streamwork::Channel;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork_tests::{Census, Live, Permits, Waits, assert_adds_up, small_links, wait_until};

const LOW: Channel<u64> = Channel::new("low");
const HIGH: Channel<String> = Channel::new("high");
const NOBODY: Channel<u8> = Channel::new("nobody");

const EVENTS: u64 = 300;

/// Emits into all of its channels, and into its stream; on what can be divided by `bad`, it then fails.
#[derive(Component, Clone)]
#[component(channels = [LOW, HIGH, NOBODY])]
struct Sorter {
    bad: u64,
    panics: bool,
}

impl Operator for Sorter {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.to(LOW).emit(n);
        out.to(HIGH).extend([n.to_string(), n.to_string()]);
        out.emit(n);
        out.to(LOW).emit(n + EVENTS);
        out.to(NOBODY).emit(0);
        match n % self.bad {
            0 if self.panics => panic!("a number on cue"),
            0 => Err("a number on cue".into()),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, out: &mut Emitter<u64>) -> Result<()> {
        out.to(HIGH).emit("the end".to_owned());
        Ok(())
    }
}

fn sorted<T: Ord>(mut events: Vec<T>) -> Vec<T> {
    events.sort();
    events
}

#[test]
fn a_failed_event_leaves_nothing_in_any_channel() {
    for seed in 0..200 {
        let (low, high, plain) = (Collect::new(), Collect::new(), Collect::new());
        let panics = seed % 4 == 3;
        // A few panics are what the restarts allow.
        let bad = if panics { 140 } else { 7 };
        let job = Job::new("sorter").link_limits(small_links());
        let numbers = job.source(FromIter::new(1..=EVENTS));
        let sorter = numbers.apply(Sorter { bad, panics });
        sorter.sink(plain.clone()).named("plain");
        sorter.channel(LOW).sink(low.clone()).named("low").parallelism(2);
        sorter.channel(HIGH).sink(high.clone()).named("high");
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        let fine = || (1..=EVENTS).filter(|n| n % bad != 0);
        let what = format!("seed {seed}");
        assert_eq!(outcome.failed(), EVENTS / bad, "{what}");
        assert_eq!(plain.take(), fine().collect::<Vec<_>>(), "{what}");
        let expected = fine().flat_map(|n| [n, n + EVENTS]).collect();
        assert_eq!(sorted(low.take()), sorted::<u64>(expected), "{what}");
        let mut expected: Vec<String> =
            fine().flat_map(|n| [n.to_string(), n.to_string()]).collect();
        expected.push("the end".to_owned());
        assert_eq!(high.take(), expected, "{what}");
        let unread = outcome.component("sorter").unwrap().unread;
        assert_eq!(unread, fine().count() as u64, "{what}: into the channel of nobody");
        assert_adds_up(&outcome, &what);
    }
}

/// More into one channel than a batch holds, and then a failure.
#[derive(Component, Clone)]
#[component(channels = [LOW])]
struct Flood;

impl Operator for Flood {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.to(LOW).extend((0..3_000).map(|i| 3_000 * n + i));
        if n % 2 == 1 { Err("after a full batch".into()) } else { Ok(()) }
    }
}

#[test]
fn more_than_a_batch_is_taken_back_too() {
    for seed in 0..10 {
        let low = Collect::new();
        let job = Job::new("flood");
        let flood = job.source(FromIter::new(0..20_u64)).apply(Flood);
        flood.channel(LOW).sink(low.clone());
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        let expected: Vec<u64> =
            (0..20).step_by(2).flat_map(|n| 3_000 * n..3_000 * (n + 1)).collect();
        assert_eq!(low.take(), expected, "seed {seed}");
        assert_adds_up(&outcome, &format!("seed {seed}"));
    }
}

/// A source that emits into a channel alone.
#[derive(Component, Clone)]
#[component(channels = [LOW])]
struct Channelled {
    most: u64,
    #[state]
    next: u64,
}

impl Source for Channelled {
    type Out = u64;

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        if self.next == self.most {
            return Ok(Progress::End);
        }
        out.to(LOW).emit(self.next);
        self.next += 1;
        Ok(Progress::More)
    }
}

/// Only channels are read, from the source to the sink.
fn channels_only(most: u64, got: &Collect<u64>) -> Job {
    let job = Job::new("channels").link_limits(small_links());
    let source = job.source(Channelled { most, next: 0 }).parallelism(2);
    let passed = source.channel(LOW).map(|n| n + 1).apply(Passes).parallelism(2);
    passed.channel(LOW).sink(got.clone());
    job
}

/// Passes on what it gets, into a channel; and the number of its events at the end.
#[derive(Component, Clone)]
#[component(channels = [LOW])]
struct Passes;

impl Operator for Passes {
    type In = u64;
    type Out = streamwork::Nothing;

    fn apply(&mut self, n: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
        out.to(LOW).emit(n);
        Ok(())
    }

    fn finish(&mut self, out: &mut Emitter<Self::Out>) -> Result<()> {
        out.to(LOW).emit(u64::MAX);
        Ok(())
    }
}

#[test]
fn the_end_travels_over_channels() {
    for seed in 0..200 {
        let got = Collect::new();
        let outcome = Scheduler::seeded(seed).run(channels_only(100, &got)).unwrap();
        assert_eq!(outcome.status(), JobStatus::Finished);
        let mut expected: Vec<u64> = (1..=100).flat_map(|n| [n, n]).collect();
        expected.extend([u64::MAX; 2]);
        assert_eq!(sorted(got.take()), expected, "seed {seed}");
        assert_adds_up(&outcome, &format!("seed {seed}"));
    }
}

#[test]
fn a_job_of_channels_drains_and_stops() {
    let mut ended = (0, 0);
    for seed in 0..150 {
        let got = Collect::new();
        let scheduler = Scheduler::seeded(seed).drain_after(seed * 3 % 500);
        let outcome = scheduler.run(channels_only(u64::MAX, &got)).unwrap();
        assert_eq!(outcome.status(), JobStatus::Drained);
        assert_eq!(outcome.dropped(), 0, "seed {seed}");
        assert_eq!(got.len() as u64, outcome.events_in() + 2, "seed {seed}");
        assert_adds_up(&outcome, &format!("seed {seed}"));
        ended.0 += outcome.events_in();

        let got = Collect::new();
        let scheduler = Scheduler::seeded(seed).stop_after(seed * 3 % 500);
        let outcome = scheduler.run(channels_only(u64::MAX, &got)).unwrap();
        assert_eq!(outcome.status(), JobStatus::Stopped);
        assert_eq!(got.len() as u64, outcome.events_out(), "seed {seed}");
        assert_adds_up(&outcome, &format!("seed {seed}"));
        ended.1 += outcome.dropped();
    }
    assert!(ended.0 > 500 && ended.1 > 500, "too late to test anything: {ended:?}");
}

const LIVE: Channel<Live> = Channel::new("live");

/// Makes one event of each of the first ones, and then a hundred, into a channel.
#[derive(Component, Clone)]
#[component(channels = [LIVE])]
struct Hundred(Census);

impl Operator for Hundred {
    type In = u64;
    type Out = streamwork::Nothing;

    fn apply(&mut self, n: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
        let copies = if n < CHEAP { 1 } else { 100 };
        out.to(LIVE).extend((0..copies).map(|_| Live::new(n, &self.0)));
        Ok(())
    }
}

/// Events that become one: so many that the frames with them have grown to their full size.
const CHEAP: u64 = 20_000;

/// 120,000 events for a sink that stands still now and then: what is in memory is some batches.
#[test]
fn a_slow_reader_of_a_channel_bounds_what_is_made() {
    let (census, permits) = (Census::default(), Permits::none());
    let sum = Arc::new(AtomicU64::new(0));
    let job = Job::new("hundred");
    let numbers = job.source(Generator::indexed(|n| n).events(CHEAP + 1_000));
    let (hundred, summed) = (numbers.apply(Hundred(census.clone())), Arc::clone(&sum));
    let sink = ForEach::new(move |event: Live| {
        summed.fetch_add(event.number(), Ordering::Relaxed);
    });
    hundred.channel(LIVE).sink(Waits::new(sink, &permits));
    let handle = Engine::new().start(job).unwrap();
    for step in 1..=12 {
        permits.give(2_000);
        wait_until("the sink has gone on", || permits.taken() == 2_000 * step);
    }
    permits.give(120_000);
    let outcome = handle.wait().unwrap();
    assert_eq!((outcome.events_out(), outcome.dropped()), (120_000, 0));
    let expected: u64 = (0..CHEAP).sum::<u64>() + 100 * (CHEAP..CHEAP + 1_000).sum::<u64>();
    assert_eq!(sum.load(Ordering::Relaxed), expected);
    assert!(census.most() < 1_500, "{} events were alive at once", census.most());
    assert_eq!(census.alive(), 0);
}
