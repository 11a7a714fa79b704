//! Damaged directories: nothing is ever read that was not written, and nothing is missing unnoticed.
//!
//! In each round one bit of one file is flipped, or a file is cut. Then the directory is opened as a job
//! would, and what is restored must be the newest checkpoint, byte by byte; or there must be an error.

use super::temp::TempDir;
use super::{bytes, id, segment};
use std::fs;
use std::path::{Path, PathBuf};
use streamwork::{
    ComponentManifest, DataDir, Manifest, ManifestKind, Part, PartManifest, Restored, SegmentRef,
    Shape, StoreKind,
};

const JOB: &str = "job";
const CHECKPOINTS: u64 = 3;
const FLIPS: u64 = 60;

fn manifest(checkpoint: u64) -> Manifest {
    let reference = |number: u32| {
        let bytes = content(checkpoint, number);
        let checksum = crc32fast::hash(&bytes);
        SegmentRef { id: segment(checkpoint, number), bytes: bytes.len() as u64, checksum }
    };
    let part =
        |number| PartManifest { part: Part::Group(number), chain: vec![reference(number.into())] };
    let component = ComponentManifest {
        name: "counter".to_owned(),
        role: "operator".to_owned(),
        parallelism: 1,
        fields: Shape::Nothing,
        keyed: None,
        parts: (0..4).map(part).collect(),
    };
    Manifest {
        job: JOB.to_owned(),
        id: id(checkpoint),
        kind: ManifestKind::Periodic,
        taken_at: 0,
        run: "run".to_owned(),
        delivery: "exactly-once".to_owned(),
        key_groups: 128,
        components: vec![component],
        commits: Vec::new(),
    }
}

fn content(checkpoint: u64, number: u32) -> Vec<u8> {
    bytes(100 + 12_000 * number as usize, checkpoint * 10 + u64::from(number))
}

/// A directory in which checkpoints were published.
fn original(kind: StoreKind) -> TempDir {
    let temp = TempDir::new("damage");
    let directory = DataDir::open_with(temp.file("data"), JOB, false, kind).unwrap();
    let mut store = directory.store().unwrap();
    let generation = store.begin().unwrap();
    for checkpoint in 1..=CHECKPOINTS {
        assert_eq!(store.reserve(1).unwrap(), id(checkpoint));
        for number in 0..4 {
            store.put(segment(checkpoint, number), &content(checkpoint, number)).unwrap();
        }
        let manifest = manifest(checkpoint).encode().unwrap();
        store.publish(generation, id(checkpoint), &manifest).unwrap();
    }
    temp
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// All files that hold something, the lock aside.
fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if fs::metadata(&path).unwrap().len() > 0 {
            found.push(path);
        }
    }
    found.sort();
}

#[derive(Debug, PartialEq, Eq)]
enum Result {
    Exact,
    Refused,
}

/// Opens it and restores what is newest; panics if that is anything but what was published last.
fn restored(path: &Path) -> Result {
    let Ok(directory) = DataDir::open(path, JOB, false) else { return Result::Refused };
    let Ok(store) = directory.store() else { return Result::Refused };
    let Ok(restored) = Restored::read(&*store, &directory.latest(), None) else {
        return Result::Refused;
    };
    let restored = restored.expect("a job with checkpoints would begin anew");
    assert_eq!(restored.manifest, manifest(CHECKPOINTS));
    for number in 0..4 {
        let chain = restored.chain("counter", Part::Group(number));
        assert_eq!(chain.len(), 1);
        assert_eq!(*chain[0], *content(CHECKPOINTS, number.into()), "group {number}");
    }
    Result::Exact
}

fn with_damage(kind: StoreKind, rounds: u64, damage: impl Fn(&mut Vec<u8>, u64)) -> [u64; 2] {
    let original = original(kind);
    let temp = TempDir::new("damaged");
    copy(&original.file("data"), &temp.file("whole"));
    assert_eq!(restored(&temp.file("whole")), Result::Exact);
    let (mut exact, mut refused) = (0, 0);
    for round in 0..rounds {
        let path = temp.file(&round.to_string());
        copy(&original.file("data"), &path);
        let mut all = Vec::new();
        files(&path, &mut all);
        // The large ones are as likely as their size, each small one has its turn.
        let lengths = all.iter().map(|path| fs::metadata(path).unwrap().len());
        let largest = lengths.enumerate().max_by_key(|(_, length)| *length).unwrap().0;
        let file = if round % 4 == 0 { (round / 4) as usize % all.len() } else { largest };
        let mut content = fs::read(&all[file]).unwrap();
        damage(&mut content, round);
        fs::write(&all[file], content).unwrap();
        match restored(&path) {
            Result::Exact => exact += 1,
            Result::Refused => refused += 1,
        }
        fs::remove_dir_all(&path).unwrap();
    }
    eprintln!("{kind}: {exact} exact, {refused} refused");
    [exact, refused]
}

fn flip(content: &mut [u8], round: u64) {
    let place = u64::from_be_bytes(bytes(8, round + 1).try_into().unwrap());
    let used = content.iter().rposition(|byte| *byte != 0).map_or(1, |last| last + 1);
    content[(place >> 3) as usize % used] ^= 1 << (place & 7);
}

fn cut(content: &mut Vec<u8>, round: u64) {
    let place = u64::from_be_bytes(bytes(8, round + 1).try_into().unwrap());
    content.truncate((place % content.len() as u64) as usize);
}

macro_rules! damaged {
    ($($(#[$feature:meta])? $flip:ident, $cut:ident: $kind:expr;)*) => { $(
        $(#[$feature])?
        #[test]
        fn $flip() {
            let [exact, refused] = with_damage($kind, FLIPS, |content, round| flip(content, round));
            assert_eq!(exact + refused, FLIPS);
            assert!(refused > 0, "nothing was damaged");
        }

        $(#[$feature])?
        #[test]
        fn $cut() {
            let [exact, refused] = with_damage($kind, FLIPS / 2, cut);
            assert_eq!(exact + refused, FLIPS / 2);
            assert!(refused > 0, "nothing was damaged");
        }
    )* };
}

damaged! {
    #[cfg(feature = "sled")]
    every_flip_in_sled_is_harmless_or_refused, every_cut_of_sled_is_harmless_or_refused: StoreKind::Sled;
    #[cfg(feature = "redb")]
    every_flip_in_redb_is_harmless_or_refused, every_cut_of_redb_is_harmless_or_refused: StoreKind::Redb;
}
