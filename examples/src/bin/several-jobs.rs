//! Several jobs in one program: each has its own end, and one that fails leaves the others alone.
//!
//! ```text
//! cargo run --release --bin several-jobs -- --log off
//! ```
//!
//! The second job is told to fail with the first reading that is no number:
//!
//! ```text
//! north: finished, 3 readings
//! south: failed, no number: "1O"
//! east: finished, 3 readings
//! ```

use clap::Parser;
use examples::LogArgs;
use std::fmt::Write as _;
use std::process::ExitCode;
use streamwork::prelude::*;

/// A reading that is no number.
#[derive(Debug, thiserror::Error)]
#[error("no number: {text:?}")]
struct NoNumber {
    text: &'static str,
    source: std::num::ParseIntError,
}

/// Reads numbers, strictly.
fn readings(name: &str, texts: [&'static str; 3]) -> Job {
    let job = Job::new(name);
    job.source(FromIter::new(texts))
        .try_map(|text| Ok(text.parse::<u64>().map_err(|source| NoNumber { text, source })?))
        .on_error(OnError::Fail)
        .sink(Collect::new());
    job
}

/// Runs three jobs at once, of which one fails
#[derive(Parser)]
#[command(name = "several-jobs", version)]
struct Args {
    #[command(flatten)]
    log: LogArgs,
}

fn main() -> ExitCode {
    examples::exit(run())
}

fn run() -> anyhow::Result<()> {
    let Args { log } = Args::parse();
    log.start();
    let engine = Engine::new();
    let mut running = Vec::new();
    for (name, texts) in [
        ("north", ["1", "2", "3"]),
        // The second has a letter for its last digit.
        ("south", ["4", "1O", "6"]),
        ("east", ["7", "8", "9"]),
    ] {
        running.push((name, engine.start(readings(name, texts))?));
    }

    let mut lines = String::new();
    for (name, handle) in running {
        match handle.wait() {
            Ok(outcome) => writeln!(lines, "{name}: finished, {} readings", outcome.events_out())?,
            Err(error) => {
                let cause = error.failure().and_then(|failure| failure.cause.user_error());
                match cause {
                    Some(cause) => writeln!(lines, "{name}: failed, {cause}")?,
                    None => return Err(error.into()),
                }
            }
        }
    }
    Ok(examples::say(&lines)?)
}
