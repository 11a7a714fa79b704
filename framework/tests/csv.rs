//! `Csv`: whole jobs that read it. What errors say is tested beside the code.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

mod shaky;
mod temp;

use shaky::Shaky;
use std::env;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use streamwork::prelude::*;
use temp::TempDir;

/// What a job with this source collects, and how much failed.
fn run<S: Source + Clone>(source: S) -> Result<(Vec<S::Out>, u64), Error> {
    run_or(OnError::Skip, source)
}

/// The same, with what becomes of what can't be read.
fn run_or<S: Source + Clone>(on_error: OnError, source: S) -> Result<(Vec<S::Out>, u64), Error> {
    let got = Collect::new();
    let job = Job::new("csv");
    job.source(source).on_error(on_error).sink(got.clone());
    let outcome = Engine::new().arbiters(1).run(job)?;
    Ok((got.take(), outcome.failed()))
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|n| n.to_string()).collect()
}

/// A column `n` of numbers.
fn column(numbers: &[String]) -> String {
    format!("n\n{}", numbers.join("\n"))
}

#[test]
fn bad_records_are_counted_however_many_come_in_a_row() {
    let mut text = "n,kind\n1,car\n".to_owned();
    text += &"many,van\n".repeat(50);
    text += "2,\"truck\r\n, \"\"old\"\"\"\n";
    let dir = TempDir::new("csv").with("x", text);
    let (got, failed) = run(Csv::<(u64, String)>::open(dir.file("x"))).unwrap();
    assert_eq!(got, [(1, "car".to_owned()), (2, "truck\r\n, \"old\"".to_owned())]);
    assert_eq!(failed, 50);
}

#[test]
fn malformed_input_fails_the_job_if_it_is_to() {
    let dir = TempDir::new("csv").with("x", "n\n1\ntwo\n3\n");
    let source = Csv::<u64>::open(dir.file("x"));
    let text = run_or(OnError::Fail, source).unwrap_err().to_string();
    let expected = format!("line 3 of {:?}: column \"n\" is \"two\"", dir.file("x"));
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn a_source_that_is_built_anew_goes_on_in_the_file() {
    let numbers = numbers(3_000);
    let dir = TempDir::new("csv").with("x", column(&numbers));
    let source = Shaky::new(Csv::<String>::open(dir.file("x")), "2000");
    assert_eq!(run(source).unwrap(), (numbers.clone(), 0));
    // It panics in the first call, so the header comes again.
    let source = Shaky::new(Csv::<String>::open(dir.file("x")), "0");
    assert_eq!(run(source).unwrap(), (numbers, 0));
}

#[cfg(unix)]
#[test]
fn a_source_that_is_built_anew_remembers_the_header_of_a_pipe() {
    for at in ["0", "20000"] {
        let numbers = numbers(30_000);
        let dir = TempDir::new("csv").with_fifo("x");
        let (path, text) = (dir.file("x"), column(&numbers));
        let writer = std::thread::spawn(move || std::fs::write(path, text).unwrap());
        let source = Shaky::new(Csv::<String>::open(dir.file("x")), at);
        assert_eq!(run(source).unwrap(), (numbers, 0), "{at}");
        writer.join().unwrap();
    }
}

/// Panics the first time that it meets a seven.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
struct Touchy(u64);

impl Event for Touchy {}

static PANICS: AtomicU32 = AtomicU32::new(0);

impl<'de> serde::Deserialize<'de> for Touchy {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let n = u64::deserialize(deserializer)?;
        assert!(n % 1_000 != 7 || PANICS.fetch_add(1, Ordering::SeqCst) > 3, "met a seven");
        Ok(Self(n))
    }
}

#[test]
fn a_panic_while_reading_a_record_meets_it_again() {
    let numbers = numbers(2_500);
    let dir = TempDir::new("csv").with("x", column(&numbers));
    let (got, failed) = run(Csv::<Touchy>::open(dir.file("x"))).unwrap();
    assert!(got.into_iter().map(|touchy| touchy.0).eq(0..2_500));
    assert_eq!((failed, PANICS.load(Ordering::SeqCst)), (0, 7));
}

/// Tells the child process what it is.
const CHILD: &str = "STREAMWORK_CSV_CHILD";

/// Not a test by itself: a process with a standard input of its own.
#[test]
fn child() {
    let Ok(format) = env::var(CHILD) else { return };
    let (csv, ndjson) = (Csv::<String>::stdin(), Ndjson::<String>::stdin());
    let (got, failed) = match format.as_str() {
        "csv" => run(Shaky::new(csv, "20000")),
        _ => run(Shaky::new(ndjson, "20000")),
    }
    .unwrap();
    assert_eq!((got, failed), (numbers(30_000), 0));
}

fn standard_input(format: &str, text: String) {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "child"])
        .env(CHILD, format)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn standard_input_loses_nothing_when_the_source_is_built_anew() {
    standard_input("csv", column(&numbers(30_000)));
    let quoted: String = numbers(30_000).iter().map(|n| format!("\"{n}\"\n")).collect();
    standard_input("ndjson", quoted);
}
