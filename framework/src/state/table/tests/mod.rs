//! A table beside a plain map.

mod timed;

use super::*;
use crate::key::KeyHasher;
use crate::state::Shape;
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Keys that all have the same hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Colliding(u64);

impl From<Colliding> for u64 {
    fn from(key: Colliding) -> Self {
        key.0
    }
}

impl Key for Colliding {
    fn feed(&self, hasher: &mut KeyHasher) {
        hasher.word(7);
    }

    fn shape() -> Shape {
        <u64 as Key>::shape()
    }
}

/// As a plain map does it; a key that was only read leaves nothing.
fn check_map<K: Key + Copy + Ord + std::fmt::Debug>(
    actions: Vec<(u64, u8)>,
    make: impl Fn(u64) -> K,
) -> Result<(), TestCaseError> {
    let mut table = Table::<K, u64>::volatile();
    let mut model = BTreeMap::new();
    for (key, action) in actions {
        let key = make(key);
        table.fetch(std::iter::once(key_hash(&key)));
        table.place(key_hash(&key), &key).with(|k, state| {
            assert_eq!(*k, key);
            assert_eq!(state.is_new(), !model.contains_key(&key));
            assert_eq!(**state, model.get(&key).copied().unwrap_or(0));
            act(action, key, state, &mut model);
        });
        prop_assert_eq!(table.get(key_hash(&key), &key), model.get(&key));
        prop_assert_eq!(table.len(), model.len());
    }
    prop_assert_eq!(entries(&mut table), model);
    Ok(())
}

proptest! {
    #[test]
    fn a_table_is_a_map(
        actions in prop::collection::vec((0_u64..20, 0_u8..3), 0..200),
        collide in any::<bool>(),
    ) {
        if collide { check_map(actions, Colliding)? } else { check_map(actions, |key| key)? }
    }
}

/// Reads, counts or removes.
fn act<K: Ord>(action: u8, key: K, state: &mut Keyed<u64>, model: &mut BTreeMap<K, u64>) {
    match action {
        0 => {}
        1 => {
            **state += 1;
            *model.entry(key).or_insert(0) += 1;
        }
        _ => {
            state.remove();
            model.remove(&key);
        }
    }
}

/// All keys with their state, found by a walk.
fn entries<K: Key + Copy + Ord>(table: &mut Table<K, u64>) -> BTreeMap<K, u64> {
    let mut cursor = Cursor::default();
    let mut entries = BTreeMap::new();
    while let Some((key, state)) = table.walk(&mut cursor, |key, state| (*key, **state)) {
        assert_eq!(entries.insert(key, state), None, "a key was met twice");
    }
    entries
}

#[test]
fn a_walk_can_be_left_and_forgets_what_is_taken() {
    let mut table = Table::<u64, u64>::new(KeyGroups::DEFAULT);
    for key in 0..1_000 {
        table.place(key_hash(&key), &key).with(|_, state| **state = key);
    }
    let mut cursor = Cursor::default();
    let mut met = 0;
    while table
        .walk(&mut cursor, |_, state| {
            if **state % 2 == 0 {
                state.remove()
            }
        })
        .is_some()
    {
        met += 1;
    }
    assert_eq!((met, table.len()), (1_000, 500));
}

#[derive(Clone, Debug)]
enum Step {
    Apply {
        key: u64,
        action: u8,
    },
    /// A barrier, and whether its checkpoint is completed, and then how many steps later.
    Barrier {
        completes: bool,
        later: usize,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let apply = (0_u64..12, 0_u8..3).prop_map(|(key, action)| Step::Apply { key, action });
    let barrier = (any::<bool>(), 0_usize..4)
        .prop_map(|(completes, later)| Step::Barrier { completes, later });
    prop::collection::vec(prop_oneof![6 => apply, 1 => barrier], 0..120)
}

/// The segments of each group, base first.
type Chains = BTreeMap<u16, Vec<Vec<u8>>>;

fn as_it_is<S: State>() -> Reading<S> {
    Reading::of(&S::shape()).unwrap()
}

fn restored(chains: &Chains, groups: KeyGroups) -> Table<u64, u64> {
    let mut table = Table::new(groups);
    for (group, chain) in chains {
        table.restore(KeyGroup(*group), &as_it_is(), chain.iter().map(Vec::as_slice)).unwrap();
    }
    table
}

proptest! {
    /// Checkpoints, of which some are given up and some are completed late: what is restored from one is
    /// what the table held at its barrier, and a table that goes on from there saves just as well.
    #[test]
    fn a_chain_restores_what_was_there_at_its_barrier(
        steps in steps(),
        base_every in 1_usize..5,
        restart_every in 1_usize..6,
    ) {
        let groups = KeyGroups::new(5).unwrap();
        let mut table = Table::<u64, u64>::new(groups);
        let mut model = BTreeMap::new();
        // The last completed checkpoint: its number, its segments, what it should hold.
        let mut completed: Option<(Epoch, Chains, BTreeMap<u64, u64>)> = None;
        // One that is on its way.
        let mut pending = None;
        let mut id = 0;
        for step in steps {
            match step {
                Step::Apply { key, action } => {
                    table.place(key_hash(&key), &key).with(|_, s| act(action, key, s, &mut model));
                }
                Step::Barrier { completes, later } => {
                    // At most one is on its way.
                    if let Some((_, Some(done))) = pending.take() {
                        completed = Some(done);
                    }
                    id += 1;
                    let mut chains = Chains::new();
                    for group in 0..5_u16 {
                        let before =
                            completed.as_ref().and_then(|(n, chains, _)| Some((*n, chains.get(&group)?)));
                        match before {
                            Some((n, chain)) if !(id as usize + group as usize).is_multiple_of(base_every) => {
                                let mut chain = chain.clone();
                                chain.extend(table.delta(KeyGroup(group), n).unwrap());
                                chains.insert(group, chain);
                            }
                            _ => {
                                if let Some(base) = table.base(KeyGroup(group)).unwrap() {
                                    chains.insert(group, vec![base]);
                                }
                            }
                        }
                    }
                    table.enter(id);
                    pending = Some((later, completes.then(|| (id, chains, model.clone()))));
                }
            }
            match &mut pending {
                Some((0, done)) => {
                    if let Some(done) = done.take() {
                        completed = Some(done);
                        let (n, chains, at_barrier) = completed.as_ref().unwrap();
                        let mut read = restored(chains, groups);
                        prop_assert_eq!(&entries(&mut read), at_barrier);
                        if (*n as usize).is_multiple_of(restart_every) {
                            read.enter(*n);
                            table = read;
                            model = at_barrier.clone();
                        }
                    }
                    pending = None;
                }
                Some((later, _)) => *later -= 1,
                None => {}
            }
        }
    }
}

fn change(table: &mut Table<u64, u64>, key: u64, to: u64) {
    table.place(key_hash(&key), &key).with(|_, state| **state = to);
}

#[test]
fn what_is_born_and_gone_within_an_interval_writes_nothing() {
    let mut table = Table::<u64, u64>::new(KeyGroups::ONE);
    change(&mut table, 1, 1);
    assert!(table.base(KeyGroup(0)).unwrap().is_some());
    table.enter(1);
    change(&mut table, 2, 1);
    table.place(key_hash(&2_u64), &2).with(|_, state| state.remove());
    assert_eq!(table.delta(KeyGroup(0), 1).unwrap(), None);
}

#[test]
fn reading_writes_nothing_and_a_change_writes_its_key_alone() {
    let mut table = Table::<u64, u64>::new(KeyGroups::ONE);
    (0..1_000).for_each(|key| change(&mut table, key, key));
    let base = table.base(KeyGroup(0)).unwrap().unwrap();
    table.enter(1);
    table.place(key_hash(&7_u64), &7).with(|_, state| assert_eq!(**state, 7));
    assert_eq!(table.delta(KeyGroup(0), 1).unwrap(), None);
    change(&mut table, 7, 8);
    let delta = table.delta(KeyGroup(0), 1).unwrap().unwrap();
    assert!(delta.len() < 10 && base.len() > 3_000, "{} and {} bytes", delta.len(), base.len());
}

#[test]
fn a_state_that_cannot_be_decoded_is_named_by_its_key() {
    let mut table = Table::<String, String>::new(KeyGroups::ONE);
    let key = "car".to_owned();
    table.place(key_hash("car"), "car").with(|_, state| state.push('x'));
    let base = table.base(KeyGroup(0)).unwrap().unwrap();
    let mut other = Table::<String, u64>::new(KeyGroups::ONE);
    let error = other.restore(KeyGroup(0), &as_it_is(), [base.as_slice()]).unwrap_err();
    assert_eq!(error.to_string(), format!("the state of the key {key:?} cannot be decoded"));
}

#[test]
fn a_key_in_the_wrong_group_and_a_segment_that_was_cut_are_refused() {
    let groups = KeyGroups::new(2).unwrap();
    let mut table = Table::<u64, u64>::new(groups);
    (0..10).for_each(|key| change(&mut table, key, key));
    let base = table.base(KeyGroup(0)).unwrap().unwrap();
    let error = Table::<u64, u64>::new(groups)
        .restore(KeyGroup(1), &as_it_is(), [base.as_slice()])
        .unwrap_err();
    assert!(matches!(error, SegmentError::Misplaced { found: 1, right: 0, .. }), "{error}");
    for length in 0..base.len() {
        let mut other = Table::<u64, u64>::new(groups);
        assert!(
            other.restore(KeyGroup(0), &as_it_is(), [&base[..length]]).is_err(),
            "{length} bytes"
        );
    }
}
