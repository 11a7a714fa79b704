//! Chapter 4: a component that emits different events for different readers.

use super::Setting;
use super::bridge::{Bridge, TollBooth};
use super::stream_fork::{BY_TURNS, BY_TYPE};
use streamwork::prelude::*;

/// The components of the job.
pub const STREAM_SPLIT: [&str; 3] = ["bridge", BY_TURNS, BY_TYPE];

/// Counts the vehicles of one bridge, and what it emits into its channel `clone`: `bridge` ->
/// `booth/shuffle grouping` and, over the channel, -> `booth clone/fields grouping`.
///
/// ```
/// use examples::{Console, Setting, jobs};
/// use streamwork::prelude::*;
///
/// let console = Console::memory();
/// let lines = FromIter::new(["car".to_owned()]);
/// let job = jobs::stream_split(lines, 1, &Setting::printing_to(console.clone()));
/// Engine::new().run(job).unwrap();
/// let text = console.text();
/// assert!(text.contains("\ntoll booth (booth/shuffle grouping) :: instance 0 -->\n  car: 1\n"));
/// let clone = "\ntoll booth (booth clone/fields grouping) :: instance 0 -->\n  car clone: 1\n";
/// assert!(text.contains(clone));
/// ```
pub fn stream_split<S>(lines: S, booths: usize, setting: &Setting) -> Job
where
    S: Source<Out = String> + Clone,
{
    let bridge = Bridge::new("bridge", lines, setting.console.clone()).cloning();
    let of_vehicles = TollBooth::new(BY_TURNS, setting.console.clone());
    let of_clones = TollBooth::new(BY_TYPE, setting.console.clone());

    let job = Job::new("stream-split").delivery(setting.delivery);
    let vehicles = setting.pace(job.source(setting.faulty(bridge)));
    vehicles.group(Shuffle::new()).apply(setting.faulty(of_vehicles)).parallelism(booths);
    vehicles
        .channel(Bridge::CLONE)
        .group(Fields::whole())
        .apply(setting.faulty(of_clones))
        .parallelism(booths);
    job
}
