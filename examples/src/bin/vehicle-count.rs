//! Counts vehicles by type: the first job of the book (chapter 2), a source and an operator.
//!
//! ```text
//! cargo run --release --bin vehicle-count
//! cargo run --release --bin vehicle-count -- --events 3 --log off
//! cargo run --release --bin vehicle-count -- --connect localhost:9990
//! ```
//!
//! The last one reads what you type into `nc -lk 9990`, one type of vehicle a line. The sensor reader
//! prints each vehicle as it reads it, and the counter prints all its counts after each one:
//!
//! ```text
//!
//! SensorReader --> car
//! VehicleCounter -->
//!   car: 1
//!
//! SensorReader --> truck
//! VehicleCounter -->
//!   car: 1
//!   truck: 1
//! ```
//!
//! To see a counter that breaks and is built anew, without the counts that it had:
//!
//! ```text
//! cargo run --release --bin vehicle-count -- --chaos panic:vehicle-counter:5
//! ```

use clap::Parser;
use examples::jobs::{SensorReader, VehicleCounter, random_vehicle, vehicle_count};
use examples::{Common, instances, run};
use std::process::ExitCode;

/// Counts vehicles by type (chapter 2): sensor-reader -> vehicle-counter
#[derive(Parser)]
#[command(name = "vehicle-count", version)]
struct Options {
    /// Instances of the counter; each counts some of the types
    #[arg(long, value_name = "N", default_value = "1", value_parser = instances, allow_negative_numbers = true)]
    parallelism: usize,

    #[command(flatten)]
    common: Common,
}

fn main() -> ExitCode {
    let Options { parallelism, common } = Options::parse();
    run(&common, |common| {
        let setting = common.setting(&[SensorReader::NAME, VehicleCounter::NAME])?;
        let lines = common.input().lines(1, random_vehicle)?;
        Ok(vehicle_count(lines, parallelism, &setting))
    })
}
