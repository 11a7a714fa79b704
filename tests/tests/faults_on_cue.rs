//! A fault strikes the instance and the event that it names, in every kind of component, and a wrapped
//! component is otherwise the one inside.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{self, Poll};
use streamwork::prelude::*;
use streamwork::testing::{self, Fault, Faulty};

/// Emits each number of a key with how many there were.
#[derive(Component, Clone, Debug)]
struct Count;

impl KeyedOperator for Count {
    type Key = u64;
    type In = u64;
    type Out = (u64, u64);
    type State = u64;

    fn apply(
        &mut self,
        _: &u64,
        n: u64,
        seen: &mut Keyed<u64>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        **seen += 1;
        out.emit((n, **seen));
        Ok(())
    }

    fn finish(
        &mut self,
        key: &u64,
        seen: &mut Keyed<u64>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        out.emit((100 + *key, **seen));
        Ok(())
    }
}

#[test]
fn a_keyed_operator_fails_on_cue_and_keeps_its_keys_after_an_error() {
    let (mut rows, outcome) = testing::try_collect(|job| {
        let numbers = job.source(FromIter::new(0..6_u64));
        numbers.key_by_value(|n: &u64| n % 2).apply(Faulty::error_at(Count, 3))
    })
    .unwrap();
    assert_eq!(outcome.failed(), 1);
    let ends = rows.split_off(5);
    assert_eq!(rows, [(0, 1), (1, 1), (3, 2), (4, 2), (5, 3)]);
    assert_eq!(BTreeMap::from_iter(ends), BTreeMap::from([(100, 2), (101, 3)]));
}

/// Emits everything, from both sides, with its side.
#[derive(Component, Clone, Debug)]
struct Both;

impl TwoInput for Both {
    type Left = u64;
    type Right = u64;
    type Out = (char, u64);

    fn apply_left(&mut self, n: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
        out.emit(('l', n));
        Ok(())
    }

    fn apply_right(&mut self, n: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
        out.emit(('r', n));
        Ok(())
    }

    fn finish(&mut self, out: &mut Emitter<Self::Out>) -> Result<()> {
        out.emit(('e', 0));
        Ok(())
    }
}

/// As `Both`, with the number of events of the key.
#[derive(Component, Clone, Debug)]
struct BothKeyed;

impl KeyedTwoInput for BothKeyed {
    type Key = u64;
    type Left = u64;
    type Right = u64;
    type Out = (char, u64);
    type State = u64;

    fn apply_left(
        &mut self,
        _: &u64,
        _: u64,
        seen: &mut Keyed<u64>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        **seen += 1;
        out.emit(('l', **seen));
        Ok(())
    }

    fn apply_right(
        &mut self,
        _: &u64,
        _: u64,
        seen: &mut Keyed<u64>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        **seen += 1;
        out.emit(('r', **seen));
        Ok(())
    }

    fn finish(
        &mut self,
        _: &u64,
        seen: &mut Keyed<u64>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        let seen = **seen;
        out.emit(('e', seen));
        Ok(())
    }
}

#[test]
fn operators_with_two_inputs_count_the_events_of_both_sides() {
    let (rows, outcome) = testing::try_collect(|job| {
        let left = job.source(FromIter::new(0..2_u64)).named("left");
        let right = job.source(FromIter::new(0..2_u64)).named("right");
        left.connect(right.clone()).apply(Faulty::error_at(Both, 3).always())
    })
    .unwrap();
    assert_eq!((rows.len(), rows[2], outcome.failed()), (3, ('e', 0), 2));

    let (rows, outcome) = testing::try_collect(|job| {
        let left = job.source(FromIter::new(0..2_u64)).named("left");
        let right = job.source(FromIter::new(0..2_u64)).named("right");
        left.key_by_value(|_: &u64| 7_u64)
            .connect(right.key_by_value(|_: &u64| 7_u64))
            .apply(Faulty::error_at(BothKeyed, 3))
    })
    .unwrap();
    assert_eq!((rows.len(), rows[3], outcome.failed()), (4, ('e', 3), 1));
}

#[test]
fn a_panic_strikes_the_instance_that_it_names_and_no_other() {
    for instance in 0..3 {
        let got = Collect::new();
        let job = Job::new("named");
        let sink = Faulty::panic_at(got.clone(), 2).of_instance(instance);
        job.source(FromIter::new(0..9_u64)).sink(sink).parallelism(3);
        let outcome = testing::run(job).unwrap();
        let sink = &outcome.tree().components[1];
        for other in &sink.instances {
            let struck = u64::from(other.index == instance);
            assert_eq!((other.counts.restarts, other.counts.failed), (struck, struck));
            let first = other.index as u64;
            let mut expected = vec![first, first + 3, first + 6];
            if struck == 1 {
                expected.remove(1);
            }
            assert_eq!(got.of_instance(other.index), expected);
        }
    }
}

/// Emits each number, and its square into a channel.
#[derive(Component, Clone, Debug)]
#[component(channels = [Squares::SQUARES])]
struct Squares {
    #[state]
    next: u64,
}

impl Squares {
    const SQUARES: Channel<u64> = Channel::new("squares");
}

impl Source for Squares {
    type Out = u64;

    async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
        out.emit(self.next);
        out.to(Self::SQUARES).emit(self.next * self.next);
        self.next += 1;
        Ok(if self.next == 5 { Progress::End } else { Progress::More })
    }
}

#[test]
fn a_wrapped_component_keeps_its_channels() {
    let squares = Collect::new();
    let numbers = testing::collect(|job| {
        let source = job.source(Faulty::new(Squares { next: 0 }, None));
        source.channel(Squares::SQUARES).sink(squares.clone());
        source
    });
    assert_eq!((numbers, squares.take()), (vec![0, 1, 2, 3, 4], vec![0, 1, 4, 9, 16]));
    let struck = Faulty::error_at(Squares { next: 0 }, 2);
    let (numbers, outcome) = testing::try_collect(|job| job.source(struck)).unwrap();
    assert_eq!((numbers, outcome.failed()), (vec![0, 2, 3, 4], 1));
}

/// Is ready at every second question, and counts those about room, flush and finish. Its own `flush` and
/// `finish` are never to be called.
#[derive(Component, Clone, Debug, Default)]
struct Waiting {
    asked: Arc<[AtomicU64; 3]>,
    written: Arc<AtomicU64>,
}

impl Waiting {
    fn answer(&self, question: usize, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        if self.asked[question].fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }
}

impl Sink for Waiting {
    type In = u64;

    fn poll_ready(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        self.answer(0, cx)
    }

    fn write(&mut self, _: u64) -> Result<()> {
        self.written.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        Err("flushed without waiting".into())
    }

    fn finish(&mut self) -> Result<()> {
        Err("finished without waiting".into())
    }

    fn poll_flush(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        self.answer(1, cx)
    }

    fn poll_finish(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        self.answer(2, cx)
    }
}

#[test]
fn a_wrapped_sink_waits_as_the_one_inside() {
    let sink = Waiting::default();
    let job = Job::new("waiting");
    let faulty = Faulty::error_at(sink.clone(), 2);
    job.source(FromIter::new(0..3_u64)).sink(faulty);
    let outcome = testing::run(job).unwrap();
    assert_eq!((outcome.events_out(), outcome.failed()), (2, 1));
    assert_eq!(sink.written.load(Ordering::Relaxed), 2);
    let asked = sink.asked.each_ref().map(|n| n.load(Ordering::Relaxed));
    assert!(asked[0] >= 6 && asked[1] > 0 && asked[2] == 2, "{asked:?}");
}

/// A fault by name finds the component by its own name; a fault at an event needs none.
#[test]
fn a_fault_by_name_picks_one_component_and_one_at_an_event_never_misses() {
    let failed = |sink: Faulty<Collect<u64>>| {
        let job = Job::new("names");
        job.source(FromIter::new(1..=3_u64)).sink(sink).named("renamed");
        testing::run(job).unwrap().component("renamed").unwrap().failed
    };
    let by_name = |name| Faulty::new(Collect::new(), Some(Fault::error(name, 2)));
    assert_eq!(failed(by_name("collect")), 1);
    assert_eq!(failed(by_name("renamed")), 0);
    assert_eq!(failed(by_name("colect")), 0);
    assert_eq!(failed(Faulty::error_at(Collect::new(), 2)), 1);
    assert_eq!(failed(Faulty::error_at(Collect::new(), 2).always()), 2);
    assert_eq!(failed(Faulty::error_at(Collect::new(), 2).of_instance(1)), 0);
}

#[test]
#[should_panic(expected = "there is no event 0 to fail at")]
fn there_is_no_event_zero() {
    drop(Faulty::panic_at(Collect::<u64>::new(), 0));
}
