//! W1 as a job: `generator` -> `counter` -> `check`.

pub(crate) mod by_hand;

use crate::sum::{Check, Checked, Total};
use crate::{Sum, mix};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use streamwork::prelude::*;

/// How many kinds of vehicles there are.
const KINDS: u64 = 1_000;

/// A sensor has seen a vehicle.
#[derive(Event, Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Vehicle {
    sensor: u64,
    pub(crate) kind: u32,
}

impl Vehicle {
    /// Vehicle `i` of the input.
    #[inline(always)]
    pub(crate) fn nth(i: u64) -> Self {
        let random = mix(i);
        let (high, low) = (random >> 32, random & u64::from(u32::MAX));
        Self { sensor: high, kind: ((low * KINDS) >> 32) as u32 }
    }
}

/// How many vehicles of a kind there have been, with the last one's sensor.
#[derive(Event, Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Count {
    sensor: u64,
    kind: u32,
    count: u64,
}

/// A hash of one multiplication, whose two halves are folded into one: enough for small integers.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Fold(u64);

impl Hasher for Fold {
    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0
    }

    #[inline(always)]
    fn write_u32(&mut self, word: u32) {
        let product = u128::from(self.0 ^ u64::from(word)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = (product as u64) ^ ((product >> 64) as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }
}

/// Counts by kind.
#[derive(Component, Clone, Default, Debug)]
pub(crate) struct Counter {
    counts: HashMap<u32, u64, BuildHasherDefault<Fold>>,
}

impl Counter {
    #[inline(always)]
    pub(crate) fn count(&mut self, vehicle: Vehicle) -> Count {
        let count = self.counts.entry(vehicle.kind).or_insert(0);
        *count += 1;
        Count { sensor: vehicle.sensor, kind: vehicle.kind, count: *count }
    }
}

impl Operator for Counter {
    type In = Vehicle;
    type Out = Count;

    #[inline]
    fn apply(&mut self, vehicle: Vehicle, out: &mut Emitter<Count>) -> Result<()> {
        out.emit(self.count(vehicle));
        Ok(())
    }
}

impl Checked for Count {
    #[inline(always)]
    fn check(&self) -> u64 {
        (2 * u64::from(self.kind) + 1).wrapping_mul(self.count).wrapping_add(self.sensor)
    }
}

fn job(parallelism: usize, events: u64, total: &Total) -> Job {
    let job = Job::new("w1");
    job.source(Generator::indexed(Vehicle::nth).events(events))
        .parallelism(parallelism)
        .group(Fields::on(|vehicle: &Vehicle| &vehicle.kind))
        .apply(Counter::default())
        .parallelism(parallelism)
        .group(Forward)
        .sink(Check::adding_to(total))
        .parallelism(parallelism);
    job
}

/// Runs the job on `parallelism` threads.
pub(crate) fn run(parallelism: usize, events: u64) -> Result<Sum, Error> {
    let total = Total::default();
    Engine::new().arbiters(parallelism).run(job(parallelism, events, &total))?;
    Ok(total.get())
}
