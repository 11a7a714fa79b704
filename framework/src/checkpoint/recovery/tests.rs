//! Recovery from stores in which something is missing, changed or newer than it seems.

use super::*;
use crate::checkpoint::{ComponentManifest, Generation, ManifestKind, MemoryStore, PartManifest};
use crate::state::Shape;
use proptest::prelude::*;

/// A store of checkpoints, each of a base that they share and a delta of its own.
struct Bench {
    store: MemoryStore,
    generation: Generation,
    latest: Latest,
}

fn segment(checkpoint: u64) -> SegmentId {
    SegmentId { checkpoint: CheckpointId(checkpoint), number: 0 }
}

fn bytes(checkpoint: u64) -> Vec<u8> {
    format!("state of {checkpoint}").into_bytes()
}

fn reference(checkpoint: u64) -> SegmentRef {
    let bytes = bytes(checkpoint);
    let checksum = crc32fast::hash(&bytes);
    SegmentRef { id: segment(checkpoint), bytes: bytes.len() as u64, checksum }
}

fn part(part: Part, chain: &[u64]) -> PartManifest {
    PartManifest { part, chain: chain.iter().map(|id| reference(*id)).collect() }
}

fn manifest(id: u64, parts: Vec<PartManifest>) -> Manifest {
    let component = ComponentManifest {
        name: "counter".to_owned(),
        role: "operator".to_owned(),
        parallelism: 2,
        fields: Shape::Nothing,
        keyed: None,
        parts,
    };
    Manifest {
        job: "job".to_owned(),
        id: CheckpointId(id),
        kind: ManifestKind::Periodic,
        taken_at: 0,
        run: "run".to_owned(),
        delivery: "exactly-once".to_owned(),
        key_groups: 128,
        components: vec![component],
        commits: Vec::new(),
    }
}

impl Bench {
    fn new(checkpoints: impl IntoIterator<Item = u64>) -> Self {
        let mut store = MemoryStore::new();
        let generation = store.begin().unwrap();
        store.put(segment(0), &bytes(0)).unwrap();
        let mut bench = Self { store, generation, latest: Latest::None };
        for id in checkpoints {
            bench.store.put(segment(id), &bytes(id)).unwrap();
            let parts = vec![part(Part::Group(3), &[0, id]), part(Part::Group(7), &[id])];
            bench.publish(&manifest(id, parts));
        }
        bench
    }

    fn publish(&mut self, manifest: &Manifest) {
        let encoded = manifest.encode().unwrap();
        self.store.publish(self.generation, manifest.id, &encoded).unwrap();
        self.latest = Latest::of(manifest.id, &encoded);
    }

    fn read(&self, wanted: Option<u64>) -> Result<Option<u64>, String> {
        let restored = Restored::read(&self.store, &self.latest, wanted.map(CheckpointId));
        let restored = restored.map_err(|error| error.to_string())?;
        Ok(restored.map(|restored| restored.manifest.id.0))
    }
}

#[test]
fn the_newest_is_read_with_all_of_its_parts() {
    let bench = Bench::new(1..=3);
    let restored = Restored::read(&bench.store, &bench.latest, None).unwrap().unwrap();
    assert_eq!(restored.manifest.id, CheckpointId(3));
    let chain = restored.chain("counter", Part::Group(3));
    assert_eq!(chain.iter().map(|s| s.to_vec()).collect::<Vec<_>>(), [bytes(0), bytes(3)]);
    let parts: Vec<_> =
        restored.parts("counter").map(|(part, chain)| (part, chain.len())).collect();
    assert_eq!(parts, [(Part::Group(3), 2), (Part::Group(7), 1)]);
    assert!(restored.chain("counter", Part::Group(4)).is_empty());
    assert!(restored.chain("nobody", Part::Group(3)).is_empty());
    // A segment of two parts is there once.
    let shared = &restored.chain("counter", Part::Group(7))[0];
    assert!(Arc::ptr_eq(shared, &chain[1]));
}

#[test]
fn parts_are_decoded_on_several_threads() {
    let bench = Bench::new(1..=3);
    let restored = Restored::read(&bench.store, &bench.latest, None).unwrap().unwrap();
    let lengths: usize = std::thread::scope(|scope| {
        let decode = |(_, chain): (Part, &[Arc<[u8]>])| {
            let chain = chain.to_vec();
            scope.spawn(move || chain.iter().map(|segment| segment.len()).sum::<usize>())
        };
        let threads: Vec<_> = restored.parts("counter").map(decode).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(lengths, 3 * bytes(3).len());
}

#[test]
fn without_checkpoints_a_job_begins_anew() {
    assert_eq!(Bench::new([]).read(None), Ok(None));
}

#[test]
fn a_damaged_newest_is_refused_and_an_older_one_taken_when_asked_for() {
    let mut bench = Bench::new(1..=3);
    bench.store.remove_segment(segment(3)).unwrap();
    assert_eq!(
        bench.read(None).unwrap_err(),
        "checkpoint 3 is damaged: segment 0 of checkpoint 3 is damaged: it is missing; good are the \
         checkpoints 1, 2: one of them is restored if it is asked for"
    );
    assert_eq!(bench.read(Some(2)), Ok(Some(2)));
    assert!(bench.read(Some(3)).is_err());
}

#[test]
fn what_is_not_what_the_manifest_names_is_damage() {
    for (wrong, what) in [(&b"state of X"[..], "changed"), (b"state", "cut"), (b"", "empty")] {
        let mut bench = Bench::new(1..=3);
        bench.store.put(segment(0), wrong).unwrap();
        let error = bench.read(None).unwrap_err();
        let expected = "segment 0 of checkpoint 0 is not the one that the manifest names";
        assert!(
            error.contains(expected) && error.ends_with("no checkpoint is good"),
            "{what}: {error}"
        );
    }
}

#[test]
fn a_manifest_of_another_checkpoint_or_of_none_is_damage() {
    let mut bench = Bench::new(1..=2);
    let encoded = manifest(2, Vec::new()).encode().unwrap();
    bench.store.publish(bench.generation, CheckpointId(3), &encoded).unwrap();
    let error = bench.read(None).unwrap_err();
    assert!(
        error.starts_with("checkpoint 3 is damaged: its manifest is that of checkpoint 2;"),
        "{error}"
    );

    bench.store.publish(bench.generation, CheckpointId(3), &encoded[..20]).unwrap();
    let error = bench.read(None).unwrap_err();
    assert!(error.starts_with("checkpoint 3 is damaged: the manifest is damaged:"), "{error}");
}

#[test]
fn a_part_that_is_there_twice_is_damage() {
    let mut bench = Bench::new(1..=2);
    let twice = part(Part::Group(3), &[0]);
    bench.publish(&manifest(3, vec![twice.clone(), twice]));
    let error = bench.read(None).unwrap_err();
    assert!(error.contains("counter has Group(3) twice"), "{error}");
}

#[test]
fn a_store_that_went_back_is_refused() {
    let mut bench = Bench::new(1..=3);
    bench.store.remove_manifest(CheckpointId(3)).unwrap();
    assert_eq!(
        bench.read(None).unwrap_err(),
        "checkpoint 3 was published, and the newest that is there is 2; good are the checkpoints 1, 2: one \
         of them is restored if it is asked for"
    );
    let mut bench = Bench::new([1]);
    bench.store.remove_manifest(CheckpointId(1)).unwrap();
    let error = bench.read(None).unwrap_err();
    assert!(error.contains("the newest that is there is none; no checkpoint is good"), "{error}");
}

#[test]
fn one_that_is_newer_than_the_note_of_it_is_taken() {
    // As after a crash between the two.
    let mut bench = Bench::new(1..=3);
    bench.latest = Latest::of(CheckpointId(2), &bench.store.manifest(CheckpointId(2)).unwrap());
    assert_eq!(bench.read(None), Ok(Some(3)));
    bench.latest = Latest::None;
    assert_eq!(bench.read(None), Ok(Some(3)));
}

#[test]
fn without_the_note_nothing_is_taken_unasked() {
    let mut bench = Bench::new(1..=2);
    bench.latest = Latest::Unknown("the file LATEST is missing".to_owned());
    let error = bench.read(None).unwrap_err();
    assert!(error.starts_with("which checkpoint was published last is not known"), "{error}");
    assert_eq!(bench.read(Some(2)), Ok(Some(2)));
}

#[test]
fn another_manifest_than_the_published_one_is_damage() {
    let mut bench = Bench::new(1..=2);
    bench.latest = Latest::of(CheckpointId(2), b"another");
    let error = bench.read(None).unwrap_err();
    assert!(error.contains("its manifest is not the one that was published"), "{error}");
}

proptest! {
    /// Whatever is removed: what is read is the newest that was published and whole, or an error that
    /// lists those that are whole.
    #[test]
    fn nothing_is_ever_read_quietly_that_is_not_the_newest(
        manifests in prop::collection::btree_set(1..6_u64, 0..3),
        segments in prop::collection::btree_set(0..6_u64, 0..3),
    ) {
        let mut bench = Bench::new(1..=5);
        manifests.iter().for_each(|id| bench.store.remove_manifest(CheckpointId(*id)).unwrap());
        segments.iter().for_each(|id| bench.store.remove_segment(segment(*id)).unwrap());
        let is_whole = |id: &u64| {
            !manifests.contains(id) && !segments.contains(id) && !segments.contains(&0)
        };
        let whole: Vec<CheckpointId> = (1..=5).filter(is_whole).map(CheckpointId).collect();
        match Restored::read(&bench.store, &bench.latest, None) {
            Ok(restored) => {
                prop_assert_eq!(restored.map(|r| r.manifest.id), Some(CheckpointId(5)));
                prop_assert!(is_whole(&5));
            }
            Err(RecoveryError::Refused { good, .. }) => {
                prop_assert_eq!(good, whole.clone());
                prop_assert!(!is_whole(&5));
            }
            Err(error) => return Err(TestCaseError::fail(error.to_string())),
        }
        for id in 1..=5 {
            let read = bench.read(Some(id));
            prop_assert_eq!(read.is_ok(), whole.contains(&CheckpointId(id)));
        }
    }
}
