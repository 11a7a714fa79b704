//! `kill -9` at any moment, again and again: what comes out in the end is what an undisturbed job makes.

use crate::harness::{Program, Random, SYSTEM_USAGE, TempDir, TempFile, wanted};
use crate::usage::{payments, verdicts};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// So that 2 s pass in a run that nobody disturbs.
const LINES: u64 = 30_000;
const RATE: &str = "15000";
const INTERVAL: &str = "40ms";

/// How many processes are killed; more by the environment.
fn kills() -> u64 {
    wanted("STREAMWORK_KILLS", 10)
}

/// A usage job that takes checkpoints, and writes files.
pub(crate) struct Durable<'a> {
    pub(crate) semantic: &'a str,
    pub(crate) input: &'a str,
    pub(crate) rate: &'a str,
    pub(crate) kept: &'a str,
    pub(crate) output: &'a str,
}

impl Durable<'_> {
    pub(crate) fn start(&self, parallelism: u64) -> Program {
        let parallelism = parallelism.to_string();
        let options = [
            ["--input", self.input, "--rate", self.rate, "--delivery", self.semantic],
            ["--checkpoint-interval", INTERVAL, "--data-dir", self.kept, "--output", self.output],
        ];
        let mut options = options.concat();
        options.extend(["--parallelism", &parallelism]);
        Program::start(SYSTEM_USAGE, &options)
    }

    /// Which checkpoint was published last, as the data directory says.
    fn latest(&self) -> Option<String> {
        fs::read_to_string(format!("{}/LATEST", self.kept)).ok()
    }

    /// Waits until `checkpoints` more are published and up to 50 ms have passed after that. Whether it
    /// has ended before.
    pub(crate) fn ends_before(
        &self,
        program: &Program,
        checkpoints: u64,
        random: &mut Random,
    ) -> bool {
        for _ in 0..checkpoints {
            let before = self.latest();
            while self.latest() == before {
                if program.ends_within(Duration::from_millis(1)) {
                    return true;
                }
            }
        }
        program.ends_within(Duration::from_micros(random.below(50_000)))
    }
}

/// Kills a job up to `kills` times, and lets it come to its end. Gives how often it was killed, what it
/// printed, and how often it went on from a checkpoint.
fn kill(job: &Durable<'_>, kills: u64, parallelisms: &[u64], random: &mut Random) -> Survivor {
    let (mut killed, mut restored) = (0, 0);
    loop {
        let at = random.below(parallelisms.len() as u64);
        let parallelism = parallelisms[usize::try_from(at).expect("it is small")];
        let program = job.start(parallelism);
        // None more: it is killed while it starts, or soon after that.
        let checkpoints = random.below(4);
        if killed < kills && !job.ends_before(&program, checkpoints, random) {
            let log = program.kill();
            let wrong = |line: &str| line.contains("panicked") || line.starts_with("error: ");
            assert!(!log.lines().any(wrong), "{log}");
            restored += u64::from(log.contains("restored=\"from checkpoint "));
            killed += 1;
            continue;
        }
        let end = program.end();
        end.has_code(0);
        restored += u64::from(end.stderr.contains("restored=\"from checkpoint "));
        return Survivor { killed, restored, stdout: end.stdout };
    }
}

struct Survivor {
    killed: u64,
    restored: u64,
    stdout: String,
}

#[track_caller]
fn is_exact_after_kills(name: &str, parallelisms: &[u64]) {
    let (text, totals, expected) = payments(LINES);
    let input = TempFile::new(&format!("killed-{name}"), &text);
    let (mut killed, mut restored) = (0, 0);
    for seed in 1.. {
        eprintln!("{name}: seed {seed}");
        let (kept, output) = (TempDir::new(&format!("{name}-kept")), TempDir::new(name));
        let (input, kept, output) = (input.path(), kept.path(), output.path());
        let job = Durable { semantic: "exactly-once", input, rate: RATE, kept, output };
        let end = kill(&job, kills() - killed, parallelisms, &mut Random(seed));
        assert_eq!(end.stdout, totals, "seed {seed}");
        // No line twice, and no other file, also none that is hidden.
        assert!(verdicts(output) == expected, "seed {seed}");
        assert!(is_without_hidden_files(output), "seed {seed}");
        // Once more, and it says the same.
        let again = job.start(2).end();
        assert_eq!(again.has_code(0).stdout, totals, "seed {seed}");
        assert!(again.stderr.contains("with which the job has finished"), "{}", again.stderr);
        assert!(verdicts(output) == expected, "seed {seed}");
        killed += end.killed;
        restored += end.restored;
        if killed == kills() {
            break;
        }
    }
    assert!(restored > 0, "none of {killed} kills was after a checkpoint");
}

fn is_without_hidden_files(directory: &str) -> bool {
    let files = fs::read_dir(directory).expect("it was made");
    let mut names = files.map(|file| file.expect("it is there").file_name());
    names.all(|name| !name.to_string_lossy().starts_with('.'))
}

#[test]
fn a_job_that_is_killed_again_and_again_is_exact() {
    is_exact_after_kills("killed", &[2]);
}

#[test]
fn a_job_that_is_killed_is_exact_with_other_instances_at_each_start() {
    is_exact_after_kills("rescaled", &[1, 2, 3]);
}

#[test]
fn at_least_once_loses_nothing_to_kills() {
    let (text, totals, expected) = payments(LINES);
    let input = TempFile::new("killed-at-least-once", &text);
    let (kept, output) = (TempDir::new("at-least-once-kept"), TempDir::new("at-least-once"));
    let (input, kept, output) = (input.path(), kept.path(), output.path());
    let job = Durable { semantic: "at-least-once-checkpoints", input, rate: RATE, kept, output };
    let end = kill(&job, kills(), &[2], &mut Random(1));
    let of = |line: &str, field: &str| {
        let totals: Value = serde_json::from_str(line).expect("it is JSON");
        totals[field].as_u64().expect("it is a number")
    };
    for field in ["transactions", "fraud", "cents"] {
        assert!(of(&end.stdout, field) >= of(&totals, field), "{}", end.stdout);
    }
    let mut lines = BTreeMap::new();
    for file in fs::read_dir(output).expect("it was made") {
        let path = file.expect("it is there").path();
        for line in fs::read_to_string(path).expect("it is a file").lines() {
            let verdict: Value = serde_json::from_str(line).expect("it is JSON");
            lines.insert(verdict["line"].as_u64().expect("it is a number"), verdict);
        }
    }
    assert!(lines == expected);
}
