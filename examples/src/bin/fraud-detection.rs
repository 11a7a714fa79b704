//! Finds fraud among transactions (chapter 4): three analyzers look at each, an aggregator decides.
//!
//! ```text
//! cargo run --release --bin fraud-detection
//! cargo run --release --bin fraud-detection -- --events 1000 --rate 1e6 --log off | grep fraud
//! cargo run --release --bin fraud-detection -- --connect localhost:9990
//! ```
//!
//! The last one reads what you type into `nc -lk 9990`: an amount and a merchandise of account 1, such
//! as `42.00,3`, or all that is known, such as `7,1767225600000,42.00,47.38,8.54` (account, time in
//! milliseconds since 1970, amount, latitude, longitude). For each transaction there is
//!
//! ```text
//!
//! transaction (transaction source) :: instance 0 --> [transaction:019ad5f0-61b1-7c62-9c5c-3f1ac9a3e6b4; amount:42.000000; transactionTime: 2026-11-30 13:35:02+0000; merchandise: 3, user: 1]
//! Transaction score change: 019ad5f0-61b1-7c62-9c5c-3f1ac9a3e6b4 ==> 0.0
//! Transaction score change: 019ad5f0-61b1-7c62-9c5c-3f1ac9a3e6b4 ==> 0.0
//! Transaction score change: 019ad5f0-61b1-7c62-9c5c-3f1ac9a3e6b4 ==> 0.0
//! Transaction decision: 019ad5f0-61b1-7c62-9c5c-3f1ac9a3e6b4 ==> approved [average ticket: 0.0; proximity: 0.0; frequency: 0.0; total: 0.0]
//! ```
//!
//! Scores go from 0.0 to 1.0; a sum of 1.0 or more is fraud. To see a decision without one of them:
//! `--chaos 'error:proximity analyzer:3'`.

use clap::Parser;
use examples::jobs::fraud::{FRAUD_DETECTION, ScoreStore, Simulation, fraud_detection};
use examples::{Common, instances, run};
use std::process::ExitCode;
use streamwork::Generator;

/// How many transactions the score store knows.
const STORED: usize = 10_000;

/// Finds fraud among transactions (chapter 4): transaction source -> three analyzers -> score
/// aggregator
///
/// Lines are `amount,merchandise` (of account 1, now) or `account,epoch_ms,amount,lat,lon`. Others are
/// skipped and counted as failed. The simulated input has accounts that move plausibly, and some fraud.
#[derive(Parser)]
#[command(name = "fraud-detection", version)]
struct Options {
    /// Instances of each analyzer and of the aggregator
    #[arg(long, value_name = "N", default_value = "2", value_parser = instances, allow_negative_numbers = true)]
    parallelism: usize,

    /// Instances of the source; with several, the transactions of an account come in any order
    #[arg(long, value_name = "N", default_value = "1", value_parser = instances, allow_negative_numbers = true)]
    sources: usize,

    /// Refused: this version has no windows, and the analyzers keep a history of each account instead
    #[arg(long, value_name = "WINDOW", value_parser = window, hide = true)]
    window: Option<String>,

    #[command(flatten)]
    common: Common,
}

fn window(_: &str) -> Result<String, &'static str> {
    Err("this version has no windows; leave it out, and the analyzers keep each account's history")
}

fn main() -> ExitCode {
    let Options { parallelism, sources, window: _, common } = Options::parse();
    run(&common, |common| {
        let setting = common.setting(&FRAUD_DETECTION)?;
        let store = ScoreStore::keeping(STORED);
        let input = common.input();
        if let Some(lines) = input.given(sources)? {
            return Ok(fraud_detection(lines, sources, parallelism, &store, &setting));
        }
        let simulation = Simulation::seeded(input.seed());
        let made = Generator::indexed(move |n| simulation.transaction(n));
        let made = made.events(input.events().unwrap_or(u64::MAX));
        Ok(fraud_detection(made, sources, parallelism, &store, &setting))
    })
}
