//! A sink of one's own: it gathers orders and writes them in parcels.
//!
//! ```text
//! cargo run --release --bin own-sink -- --log off
//! ```
//!
//! A parcel has four orders. What does not fill one is written when there is nothing to read for now,
//! so that no order waits for the next:
//!
//! ```text
//! parcel of 4: 1 2 3 4
//! parcel of 4: 5 6 7 8
//! parcel of 2: 9 10
//! written 10
//! ```
//!
//! Where the parcels are cut is not said: from a slower source each order would be a parcel.

use clap::Parser;
use examples::LogArgs;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use streamwork::prelude::*;

/// Where parcels go. Its clones are one.
#[derive(Clone, Default)]
struct Warehouse {
    parcels: Arc<Mutex<Vec<Vec<u64>>>>,
}

/// Gathers orders and sends them on in parcels.
#[derive(Component, Clone)]
struct Parcels {
    gathered: Vec<u64>,
    warehouse: Warehouse,
}

impl Parcels {
    const FULL: usize = 4;

    fn send(&mut self) {
        if !self.gathered.is_empty() {
            let parcel = std::mem::take(&mut self.gathered);
            let parcels = self.warehouse.parcels.lock();
            parcels.unwrap_or_else(PoisonError::into_inner).push(parcel);
        }
    }
}

impl Sink for Parcels {
    type In = u64;

    fn write(&mut self, order: u64) -> Result<()> {
        self.gathered.push(order);
        if self.gathered.len() == Self::FULL {
            self.send();
        }
        Ok(())
    }

    /// There is nothing to read for now, or nothing at all any more.
    fn flush(&mut self) -> Result<()> {
        self.send();
        Ok(())
    }
}

/// Writes orders in parcels by a sink that gathers and flushes
#[derive(Parser)]
#[command(name = "own-sink", version)]
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
    let warehouse = Warehouse::default();
    let job = Job::new("own-sink");
    job.source(FromIter::new(1..=10_u64))
        .sink(Parcels { gathered: Vec::new(), warehouse: warehouse.clone() });
    let outcome = Engine::new().run(job)?;

    let mut lines = String::new();
    for parcel in warehouse.parcels.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        let orders: Vec<String> = parcel.iter().map(ToString::to_string).collect();
        lines += &format!("parcel of {}: {}\n", parcel.len(), orders.join(" "));
    }
    Ok(examples::say(&format!("{lines}written {}\n", outcome.events_out()))?)
}
