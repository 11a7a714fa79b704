//! Sweeping beside a naive model, and of a store that fails on the way.

use super::*;
use crate::checkpoint::{ComponentManifest, Part, PartManifest};
use crate::checkpoint::{Generation, MemoryStore, SegmentRef};
use proptest::prelude::*;

fn segment(checkpoint: u64, number: u32) -> SegmentId {
    SegmentId { checkpoint: CheckpointId(checkpoint), number }
}

fn retention(keep: usize, needed: &[u64]) -> Retention {
    Retention { keep, needed: needed.iter().copied().map(CheckpointId).collect() }
}

/// A manifest that names these segments.
fn manifest(id: u64, kind: ManifestKind, segments: &[SegmentId]) -> Manifest {
    let reference = |id: &SegmentId| SegmentRef { id: *id, bytes: 1, checksum: 0 };
    let part =
        PartManifest { part: Part::Group(0), chain: segments.iter().map(reference).collect() };
    let component = ComponentManifest { parts: vec![part], ..ComponentManifest::empty("counter") };
    Manifest { kind, ..Manifest::empty(CheckpointId(id), [component]) }
}

/// A store in which each checkpoint has a segment of its own and needs the one before, too.
struct Chain {
    store: MemoryStore,
    generation: Generation,
}

impl Chain {
    fn new() -> Self {
        let mut store = MemoryStore::new();
        let generation = store.begin().unwrap();
        Self { store, generation }
    }

    fn publish(&mut self, id: u64, kind: ManifestKind) {
        self.store.put(segment(id, 0), b"s").unwrap();
        let named = match kind {
            ManifestKind::Savepoint(_) => vec![segment(id, 0)],
            _ => vec![segment(id - 1, 0), segment(id, 0)],
        };
        let bytes = manifest(id, kind, &named).encode().unwrap();
        self.store.publish(self.generation, CheckpointId(id), &bytes).unwrap();
    }

    fn ids(&self) -> Vec<u64> {
        self.store.manifests().unwrap().into_iter().map(|id| id.0).collect()
    }

    fn segments(&self) -> Vec<u64> {
        self.store.segments().unwrap().into_iter().map(|id| id.checkpoint.0).collect()
    }
}

#[test]
fn of_300_checkpoints_two_and_what_is_needed_stay() {
    let mut chain = Chain::new();
    let mut sweeper = Sweeper::new(4);
    for id in 1..=300 {
        let kind = match id {
            50 => ManifestKind::Savepoint("release".to_owned()),
            _ => ManifestKind::Periodic,
        };
        chain.publish(id, kind);
        // A sink has confirmed none of the last three.
        let needed = [id.saturating_sub(3), id.saturating_sub(2), id.saturating_sub(1)];
        assert!(!sweeper.sweep(&mut chain.store, &retention(2, &needed)), "{id}");
        assert!(chain.ids().len() <= 5 && chain.segments().len() <= 6, "{:?}", chain.segments());
    }
    assert_eq!(chain.ids(), [50, 297, 298, 299, 300]);
    assert_eq!(chain.segments(), [50, 296, 297, 298, 299, 300]);
}

#[test]
fn a_large_heap_is_removed_bit_by_bit() {
    let mut chain = Chain::new();
    (1..=300).for_each(|id| chain.publish(id, ManifestKind::Periodic));
    let mut sweeper = Sweeper::new(10);
    let mut calls = 1;
    while sweeper.sweep(&mut chain.store, &retention(2, &[])) {
        calls += 1;
        let left = chain.ids().len() + chain.segments().len();
        assert_eq!(left, 600 - 10 * (calls - 1));
    }
    assert_eq!(chain.ids(), [299, 300]);
    assert_eq!(chain.segments(), [298, 299, 300]);
    assert_eq!(calls, 60);
}

#[test]
fn what_is_in_flight_stays() {
    let mut chain = Chain::new();
    chain.publish(1, ManifestKind::Periodic);
    chain.store.put(segment(2, 0), b"s").unwrap();
    chain.store.put(segment(3, 0), b"s").unwrap();
    assert!(!Sweeper::default().sweep(&mut chain.store, &retention(1, &[3])));
    assert_eq!(chain.segments(), [1, 3]);
}

#[test]
fn a_checkpoint_with_a_damaged_manifest_stays_with_what_was_written_for_it() {
    let mut chain = Chain::new();
    for id in 1..=5 {
        chain.publish(id, ManifestKind::Periodic);
    }
    chain.store.publish(chain.generation, CheckpointId(2), b"damaged").unwrap();
    assert!(!Sweeper::default().sweep(&mut chain.store, &retention(1, &[])));
    assert_eq!(chain.ids(), [2, 5]);
    assert_eq!(chain.segments(), [2, 4, 5]);
}

#[test]
fn the_newest_stays_though_none_should() {
    let mut chain = Chain::new();
    chain.publish(1, ManifestKind::Finished);
    assert!(!Sweeper::default().sweep(&mut chain.store, &retention(0, &[])));
    assert_eq!(chain.ids(), [1]);
}

/// A store whose n-th removal fails, once.
#[derive(Debug)]
struct Flaky {
    inner: MemoryStore,
    removals: u32,
    fails_at: u32,
}

impl Flaky {
    fn count(&mut self) -> Result<(), StoreError> {
        self.removals += 1;
        if self.removals == self.fails_at {
            let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
            return Err(StoreError::Io { what: "removing".to_owned(), source });
        }
        Ok(())
    }
}

impl CheckpointStore for Flaky {
    fn begin(&mut self) -> Result<Generation, StoreError> {
        self.inner.begin()
    }
    fn reserve(&mut self, count: u64) -> Result<CheckpointId, StoreError> {
        self.inner.reserve(count)
    }
    fn put(&mut self, id: SegmentId, bytes: &[u8]) -> Result<(), StoreError> {
        self.inner.put(id, bytes)
    }
    fn publish(
        &mut self,
        generation: Generation,
        id: CheckpointId,
        manifest: &[u8],
    ) -> Result<(), StoreError> {
        self.inner.publish(generation, id, manifest)
    }
    fn manifests(&self) -> Result<Vec<CheckpointId>, StoreError> {
        self.inner.manifests()
    }
    fn manifest(&self, id: CheckpointId) -> Result<Vec<u8>, StoreError> {
        self.inner.manifest(id)
    }
    fn segment(&self, id: SegmentId) -> Result<Vec<u8>, StoreError> {
        self.inner.segment(id)
    }
    fn segments(&self) -> Result<Vec<SegmentId>, StoreError> {
        self.inner.segments()
    }
    fn remove_manifest(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        self.count()?;
        self.inner.remove_manifest(id)
    }
    fn remove_segment(&mut self, id: SegmentId) -> Result<(), StoreError> {
        self.count()?;
        self.inner.remove_segment(id)
    }
    fn reopen(&mut self) -> Result<(), StoreError> {
        self.inner.reopen()
    }
}

#[test]
fn wherever_it_is_interrupted_the_next_one_removes_the_rest() {
    for fails_at in 1..=8 {
        let mut chain = Chain::new();
        (1..=5).for_each(|id| chain.publish(id, ManifestKind::Periodic));
        let mut store = Flaky { inner: chain.store.clone(), removals: 0, fails_at };
        assert!(!Sweeper::default().sweep(&mut store, &retention(1, &[])));
        // Whatever is listed is there.
        for id in chain.ids() {
            assert!(chain.segments().contains(&id), "{fails_at}: {id}");
        }
        // As after a crash: by another one.
        assert!(!Sweeper::default().sweep(&mut store, &retention(1, &[])));
        assert_eq!((chain.ids(), chain.segments()), (vec![5], vec![4, 5]), "{fails_at}");
    }
}

fn known() -> impl Strategy<Value = Known> {
    let segments = prop::collection::btree_set((1..12_u64, 0..3_u32), 0..6);
    let manifest = (any::<bool>(), segments).prop_map(|(is_savepoint, segments)| {
        let segments = segments.into_iter().map(|(id, number)| segment(id, number)).collect();
        Known::Manifest { is_savepoint, segments }
    });
    prop_oneof![9 => manifest, 1 => Just(Known::Damaged)]
}

proptest! {
    /// By the rule, one by one.
    #[test]
    fn only_what_nobody_needs_is_garbage(
        published in prop::collection::btree_map((1..12_u64).prop_map(CheckpointId), known(), 0..8),
        segments in prop::collection::btree_set((1..12_u64, 0..3_u32), 0..30),
        keep in 0..4_usize,
        needed in prop::collection::btree_set((1..12_u64).prop_map(CheckpointId), 0..3),
    ) {
        let segments: Vec<_> = segments.into_iter().map(|(id, n)| segment(id, n)).collect();
        let retention = Retention { keep, needed };
        let found = garbage(&published, &segments, &retention);
        let is_ordinary = |known: &Known| matches!(known, Known::Manifest { is_savepoint: false, .. });
        let is_kept = |id: &CheckpointId| {
            let known = &published[id];
            let newer = published.range(id..).skip(1).filter(|(_, k)| is_ordinary(k)).count();
            !is_ordinary(known) || newer < keep.max(1) || retention.needed.contains(id)
        };
        for id in published.keys() {
            prop_assert_eq!(found.manifests.contains(id), !is_kept(id));
        }
        for id in &segments {
            let is_named = published.iter().any(|(of, known)| match known {
                Known::Manifest { segments, .. } => is_kept(of) && segments.contains(id),
                Known::Damaged => *of == id.checkpoint,
            });
            let stays = is_named || retention.needed.contains(&id.checkpoint);
            prop_assert_eq!(found.segments.contains(id), !stays);
        }
        prop_assert!(found.segments.iter().all(|id| segments.contains(id)));
    }
}
