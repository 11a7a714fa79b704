//! One source with two streams (chapter 4): with each vehicle the bridge also emits a clone, into a
//! channel of its own.
//!
//! ```text
//! cargo run --release --bin stream-split
//! cargo run --release --bin stream-split -- --events 2 --log off
//! cargo run --release --bin stream-split -- --connect localhost:9990
//! ```
//!
//! The last one reads what you type into `nc -lk 9990`, one type of vehicle a line. One booth counts
//! the vehicles, the other what comes over the channel `clone`:
//!
//! ```text
//!
//! bridge (bridge) :: instance 0 --> car
//! toll booth (booth/shuffle grouping) :: instance 0 -->
//!   car: 1
//! toll booth (booth clone/fields grouping) :: instance 0 -->
//!   car clone: 1
//! ```
//!
//! Which booth prints first is not said.

use clap::Parser;
use examples::jobs::{STREAM_SPLIT, random_vehicle, stream_split};
use examples::{Common, instances, run};
use std::process::ExitCode;

/// Counts vehicles and their clones (chapter 4): bridge -> two booths, one over a channel
#[derive(Parser)]
#[command(name = "stream-split", version)]
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
        let setting = common.setting(&STREAM_SPLIT)?;
        let lines = common.input().lines(1, random_vehicle)?;
        Ok(stream_split(lines, parallelism, &setting))
    })
}
