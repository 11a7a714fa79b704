//! Chapter 3: the same with several sensors and several counters.

use super::{SensorReader, Setting, VehicleCounter};
use clap::ValueEnum;
use streamwork::prelude::*;

/// How many instances there are, and which counter gets a vehicle.
#[derive(Clone, Copy, Debug)]
pub struct Instances {
    /// Instances of the source.
    pub sources: usize,
    /// Instances of the counter.
    pub counters: usize,
    /// Which of them gets a vehicle.
    pub grouping: By,
}

/// Which counter gets a vehicle.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Each counter in turn: each sees a share of every type
    Shuffle,
    /// The one that its type belongs to: each type is counted in one place
    Fields,
}

/// Counts vehicles by type in several instances: `sensor-reader` -> `vehicle-counter`.
///
/// ```
/// use examples::{Console, Setting};
/// use examples::jobs::{By, Instances, parallel_vehicle_count};
/// use streamwork::prelude::*;
///
/// let console = Console::memory();
/// let lines = FromIter::new(["car".to_owned(), "car".to_owned()]);
/// let instances = Instances { sources: 2, counters: 3, grouping: By::Fields };
/// let job = parallel_vehicle_count(lines, instances, &Setting::printing_to(console.clone()));
/// Engine::new().run(job).unwrap();
/// assert!(console.text().contains("\nSensorReader :: instance 1 --> car\n"));
/// assert!(console.text().ends_with("\n  car: 2\n"));
/// ```
pub fn parallel_vehicle_count<S>(lines: S, instances: Instances, setting: &Setting) -> Job
where
    S: Source<Out = String> + Clone,
{
    let reader = setting.faulty(SensorReader::new(lines, setting.console.clone()).numbered());
    let counter = setting.faulty(VehicleCounter::new(setting.console.clone()).numbered());

    let job = Job::new("parallel-vehicle-count").delivery(setting.delivery);
    let readings = setting.pace(job.source(reader).parallelism(instances.sources));
    let counted = match instances.grouping {
        By::Shuffle => readings.group(Shuffle::new()).apply(counter),
        By::Fields => readings.group(Fields::whole()).apply(counter),
    };
    counted.parallelism(instances.counters);
    job
}
