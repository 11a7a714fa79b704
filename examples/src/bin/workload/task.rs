//! [`Task`]: how a workload is run.

use crate::sum::{Sum, Total};
use examples::TempDir;
use std::io::{self, Write};
use std::time::Duration;
use streamwork::prelude::*;

/// What is to be run of a workload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    /// Instances of each component, and threads.
    pub(crate) parallelism: usize,
    pub(crate) events: u64,
    /// The time between two checkpoints, if there are to be any.
    pub(crate) checkpoint: Option<Duration>,
}

impl Task {
    /// Runs the job that is made by `job`, for a parallelism and a number of events.
    pub(crate) fn run(self, job: impl FnOnce(usize, u64, &Total) -> Job) -> Result<Sum, Error> {
        let total = Total::default();
        let engine = Engine::new().arbiters(self.parallelism);
        let job = job(self.parallelism, self.events, &total);
        match self.checkpoint {
            None => drop(engine.run(job)?),
            Some(interval) => {
                let kept = TempDir::new("workload");
                let job = job.delivery(Delivery::exactly_once(interval));
                report(&engine.data_dir(kept.path()).run(job)?);
            }
        }
        Ok(total.get())
    }
}

/// Says what the checkpoints cost.
fn report(outcome: &Outcome) {
    let costs = outcome.checkpoints();
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    // Nobody can be told that standard error is closed.
    drop(writeln!(
        io::stderr(),
        "checkpoints={} first_ms={:.1} worst_ms={:.1} stall_ms={:.1} align_ms={:.1}",
        costs.completed,
        millis(costs.first),
        millis(costs.worst),
        millis(costs.stall),
        millis(costs.aligned),
    ));
}
