//! Counts transactions, fraud and money (chapters 5 and 10), with totals that are right after failures.
//!
//! ```text
//! cargo run --release --bin system-usage -- --events 1000 --rate 1e6
//! cargo run --release --bin system-usage -- --input payments.csv --output verdicts
//! cargo run --release --bin system-usage -- --input payments.csv --output verdicts \
//!     --delivery exactly-once --data-dir kept
//! ```
//!
//! A line is an amount and a merchandise, such as `42.00,3`; from 800 on it is fraud. At the end there is
//! one line, which depends on the input alone:
//!
//! ```text
//! {"transactions":1000,"fraud":15,"cents":26037093}
//! ```
//!
//! With `--output` there is a line for each transaction in the files of that directory, with the number of
//! its line; a line that is no transaction is skipped, and has its number too:
//!
//! ```text
//! {"line":1,"cents":4200,"fraud":false}
//! ```
//!
//! Nothing is printed if the job is stopped: it has not come to its end, and goes on when it is started
//! again. So does one that was killed, by `kill -9` too: under exactly-once the line that it prints in the
//! end, and the lines in the files, are those of a job that nobody has disturbed. Started again after its
//! end, it prints the same line.

use anyhow::anyhow;
use clap::Parser;
use examples::jobs::usage::{Report, SYSTEM_USAGE, Totals, random_payment, system_usage};
use examples::{Common, instances, run_then, say};
use std::path::PathBuf;
use std::process::ExitCode;
use streamwork::JobStatus;

/// Counts transactions and fraud (chapters 5 and 10): transaction source -> system usage analyzer ->
/// usage writer
///
/// Lines are `amount,merchandise`, with two decimals at most. Others are skipped and counted as failed.
#[derive(Parser)]
#[command(name = "system-usage", version)]
struct Options {
    /// Instances of the analyzer and of the writer
    #[arg(long, value_name = "N", default_value = "2", value_parser = instances, allow_negative_numbers = true)]
    parallelism: usize,

    /// Write a verdict on each transaction into files in DIR, one JSON object a line
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,

    /// Refused: this version writes into no database
    #[arg(long, value_name = "FILE", value_parser = sqlite, hide = true)]
    sqlite: Option<PathBuf>,

    #[command(flatten)]
    common: Common,
}

fn sqlite(_: &str) -> Result<PathBuf, &'static str> {
    Err("this version has no SQL sink; use --output")
}

fn main() -> ExitCode {
    let Options { parallelism, output, sqlite: _, common } = Options::parse();
    let report = Report::default();
    let job = |common: &Common| {
        let components = if output.is_some() { &SYSTEM_USAGE[..] } else { &SYSTEM_USAGE[..3] };
        let setting = common.setting(components)?;
        let lines = common.input().lines(1, random_payment)?;
        Ok(system_usage(lines, parallelism, output.as_deref(), &report, &setting))
    };
    run_then(&common, job, |outcome| {
        if outcome.status() == JobStatus::Stopped {
            return Ok(());
        }
        // Where there are checkpoints the last one has the totals, also if it was taken long ago.
        let totals = match outcome.saved_state()? {
            Some(state) => Some(Totals::saved(&state).map_err(|error| anyhow!(error))?),
            None => report.get(),
        };
        Ok(totals.map_or(Ok(()), |totals| say(&format!("{totals}\n")))?)
    })
}
