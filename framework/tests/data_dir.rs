//! The directory of a job's checkpoints: whose it is, who uses it, and what was published last.

#![cfg(any(feature = "sled", feature = "redb"))]
#![expect(clippy::unwrap_used, reason = "a test may")]

mod temp;

use std::fs;
use std::path::Path;
#[cfg(target_os = "linux")]
use std::process::Command;
use streamwork::{
    CheckpointId, CheckpointStore, DataDir, DataDirError, Generation, Latest, Manifest,
    ManifestKind, Restored, StoreError, StoreKind,
};
use temp::TempDir;

const JOB: &str = "vehicle-count";

fn open(path: &Path) -> Result<DataDir, DataDirError> {
    DataDir::open(path, JOB, false)
}

fn message(result: Result<DataDir, DataDirError>) -> String {
    result.unwrap_err().to_string()
}

fn manifest(id: CheckpointId) -> Vec<u8> {
    let manifest = Manifest {
        job: JOB.to_owned(),
        id,
        kind: ManifestKind::Periodic,
        taken_at: 0,
        run: "run".to_owned(),
        delivery: "exactly-once".to_owned(),
        key_groups: 128,
        components: Vec::new(),
        commits: Vec::new(),
    };
    manifest.encode().unwrap()
}

fn publish(store: &mut dyn CheckpointStore, generation: Generation) -> CheckpointId {
    let id = store.reserve(1).unwrap();
    store.publish(generation, id, &manifest(id)).unwrap();
    id
}

/// A directory in which so many checkpoints were published.
fn with_checkpoints(count: u64) -> TempDir {
    let temp = TempDir::new("data-dir");
    let directory = open(&temp.file("data")).unwrap();
    let mut store = directory.store().unwrap();
    let generation = store.begin().unwrap();
    for number in 1..=count {
        assert_eq!(publish(&mut *store, generation), CheckpointId(number));
    }
    temp
}

#[test]
fn it_is_made_with_all_above_it_and_opened_again() {
    let temp = TempDir::new("data-dir");
    let path = temp.file("a").join("b");
    let directory = open(&path).unwrap();
    assert_eq!((directory.path(), directory.job()), (&*path, JOB));
    assert_eq!(directory.latest(), Latest::None);
    assert_eq!(directory.archived(), None);
    drop(directory);
    assert_eq!(open(&path).unwrap().store_kind(), StoreKind::default());
    assert_eq!(DataDir::existing(&path).unwrap().job(), JOB);
}

#[test]
fn it_belongs_to_one_job() {
    let temp = with_checkpoints(1);
    let path = temp.file("data");
    let text = message(DataDir::open(&path, "fraud-detection", false));
    let expected = format!(
        "the data directory {path:?} belongs to the job \"vehicle-count\", not to \"fraud-detection\": take \
         another directory, or begin afresh"
    );
    assert_eq!(text, expected);
    // Beginning afresh makes it the other one's.
    let directory = DataDir::open(&path, "fraud-detection", true).unwrap();
    assert_eq!(directory.job(), "fraud-detection");
    assert!(directory.store().unwrap().manifests().unwrap().is_empty());
}

#[test]
fn nobody_else_opens_it_as_long_as_it_or_its_store_is_used() {
    let temp = TempDir::new("data-dir");
    let path = temp.file("data");
    let directory = open(&path).unwrap();
    let text = message(open(&path));
    assert_eq!(
        text,
        format!(
            "the data directory {path:?} is in use: end the other process, or take another directory"
        )
    );
    assert!(matches!(DataDir::existing(&path), Err(DataDirError::Locked { .. })));
    let store = directory.store().unwrap();
    drop(directory);
    assert!(matches!(open(&path), Err(DataDirError::Locked { .. })));
    // Also not to begin afresh.
    assert!(matches!(DataDir::open(&path, JOB, true), Err(DataDirError::Locked { .. })));
    drop(store);
    open(&path).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn another_process_is_kept_out_until_it_is_killed() {
    let temp = with_checkpoints(1);
    let path = temp.file("data");
    // A process of no more than the lock; what it prints says that it has it.
    let mut holder = Command::new("flock")
        .arg(path.join("lock"))
        .args(["sh", "-c", "echo locked; exec cat"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0; 7];
    std::io::Read::read_exact(holder.stdout.as_mut().unwrap(), &mut line).unwrap();
    assert!(matches!(open(&path), Err(DataDirError::Locked { .. })));
    drop(holder.stdin.take());
    holder.wait().unwrap();
    open(&path).unwrap();
}

#[test]
fn what_is_no_directory_is_refused() {
    let temp = TempDir::new("data-dir").with("file", "text");
    let path = temp.file("file");
    let expected = format!("{path:?} is no directory: give the job one of its own");
    assert_eq!(message(open(&path)), expected);
    assert_eq!(message(DataDir::existing(&path)), expected);
    assert_eq!(temp.read("file"), "text");
    assert!(matches!(
        DataDir::existing(temp.file("nothing")),
        Err(DataDirError::NoDirectory { .. })
    ));
    assert!(!temp.file("nothing").exists());
}

#[test]
fn what_cannot_be_made_or_locked_is_refused() {
    let temp = TempDir::new("data-dir").with("file", "text");
    let path = temp.file("file").join("data");
    let text = message(open(&path));
    assert_eq!(text, format!("cannot make the data directory {path:?}"));

    let path = temp.file("data");
    fs::create_dir_all(path.join("lock")).unwrap();
    assert_eq!(message(open(&path)), format!("cannot lock the data directory {path:?}"));
}

#[test]
fn somebody_elses_files_are_not_touched() {
    for fresh in [false, true] {
        let temp = TempDir::new("data-dir").with("thesis.txt", "all of it");
        let text = message(DataDir::open(temp.path(), JOB, fresh));
        let path = temp.path();
        let expected = format!(
            "{path:?} is no data directory, and not empty: give the job a directory of its own"
        );
        assert_eq!(text, expected);
        assert_eq!(temp.read("thesis.txt"), "all of it");
        assert!(!temp.file("archive").exists());
        assert!(matches!(
            DataDir::existing(temp.path()),
            Err(DataDirError::NoDataDirectory { .. })
        ));
    }
}

#[test]
fn a_newer_format_is_refused() {
    let temp = with_checkpoints(1);
    let path = temp.file("data");
    let identity = r#"{"format":2,"owner":"vehicle-count"}"#;
    let text = format!("{identity}\n{:08x}\n", crc32fast::hash(identity.as_bytes()));
    fs::write(path.join("IDENTITY"), text).unwrap();
    let expected = format!(
        "the data directory {path:?} has format 2, and this program knows up to 1: use a newer version, or \
         begin afresh"
    );
    assert_eq!(message(open(&path)), expected);
}

#[test]
fn a_damaged_identity_is_refused_and_archived_when_asked_for() {
    let temp = with_checkpoints(1);
    let path = temp.file("data");
    let good = fs::read(path.join("IDENTITY")).unwrap();
    for bit in 0..good.len() * 8 {
        let mut identity = good.clone();
        identity[bit / 8] ^= 1 << (bit % 8);
        fs::write(path.join("IDENTITY"), identity).unwrap();
        let error = open(&path).unwrap_err();
        assert!(matches!(error, DataDirError::Damaged { .. }), "{bit}: {error}");
        assert!(error.to_string().contains("begin afresh"), "{error}");
    }
    fs::remove_file(path.join("IDENTITY")).unwrap();
    let text = message(open(&path));
    assert!(
        text.ends_with("is damaged: IDENTITY is missing: put it right, or begin afresh"),
        "{text}"
    );

    let directory = DataDir::open(&path, JOB, true).unwrap();
    assert_eq!(directory.archived(), Some(&*path.join("archive").join("1")));
    assert!(directory.store().unwrap().manifests().unwrap().is_empty());
}

#[test]
fn a_directory_that_was_not_finished_is_made_anew() {
    // As after a crash before its identity was written.
    let temp = TempDir::new("data-dir");
    let path = temp.file("data");
    drop(open(&path).unwrap());
    fs::rename(path.join("IDENTITY"), path.join(".IDENTITY.tmp")).unwrap();
    assert_eq!(open(&path).unwrap().latest(), Latest::None);
}

#[test]
fn a_fresh_start_moves_everything_aside() {
    let temp = with_checkpoints(2);
    let path = temp.file("data");
    fs::write(path.join("journal"), "of a source").unwrap();
    for number in 1..=2_u64 {
        let directory = DataDir::open(&path, JOB, true).unwrap();
        let archive = path.join("archive").join(number.to_string());
        assert_eq!(directory.archived(), Some(&*archive));
        assert_eq!(directory.latest(), Latest::None);
        let mut store = directory.store().unwrap();
        assert!(store.manifests().unwrap().is_empty());
        let generation = store.begin().unwrap();
        publish(&mut *store, generation);
        drop((store, directory));
        assert!(archive.join("IDENTITY").exists() && archive.join("LATEST").exists());
    }
    assert_eq!(fs::read_to_string(path.join("archive/1/journal")).unwrap(), "of a source");
    // What was archived is a directory that can be used.
    let archived = DataDir::existing(path.join("archive/1")).unwrap();
    assert_eq!(archived.latest().id(), Some(CheckpointId(2)));
    assert_eq!(archived.store().unwrap().manifests().unwrap().len(), 2);
    // One that is empty has nothing to archive.
    let empty = DataDir::open(temp.file("empty"), JOB, true).unwrap();
    assert_eq!(empty.archived(), None);
}

#[test]
fn a_fresh_start_that_was_interrupted_is_finished() {
    let names = ["IDENTITY", "LATEST", "checkpoints.sled", "checkpoints.redb"];
    for moved in 0..=names.len() {
        let temp = with_checkpoints(2);
        let path = temp.file("data");
        // As it looks when so many files were moved.
        let begun = path.join("archive/.1");
        fs::create_dir_all(&begun).unwrap();
        for name in names.iter().take(moved).filter(|name| path.join(name).exists()) {
            fs::rename(path.join(name), begun.join(name)).unwrap();
        }
        let directory = open(&path).unwrap();
        assert_eq!(directory.latest(), Latest::None, "{moved}");
        assert!(directory.store().unwrap().manifests().unwrap().is_empty(), "{moved}");
        assert!(!begun.exists());
        let archived = DataDir::existing(path.join("archive/1")).unwrap();
        assert_eq!(archived.store().unwrap().manifests().unwrap().len(), 2, "{moved}");
    }
}

#[test]
fn latest_follows_what_is_published_and_what_is_deleted() {
    let temp = TempDir::new("data-dir");
    let directory = open(&temp.file("data")).unwrap();
    let mut store = directory.store().unwrap();
    let generation = store.begin().unwrap();
    for _ in 0..3 {
        let id = publish(&mut *store, generation);
        assert_eq!(directory.latest().id(), Some(id));
    }
    let line = fs::read_to_string(temp.file("data").join("LATEST")).unwrap();
    assert_eq!(line.lines().count(), 1);
    assert!(line.starts_with("3 "), "{line}");

    // A publication that is refused leaves it.
    let error = store.publish(Generation(0), CheckpointId(9), b"m").unwrap_err();
    assert!(matches!(error, StoreError::Fenced { .. }));
    assert_eq!(directory.latest().id(), Some(CheckpointId(3)));

    store.remove_manifest(CheckpointId(1)).unwrap();
    assert_eq!(directory.latest().id(), Some(CheckpointId(3)));
    for (removed, latest) in [(3, Some(CheckpointId(2))), (2, None)] {
        store.remove_manifest(CheckpointId(removed)).unwrap();
        assert_eq!(directory.latest().id(), latest);
        let restored = Restored::read(&*store, &directory.latest(), None).unwrap();
        assert_eq!(restored.map(|restored| restored.manifest.id), latest);
    }
    assert_eq!(directory.latest(), Latest::None);
}

/// What a start says.
fn refusal(path: &Path) -> String {
    let directory = open(path).unwrap();
    let store = directory.store().unwrap();
    Restored::read(&*store, &directory.latest(), None).unwrap_err().to_string()
}

#[test]
fn without_latest_or_with_a_damaged_one_nothing_is_restored_unasked() {
    let temp = with_checkpoints(2);
    let path = temp.file("data");
    let good = "good are the checkpoints 1, 2: one of them is restored if it is asked for";
    fs::write(path.join("LATEST"), "2 00000000 00000000\n").unwrap();
    let unknown = "which checkpoint was published last is not known: the file LATEST is";
    assert_eq!(refusal(&path), format!("{unknown} damaged; {good}"));
    fs::remove_file(path.join("LATEST")).unwrap();
    assert_eq!(refusal(&path), format!("{unknown} missing; {good}"));

    let directory = open(&path).unwrap();
    let store = directory.store().unwrap();
    let asked = Restored::read(&*store, &directory.latest(), Some(CheckpointId(2))).unwrap();
    assert_eq!(asked.unwrap().manifest.id, CheckpointId(2));
}

#[test]
fn a_store_that_is_gone_is_no_fresh_start() {
    let temp = with_checkpoints(2);
    let path = temp.file("data");
    for name in ["checkpoints.sled", "checkpoints.redb"] {
        let store = path.join(name);
        if store.is_dir() {
            fs::remove_dir_all(store).unwrap();
        } else if store.exists() {
            fs::remove_file(store).unwrap();
        }
    }
    let expected =
        "checkpoint 2 was published, and the newest that is there is none; no checkpoint is good";
    assert_eq!(refusal(&path), expected);
}

#[test]
fn numbers_go_on_behind_what_was_published_though_the_store_went_back() {
    let temp = with_checkpoints(2);
    let path = temp.file("data");
    let earlier = fs::read(path.join("LATEST")).unwrap();
    let mut directory = open(&path).unwrap();
    let mut store = directory.store().unwrap();
    let generation = store.begin().unwrap();
    for _ in 0..40 {
        publish(&mut *store, generation);
    }
    drop((store, directory));
    let latest = fs::read(path.join("LATEST")).unwrap();

    // The store of a directory that is 40 checkpoints older.
    let older = with_checkpoints(2);
    assert_eq!(fs::read(older.file("data").join("LATEST")).unwrap(), earlier);
    fs::write(older.file("data").join("LATEST"), latest).unwrap();
    directory = open(&older.file("data")).unwrap();
    store = directory.store().unwrap();
    assert_eq!(store.reserve(5).unwrap(), CheckpointId(43));
    assert_eq!(store.reserve(1).unwrap(), CheckpointId(48));
}

#[cfg(all(feature = "sled", feature = "redb"))]
#[test]
fn its_store_is_of_the_kind_that_it_was_made_with() {
    let temp = TempDir::new("data-dir");
    let path = temp.file("data");
    let directory = DataDir::open_with(&path, JOB, false, StoreKind::Redb).unwrap();
    let mut store = directory.store().unwrap();
    let generation = store.begin().unwrap();
    publish(&mut *store, generation);
    drop((store, directory));
    assert!(path.join("checkpoints.redb").is_file() && !path.join("checkpoints.sled").exists());

    let directory = open(&path).unwrap();
    assert_eq!(directory.store_kind(), StoreKind::Redb);
    assert_eq!(directory.store().unwrap().manifests().unwrap(), [CheckpointId(1)]);
    drop(directory);
    let text = message(DataDir::open_with(&path, JOB, false, StoreKind::Sled));
    let expected = format!(
        "the data directory {path:?} has a store of redb, not of sled: take another directory, or begin \
         afresh"
    );
    assert_eq!(text, expected);
}
