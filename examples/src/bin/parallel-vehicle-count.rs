//! Counts vehicles by type in several instances (chapter 3): parallelism and grouping.
//!
//! ```text
//! cargo run --release --bin parallel-vehicle-count
//! cargo run --release --bin parallel-vehicle-count -- --grouping fields --counters 3
//! cargo run --release --bin parallel-vehicle-count -- --connect localhost:9990
//! ```
//!
//! The last one reads from two peers: the first sensor reader from `nc -lk 9990`, the second from
//! `nc -lk 9991`. Each block names the instance that printed it:
//!
//! ```text
//!
//! SensorReader :: instance 0 --> car
//! VehicleCounter :: instance 0 -->
//!   car: 1
//!
//! SensorReader :: instance 1 --> car
//! VehicleCounter :: instance 1 -->
//!   car: 1
//! ```
//!
//! With `--grouping shuffle` the counters take turns, so each has counts of its own for every type;
//! with `--grouping fields` all cars are counted by one of them.

use clap::Parser;
use examples::jobs::{
    By, Instances, SensorReader, VehicleCounter, parallel_vehicle_count, random_vehicle,
};
use examples::{Common, instances, run};
use std::process::ExitCode;

/// Counts vehicles by type in several instances (chapter 3): sensor-reader -> vehicle-counter
#[derive(Parser)]
#[command(name = "parallel-vehicle-count", version)]
struct Options {
    /// Instances of the source
    #[arg(long, value_name = "N", default_value = "2", value_parser = instances, allow_negative_numbers = true)]
    sources: usize,

    /// Instances of the counter
    #[arg(
        long,
        value_name = "N",
        default_value = "2",
        value_parser = instances,
        allow_negative_numbers = true,
        visible_alias = "parallelism"
    )]
    counters: usize,

    /// Which counter gets a vehicle
    #[arg(long, value_enum, default_value_t = By::Shuffle)]
    grouping: By,

    #[command(flatten)]
    common: Common,
}

fn main() -> ExitCode {
    let Options { sources, counters, grouping, common } = Options::parse();
    run(&common, |common| {
        let setting = common.setting(&[SensorReader::NAME, VehicleCounter::NAME])?;
        let lines = common.input().lines(sources, random_vehicle)?;
        Ok(parallel_vehicle_count(lines, Instances { sources, counters, grouping }, &setting))
    })
}
