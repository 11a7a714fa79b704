//! Two sources with one reader (chapter 4): a booth counts the vehicles of one bridge and the clones
//! that another bridge emits into its channel.
//!
//! ```text
//! cargo run --release --bin stream-merge
//! cargo run --release --bin stream-merge -- --events 2 --log off
//! cargo run --release --bin stream-merge -- --connect localhost:9990
//! ```
//!
//! The last one reads from two peers: bridge1 from `nc -lk 9990`, bridge2 from `nc -lk 9991`.
//!
//! ```text
//!
//! bridge (bridge1) :: instance 0 --> car
//! toll booth (booth) :: instance 0 -->
//!   car: 1
//!
//! bridge (bridge2) :: instance 0 --> truck
//! toll booth (booth) :: instance 0 -->
//!   car: 1
//!   truck clone: 1
//! ```
//!
//! The vehicles of bridge2 themselves are read by nobody, and are counted as unread.

use clap::Parser;
use examples::jobs::{STREAM_MERGE, random_vehicle, stream_merge};
use examples::{Common, instances, run};
use std::process::ExitCode;

/// Counts the vehicles of two bridges in one booth (chapter 4): bridge1, bridge2 -> booth
///
/// bridge1 reads from PORT, bridge2 from PORT + 1. A file is read by both, each for itself; standard
/// input, or a pipe, could be read by one only and is refused. Of the simulated vehicles, and of the rate, each
/// bridge has half.
#[derive(Parser)]
#[command(name = "stream-merge", version)]
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
        let setting = common.setting(&STREAM_MERGE)?;
        let lines = common.input().two(random_vehicle)?;
        Ok(stream_merge(lines, parallelism, &setting))
    })
}
