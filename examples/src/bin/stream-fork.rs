//! One stream with two readers (chapter 4): each booth gets every vehicle of the bridge.
//!
//! ```text
//! cargo run --release --bin stream-fork
//! cargo run --release --bin stream-fork -- --events 2 --log off
//! cargo run --release --bin stream-fork -- --connect localhost:9990
//! ```
//!
//! The last one reads what you type into `nc -lk 9990`, one type of vehicle a line. For each vehicle
//! the bridge prints a block, and each booth prints its counts; which booth is first is not said.
//!
//! ```text
//!
//! bridge (bridge) :: instance 0 --> car
//! toll booth (booth/shuffle grouping) :: instance 0 -->
//!   car: 1
//! toll booth (booth clone/fields grouping) :: instance 1 -->
//!   car: 1
//! ```
//!
//! The two instances of the first booth take turns. Those of the second share the types out: all cars
//! are counted by one of them. A failure on cue names its component as it is printed:
//! `--chaos 'error:booth/shuffle grouping:3'`.

use clap::Parser;
use examples::jobs::{STREAM_FORK, random_vehicle, stream_fork};
use examples::{Common, instances, run};
use std::process::ExitCode;

/// Counts the vehicles of one bridge twice (chapter 4): bridge -> two booths
#[derive(Parser)]
#[command(name = "stream-fork", version)]
struct Options {
    /// Instances of each booth
    #[arg(long, value_name = "N", default_value = "2", value_parser = instances, allow_negative_numbers = true)]
    parallelism: usize,

    #[command(flatten)]
    common: Common,
}

fn main() -> ExitCode {
    let Options { parallelism, common } = Options::parse();
    run(&common, |common| {
        let setting = common.setting(&STREAM_FORK)?;
        let lines = common.input().lines(1, random_vehicle)?;
        Ok(stream_fork(lines, parallelism, &setting))
    })
}
