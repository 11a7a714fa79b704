//! W7 and W8 as a job: `generator` -> `counter`, which keeps a count of each key -> `check`.

use super::{Count, Vehicle};
use crate::sum::{Check, Total};
use streamwork::prelude::*;

/// Counts by kind, in state that the engine keeps.
#[derive(Component, Clone, Debug)]
struct Counter;

impl KeyedOperator for Counter {
    type Key = u32;
    type In = Vehicle;
    type Out = Count;
    type State = u64;

    #[inline]
    fn apply(
        &mut self,
        kind: &u32,
        vehicle: Vehicle,
        count: &mut Keyed<u64>,
        out: &mut Emitter<Count>,
    ) -> Result<()> {
        **count += 1;
        out.emit(Count { sensor: vehicle.sensor, kind: *kind, count: **count });
        Ok(())
    }
}

/// The job for vehicles that `make` makes.
pub(crate) fn job(
    parallelism: usize,
    events: u64,
    total: &Total,
    make: impl Fn(u64) -> Vehicle + Clone + Send + 'static,
) -> Job {
    let job = Job::new("w7");
    job.source(Generator::indexed(make).events(events))
        .parallelism(parallelism)
        .key_by(|vehicle: &Vehicle| &vehicle.kind)
        .apply(Counter)
        .parallelism(parallelism)
        .group(Forward)
        .sink(Check::adding_to(total))
        .may_repeat()
        .parallelism(parallelism);
    job
}
