//! Timers and times to live, beside a naive model.

use super::*;
use crate::time::SettableClock;
use std::collections::BTreeSet;

const TTL: i64 = 40;
const GROUPS: u16 = 5;

fn at(millis: i64) -> EventTime {
    EventTime::from_millis(millis)
}

fn millis(millis: i64) -> Duration {
    Duration::from_millis(millis as u64)
}

/// What should be there: plain maps, and a time that is counted by hand.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    /// With the time of the last change.
    states: BTreeMap<u64, (u64, i64)>,
    timers: BTreeSet<(i64, u64)>,
}

impl Model {
    fn visible(&self, now: i64, has_ttl: bool) -> BTreeMap<u64, u64> {
        let lives = |(_, (_, changed)): &(&u64, &(u64, i64))| !has_ttl || now < *changed + TTL;
        self.states.iter().filter(lives).map(|(key, (state, _))| (*key, *state)).collect()
    }

    fn change(&mut self, key: u64, now: i64, has_ttl: bool) {
        let before = self.visible(now, has_ttl).get(&key).copied().unwrap_or(0);
        self.states.insert(key, (before + 1, now));
    }
}

#[derive(Clone, Debug)]
enum Act {
    Read,
    Change,
    Remove,
}

#[derive(Clone, Debug)]
enum Timer {
    None,
    At(i64),
    After(i64),
    Cancel(i64),
    CancelAll,
}

#[derive(Clone, Debug)]
enum Step {
    Apply { key: u64, act: Act, timers: [Timer; 2] },
    Pass(i64),
    SetClock(i64),
    Fire,
    Sweep,
    Checkpoint { completes: bool, restarts: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let act = prop_oneof![Just(Act::Read), Just(Act::Change), Just(Act::Remove)];
    let timer = prop_oneof![
        4 => Just(Timer::None),
        4 => (0_i64..200).prop_map(Timer::At),
        4 => (0_i64..40).prop_map(Timer::After),
        2 => (0_i64..200).prop_map(Timer::Cancel),
        1 => Just(Timer::CancelAll),
    ];
    let timers = [timer.clone(), timer];
    let apply =
        (0_u64..7, act, timers).prop_map(|(key, act, timers)| Step::Apply { key, act, timers });
    let checkpoint = (any::<bool>(), any::<bool>())
        .prop_map(|(completes, restarts)| Step::Checkpoint { completes, restarts });
    let step = prop_oneof![
        12 => apply,
        3 => (0_i64..20).prop_map(Step::Pass),
        1 => (-30_i64..30).prop_map(Step::SetClock),
        3 => Just(Step::Fire),
        1 => Just(Step::Sweep),
        3 => checkpoint,
    ];
    prop::collection::vec(step, 0..150)
}

fn order<S>(state: &mut Keyed<S>, timer: &Timer) {
    match *timer {
        Timer::None => {}
        Timer::At(time) => state.set_timer(at(time)),
        Timer::After(delay) => state.set_timer_after(millis(delay)),
        Timer::Cancel(time) => state.cancel_timer(at(time)),
        Timer::CancelAll => state.cancel_timers(),
    }
}

struct Bench<K> {
    table: Table<K, u64>,
    make: fn(u64) -> K,
    clock: SettableClock,
    ttl: Option<Duration>,
    model: Model,
    /// The time of day, as the model counts it.
    now: i64,
    wall: i64,
    /// The last completed checkpoint: its number, its segments, what it should hold.
    completed: Option<(Epoch, Chains, Model)>,
    id: Epoch,
}

impl<K: Key + Copy + Ord + Serialize + DeserializeOwned + Into<u64>> Bench<K> {
    fn new(make: fn(u64) -> K, has_ttl: bool) -> Self {
        let clock = SettableClock::default();
        let ttl = has_ttl.then(|| millis(TTL));
        let mut table = Table::new(KeyGroups::new(GROUPS).unwrap()).with_ttl(ttl);
        table.start(Arc::new(clock.clone()));
        let (model, completed) = (Model::default(), None);
        Self { table, make, clock, ttl, model, now: 0, wall: 0, completed, id: 0 }
    }

    fn call(&mut self, key: u64, use_it: impl FnOnce(&mut Keyed<u64>)) {
        let key = (self.make)(key);
        self.table.place(key_hash(&key), &key).with(|_, state| use_it(state));
    }

    fn apply(&mut self, key: u64, act: &Act, timers: &[Timer]) {
        let (now, has_ttl) = (self.now, self.ttl.is_some());
        let before = self.model.visible(now, has_ttl).get(&key).copied();
        self.call(key, |state| {
            assert_eq!((**state, state.is_new()), (before.unwrap_or(0), before.is_none()));
            match act {
                Act::Read => {}
                Act::Change => **state += 1,
                Act::Remove => state.remove(),
            }
            timers.iter().for_each(|timer| order(state, timer));
        });
        match act {
            Act::Read => {}
            Act::Change => self.model.change(key, now, has_ttl),
            Act::Remove => drop(self.model.states.remove(&key)),
        }
        for timer in timers {
            match *timer {
                Timer::None => {}
                Timer::At(time) => drop(self.model.timers.insert((time, key))),
                Timer::After(delay) => drop(self.model.timers.insert((now + delay, key))),
                Timer::Cancel(time) => drop(self.model.timers.remove(&(time, key))),
                Timer::CancelAll => self.model.timers.retain(|(_, other)| *other != key),
            }
        }
    }

    /// Fires what is due: in the order of time, each timer once. A timer changes its state.
    fn fire(&mut self) -> Result<(), TestCaseError> {
        let due: BTreeSet<_> =
            self.model.timers.iter().filter(|(time, _)| *time <= self.now).copied().collect();
        self.model.timers.retain(|timer| !due.contains(timer));
        let mut fired = Vec::new();
        while let Some((key, hash, at)) = self.table.take_timer() {
            prop_assert_eq!(hash, key_hash(&key));
            self.table.place(hash, &key).with(|_, state| **state += 1);
            self.model.change(key.into(), self.now, self.ttl.is_some());
            fired.push((at.as_millis(), key.into()));
        }
        prop_assert!(fired.is_sorted_by_key(|(time, _)| *time), "{:?}", fired);
        prop_assert_eq!(fired.len(), due.len());
        prop_assert_eq!(fired.into_iter().collect::<BTreeSet<_>>(), due);
        Ok(())
    }

    fn pass(&mut self, duration: i64) {
        self.clock.advance(millis(duration));
        self.wall += duration;
        self.now = self.wall.max(self.now + duration);
    }

    fn set_clock(&mut self, by: i64) {
        self.clock.set_by(by);
        self.wall += by;
        self.now = self.wall.max(self.now);
        // What nobody sees has not happened.
        self.table.timing.now();
    }

    fn checkpoint(
        &mut self,
        completes: bool,
        restarts: bool,
        base_every: usize,
    ) -> Result<(), TestCaseError> {
        self.id += 1;
        let mut chains = Chains::new();
        for group in 0..GROUPS {
            let whole = (self.id as usize + usize::from(group)).is_multiple_of(base_every);
            let before =
                self.completed.as_ref().and_then(|(n, chains, _)| Some((*n, chains.get(&group)?)));
            match before {
                Some((n, chain)) if !whole => {
                    let mut chain = chain.clone();
                    chain.extend(self.table.delta(KeyGroup(group), n).unwrap());
                    chains.insert(group, chain);
                }
                _ => {
                    let base = self.table.base(KeyGroup(group)).unwrap();
                    chains.extend(base.map(|base| (group, vec![base])));
                }
            }
        }
        self.table.enter(self.id);
        if completes {
            self.completed = Some((self.id, chains, self.model.clone()));
        }
        if restarts {
            self.restart()?;
        }
        Ok(())
    }

    /// Goes back to the last completed checkpoint, by what time it may be.
    fn restart(&mut self) -> Result<(), TestCaseError> {
        if self.ttl.is_some() && self.wall < self.now {
            // Else it depends on what was swept whether a state is there that had lived its time.
            self.set_clock(self.now - self.wall);
        }
        let Some((n, chains, model)) = &self.completed else { return Ok(()) };
        let mut table = Table::new(KeyGroups::new(GROUPS).unwrap()).with_ttl(self.ttl);
        for (group, chain) in chains {
            table.restore(KeyGroup(*group), &as_it_is(), chain.iter().map(Vec::as_slice)).unwrap();
        }
        table.enter(*n);
        table.start(Arc::new(self.clock.clone()));
        (self.table, self.model, self.now) = (table, model.clone(), self.wall);
        Ok(())
    }

    /// Everything that is there, in states and timers.
    fn check(&mut self) -> Result<(), TestCaseError> {
        let mut cursor = Cursor::default();
        let mut states = BTreeMap::new();
        let visit = |key: &K, state: &mut Keyed<u64>| ((*key).into(), **state);
        while let Some((key, state)) = self.table.walk(&mut cursor, visit) {
            prop_assert_eq!(states.insert(key, state), None);
        }
        prop_assert_eq!(states, self.model.visible(self.now, self.ttl.is_some()));
        let first = self.model.timers.first().map(|(time, _)| at(*time));
        prop_assert_eq!(self.table.timing.timers.first(), first);
        Ok(())
    }
}

fn check_model<K: Key + Copy + Ord + Serialize + DeserializeOwned + Into<u64>>(
    make: fn(u64) -> K,
    steps: Vec<Step>,
    has_ttl: bool,
    base_every: usize,
) -> Result<(), TestCaseError> {
    let mut bench = Bench::new(make, has_ttl);
    for step in steps {
        match step {
            Step::Apply { key, act, timers } => bench.apply(key, &act, &timers),
            Step::Pass(duration) => bench.pass(duration),
            Step::SetClock(by) => bench.set_clock(by),
            Step::Fire => bench.fire()?,
            Step::Sweep => bench.table.sweep(),
            Step::Checkpoint { completes, restarts } => {
                bench.checkpoint(completes, restarts, base_every)?;
            }
        }
        bench.check()?;
    }
    bench.pass(1_000);
    bench.fire()?;
    bench.check()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Events, timers, clocks that are set, checkpoints that are given up, and restarts.
    #[test]
    fn timers_fire_once_and_states_live_their_time(
        steps in steps(),
        has_ttl in any::<bool>(),
        base_every in 1_usize..5,
    ) {
        check_model(|key| key, steps, has_ttl, base_every)?;
    }

    /// With keys that share their hash; their lives go together, so there is no time to live.
    #[test]
    fn keys_with_the_same_hash_have_their_own_timers(steps in steps(), base_every in 1_usize..5) {
        check_model(Colliding, steps, false, base_every)?;
    }
}

fn table(ttl: Option<i64>) -> (Table<u64, u64>, SettableClock) {
    let clock = SettableClock::default();
    let mut table = Table::new(KeyGroups::ONE).with_ttl(ttl.map(millis));
    table.start(Arc::new(clock.clone()));
    (table, clock)
}

fn order_timer(table: &mut Table<u64, u64>, key: u64, timer: &Timer) {
    table.place(key_hash(&key), &key).with(|_, state| order(state, timer));
}

#[test]
fn a_timer_that_came_and_went_within_an_interval_writes_nothing() {
    let (mut table, clock) = table(None);
    change(&mut table, 1, 1);
    assert!(table.base(KeyGroup(0)).unwrap().is_some());
    table.enter(1);
    order_timer(&mut table, 1, &Timer::At(50));
    order_timer(&mut table, 1, &Timer::Cancel(50));
    order_timer(&mut table, 2, &Timer::At(5));
    clock.advance(millis(5));
    assert!(table.take_timer().is_some());
    assert_eq!(table.delta(KeyGroup(0), 1).unwrap(), None);
}

#[test]
fn a_checkpoint_with_a_base_holds_no_state_that_has_lived_its_time() {
    let (mut table, clock) = table(Some(TTL));
    change(&mut table, 1, 1);
    assert!(table.base(KeyGroup(0)).unwrap().is_some());
    table.enter(1);
    clock.advance(millis(TTL));
    // Nobody has looked and nothing was swept.
    assert_eq!(table.len(), 1);
    assert_eq!(table.base(KeyGroup(0)).unwrap(), None);
    // That checkpoint is given up: the next one has to say that the key is gone.
    table.enter(2);
    let delta = table.delta(KeyGroup(0), 1).unwrap().unwrap();
    let mut reader = SegmentReader::new(&delta).unwrap();
    assert_eq!(reader.count().unwrap(), 1);
}

#[test]
fn a_sweep_goes_in_steps_and_gives_memory_back() {
    let (mut table, clock) = table(Some(TTL));
    (0..100_000).for_each(|key| change(&mut table, key, key));
    let room = |table: &Table<u64, u64>| table.groups[0].slots.capacity();
    assert!(room(&table) >= 100_000);
    clock.advance(millis(TTL));
    change(&mut table, 7, 8);
    let mut steps = 0;
    loop {
        let before = table.len();
        table.sweep();
        assert!(before - table.len() <= 64, "{} at once", before - table.len());
        steps += 1;
        match table.due() {
            Some(due) if due <= clock.now() => {}
            _ => break,
        }
    }
    assert!(steps > 1_000, "{steps}");
    assert_eq!((table.len(), table.get(key_hash(&7_u64), &7)), (1, Some(&8)));
    assert!(room(&table) < 100, "room for {}", room(&table));
    clock.advance(millis(2 * TTL));
    while table.due().is_some() {
        table.sweep();
    }
    assert_eq!(table.len(), 0);
}

#[test]
fn a_restart_prolongs_no_life_and_one_that_was_not_known_begins_with_it() {
    let (mut before, clock) = table(Some(TTL));
    change(&mut before, 1, 1);
    let base = before.base(KeyGroup(0)).unwrap().unwrap();
    let (mut lasting, _) = table(None);
    change(&mut lasting, 1, 1);
    let without = lasting.base(KeyGroup(0)).unwrap().unwrap();
    clock.advance(millis(TTL - 1));
    let has_it = |bytes: &[u8], after: i64| {
        let clock = clock.clone();
        let mut table = Table::<u64, u64>::new(KeyGroups::ONE).with_ttl(Some(millis(TTL)));
        table.restore(KeyGroup(0), &as_it_is(), [bytes]).unwrap();
        table.start(Arc::new(clock.clone()));
        clock.advance(millis(after));
        entries(&mut table).len() == 1
    };
    assert!(has_it(&base, 0));
    assert!(!has_it(&base, 1));
    assert!(has_it(&without, TTL - 1));
    assert!(!has_it(&without, TTL));
    // The clock was set back while it was down: what was changed "in an hour" was changed now.
    clock.set_by(-3_600_000);
    assert!(has_it(&base, TTL - 1));
    assert!(!has_it(&base, TTL));
}

#[test]
fn the_shorter_half_of_a_segment_with_timers_is_refused() {
    let (mut table, _) = table(Some(TTL));
    change(&mut table, 1, 1);
    order_timer(&mut table, 1, &Timer::At(50));
    order_timer(&mut table, 2, &Timer::At(60));
    let base = table.base(KeyGroup(0)).unwrap().unwrap();
    for length in 0..base.len() {
        let mut other = Table::<u64, u64>::new(KeyGroups::ONE).with_ttl(Some(millis(TTL)));
        let read = other.restore(KeyGroup(0), &as_it_is(), [&base[..length]]);
        assert!(read.is_err(), "{length} bytes");
    }
}
