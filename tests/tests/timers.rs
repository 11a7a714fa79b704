//! Timers of keys, and states with a time to live.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::testing::{self, KeyedHarness, KeyedTwoInputHarness, Scheduler};
use streamwork::{Clock, MemoryStore, SystemClock};

fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn at(millis: i64) -> EventTime {
    EventTime::from_millis(millis)
}

/// What an event does to its key, or what it tells its next timer to do.
#[derive(Event, Clone, Copy, Debug, PartialEq)]
#[event(local)]
enum Deed {
    Set(i64),
    SetAfter(u64),
    Cancel(i64),
    CancelAll,
    Count,
    Remove,
}

/// Does as it is told, and emits the timers that fire with the count of their key. A timer for a time that is
/// a multiple of 100 sets another one a millisecond later; one for 13 fails, and one for 14 panics.
#[derive(Component, Clone)]
struct Told;

impl Told {
    fn obey(deed: Deed, state: &mut Keyed<u64>) {
        match deed {
            Deed::Set(time) => state.set_timer(at(time)),
            Deed::SetAfter(delay) => state.set_timer_after(millis(delay)),
            Deed::Cancel(time) => state.cancel_timer(at(time)),
            Deed::CancelAll => state.cancel_timers(),
            Deed::Count => **state += 1,
            Deed::Remove => state.remove(),
        }
    }

    fn fire(time: EventTime, state: &mut Keyed<u64>) -> Result<()> {
        match time.as_millis() {
            13 => Err("thirteen".into()),
            14 => panic!("fourteen"),
            n if n % 100 == 0 => {
                state.set_timer(at(n + 1));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

type Fired = (u32, i64, u64);

impl KeyedOperator for Told {
    type Key = u32;
    type In = (u32, Deed);
    type Out = Fired;
    type State = u64;

    fn apply(
        &mut self,
        _: &u32,
        (_, deed): Self::In,
        state: &mut Keyed<u64>,
        _: &mut Emitter<Fired>,
    ) -> Result<()> {
        Self::obey(deed, state);
        Ok(())
    }

    fn on_timer(
        &mut self,
        key: &u32,
        at: EventTime,
        state: &mut Keyed<u64>,
        out: &mut Emitter<Fired>,
    ) -> Result<()> {
        out.emit((*key, at.as_millis(), **state));
        Self::fire(at, state)
    }
}

impl KeyedTwoInput for Told {
    type Key = u32;
    type Left = (u32, Deed);
    type Right = (u32, u64);
    type Out = Fired;
    type State = u64;

    fn apply_left(
        &mut self,
        _: &u32,
        (_, deed): Self::Left,
        state: &mut Keyed<u64>,
        _: &mut Emitter<Fired>,
    ) -> Result<()> {
        Self::obey(deed, state);
        Ok(())
    }

    fn apply_right(
        &mut self,
        _: &u32,
        (_, count): Self::Right,
        state: &mut Keyed<u64>,
        _: &mut Emitter<Fired>,
    ) -> Result<()> {
        **state = count;
        Ok(())
    }

    fn on_timer(
        &mut self,
        key: &u32,
        at: EventTime,
        state: &mut Keyed<u64>,
        out: &mut Emitter<Fired>,
    ) -> Result<()> {
        out.emit((*key, at.as_millis(), **state));
        Self::fire(at, state)
    }
}

fn told(
    deeds: &[(u32, Deed)],
) -> KeyedHarness<Told, impl streamwork::KeySelector<(u32, Deed), Key = u32> + use<>> {
    let mut harness = KeyedHarness::key_by(Told, |told: &(u32, Deed)| &told.0);
    deeds.iter().for_each(|deed| harness.apply(*deed).expect("it takes every deed"));
    harness
}

#[test]
fn timers_fire_in_the_order_of_their_times_and_each_once() {
    let deeds = [(1, Deed::Set(30)), (2, Deed::Set(20)), (1, Deed::Set(10)), (1, Deed::Set(30))];
    let mut harness = told(&deeds);
    harness.advance(millis(9)).unwrap();
    assert_eq!(harness.take(), []);
    harness.advance(millis(1)).unwrap();
    assert_eq!(harness.take(), [(1, 10, 0)]);
    harness.advance(millis(1_000)).unwrap();
    assert_eq!(harness.take(), [(2, 20, 0), (1, 30, 0)]);
}

#[test]
fn a_timer_that_a_timer_sets_fires_at_its_own_time() {
    let mut harness = told(&[(1, Deed::Set(200)), (2, Deed::Set(201)), (2, Deed::Set(202))]);
    harness.advance(millis(300)).unwrap();
    assert_eq!(harness.take(), [(1, 200, 0), (1, 201, 0), (2, 201, 0), (2, 202, 0)]);
}

#[test]
fn what_is_cancelled_does_not_fire() {
    let deeds = [
        (1, Deed::Set(10)),
        (1, Deed::Set(20)),
        (2, Deed::Set(10)),
        (2, Deed::Set(20)),
        (1, Deed::Cancel(10)),
        (1, Deed::Cancel(99)),
        (2, Deed::CancelAll),
        (2, Deed::SetAfter(15)),
    ];
    let mut harness = told(&deeds);
    harness.advance(millis(100)).unwrap();
    assert_eq!(harness.take(), [(2, 15, 0), (1, 20, 0)]);
}

#[test]
fn timers_are_apart_from_the_state() {
    let deeds = [
        (1, Deed::Set(10)),
        (2, Deed::Count),
        (2, Deed::Set(10)),
        (3, Deed::Count),
        (3, Deed::Set(10)),
        (3, Deed::Remove),
    ];
    let mut harness = told(&deeds);
    assert_eq!(harness.keys(), 1);
    harness.advance(millis(10)).unwrap();
    let mut fired = harness.take();
    fired.sort();
    assert_eq!(fired, [(1, 10, 0), (2, 10, 1), (3, 10, 0)]);
    assert_eq!(harness.keys(), 1);
}

#[test]
fn with_two_inputs_both_sides_set_timers_of_the_same_key() {
    let mut harness = KeyedTwoInputHarness::key_by(
        Told,
        |left: &(u32, Deed)| &left.0,
        |right: &(u32, u64)| &right.0,
    );
    harness.apply_left((7, Deed::SetAfter(5))).unwrap();
    harness.apply_right((7, 9)).unwrap();
    harness.advance(millis(5)).unwrap();
    assert_eq!(harness.take(), [(7, 5, 9)]);
}

#[test]
fn a_timer_that_fails_is_gone_with_what_it_emitted() {
    let mut harness = told(&[(1, Deed::Set(13)), (1, Deed::Set(15))]);
    assert_eq!(harness.advance(millis(20)).unwrap_err().to_string(), "thirteen");
    assert_eq!(harness.take(), []);
    harness.advance(millis(7)).unwrap();
    assert_eq!(harness.take(), [(1, 15, 0)]);
}

/// A job that sets timers, with nothing after it for longer than they take.
fn job(deeds: &[(u32, Deed)], got: &Collect<Fired>) -> (Job, Stage<Fired>) {
    let job = Job::new("timers");
    let mut events = deeds.to_vec();
    events.push((0, Deed::Count));
    let stage = job
        .source(FromIter::new(events).splits(1))
        // The last event comes a second after the one before.
        .rate(1.0)
        .key_by(|told: &(u32, Deed)| &told.0)
        .apply(Told);
    stage.sink(got.clone());
    (job, stage)
}

#[test]
fn an_instance_without_events_wakes_for_its_timers_and_at_the_end_none_fires() {
    let got = Collect::new();
    let (job, _) = job(&[(1, Deed::Set(300)), (1, Deed::Set(1_700)), (1, Deed::Set(9_999))], &got);
    let outcome = testing::run(job).unwrap();
    let times: Vec<i64> = got.take().into_iter().map(|(_, time, _)| time).collect();
    assert_eq!(times, [300, 301, 1_700, 1_701]);
    assert_eq!(outcome.component("told").unwrap().timers, 4);
}

#[test]
fn an_error_of_a_timer_loses_that_timer_or_fails_the_job() {
    let deeds = [(1, Deed::Set(13)), (1, Deed::Set(1_015))];
    let got = Collect::new();
    let (skipping, _) = job(&deeds, &got);
    let outcome = testing::run(skipping).unwrap();
    assert_eq!(got.take(), [(1, 1_015, 0)]);
    let counts = outcome.component("told").unwrap();
    assert_eq!((counts.timers, counts.failed_timers, counts.failed), (1, 1, 0));

    let (failing, stage) = job(&deeds, &got);
    stage.on_error(OnError::Fail);
    let error = testing::run(failing).unwrap_err();
    assert!(format!("{error:?}").contains("thirteen"), "{error:?}");
    assert_eq!(got.take(), []);
}

#[test]
fn after_a_panic_the_instance_is_built_anew_without_timers() {
    let got = Collect::new();
    let (job, _) = job(&[(1, Deed::Set(1_020)), (1, Deed::Set(14)), (1, Deed::Set(2_001))], &got);
    let outcome = testing::run(job).unwrap();
    assert_eq!(got.take(), [(1, 2_001, 0)]);
    assert_eq!((outcome.restarts(), outcome.component("told").unwrap().failed_timers), (1, 1));
}

/// Sets timers, and remembers those that fired. One panics when its turn comes.
#[derive(Component, Clone)]
struct Remember {
    calls: Arc<AtomicU64>,
    panics_at: u64,
}

const EVENTS: i64 = 300;
const KEYS: i64 = 5;

impl Remember {
    /// The timer of an event: some times have passed already. No two of a key are the same.
    fn time(n: i64) -> i64 {
        n / 2 - 20
    }

    /// What the timer for `time` sets for later.
    fn next(time: i64) -> Option<i64> {
        (time < EVENTS / 2 && time % 2 == 0).then_some(time + 200)
    }

    /// What never comes.
    fn never(n: i64) -> EventTime {
        at(i64::MAX / 2 - n)
    }
}

impl KeyedOperator for Remember {
    type Key = i64;
    type In = i64;
    type Out = (i64, Vec<i64>);
    type State = Vec<i64>;

    fn apply(
        &mut self,
        _: &i64,
        n: i64,
        fired: &mut Keyed<Vec<i64>>,
        _: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        if n < EVENTS {
            fired.set_timer(at(Self::time(n)));
            fired.set_timer(Self::never(n));
            fired.cancel_timer(Self::never(n - KEYS));
        }
        Ok(())
    }

    fn on_timer(
        &mut self,
        _: &i64,
        time: EventTime,
        fired: &mut Keyed<Vec<i64>>,
        _: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        fired.push(time.as_millis());
        if let Some(next) = Self::next(time.as_millis()) {
            fired.set_timer(at(next));
        }
        assert!(self.calls.fetch_add(1, Ordering::Relaxed) + 1 != self.panics_at, "on cue");
        Ok(())
    }

    fn finish(
        &mut self,
        key: &i64,
        fired: &mut Keyed<Vec<i64>>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        out.emit((*key, fired.take()));
        Ok(())
    }
}

fn all_timers() -> BTreeMap<i64, Vec<i64>> {
    let mut all = BTreeMap::<i64, Vec<i64>>::new();
    for n in 0..EVENTS {
        let time = Remember::time(n);
        let fired = all.entry(n % KEYS).or_default();
        fired.extend([Some(time), Remember::next(time)].into_iter().flatten());
    }
    all.values_mut().for_each(|times| times.sort());
    all
}

#[test]
fn each_timer_counts_once_whatever_fails_and_is_killed() {
    for seed in 0..10 {
        let got = Collect::new();
        let store = MemoryStore::new();
        let operator = Remember { calls: Arc::default(), panics_at: 5 + seed * 7 };
        let job = || {
            let job = Job::new("remember").delivery(Delivery::exactly_once(millis(3)));
            job.source(FromIter::new(0_i64..).splits(2))
                .rate(10_000.0)
                .key_by_value(|n: &i64| n % KEYS)
                .apply(operator.clone())
                .parallelism(2)
                .sink(got.clone());
            job
        };
        for run in 1..=4 {
            let scheduler = Scheduler::seeded(seed * 100 + run).store(store.clone());
            let outcome = scheduler.kill_after(300 * run + 17 * seed).run(job()).unwrap();
            assert_eq!(outcome.status(), JobStatus::Killed, "seed {seed}");
        }
        let last = Scheduler::seeded(seed * 100).store(store.clone());
        let outcome = last.drain_after(30_000).run(job()).unwrap();
        assert_eq!(outcome.status(), JobStatus::Drained, "seed {seed}");
        assert!(operator.calls.load(Ordering::Relaxed) > operator.panics_at, "seed {seed}");
        let mut fired: BTreeMap<_, _> = got.take().into_iter().collect();
        fired.values_mut().for_each(|times| times.sort());
        assert_eq!(fired, all_timers(), "seed {seed}");
    }
}

/// Emits with each event how often the timer of the first one has fired.
#[derive(Component, Clone)]
struct Overdue;

const LATE: Duration = Duration::from_millis(200);

impl KeyedOperator for Overdue {
    type Key = u64;
    type In = u64;
    type Out = u64;
    type State = (bool, u64);

    fn apply(
        &mut self,
        _: &u64,
        _: u64,
        state: &mut Keyed<(bool, u64)>,
        out: &mut Emitter<u64>,
    ) -> Result<()> {
        if !state.0 {
            state.set_timer_after(LATE);
            state.0 = true;
        }
        out.emit(state.1);
        Ok(())
    }

    fn on_timer(
        &mut self,
        _: &u64,
        _: EventTime,
        state: &mut Keyed<(bool, u64)>,
        _: &mut Emitter<u64>,
    ) -> Result<()> {
        state.1 += 1;
        Ok(())
    }
}

/// B52: a timer that fell due while the job was down fires once, before the first event.
#[test]
fn an_overdue_timer_fires_once_after_a_restore() {
    let clock = SystemClock::new();
    let store = MemoryStore::new();
    let got = Collect::new();
    let engine = Engine::new().store(store);
    let job = || {
        let job = Job::new("overdue").delivery(Delivery::exactly_once(millis(5)));
        job.source(FromIter::new(0_u64..).splits(1))
            .rate(2_000.0)
            .key_by_value(|_: &u64| 0_u64)
            .apply(Overdue)
            .sink(got.clone());
        job
    };
    let run = |events: usize| {
        let before = got.len();
        let handle = engine.start(job()).unwrap();
        let patience = clock.now() + Duration::from_secs(60);
        while got.len() < before + events {
            assert!(clock.now() < patience, "{} events", got.len());
            std::thread::yield_now();
        }
        handle.stop();
        assert_eq!(handle.wait().unwrap().status(), JobStatus::Stopped);
    };
    run(1);
    assert!(got.take().iter().all(|fired| *fired == 0), "the timer was due before the stop");
    let due = clock.now() + LATE;
    while clock.now() < due {
        std::thread::yield_now();
    }
    run(20);
    let seen = got.take();
    assert!(seen.len() >= 20 && seen.iter().all(|fired| *fired == 1), "{seen:?}");
}

/// Counts, and emits the count.
#[derive(Component, Clone)]
struct Count;

impl KeyedOperator for Count {
    type Key = u64;
    type In = u64;
    type Out = u64;
    type State = u64;

    fn apply(
        &mut self,
        key: &u64,
        _: u64,
        count: &mut Keyed<u64>,
        out: &mut Emitter<u64>,
    ) -> Result<()> {
        // An odd key is only read.
        if key.is_multiple_of(2) {
            **count += 1;
        }
        out.emit(**count);
        Ok(())
    }

    fn finish(&mut self, key: &u64, _: &mut Keyed<u64>, out: &mut Emitter<u64>) -> Result<()> {
        out.emit(1_000 + key);
        Ok(())
    }
}

#[test]
fn a_state_that_was_not_changed_for_its_time_is_forgotten_without_an_event() {
    let mut harness = KeyedHarness::key_by_value(Count, |n: &u64| *n);
    harness.ttl(millis(100));
    (0..1_000).for_each(|n| harness.apply(2 * n).unwrap());
    assert_eq!(harness.keys(), 1_000);
    harness.advance(millis(99)).unwrap();
    harness.apply(4).unwrap();
    assert_eq!(harness.state(&4), Some(&2));
    // Seen no more at once, and given back soon after.
    harness.clock().advance(millis(1));
    drop(harness.take());
    harness.apply(6).unwrap();
    assert_eq!(harness.take(), [1]);
    harness.advance(millis(60)).unwrap();
    assert_eq!((harness.keys(), harness.state(&4)), (2, Some(&2)));
    assert!(harness.take().is_empty());
    harness.advance(millis(1_000)).unwrap();
    harness.finish().unwrap();
    assert_eq!((harness.keys(), harness.take()), (0, vec![]));
}

#[test]
fn in_a_job_with_checkpoints_states_live_their_time_too() {
    for seed in 0..20 {
        let got = Collect::new();
        let job = Job::new("lives").delivery(Delivery::exactly_once(millis(50)));
        // Ten events a second: the first key comes each time, the others once.
        let keys = [0, 2, 0, 4, 0, 6, 0, 8, 0, 2];
        job.source(FromIter::new(keys).splits(1))
            .rate(10.0)
            .key_by_value(|n: &u64| *n)
            .ttl(millis(550))
            .apply(Count)
            .sink(got.clone());
        Scheduler::seeded(seed).run(job).unwrap();
        let mut got = got.take();
        let ends = got.split_off(keys.len());
        assert_eq!(got, [1, 1, 2, 1, 3, 1, 4, 1, 5, 1], "seed {seed}");
        let mut ends = ends;
        ends.sort();
        assert_eq!(ends, [1_000, 1_002, 1_006, 1_008], "seed {seed}");
    }
}
