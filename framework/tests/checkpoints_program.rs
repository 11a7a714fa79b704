//! `streamwork-checkpoints`: what it prints, and with which code it ends.

#![cfg(all(feature = "cli", any(feature = "sled", feature = "redb")))]
#![expect(clippy::unwrap_used, reason = "a test may")]

mod temp;

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use streamwork::{
    CheckpointId, ComponentManifest, DataDir, Key, Manifest, ManifestKind, Part, PartManifest,
    PendingCommit, SegmentId, SegmentRef, Shape, State,
};
use temp::TempDir;

const STATE: &[u8] = b"ten bytes!";

fn manifest(id: CheckpointId, kind: ManifestKind) -> Manifest {
    let segment = SegmentId { checkpoint: id, number: 0 };
    let checksum = crc32fast::hash(STATE);
    let reference = SegmentRef { id: segment, bytes: STATE.len() as u64, checksum };
    Manifest {
        job: "vehicle-count".to_owned(),
        id,
        kind,
        taken_at: 1_700_000_000_000,
        run: "run-a".to_owned(),
        delivery: "exactly-once".to_owned(),
        key_groups: 128,
        components: vec![ComponentManifest {
            name: "counter".to_owned(),
            role: "operator".to_owned(),
            parallelism: 2,
            fields: Shape::Nothing,
            keyed: Some((<String as Key>::shape(), <u64 as State>::shape())),
            parts: vec![PartManifest { part: Part::Group(3), chain: vec![reference] }],
        }],
        commits: vec![PendingCommit {
            checkpoint: id,
            component: "files".to_owned(),
            instance: 1,
            events: 3,
            handle: serde_bytes::ByteBuf::from(vec![1]),
        }],
    }
}

/// A directory with a savepoint and two checkpoints; of the last the state is damaged, if asked for.
fn directory(is_damaged: bool) -> TempDir {
    let temp = TempDir::new("checkpoints");
    let directory = DataDir::open(temp.file("data"), "vehicle-count", false).unwrap();
    let mut store = directory.store().unwrap();
    let generation = store.begin().unwrap();
    let savepoint = ManifestKind::Savepoint("release".to_owned());
    for kind in [ManifestKind::Periodic, savepoint, ManifestKind::Stopped] {
        let id = store.reserve(1).unwrap();
        let bytes = if is_damaged && id.0 == 3 { &STATE[1..] } else { STATE };
        store.put(SegmentId { checkpoint: id, number: 0 }, bytes).unwrap();
        store.publish(generation, id, &manifest(id, kind).encode().unwrap()).unwrap();
    }
    temp
}

/// The program's exit code, and what it printed, on both ways.
fn run(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    let program = env!("CARGO_BIN_EXE_streamwork-checkpoints");
    let mut command = Command::new(program);
    let output = command.arg("--data-dir").arg(directory).args(arguments).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(!err.contains("panicked"), "{err}");
    (output.status.code().unwrap(), out, err)
}

fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const DAMAGE: &str = "segment 0 of checkpoint 3 is not the one that the manifest names";

#[test]
fn list_has_a_line_for_each_checkpoint() {
    let temp = directory(false);
    let (code, out, err) = run(&temp.file("data"), &["list"]);
    let expected = "\
        1  periodic  taken 1700000000000 ms  10 bytes  good\n\
        2  savepoint \"release\"  taken 1700000000000 ms  10 bytes  good\n\
        3  stopped  taken 1700000000000 ms  10 bytes  good (latest)\n";
    assert_eq!((code, out.as_str(), err.as_str()), (0, expected, ""));

    let (code, out, _) = run(&temp.file("data"), &["list", "--json"]);
    let lines = json(&out);
    assert_eq!((code, lines.len()), (0, 3));
    assert_eq!(lines[1]["kind"], "savepoint \"release\"");
    assert_eq!((&lines[2]["checkpoint"], &lines[2]["latest"]), (&3.into(), &true.into()));
}

#[test]
fn list_and_verify_say_what_is_damaged() {
    let temp = directory(true);
    let (code, out, _) = run(&temp.file("data"), &["list"]);
    assert_eq!(code, 1);
    let last = format!("3  stopped  taken 1700000000000 ms  10 bytes  damaged: {DAMAGE} (latest)");
    assert_eq!(out.lines().last(), Some(last.as_str()));

    let (code, out, _) = run(&temp.file("data"), &["verify"]);
    let expected = format!(
        "checkpoint 3 is damaged: {DAMAGE}\n2 good, 1 damaged; the next start is refused: checkpoint 3 is \
         damaged: {DAMAGE}; good are the checkpoints 1, 2: one of them is restored if it is asked for\n"
    );
    assert_eq!((code, out), (1, expected));

    let temp = directory(false);
    let (code, out, _) = run(&temp.file("data"), &["verify"]);
    assert_eq!(
        (code, out.as_str()),
        (0, "3 good, 0 damaged; the next start restores checkpoint 3\n")
    );
    fs::remove_file(temp.file("data").join("LATEST")).unwrap();
    let (code, out, _) = run(&temp.file("data"), &["verify", "--json"]);
    let line = &json(&out)[0];
    assert_eq!((code, &line["good"], &line["damaged"]), (1, &3.into(), &0.into()));
}

#[test]
fn describe_says_what_a_checkpoint_consists_of() {
    let temp = directory(true);
    let (code, out, _) = run(&temp.file("data"), &["describe", "2"]);
    let expected = "\
        checkpoint 2  savepoint \"release\"  job vehicle-count  run run-a  exactly-once  128 key groups  \
        taken 1700000000000 ms\n\
        operator counter  parallelism 2  1 parts  1 segments  10 bytes\n\
        commit of files[1]  prepared at checkpoint 2\n";
    assert_eq!((code, out.as_str()), (0, expected));
    let (code, out, _) = run(&temp.file("data"), &["--json", "describe", "2"]);
    assert_eq!((code, &json(&out)[1]["component"]), (0, &"counter".into()));

    for (id, problem) in [("3", "checkpoint 3 is damaged"), ("4", "there is no checkpoint 4")] {
        let (code, out, err) = run(&temp.file("data"), &["describe", id]);
        assert_eq!((code, out.as_str()), (1, ""));
        assert!(err.starts_with(&format!("error: {problem}")), "{err}");
        assert!(err.contains("good are the checkpoints 1, 2"), "{err}");
    }
}

#[test]
fn export_copies_a_checkpoint() {
    let temp = directory(false);
    let to = temp.file("copy");
    let to_text = to.to_str().unwrap();
    let (code, out, _) = run(&temp.file("data"), &["export", "2", "--to", to_text]);
    let expected = format!("checkpoint 2 is in {to_text}: 1 segments, 10 bytes\n");
    assert_eq!((code, out), (0, expected));
    assert_eq!(fs::read(to.join("segment-2-0")).unwrap(), STATE);
    let copied = Manifest::decode(&fs::read(to.join("manifest")).unwrap()).unwrap();
    assert_eq!(copied, manifest(CheckpointId(2), ManifestKind::Savepoint("release".to_owned())));

    let (code, _, err) = run(&temp.file("data"), &["export", "2", "--to", to_text]);
    assert_eq!((code, err), (1, format!("error: {to:?} is not empty\n")));
}

#[test]
fn delete_removes_a_checkpoint_also_the_newest() {
    let temp = directory(true);
    let (code, out, _) = run(&temp.file("data"), &["delete", "3"]);
    assert_eq!((code, out.as_str()), (0, "checkpoint 3 is deleted; the newest is 2\n"));
    let (code, out, _) = run(&temp.file("data"), &["verify"]);
    assert_eq!(
        (code, out.as_str()),
        (0, "2 good, 0 damaged; the next start restores checkpoint 2\n")
    );
    let (code, _, err) = run(&temp.file("data"), &["delete", "3"]);
    assert_eq!((code, err.as_str()), (1, "error: there is no checkpoint 3\n"));
    for (id, out) in [("2", "1"), ("1", "none")] {
        let (code, text, _) = run(&temp.file("data"), &["delete", id]);
        assert_eq!(code, 0);
        assert_eq!(text, format!("checkpoint {id} is deleted; the newest is {out}\n"));
    }
    let (code, out, _) = run(&temp.file("data"), &["verify"]);
    assert_eq!((code, out.as_str()), (0, "0 good, 0 damaged; the next start begins anew\n"));
}

#[test]
fn a_directory_that_is_none_or_in_use_is_an_error() {
    let temp = directory(false);
    let missing = temp.file("missing");
    let (code, _, err) = run(&missing, &["list"]);
    assert_eq!(code, 1);
    assert_eq!(err, format!("error: {missing:?} is no directory: give the job one of its own\n"));
    let empty = temp.file("empty");
    fs::create_dir(&empty).unwrap();
    let (code, _, err) = run(&empty, &["list"]);
    assert_eq!(code, 1);
    assert_eq!(
        err,
        format!("error: {empty:?} is no data directory: no job has kept checkpoints in it\n")
    );
    let _job = DataDir::open(temp.file("data"), "vehicle-count", false).unwrap();
    let (code, _, err) = run(&temp.file("data"), &["list"]);
    assert!(code == 1 && err.contains("is in use"), "{err}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_an_error_and_one_that_nobody_reads_is_none() {
    let temp = directory(false);
    let print_to = |output: std::process::Stdio| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_streamwork-checkpoints"));
        let command = command.arg("--data-dir").arg(temp.file("data")).arg("list").stdout(output);
        let output = command.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let (code, err) = print_to(full.into());
    assert!(code == 1 && err.starts_with("error: cannot write to standard output: "), "{err}");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(print_to(writer.into()), (0, String::new()));
}

#[test]
fn wrong_usage_is_told_from_failure() {
    let temp = directory(false);
    for arguments in [&["melt"][..], &["describe"], &["describe", "two"], &["export", "1"], &[]] {
        let (code, out, err) = run(&temp.file("data"), arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}");
        assert!(err.contains("--help") || err.contains("Usage"), "{err}");
    }
    let program = env!("CARGO_BIN_EXE_streamwork-checkpoints");
    let output = Command::new(program).arg("list").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
