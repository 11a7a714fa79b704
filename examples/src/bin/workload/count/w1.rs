//! W1 as a job: `generator` -> `counter` -> `check`.

use super::by_hand::Counter;
use super::{Count, Vehicle};
use crate::sum::{Check, Total};
use streamwork::prelude::*;

impl Operator for Counter {
    type In = Vehicle;
    type Out = Count;

    #[inline]
    fn apply(&mut self, vehicle: Vehicle, out: &mut Emitter<Count>) -> Result<()> {
        out.emit(self.count(vehicle));
        Ok(())
    }
}

pub(crate) fn job(parallelism: usize, events: u64, total: &Total) -> Job {
    let job = Job::new("w1");
    job.source(Generator::indexed(Vehicle::of_few).events(events))
        .parallelism(parallelism)
        .group(Fields::on(|vehicle: &Vehicle| &vehicle.kind))
        .apply(Counter::default())
        .parallelism(parallelism)
        .group(Forward)
        .sink(Check::adding_to(total))
        .may_repeat()
        .parallelism(parallelism);
    job
}
