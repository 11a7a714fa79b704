//! `NdjsonFiles` and `CsvFiles`: files that appear when they are finished.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

mod log;
mod temp;

use log::Log;
use serde::{Deserialize, Serialize};
use std::fs;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use streamwork::prelude::*;
use temp::TempDir;

/// How long a test waits for what must come.
const DEADLINE: Duration = Duration::from_secs(60);

/// A negative number can't be written, and 13 makes it panic.
#[derive(Event, Clone, Debug, PartialEq, Deserialize)]
struct Reading {
    text: String,
    n: i64,
}

impl Serialize for Reading {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::{Error, SerializeStruct};
        let mut fields = serializer.serialize_struct("Reading", 2)?;
        fields.serialize_field("text", &self.text)?;
        assert!(self.n != 13, "met a thirteen");
        if self.n < 0 {
            return Err(S::Error::custom("negative"));
        }
        fields.serialize_field("n", &self.n)?;
        fields.end()
    }
}

fn readings(numbers: impl IntoIterator<Item = i64>) -> Vec<Reading> {
    numbers.into_iter().map(|n| Reading { text: format!("a \"{n}\",\r\n"), n }).collect()
}

fn run<S: Sink<In = Reading> + Clone>(
    events: Vec<Reading>,
    sink: S,
    name: &str,
    parallelism: usize,
) -> Result<Outcome, Error> {
    let job = Job::new("files");
    job.source(FromIter::new(events)).sink(sink).named(name).parallelism(parallelism);
    Engine::new().run(job)
}

/// What is in the files of a directory, sorted.
fn read<S: Source<Out = Reading> + Clone>(source: S) -> Vec<Reading> {
    let got = Collect::new();
    let job = Job::new("read");
    job.source(source).sink(got.clone());
    assert_eq!(Engine::new().run(job).unwrap().failed(), 0);
    let mut got = got.take();
    got.sort_by_key(|reading: &Reading| reading.n);
    got
}

#[test]
fn what_is_written_is_read_back() {
    let dir = TempDir::new("files");
    let all = readings(100..3_100);
    let (ndjson, csv) = (dir.file("deep/ndjson"), dir.file("deep/csv"));
    run(all.clone(), NdjsonFiles::in_dir(&ndjson), "x", 3).unwrap();
    run(all.clone(), CsvFiles::in_dir(&csv), "x", 3).unwrap();
    assert!(read(Ndjson::in_dir(ndjson)) == all);
    assert!(read(Csv::in_dir(csv)) == all);
}

#[test]
fn each_instance_publishes_a_file_unless_it_has_no_event() {
    let dir = TempDir::new("files");
    run(readings([1, 2]), NdjsonFiles::in_dir(dir.path()), "x", 3).unwrap();
    assert_eq!(dir.names(), ["x-0-0.ndjson", "x-1-0.ndjson"]);
}

#[test]
fn no_file_is_ever_overwritten() {
    let dir = TempDir::new("files").with("x-0-1.csv", "mine").with(".x-0-left.csv", "half");
    for n in 1..=3 {
        run(readings([n]), CsvFiles::in_dir(dir.path()), "x", 1).unwrap();
    }
    let names = [".x-0-left.csv", "x-0-0.csv", "x-0-1.csv", "x-0-2.csv", "x-0-3.csv"];
    assert_eq!(dir.names(), names);
    assert_eq!((dir.read("x-0-1.csv"), dir.read(".x-0-left.csv")), ("mine".into(), "half".into()));
    let text = |n| format!("text,n\n\"a \"\"{n}\"\",\r\n\",{n}\n");
    for (name, n) in [("x-0-0.csv", 1), ("x-0-2.csv", 2), ("x-0-3.csv", 3)] {
        assert_eq!(dir.read(name), text(n));
    }
}

#[test]
fn the_name_of_a_component_cannot_lead_elsewhere() {
    let dir = TempDir::new("files");
    run(readings([1]), NdjsonFiles::in_dir(dir.file("in")), "../a b", 1).unwrap();
    assert_eq!(dir.names(), ["in"]);
    assert!(dir.file("in/%2E.%2Fa%20b-0-0.ndjson").exists());
}

#[test]
fn an_event_that_cannot_be_written_is_lost_alone() {
    let dir = TempDir::new("files");
    let all = readings([-1, 1, -2, -3, 2]);
    let csv = run(all.clone(), CsvFiles::in_dir(dir.path()), "x", 1).unwrap();
    let ndjson = run(all, NdjsonFiles::in_dir(dir.path()), "x", 1).unwrap();
    assert_eq!((csv.failed(), ndjson.failed()), (3, 3));
    assert_eq!(read(Csv::open(dir.file("x-0-0.csv"))), readings([1, 2]));
    assert_eq!(read(Ndjson::open(dir.file("x-0-0.ndjson"))), readings([1, 2]));
}

#[test]
fn an_instance_that_is_built_anew_has_published_what_it_wrote() {
    let dir = TempDir::new("files");
    let all = readings([1, 2, 13, 3]);
    let outcome = run(all, CsvFiles::in_dir(dir.path()), "x", 1).unwrap();
    assert_eq!(outcome.failed(), 1);
    assert_eq!(dir.names(), ["x-0-0.csv", "x-0-1.csv"]);
    assert_eq!(read(Csv::open(dir.file("x-0-0.csv"))), readings([1, 2]));
    assert_eq!(read(Csv::open(dir.file("x-0-1.csv"))), readings([3]));
}

#[test]
fn a_file_is_hidden_until_it_is_finished_and_a_job_that_is_killed_publishes_it() {
    let dir = TempDir::new("files");
    let (tell, told) = mpsc::channel();
    let job = Job::new("files");
    let source = FromThread::new(|_: &Context, out: &mut ThreadEmitter<Reading>| {
        for reading in readings([1, 2]) {
            out.emit(reading)?;
        }
        // Until the job ends.
        while !out.is_closed() {
            std::thread::yield_now();
        }
        Ok(())
    });
    let stream = job.source(source);
    stream.sink(NdjsonFiles::in_dir(dir.path())).named("x");
    stream.sink(ForEach::new(move |reading: Reading| tell.send(reading.n).unwrap()));
    let handle = Engine::new().start(job).unwrap();
    for n in [1, 2] {
        assert_eq!(told.recv_timeout(DEADLINE).unwrap(), n);
    }
    // It is flushed when there is nothing more to read.
    let dir = Arc::new(dir);
    let looked = Arc::clone(&dir);
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        loop {
            match looked.names().pop() {
                Some(name) if looked.read(&name).lines().count() == 2 => return tell.send(name),
                _ => std::thread::yield_now(),
            }
        }
    });
    let hidden = told.recv_timeout(DEADLINE).unwrap();
    assert!(hidden.starts_with(".x-0-") && hidden.ends_with(".ndjson"), "{hidden}");
    handle.kill();
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Killed);
    assert_eq!(dir.names(), ["x-0-0.ndjson"]);
    assert_eq!(read(Ndjson::open(dir.file("x-0-0.ndjson"))), readings([1, 2]));
}

#[test]
fn a_directory_that_cannot_be_made_fails_the_start() {
    let dir = TempDir::new("files").with("file", "");
    let path = dir.file("file/deep");
    let error = run(readings([1]), NdjsonFiles::in_dir(&path), "x", 1).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(&format!("cannot make the directory {path:?}")), "{text}");
}

#[test]
fn a_directory_that_is_gone_fails_the_job_and_names_the_file() {
    let dir = TempDir::new("files");
    let inner = dir.file("inner");
    let gone = inner.clone();
    let job = Job::new("files");
    let source = FromThread::new(move |_: &Context, out: &mut ThreadEmitter<Reading>| {
        // The sink makes it when it is set up, and never again.
        while !gone.exists() {
            std::thread::yield_now();
        }
        fs::remove_dir(&gone)?;
        readings([1]).into_iter().try_for_each(|reading| out.emit(reading))?;
        Ok(())
    });
    job.source(source).sink(NdjsonFiles::in_dir(&inner)).named("x");
    let text = Engine::new().run(job).unwrap_err().to_string();
    assert!(text.contains(&format!("cannot write \"{}/.x-0-", inner.display())), "{text}");
}

#[test]
fn what_cannot_be_published_after_a_panic_is_logged_with_its_place_and_cause() {
    let log = Log::get();
    let dir = TempDir::new("files");
    let inner = dir.file("inner");
    let gone = inner.clone();
    let job = Job::new("lossy").restarts(RestartStrategy { restarts: 0, ..Default::default() });
    let source = FromThread::new(move |_: &Context, out: &mut ThreadEmitter<Reading>| {
        readings([1]).into_iter().try_for_each(|reading| out.emit(reading))?;
        // The file is made with its first event.
        while !out.is_closed() && fs::read_dir(&gone).map_or(0, Iterator::count) == 0 {
            std::thread::yield_now();
        }
        fs::remove_dir_all(&gone)?;
        readings([13]).into_iter().try_for_each(|reading| out.emit(reading))?;
        Ok(())
    });
    job.source(source).sink(NdjsonFiles::in_dir(&inner)).named("tolls");
    Engine::new().run(job).unwrap_err();
    let fields = ["WARN", "job=\"lossy\"", "component=tolls", "instance=0"];
    let line = log.wait_for(&[&fields[..], &["cannot publish", "/.tolls-0-"]].concat());
    assert!(line.contains("in its directory: No such file or directory"), "{line}");
}

/// Every number comes back as it was, to the last bit.
#[test]
fn numbers_are_read_as_they_were_written() {
    let draw = |n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (n << 7);
    let numbers: Vec<f64> = (0..5_000_u64)
        .map(|n| f64::from_bits(draw(n)))
        .chain((0..5_000).map(|n| draw(n) as f64 / 1.8e16))
        .filter(|number| number.is_finite())
        .collect();
    let dir = TempDir::new("numbers");
    let job = Job::new("write");
    job.source(FromIter::new(numbers.clone())).sink(NdjsonFiles::in_dir(dir.path()));
    Engine::new().run(job).unwrap();
    let got = Collect::new();
    let job = Job::new("read");
    job.source(Ndjson::<f64>::in_dir(dir.path())).sink(got.clone());
    Engine::new().run(job).unwrap();
    let bits = |numbers: &[f64]| numbers.iter().map(|n| n.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&got.take()), bits(&numbers));
}
