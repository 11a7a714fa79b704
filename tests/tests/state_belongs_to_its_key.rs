//! Each key has state of its own, as in a map that a naive model keeps: whatever the parallelism and
//! the order of the frames.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use streamwork::DeadLetter;
use streamwork::prelude::*;
use streamwork::testing::{Fault, Faulty, Scheduler};
use streamwork_tests::{Census, Live, Permits, Waits, assert_adds_up, small_links, wait_until};

const KEYS: u64 = 13;

/// What to do with the state of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Add,
    Read,
    Take,
    Remove,
    AddAndFail,
    TakeAndAdd,
}

type Row = (u64, u64, bool, u64);

fn actions(seed: u64, count: u64) -> Vec<(u64, u64)> {
    let draw = |n: u64| (n ^ seed.wrapping_mul(0x9E37_79B9)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (0..count).map(|n| ((draw(n) >> 32) % KEYS, draw(n) >> 40)).collect()
}

fn action(drawn: u64) -> Action {
    use Action::{Add, AddAndFail, Read, Remove, Take, TakeAndAdd};
    [Add, Add, Read, Take, Read, Add, Remove, AddAndFail, TakeAndAdd][(drawn % 9) as usize]
}

/// Does what the events say, and emits what it found. At the end it emits each key that is left.
#[derive(Component, Clone)]
struct Ledger;

impl KeyedOperator for Ledger {
    type Key = u64;
    type In = (u64, u64);
    type Out = Row;
    type State = u64;

    fn apply(
        &mut self,
        key: &u64,
        (_, drawn): (u64, u64),
        state: &mut Keyed<u64>,
        out: &mut Emitter<Row>,
    ) -> Result<()> {
        out.emit((*key, drawn, state.is_new(), **state));
        match action(drawn) {
            Action::Add => **state += drawn,
            Action::Read => {}
            Action::Take => drop(Some(state.take())),
            Action::Remove => state.remove(),
            Action::AddAndFail => {
                **state += drawn;
                return Err("on cue".into());
            }
            Action::TakeAndAdd => **state = state.take() + 1,
        }
        Ok(())
    }

    fn finish(&mut self, key: &u64, state: &mut Keyed<u64>, out: &mut Emitter<Row>) -> Result<()> {
        out.emit((*key, u64::MAX, false, **state));
        Ok(())
    }
}

/// What the ledger says of each key, in order, and the number of its failures, which leave a trace or not.
fn model(events: &[(u64, u64)], on_error: Option<OnError>) -> (BTreeMap<u64, Vec<Row>>, u64) {
    let mut rows: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
    let (mut states, mut failed) = (BTreeMap::<u64, u64>::new(), 0);
    for (key, drawn) in events {
        let before = states.get(key).copied();
        let row = (*key, *drawn, before.is_none(), before.unwrap_or(0));
        let after = match action(*drawn) {
            Action::AddAndFail if on_error.is_some() => before,
            Action::Add | Action::AddAndFail => Some(row.3 + drawn),
            Action::Read => before,
            Action::Take | Action::Remove => None,
            Action::TakeAndAdd => Some(row.3 + 1),
        };
        if action(*drawn) == Action::AddAndFail {
            // The event is lost and its row with it.
            failed += 1;
        } else {
            rows.entry(*key).or_default().push(row);
        }
        match after {
            Some(after) => drop(states.insert(*key, after)),
            None => drop(states.remove(key)),
        }
    }
    for (key, state) in states {
        rows.entry(key).or_default().push((key, u64::MAX, false, state));
    }
    (rows, failed)
}

fn dead_event(letter: &DeadLetter) -> (u64, u64) {
    letter.event().expect("it was written as one")
}

#[test]
fn it_is_what_a_naive_model_says() {
    for seed in 0..300 {
        let events = actions(seed, 200);
        let got = Collect::new();
        let job = Job::new("ledger").link_limits(small_links());
        let source = job.source(FromIter::new(events.clone()));
        let keyed = source.key_by(|event: &(u64, u64)| &event.0);
        let parallelism = 1 + seed as usize % 5;
        let ledger = keyed.apply(Ledger).parallelism(parallelism);
        let on_error = [None, Some(OnError::Skip), Some(OnError::DeadLetter)][seed as usize % 3];
        let ledger = on_error.into_iter().fold(ledger, |ledger, asked| ledger.on_error(asked));
        let dead = Collect::new();
        ledger.dead_letters().sink(dead.clone()).named("dead");
        ledger.sink(got.clone());
        let outcome = if seed % 10 == 9 {
            Engine::new().arbiters(3).run(job).unwrap()
        } else {
            Scheduler::seeded(seed).run(job).unwrap()
        };
        let mut rows: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
        got.take().into_iter().for_each(|row| rows.entry(row.0).or_default().push(row));
        let (expected, failed) = model(&events, on_error);
        assert_eq!(rows, expected, "seed {seed}");
        let mut dead: Vec<_> = dead.take().iter().map(dead_event).collect();
        let mut failing: Vec<_> = events
            .into_iter()
            .filter(|_| on_error == Some(OnError::DeadLetter))
            .filter(|(_, drawn)| action(*drawn) == Action::AddAndFail)
            .collect();
        dead.sort();
        failing.sort();
        assert_eq!(dead, failing, "seed {seed}");
        assert_eq!((outcome.failed(), outcome.restarts()), (failed, 0), "seed {seed}");
        assert_adds_up(&outcome, &format!("seed {seed}"));
    }
}

/// What cannot be copied, or only once: fields and timers of a key go back with its state, and a key that began
/// with a failure is none.
#[test]
fn a_failed_event_and_a_failed_timer_leave_no_trace_where_that_is_asked_for() {
    /// Collects texts. Fails at `x`, and its timer always does.
    #[derive(Component, Clone)]
    struct Texts;

    impl KeyedOperator for Texts {
        type Key = u64;
        type In = (u64, String);
        type Out = (u64, Vec<String>);
        type State = Vec<String>;

        fn apply(
            &mut self,
            _: &u64,
            (_, text): (u64, String),
            texts: &mut Keyed<Vec<String>>,
            _: &mut Emitter<Self::Out>,
        ) -> Result<()> {
            let fails = text == "x";
            texts.push(text);
            if fails {
                texts.cancel_timers();
                texts.set_timer_after(Duration::from_millis(1));
                return Err("x".into());
            }
            texts.set_timer_after(Duration::from_millis(3));
            Ok(())
        }

        fn on_timer(
            &mut self,
            _: &u64,
            _: EventTime,
            texts: &mut Keyed<Vec<String>>,
            _: &mut Emitter<Self::Out>,
        ) -> Result<()> {
            texts.clear();
            Err("always".into())
        }

        fn finish(
            &mut self,
            key: &u64,
            texts: &mut Keyed<Vec<String>>,
            out: &mut Emitter<Self::Out>,
        ) -> Result<()> {
            out.emit((*key, texts.take()));
            Ok(())
        }
    }

    let got = Collect::new();
    let job = Job::new("texts");
    // Behind the fourth there is time for timers.
    let events = [(1, "a"), (1, "x"), (2, "x"), (1, "b"), (3, "c")];
    let events = events.map(|(key, text)| (key, text.to_owned()));
    let texts = job.source(FromIter::new(events).splits(1)).rate(100.0);
    let texts = texts.key_by(|event: &(u64, String)| &event.0);
    texts.apply(Texts).on_error(OnError::Skip).sink(got.clone());
    let outcome = streamwork::testing::run(job).unwrap();
    let mut got = got.take();
    got.sort();
    let texts = |texts: &[&str]| texts.iter().map(|text| text.to_string()).collect::<Vec<_>>();
    assert_eq!(got, [(1, texts(&["a", "b"])), (3, texts(&["c"]))]);
    let counts = outcome.component("texts").unwrap();
    // One timer for each text that did not fail.
    assert_eq!((counts.failed, counts.failed_timers), (2, 3));
}

/// Reads alone: no key is left to finish.
#[test]
fn reading_leaves_no_key() {
    let got = Collect::new();
    let job = Job::new("reads");
    let reads = FromIter::new((0..50_u64).map(|key| (key, 2)));
    let keyed = job.source(reads).key_by(|event: &(u64, u64)| &event.0);
    keyed.apply(Ledger).parallelism(3).sink(got.clone());
    Engine::new().run(job).unwrap();
    let rows = got.take();
    assert_eq!(rows.len(), 50);
    assert!(rows.iter().all(|row| row.1 == 2 && row.2), "{rows:?}");
}

/// Keeps each key, and says so at the end with an event of 1 KiB.
#[derive(Component, Clone)]
struct Farewell(Census);

impl KeyedOperator for Farewell {
    type Key = u64;
    type In = u64;
    type Out = Live;
    type State = bool;

    fn apply(
        &mut self,
        _: &u64,
        _: u64,
        seen: &mut Keyed<bool>,
        _: &mut Emitter<Live>,
    ) -> Result<()> {
        **seen = true;
        Ok(())
    }

    fn finish(&mut self, key: &u64, _: &mut Keyed<bool>, out: &mut Emitter<Live>) -> Result<()> {
        out.emit(Live::new(*key, &self.0));
        Ok(())
    }
}

/// 200,000 keys, and a sink that stands still before it goes on.
#[test]
fn the_end_of_many_keys_is_made_bit_by_bit() {
    const MANY: u64 = 200_000;
    let (census, permits) = (Census::default(), Permits::none());
    let seen = Arc::new(Mutex::new(vec![0_u8; MANY as usize]));
    let job = Job::new("farewell");
    let keyed = job
        .source(Generator::indexed(|n| n % MANY).events(MANY + 5_000))
        .key_by_value(|n: &u64| *n);
    let last = Arc::clone(&seen);
    let sink = ForEach::new(move |event: Live| {
        last.lock().unwrap()[event.number() as usize] += 1;
    });
    let farewell = keyed.apply(Farewell(census.clone())).parallelism(2);
    farewell.sink(Waits::new(sink, &permits));
    let handle = Engine::new().start(job).unwrap();
    for step in 1..=10 {
        permits.give(1_000);
        wait_until("the sink has gone on", || permits.taken() == 1_000 * step);
    }
    permits.give(MANY);
    let outcome = handle.wait().unwrap();
    assert_eq!((outcome.events_out(), outcome.dropped()), (MANY, 0));
    assert!(seen.lock().unwrap().iter().all(|times| *times == 1), "each key once");
    assert!(census.most() < 1_500, "{} events were alive at once", census.most());
}

/// Counts the events of each key.
#[derive(Component, Clone)]
struct Count {
    panics: bool,
    seen: Arc<AtomicU64>,
}

impl KeyedOperator for Count {
    type Key = u64;
    type In = u64;
    type Out = (u64, u64);
    type State = u64;

    fn apply(
        &mut self,
        key: &u64,
        _: u64,
        count: &mut Keyed<u64>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        **count += 1;
        out.emit((*key, **count));
        match self.seen.fetch_add(1, Ordering::Relaxed) {
            49 if self.panics => panic!("on cue"),
            49 => Err("on cue".into()),
            _ => Ok(()),
        }
    }
}

fn counts(panics: bool) -> (Vec<(u64, u64)>, u64) {
    let got = Collect::new();
    let restarts =
        RestartStrategy { pause: Duration::from_millis(1), ..RestartStrategy::default() };
    let job = Job::new("count").restarts(restarts);
    let numbers = job.source(FromIter::new(0..100_u64));
    let count = Count { panics, seen: Arc::default() };
    numbers.key_by_value(|n: &u64| n % 2).apply(count).sink(got.clone());
    let outcome = Engine::new().run(job).expect("it runs to its end");
    assert_eq!(outcome.failed(), 1);
    (got.take(), outcome.restarts())
}

/// Event 50 is number 49: the 25th of the odd ones.
#[test]
fn a_panic_loses_the_keys_and_an_error_does_not() {
    let (rows, restarts) = counts(true);
    let mut expected: Vec<(u64, u64)> = (0..49).map(|n| (n % 2, n / 2 + 1)).collect();
    expected.extend((50..100).map(|n| (n % 2, (n - 50) / 2 + 1)));
    assert_eq!((rows, restarts), (expected, 1));

    let (rows, restarts) = counts(false);
    let expected: Vec<_> = (0..100).filter(|n| *n != 49).map(|n| (n % 2, n / 2 + 1)).collect();
    assert_eq!((rows, restarts), (expected, 0));
}

/// Adds up what comes on either side.
#[derive(Component, Clone, Default)]
struct Sums {
    left: u64,
    right: u64,
}

impl TwoInput for Sums {
    type Left = u64;
    type Right = u32;
    type Out = (u64, u64);

    fn apply_left(&mut self, n: u64, _: &mut Emitter<Self::Out>) -> Result<()> {
        self.left += n;
        Ok(())
    }

    fn apply_right(&mut self, n: u32, _: &mut Emitter<Self::Out>) -> Result<()> {
        self.right += u64::from(n);
        Ok(())
    }

    fn finish(&mut self, out: &mut Emitter<Self::Out>) -> Result<()> {
        out.emit((self.left, self.right));
        Ok(())
    }
}

#[test]
fn one_of_two_inputs_may_end_early() {
    for seed in 0..200 {
        let got = Collect::new();
        let job = Job::new("sums").link_limits(small_links());
        let few = job.source(FromIter::new(1..=3_u64)).named("few");
        let many = job.source(FromIter::new(1..=400_u32)).named("many").parallelism(2);
        let sums = many.map(|n| u64::from(*n)).connect(few.map(|n| *n as u32));
        sums.apply(Sums::default()).named("many-few").sink(got.clone()).named("a");
        let sums = few.group(Global).connect(&many);
        sums.apply(Sums::default()).named("few-many").parallelism(2).sink(got.clone()).named("b");
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        let mut rows = got.take();
        rows.sort_unstable();
        assert_eq!(rows.len(), 3, "seed {seed}: each instance finishes once");
        let (left, right) = (rows.iter().map(|r| r.0).sum::<u64>(), rows.iter().map(|r| r.1));
        assert_eq!((left, right.sum::<u64>()), (80_200 + 6, 80_200 + 6), "seed {seed}: {rows:?}");
        assert_adds_up(&outcome, &format!("seed {seed}"));
    }
}

/// Adds up what comes on either side, by key.
#[derive(Component, Clone)]
struct SumsByKey;

impl KeyedTwoInput for SumsByKey {
    type Key = u64;
    type Left = u64;
    type Right = (u64, String);
    type Out = (u64, u64, u64);
    type State = (u64, u64);

    fn apply_left(
        &mut self,
        _: &u64,
        _: u64,
        counts: &mut Keyed<(u64, u64)>,
        _: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        counts.0 += 1;
        Ok(())
    }

    fn apply_right(
        &mut self,
        key: &u64,
        (of, text): (u64, String),
        counts: &mut Keyed<(u64, u64)>,
        _: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        assert_eq!((*key, text), (of, of.to_string()));
        counts.1 += 1;
        Ok(())
    }

    fn finish(
        &mut self,
        key: &u64,
        counts: &mut Keyed<(u64, u64)>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        let (left, right) = **counts;
        out.emit((*key, left, right));
        Ok(())
    }
}

#[test]
fn both_sides_of_a_key_share_its_state() {
    for seed in 0..200 {
        let got = Collect::new();
        let job = Job::new("sums").link_limits(small_links());
        let left = job.source(FromIter::new(0..10_u64)).named("left");
        let right = job.source(FromIter::new(0..300_u64)).named("right").parallelism(3);
        let right = right.map(|n| (n % 20, (n % 20).to_string()));
        left.key_by(|n: &u64| n)
            .connect(right.key_by_value(|r: &(u64, String)| r.0))
            .apply(SumsByKey)
            .parallelism(1 + seed as usize % 4)
            .sink(got.clone());
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        let mut rows = got.take();
        rows.sort_unstable();
        let expected = (0..20).map(|key| (key, u64::from(key < 10), 15));
        assert!(rows.iter().copied().eq(expected), "seed {seed}: {rows:?}");
        assert_adds_up(&outcome, &format!("seed {seed}"));
    }
}

/// A fault in the source behind it changes no state.
#[test]
fn a_source_that_is_built_anew_counts_nothing_twice() {
    for seed in 0..100 {
        let got = Collect::new();
        let job = Job::new("anew").link_limits(small_links());
        let fault = Fault::panic("from-iter", 1 + seed % 80);
        let numbers = job.source(Faulty::new(FromIter::new(0..90_u64), Some(fault)));
        let counts = numbers.key_by_value(|n: &u64| n % 3).fold(0_u64, |n, _| *n += 1);
        counts.parallelism(2).sink(got.clone());
        let outcome = Scheduler::seeded(seed).run(job).unwrap();
        assert_eq!((outcome.restarts(), outcome.failed()), (1, 0));
        let mut rows = got.take();
        rows.sort_unstable();
        assert!(rows.into_iter().eq((0..3).flat_map(|k| (1..=30).map(move |n| (k, n)))));
    }
}

/// A key that can't be found costs its event and nothing else, with one instance as with several.
#[test]
fn a_key_that_panics_costs_its_event_alone() {
    for parallelism in [1, 2, 3] {
        let counts = Collect::new();
        let job = Job::new("keys");
        job.source(FromIter::new([1_u64, 1, 13, 1, 2]))
            .key_by_value(|n: &u64| if *n == 13 { panic!("no {n}") } else { *n })
            .fold(0_u64, |n, _| *n += 1)
            .parallelism(parallelism)
            .sink(counts.clone());
        let outcome = Scheduler::seeded(parallelism as u64).run(job).unwrap();
        let mut counts = counts.take();
        counts.sort();
        assert_eq!(counts, [(1, 1), (1, 2), (1, 3), (2, 1)], "{parallelism}");
        assert_eq!((outcome.failed(), outcome.restarts()), (1, 0), "{parallelism}");
    }
}

/// Emits nothing, and takes its time for each key.
#[derive(Component, Clone)]
struct Slow(Arc<AtomicU64>);

impl KeyedOperator for Slow {
    type Key = u64;
    type In = u64;
    type Out = u64;
    type State = u64;

    fn apply(
        &mut self,
        _: &u64,
        n: u64,
        state: &mut Keyed<u64>,
        _: &mut Emitter<u64>,
    ) -> Result<()> {
        **state = n;
        Ok(())
    }

    fn finish(&mut self, _: &u64, _: &mut Keyed<u64>, _: &mut Emitter<u64>) -> Result<()> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// The end of many keys is no single piece of work: a kill is heard in the middle of it.
#[test]
fn a_kill_is_heard_while_keys_finish() {
    let finished = Arc::new(AtomicU64::new(0));
    let mut cut_short = 0;
    for steps in (0..400).step_by(10) {
        finished.store(0, Ordering::SeqCst);
        let job = Job::new("many");
        job.source(FromIter::new(0..5_000_u64))
            .key_by(|n: &u64| n)
            .apply(Slow(Arc::clone(&finished)))
            .sink(Collect::new());
        Scheduler::seeded(7).stop_after(steps).run(job).unwrap();
        cut_short += usize::from((1..5_000).contains(&finished.load(Ordering::SeqCst)));
    }
    assert!(cut_short > 0, "no stop came while the keys finished");
}
