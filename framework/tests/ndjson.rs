//! `Ndjson`: whole jobs that read it. What errors say is tested beside the code.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

mod shaky;
mod temp;

use shaky::Shaky;
use streamwork::prelude::*;
use temp::TempDir;

/// What a job with this source collects, and how much failed.
fn run<S: Source + Clone>(source: S) -> Result<(Vec<S::Out>, u64), Error> {
    run_or(OnError::Skip, source)
}

/// The same, with what becomes of what can't be read.
fn run_or<S: Source + Clone>(on_error: OnError, source: S) -> Result<(Vec<S::Out>, u64), Error> {
    let got = Collect::new();
    let job = Job::new("ndjson");
    job.source(source).parallelism(2).on_error(on_error).sink(got.clone());
    let outcome = Engine::new().arbiters(1).run(job)?;
    Ok((got.take(), outcome.failed()))
}

#[test]
fn bad_lines_are_counted_however_many_come_in_a_row() {
    let text = format!("1\n{}2\n\n\r\n{{\n3", "two\n".repeat(50));
    let dir = TempDir::new("ndjson").with("x", text);
    assert_eq!(run(Ndjson::<u64>::open(dir.file("x"))).unwrap(), (vec![1, 2, 3], 51));
}

#[test]
fn malformed_input_fails_the_job_if_it_is_to() {
    let dir = TempDir::new("ndjson").with("x", "1\n\"two\"\n");
    let source = Ndjson::<u64>::open(dir.file("x"));
    let text = run_or(OnError::Fail, source).unwrap_err().to_string();
    let expected = format!("line 2 of {:?}, column 5: invalid type: string", dir.file("x"));
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn a_source_that_is_built_anew_goes_on_in_the_file() {
    let numbers: Vec<String> = (0..3_000).map(|n| n.to_string()).collect();
    let text: String = numbers.iter().map(|n| format!("\"{n}\"\r\n\n")).collect();
    let dir = TempDir::new("ndjson").with("x", text);
    let source = Shaky::new(Ndjson::<String>::open(dir.file("x")), "2000");
    assert_eq!(run(source).unwrap(), (numbers, 0));
}

#[test]
fn the_files_of_a_directory_are_read_each_from_its_own_first_line() {
    let dir = TempDir::new("ndjson").with("a", "1\n2\n").with("b", "3\nx\n").with("c", "");
    let (mut got, failed) = run(Ndjson::<u64>::in_dir(dir.path())).unwrap();
    got.sort_unstable();
    assert_eq!((got, failed), (vec![1, 2, 3], 1));
}
