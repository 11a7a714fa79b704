//! Chapter 4: one operator that reads the streams of two sources.

use super::Setting;
use super::bridge::{Bridge, TollBooth};
use streamwork::prelude::*;

/// The components of the job.
pub const STREAM_MERGE: [&str; 3] = ["bridge1", "bridge2", "booth"];

/// Counts, in one booth, the vehicles of one bridge and what another emits into its channel `clone`:
/// `bridge1` -> `booth` <- `bridge2` over the channel. The vehicles of the second bridge themselves
/// are read by nobody: they are dropped and counted as unread.
///
/// The bridges share the rate, if there is one.
///
/// ```
/// use examples::{Console, Setting, jobs};
/// use streamwork::prelude::*;
///
/// let console = Console::memory();
/// let lines = [FromIter::new(["car".to_owned()]), FromIter::new(["van".to_owned()])];
/// let job = jobs::stream_merge(lines, 1, &Setting::printing_to(console.clone()));
/// let outcome = Engine::new().run(job).unwrap();
/// assert!(console.text().ends_with("toll booth (booth) :: instance 0 -->\n  car: 1\n  van clone: 1\n"));
/// assert_eq!(outcome.component("bridge2").unwrap().unread, 1);
/// ```
pub fn stream_merge<S>([first, second]: [S; 2], booths: usize, setting: &Setting) -> Job
where
    S: Source<Out = String> + Clone,
{
    let bridge1 = Bridge::new("bridge1", first, setting.console.clone());
    let bridge2 = Bridge::new("bridge2", second, setting.console.clone()).cloning();
    let booth = TollBooth::new("booth", setting.console.clone());
    let each = Setting { rate: setting.rate.map(|rate| rate / 2.0), ..setting.clone() };

    let job = Job::new("stream-merge").delivery(setting.delivery);
    let vehicles = each.pace(job.source(setting.faulty(bridge1)));
    let clones = each.pace(job.source(setting.faulty(bridge2))).channel(Bridge::CLONE);
    Streams::of((&vehicles, clones))
        .group(Fields::whole())
        .apply(setting.faulty(booth))
        .parallelism(booths);
    job
}
