//! The jobs of the example programs, as functions that build them.

mod bridge;
mod counts;
pub mod fraud;
mod parallel_vehicle_count;
mod stream_fork;
mod stream_merge;
mod stream_split;
pub mod usage;
mod vehicle_count;
mod word_count;

pub use bridge::{Bridge, TollBooth};
pub use parallel_vehicle_count::{By, Instances, parallel_vehicle_count};
pub use stream_fork::{STREAM_FORK, stream_fork};
pub use stream_merge::{STREAM_MERGE, stream_merge};
pub use stream_split::{STREAM_SPLIT, stream_split};
pub use vehicle_count::{SensorReader, VehicleCounter, random_vehicle, vehicle_count};
pub use word_count::{WORD_COUNT, WordCounter, word_count, word_lines};

use crate::console::Console;
use streamwork::SourceStage;
use streamwork::prelude::*;
use streamwork::testing::{Fault, Faulty};

/// What a job is given from outside, beside its input.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Where it prints.
    pub console: Console,
    /// What it promises about each event.
    pub delivery: Delivery,
    /// The events per second that its sources are held to, if any.
    pub rate: Option<f64>,
    /// A failure on cue, if there is to be one.
    pub fault: Option<Fault>,
}

impl Setting {
    /// Prints to `console`, as fast as it goes, without failures.
    #[must_use]
    pub fn printing_to(console: Console) -> Self {
        Self { console, delivery: Delivery::default(), rate: None, fault: None }
    }

    /// Holds a source to the rate.
    fn pace<S: Source>(&self, source: SourceStage<S>) -> SourceStage<S> {
        match self.rate {
            Some(rate) => source.rate(rate),
            None => source,
        }
    }

    /// As [`faulty`](Self::faulty), for a component that the job calls `name`.
    fn faulty_as<C: Component>(&self, name: &str, component: C) -> Faulty<C> {
        let meant = self.fault.clone().filter(|fault| fault.component() == name);
        let own_name = meant.map(|fault| fault.of_component(component.name()));
        Faulty::new(component, own_name)
    }

    /// Lets a component fail, if it is the one that is to.
    fn faulty<C: Component>(&self, component: C) -> Faulty<C> {
        Faulty::new(component, self.fault.clone())
    }
}
