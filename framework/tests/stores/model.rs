//! Every kind of store beside a naive model.

use super::{Kind, Place, bytes, id, segment};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use streamwork::{CheckpointId, CheckpointStore, Generation, SegmentId};

#[derive(Clone, Debug)]
enum Action {
    Begin,
    Reserve(u64),
    Put(u64, u32, usize),
    Publish(u64, usize),
    RemoveManifest(u64),
    RemoveSegment(u64, u32),
    Reopen,
    /// Drops it and opens it again.
    Restart,
}

fn action() -> impl Strategy<Value = Action> {
    let length = prop_oneof![0..100_usize, Just((6 << 10) - 8), 6_000..20_000_usize];
    prop_oneof![
        1 => Just(Action::Begin),
        1 => (0..5_u64).prop_map(Action::Reserve),
        4 => (0..5_u64, 0..3_u32, length.clone()).prop_map(|(c, n, l)| Action::Put(c, n, l)),
        3 => (0..5_u64, length).prop_map(|(c, l)| Action::Publish(c, l)),
        1 => (0..5_u64).prop_map(Action::RemoveManifest),
        2 => (0..5_u64, 0..3_u32).prop_map(|(c, n)| Action::RemoveSegment(c, n)),
        1 => Just(Action::Reopen),
        1 => Just(Action::Restart),
    ]
}

#[derive(Default)]
struct Model {
    generation: u64,
    reserved: u64,
    segments: BTreeMap<SegmentId, Vec<u8>>,
    manifests: BTreeMap<CheckpointId, Vec<u8>>,
}

impl Model {
    fn check(&self, store: &dyn CheckpointStore) {
        let ids: Vec<_> = self.manifests.keys().copied().collect();
        assert_eq!(store.manifests().unwrap(), ids);
        let ids: Vec<_> = self.segments.keys().copied().collect();
        assert_eq!(store.segments().unwrap(), ids);
        for checkpoint in 0..5 {
            let manifest = self.manifests.get(&id(checkpoint));
            assert_eq!(store.manifest(id(checkpoint)).ok().as_ref(), manifest);
            for number in 0..3 {
                let expected = self.segments.get(&segment(checkpoint, number));
                assert_eq!(store.segment(segment(checkpoint, number)).ok().as_ref(), expected);
            }
        }
    }
}

fn run(kind: Kind, actions: &[Action]) {
    let place = Place::new(kind);
    let mut store = place.open();
    // What is used was reserved.
    assert_eq!(store.reserve(5).unwrap(), id(1));
    let mut model = Model { reserved: 5, ..Model::default() };
    for (seed, action) in (0..).zip(actions) {
        match *action {
            Action::Begin => {
                model.generation += 1;
                assert_eq!(store.begin().unwrap(), Generation(model.generation));
            }
            Action::Reserve(count) => {
                assert_eq!(store.reserve(count).unwrap(), id(model.reserved + 1));
                model.reserved += count;
            }
            Action::Put(checkpoint, number, length) => {
                // No two segments have the same place.
                let place = segment(checkpoint, number);
                if let Entry::Vacant(free) = model.segments.entry(place) {
                    store.put(place, &bytes(length, seed)).unwrap();
                    free.insert(bytes(length, seed));
                }
            }
            Action::Publish(checkpoint, length) => {
                let newest = Generation(model.generation);
                if model.generation > 0 {
                    let old = Generation(model.generation - 1);
                    assert!(store.publish(old, id(checkpoint), b"old").is_err());
                }
                if let Entry::Vacant(free) = model.manifests.entry(id(checkpoint)) {
                    let manifest = bytes(length, seed);
                    store.publish(newest, id(checkpoint), &manifest).unwrap();
                    free.insert(manifest);
                }
            }
            Action::RemoveManifest(checkpoint) => {
                store.remove_manifest(id(checkpoint)).unwrap();
                model.manifests.remove(&id(checkpoint));
            }
            Action::RemoveSegment(checkpoint, number) => {
                store.remove_segment(segment(checkpoint, number)).unwrap();
                model.segments.remove(&segment(checkpoint, number));
            }
            Action::Reopen => store.reopen().unwrap(),
            Action::Restart => {
                drop(store);
                store = place.open();
                // A clone in memory can publish nothing before.
                store.begin().unwrap();
                model.generation += 1;
            }
        }
        model.check(&*store);
    }
}

macro_rules! beside_the_model {
    ($($(#[$feature:meta])? $name:ident: $kind:expr, $cases:literal;)*) => { $(
        $(#[$feature])?
        #[test]
        fn $name() {
            let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases($cases) };
            let actions = prop::collection::vec(action(), 1..30);
            let mut runner = proptest::test_runner::TestRunner::new(config);
            runner.run(&actions, |actions| {
                run($kind, &actions);
                Ok(())
            }).unwrap();
        }
    )* };
}

beside_the_model! {
    memory_is_as_the_model: Kind::Memory, 256;
    #[cfg(feature = "sled")] sled_is_as_the_model: Kind::Sled, 24;
    #[cfg(feature = "redb")] redb_is_as_the_model: Kind::Redb, 24;
}
