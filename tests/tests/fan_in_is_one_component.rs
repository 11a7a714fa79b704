//! Several streams into one component: one set of instances, which keeps the order of each stream and
//! knows which one an event came from.

use std::collections::BTreeMap;
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork::{Channel, Problem};
use streamwork_tests::{assert_adds_up, small_links};

const HIGH: Channel<u64> = Channel::new("high");

/// Emits each number with the instance that it is on, and the stream that it came from.
#[derive(Component, Clone, Default)]
struct Label {
    instance: usize,
}

impl Operator for Label {
    type In = u64;
    type Out = (usize, String, u64);

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.instance = ctx.index();
        Ok(())
    }

    fn apply(&mut self, n: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
        let stream = out.stream().to_owned();
        out.emit((self.instance, stream, n));
        Ok(())
    }
}

/// Passes on what it gets, and emits it into a channel too.
#[derive(Component, Clone)]
#[component(channels = [HIGH])]
struct Both;

impl Operator for Both {
    type In = u64;
    type Out = u64;

    fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(n);
        out.to(HIGH).emit(n);
        Ok(())
    }
}

/// Five streams of one component, under their own names and an alias.
fn five(got: &Collect<(usize, String, u64)>) -> Job {
    let job = Job::new("five").link_limits(small_links());
    let plain = job.source(FromIter::new(0..200_u64)).named("plain");
    let other = job.source(FromIter::new(0..200_u64)).named("other").parallelism(2);
    let both = other.apply(Both).named("both").parallelism(2);
    let streams = [
        plain.group(Shuffle::new()),
        other.alias("another").group(Shuffle::new()),
        both.group(Shuffle::new()),
        both.channel(HIGH).group(Shuffle::new()),
        both.channel(HIGH).map(|n| *n).alias("through").group(Shuffle::new()),
    ];
    Streams::of(streams).apply(Label::default()).parallelism(3).sink(got.clone());
    job
}

const NAMES: [&str; 5] = ["another", "both", "both/high", "plain", "through"];

fn assert_labelled(rows: &[(usize, String, u64)], what: &str) {
    let mut by_stream: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (_, stream, n) in rows {
        by_stream.entry(stream).or_default().push(*n);
    }
    assert!(by_stream.keys().copied().eq(NAMES), "{what}: {:?}", by_stream.keys());
    for (stream, mut numbers) in by_stream {
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..200), "{what}: {stream}");
    }
}

#[test]
fn it_is_told_the_stream_of_each_event() {
    for seed in 0..200 {
        let got = Collect::new();
        let outcome = Scheduler::seeded(seed).run(five(&got)).unwrap();
        assert_labelled(&got.take(), &format!("seed {seed}"));
        let labels = outcome.tree().components.iter().find(|c| c.name.as_str() == "label");
        let applied: Vec<u64> =
            labels.unwrap().instances.iter().map(|i| i.counts.applied).collect();
        assert_eq!(applied.len(), 3, "one set of instances");
        assert_eq!(applied.iter().sum::<u64>(), 1_000);
        assert_adds_up(&outcome, &format!("seed {seed}"));
    }
}

#[test]
fn it_is_told_on_threads() {
    for _ in 0..10 {
        let got = Collect::new();
        Engine::new().arbiters(4).run(five(&got)).unwrap();
        assert_labelled(&got.take(), "on threads");
    }
}

/// What one sender sends to one instance comes in order, whatever comes between from elsewhere.
#[test]
fn each_stream_keeps_its_order() {
    for seed in 0..200 {
        let got = Collect::new();
        let job = Job::new("order").link_limits(small_links());
        let streams: Vec<_> = (0..4)
            .map(|i| job.source(FromIter::new(0..150_u64)).named(&format!("source-{i}")))
            .collect();
        Streams::of(streams).apply(Label::default()).parallelism(2).sink(got.clone());
        Scheduler::seeded(seed).run(job).unwrap();
        let mut seen: BTreeMap<(usize, String), Vec<u64>> = BTreeMap::new();
        for (instance, stream, n) in got.take() {
            seen.entry((instance, stream)).or_default().push(n);
        }
        assert_eq!(seen.len(), 8, "seed {seed}");
        assert!(seen.values().all(|numbers| numbers.is_sorted()), "seed {seed}: {seen:?}");
    }
}

/// One stream to all instances, one by key, one to the first.
#[test]
fn each_stream_has_its_own_grouping() {
    for seed in 0..100 {
        let got = Collect::new();
        let job = Job::new("groupings");
        let [a, b, c] =
            ["a", "b", "c"].map(|name| job.source(FromIter::new(0..60_u64)).named(name));
        let streams = (
            a.group(All),
            b.group(Direct::to(|n: &u64, instances| *n as usize % instances)),
            c.group(Global),
        );
        Streams::of(streams).apply(Label::default()).parallelism(3).sink(got.clone());
        Scheduler::seeded(seed).run(job).unwrap();
        let rows = got.take();
        let of = |stream: &str, instance: usize| {
            let here = rows.iter().filter(|(i, s, _)| (*i, s.as_str()) == (instance, stream));
            here.map(|(_, _, n)| *n).collect::<Vec<u64>>()
        };
        for i in 0..3 {
            assert!(of("a", i).into_iter().eq(0..60), "seed {seed}");
            assert!(of("b", i).into_iter().eq((0..60).filter(|n| *n as usize % 3 == i)));
            assert_eq!(of("c", i).len(), if i == 0 { 60 } else { 0 }, "seed {seed}");
        }
    }
}

#[test]
fn the_same_stream_twice_is_refused() {
    let job = Job::new("twice");
    let numbers = job.source(FromIter::new(0..3_u64)).named("numbers");
    Streams::of([numbers.alias("once"), numbers.alias("again")])
        .apply(Label::default())
        .sink(Collect::new());
    let error = Engine::new().run(job).unwrap_err();
    let twice = Problem::AppliedTwice { name: "label".into(), stream: "numbers".into() };
    assert_eq!(error.problems(), [twice]);
}

#[test]
fn a_stream_and_what_closures_made_of_it_are_two() {
    let got = Collect::new();
    let job = Job::new("two");
    let numbers = job.source(FromIter::new(0..3_u64));
    Streams::of((&numbers, numbers.map(|n| n + 10), numbers.map(|n| n + 20))).sink(got.clone());
    Engine::new().run(job).unwrap();
    let mut got = got.take();
    got.sort_unstable();
    assert_eq!(got, [0, 1, 2, 10, 11, 12, 20, 21, 22]);
}

#[test]
fn streams_of_two_jobs_are_refused() {
    let (here, there) = (Job::new("here"), Job::new("there"));
    let a = here.source(FromIter::new(0..3_u64)).named("a");
    let b = there.source(FromIter::new(0..3_u64)).named("b");
    Streams::of([a.clone(), b.map(|n| *n).boxed()]).apply(Label::default()).sink(Collect::new());
    b.sink(Collect::new());
    let error = Engine::new().run(here).unwrap_err();
    assert_eq!(error.problems(), [Problem::ForeignStream { name: "label".into() }]);
    assert_eq!(Engine::new().run(there).unwrap().events_in(), 3);
}

/// Adds up each side.
#[derive(Component, Clone, Default)]
struct Sums(u64, u64);

impl TwoInput for Sums {
    type Left = u64;
    type Right = u64;
    type Out = (u64, u64);

    fn apply_left(&mut self, n: u64, _: &mut Emitter<Self::Out>) -> Result<()> {
        self.0 += n;
        Ok(())
    }

    fn apply_right(&mut self, n: u64, _: &mut Emitter<Self::Out>) -> Result<()> {
        self.1 += n;
        Ok(())
    }

    fn finish(&mut self, out: &mut Emitter<Self::Out>) -> Result<()> {
        out.emit((self.0, self.1));
        Ok(())
    }
}

#[test]
fn a_stream_may_be_both_inputs_of_one_operator() {
    let got = Collect::new();
    let job = Job::new("self");
    let numbers = job.source(FromIter::new(1..=4_u64));
    numbers.connect(&numbers).apply(Sums::default()).sink(got.clone());
    Engine::new().run(job).unwrap();
    assert_eq!(got.take(), [(10, 10)]);
}
