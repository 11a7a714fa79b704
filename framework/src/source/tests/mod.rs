//! What holds for all sources of files: they go on at any position, and so do those of a directory.

mod malformed;

use super::*;
use crate::component::{BoxError, Fatal, Malformed, Split};
use crate::id::InstanceId;
use crate::state::{FieldReader, FieldWriter, Rescaling};
use crate::time::ManualClock;
use futures::executor::block_on;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

pub(super) fn context(index: usize, count: usize) -> Context {
    Context {
        job: "job".into(),
        instance: InstanceId::new("source", 0),
        parallelism: 1,
        split: Split { index, count },
        clock: Arc::new(ManualClock::new()),
        draining: Arc::default(),
        checkpointed: false,
        owner: "job".into(),
    }
}

/// A directory that is removed in the end.
struct TempDir(PathBuf);

impl TempDir {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("streamwork-sources-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn with(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        fs::write(self.0.join(name), bytes).unwrap();
        self
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// What a source gave: events, and the text of errors that are about a piece of input.
type Given<T> = Vec<std::result::Result<T, String>>;

/// All that a source gives in `index` of `count`, called with emitters of `rooms` in turn; after each
/// call that `rebuilt` says so of, a clone of the prototype goes on at the position.
fn read<S: Source + Clone>(
    prototype: &S,
    (index, count): (usize, usize),
    rooms: &[usize],
    rebuilt: &[bool],
) -> std::result::Result<Given<S::Out>, BoxError> {
    let ctx = context(index, count);
    let (mut rooms, mut rebuilt) = (rooms.iter().cycle(), rebuilt.iter().cycle());
    let mut source = prototype.clone();
    block_on(source.setup(&ctx))?;
    let mut given = Vec::new();
    loop {
        let room = *rooms.next().unwrap();
        let mut out = Emitter::with_room(room);
        let progress = block_on(source.next(&mut out));
        assert!(out.len() <= room);
        given.extend(out.as_slice().iter().cloned().map(Ok));
        match progress {
            Ok(Progress::End) => return Ok(given),
            Ok(Progress::More) => assert!(!out.is_empty()),
            Err(error) if Malformed::is(&*error) => given.push(Err(error.to_string())),
            Err(error) => return Err(error),
        }
        if *rebuilt.next().unwrap() {
            let bytes = position::<S>(&source.save());
            source = prototype.clone();
            source.load(position_in::<S>(&bytes));
            block_on(source.setup(&ctx))?;
        }
    }
}

/// A position as a checkpoint keeps it.
fn position<S: Source>(saved: &S::Saved) -> Vec<u8> {
    let mut fields = FieldWriter::new("source");
    S::encode(saved, &mut fields).unwrap();
    fields.into_bytes()
}

fn position_in<S: Source>(bytes: &[u8]) -> S::Saved {
    let shape = S::state_shape();
    let fields = FieldReader::new("source", &shape, &[bytes], Rescaling::WHOLE).unwrap();
    S::decode(&fields).unwrap()
}

/// The positions of these sources are a part of the format: changing one is changing what a later version
/// reads.
#[test]
fn positions_are_small_and_fixed() {
    #[track_caller]
    fn check<S: Source>(_: &S, shape: &str) {
        assert_eq!(S::state_shape().to_string(), shape);
    }
    let text = "{file: os-string?, offset: u64, lines: u64}";
    check(&Lines::open("orders.txt"), text);
    check(&Ndjson::<Row>::open("orders.ndjson"), text);
    check(&Csv::<Row>::open("orders.csv"), text);
    check(&FromIter::new([1_u64]), "{taken: u64}");
    check(&Generator::indexed(|n| n), "{made: u64}");
    assert!(position::<Lines>(&(None, u64::MAX, u64::MAX)).len() < 64);
}

#[test]
fn what_was_given_once_does_not_replay() {
    assert!(FromIter::new([1_u64]).replays() && Generator::indexed(|n| n).replays());
    assert!(Lines::open("orders.txt").replays() && Lines::in_dir("orders").replays());
    assert!(Lines::open(std::env::temp_dir()).replays(), "that it is a directory is said later");
    assert!(!Lines::stdin().replays() && !Ndjson::<Row>::stdin().replays());
    assert!(!Csv::<Row>::stdin().replays() && !TcpLines::connect("127.0.0.1:1").replays());
    assert!(!FromThread::new(|_, _: &mut ThreadEmitter<u64>| Ok(())).replays());
    #[cfg(target_os = "linux")]
    assert!(!Lines::open("/dev/zero").replays(), "it is no file");
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Row {
    text: String,
    n: i64,
}

impl Event for Row {}

/// A row, or one whose number is a word; and what stands after it: line ends.
#[derive(Clone, Debug)]
struct Piece {
    text: String,
    n: Option<i64>,
    after: &'static str,
}

fn pieces(text: &'static str) -> impl Strategy<Value = Vec<Piece>> {
    let after = prop_oneof![4 => Just("\n"), 2 => Just("\r\n"), 1 => Just("\n\r\n\n")];
    let piece = (text, proptest::option::weighted(0.8, any::<i64>()), after);
    let piece = piece.prop_map(|(text, n, after)| Piece { text, n, after });
    proptest::collection::vec(piece, 0..30)
}

fn newlines(text: &str) -> usize {
    text.matches('\n').count()
}

/// Compares what was read with what the pieces are, each written by `write`, from line `line` on.
fn compare(
    given: &Given<Row>,
    pieces: &[Piece],
    mut line: usize,
    write: impl Fn(&Piece) -> String,
) -> std::result::Result<(), TestCaseError> {
    prop_assert_eq!(given.len(), pieces.len());
    for (given, piece) in given.iter().zip(pieces) {
        match (given, piece.n) {
            (Ok(row), Some(n)) => prop_assert_eq!(row, &Row { text: piece.text.clone(), n }),
            (Err(text), None) => {
                let place = format!("line {line} of ");
                prop_assert!(text.starts_with(&place), "{text} in {line}");
            }
            (given, n) => prop_assert!(false, "{given:?} for {n:?}"),
        }
        line += newlines(&write(piece));
    }
    Ok(())
}

/// By hand, in the way of RFC 4180.
fn as_csv(piece: &Piece) -> String {
    let n = piece.n.map_or("many".to_owned(), |n| n.to_string());
    format!("\"{}\",{n}{}", piece.text.replace('"', "\"\""), piece.after)
}

fn as_ndjson(piece: &Piece) -> String {
    let n = piece.n.map_or("\"many\"".to_owned(), |n| n.to_string());
    format!("{{\"n\":{n},\"text\":{}}}{}", serde_json::to_string(&piece.text).unwrap(), piece.after)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn csv_goes_on_at_any_record(
        pieces in pieces("[a,\"\r\n\u{fc}]{0,6}"),
        rooms in proptest::collection::vec(1..5_usize, 1..5),
        rebuilt in proptest::collection::vec(any::<bool>(), 1..5),
    ) {
        let head = "\u{feff}\r\ntext,n\r\n";
        let dir = TempDir::new().with("a.csv", head.to_owned() + &pieces.iter().map(as_csv).collect::<String>());
        let given = read(&Csv::open(dir.file("a.csv")), (0, 1), &rooms, &rebuilt).unwrap();
        compare(&given, &pieces, 3, as_csv)?;

        let dir = dir.with("b.csv", pieces.iter().map(as_csv).collect::<String>());
        let source = Csv::open(dir.file("b.csv")).headers(false);
        compare(&read(&source, (0, 1), &rooms, &rebuilt).unwrap(), &pieces, 1, as_csv)?;
    }

    #[test]
    fn ndjson_goes_on_at_any_line(
        pieces in pieces("[a,\"\r\n\u{fc}]{0,6}"),
        rooms in proptest::collection::vec(1..5_usize, 1..5),
        rebuilt in proptest::collection::vec(any::<bool>(), 1..5),
    ) {
        let text = "\u{feff}\r\n \n".to_owned() + &pieces.iter().map(as_ndjson).collect::<String>();
        let dir = TempDir::new().with("a", text);
        let given = read(&Ndjson::open(dir.file("a")), (0, 1), &rooms, &rebuilt);
        // A mark alone on its line is an empty line.
        compare(&given.unwrap(), &pieces, 3, as_ndjson)?;
    }
}

#[test]
fn a_file_of_many_chunks_is_read_as_one() {
    let rows: Vec<Row> = (0..20_000).map(|n| Row { text: format!("a\n{n}"), n }).collect();
    let mut csv = "text,n\n".to_owned();
    let mut ndjson = String::new();
    for row in &rows {
        csv += &format!("\"{}\",{}\n", row.text, row.n);
        ndjson += &format!("{}\n", serde_json::to_string(row).unwrap());
    }
    let dir = TempDir::new().with("csv", csv).with("ndjson", ndjson);
    let expected: Given<Row> = rows.into_iter().map(Ok).collect();
    let rebuilt = [false, true, false];
    let given = read(&Csv::open(dir.file("csv")), (0, 1), &[777], &rebuilt).unwrap();
    assert!(given == expected);
    let given = read(&Ndjson::open(dir.file("ndjson")), (0, 1), &[777], &rebuilt).unwrap();
    assert!(given == expected);
}

fn text_of<T: Debug>(result: std::result::Result<T, BoxError>) -> String {
    let error = result.unwrap_err();
    assert!(Fatal::is(&*error), "{error}");
    error.to_string()
}

#[test]
fn a_split_keeps_its_file_whatever_is_added_or_removed() {
    let dir = TempDir::new().with("b", "b1\nb2\n").with("c", "c1\nc2\n");
    let lines = Lines::in_dir(&dir.0);
    assert_eq!(lines.splits().unwrap(), Splits::Fixed(2));
    let mut second = lines.clone();
    block_on(second.setup(&context(1, 2))).unwrap();
    let mut out = Emitter::with_room(1);
    block_on(second.next(&mut out)).unwrap();
    assert_eq!(out.as_slice(), ["c1"]);

    // Listed once: the split is the same file for those that are built later.
    let dir = dir.with("a", "a1\n");
    let given = read(&lines.clone(), (1, 2), &[9], &[false]).unwrap();
    assert_eq!(given, [Ok("c1".into()), Ok("c2".into())]);

    // Listed anew, another file would be the second: the position knows its own.
    let mut later = Lines::in_dir(&dir.0);
    later.load(second.save());
    let given = read(&later, (1, 3), &[9], &[false]).unwrap();
    assert_eq!(given, [Ok("c2".into())]);

    fs::remove_file(dir.file("c")).unwrap();
    let text = text_of(read(&later, (1, 3), &[9], &[false]));
    assert!(text.starts_with(&format!("cannot read {:?}", dir.file("c"))), "{text}");
}

#[test]
fn a_file_that_vanishes_after_it_was_listed_is_named() {
    let dir = TempDir::new().with("a", "a1\n").with("b", "b1\n");
    let lines = Lines::in_dir(&dir.0);
    assert_eq!(lines.splits().unwrap(), Splits::Fixed(2));
    fs::remove_file(dir.file("b")).unwrap();
    let text = text_of(read(&lines, (1, 2), &[9], &[false]));
    assert!(text.starts_with(&format!("cannot read {:?}", dir.file("b"))), "{text}");
}

#[test]
fn each_file_of_a_directory_has_a_header_of_its_own() {
    let dir = TempDir::new().with("a.csv", "n,text\n1,x\n2,y\n").with("b.csv", "text,n\nz,3\n");
    let source = Csv::<Row>::in_dir(&dir.0);
    assert_eq!(source.splits().unwrap(), Splits::Fixed(2));
    let row = |text: &str, n| Ok(Row { text: text.into(), n });
    assert_eq!(read(&source, (0, 2), &[1], &[true]).unwrap(), [row("x", 1), row("y", 2)]);
    assert_eq!(read(&source, (1, 2), &[1], &[true]).unwrap(), [row("z", 3)]);
}
