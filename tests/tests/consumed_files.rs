//! Files that were published and have been taken away are no reason not to go on.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use streamwork::prelude::*;

/// A directory of its own, removed in the end.
struct TempDir(PathBuf);

impl TempDir {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("streamwork-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn job(output: &Path, events: u64) -> Job {
    let job = Job::new("numbers").delivery(Delivery::exactly_once(Duration::from_millis(10)));
    job.source(Generator::indexed(|n| n).events(events))
        .rate(20_000.0)
        .sink(NdjsonFiles::<u64>::in_dir(output));
    job
}

/// Takes the published files away, and gives their lines.
fn consume(output: &Path) -> Vec<u64> {
    let mut lines = Vec::new();
    for entry in fs::read_dir(output).unwrap() {
        let path = entry.unwrap().path();
        let is_hidden = path.file_name().unwrap().to_str().unwrap().starts_with('.');
        if !is_hidden {
            let text = fs::read_to_string(&path).unwrap();
            lines.extend(text.lines().map(|line| line.parse::<u64>().unwrap()));
            fs::remove_file(path).unwrap();
        }
    }
    lines
}

#[test]
fn a_job_goes_on_when_what_it_has_published_was_consumed() {
    const EVENTS: u64 = 5_000;
    let dir = TempDir::new("consumed");
    let (data, output) = (dir.0.join("data"), dir.0.join("output"));
    let engine = Engine::new().data_dir(&data);
    let handle = engine.start(job(&output, EVENTS)).unwrap();
    while handle.component("ndjson-files").is_none_or(|counts| counts.applied < 100) {
        std::thread::yield_now();
    }
    handle.stop();
    assert_eq!(handle.wait().unwrap().status(), JobStatus::Stopped);
    let mut lines = consume(&output);
    assert!(!lines.is_empty() && lines.len() < EVENTS as usize, "{} lines", lines.len());

    assert_eq!(engine.run(job(&output, EVENTS)).unwrap().status(), JobStatus::Finished);
    lines.extend(consume(&output));
    lines.sort_unstable();
    assert!(lines == (0..EVENTS).collect::<Vec<_>>(), "{} lines", lines.len());
    // And when it has finished.
    assert_eq!(engine.run(job(&output, EVENTS)).unwrap().status(), JobStatus::Finished);
}
