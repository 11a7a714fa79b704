//! Chapter 4: one stream, and two operators that get every event of it.

use super::Setting;
use super::bridge::{Bridge, TollBooth};
use streamwork::prelude::*;

/// The components of the job.
pub const STREAM_FORK: [&str; 3] = ["bridge", BY_TURNS, BY_TYPE];

/// The booth whose instances take turns; its name is that of the book, as the others are.
pub(super) const BY_TURNS: &str = "booth/shuffle grouping";
/// The booth in which each type is counted by one instance.
pub(super) const BY_TYPE: &str = "booth clone/fields grouping";

/// Counts the vehicles of one bridge twice: `bridge` -> `booth/shuffle grouping` and
/// -> `booth clone/fields grouping`.
///
/// ```
/// use examples::{Console, Setting, jobs};
/// use streamwork::prelude::*;
///
/// let console = Console::memory();
/// let lines = FromIter::new(["car".to_owned()]);
/// let job = jobs::stream_fork(lines, 1, &Setting::printing_to(console.clone()));
/// Engine::new().run(job).unwrap();
/// let text = console.text();
/// assert!(text.starts_with("\nbridge (bridge) :: instance 0 --> car\n"));
/// assert!(text.contains("\ntoll booth (booth/shuffle grouping) :: instance 0 -->\n  car: 1\n"));
/// assert!(text.contains("\ntoll booth (booth clone/fields grouping) :: instance 0 -->\n  car: 1\n"));
/// ```
pub fn stream_fork<S>(lines: S, booths: usize, setting: &Setting) -> Job
where
    S: Source<Out = String> + Clone,
{
    let bridge = Bridge::new("bridge", lines, setting.console.clone());
    let by_turns = TollBooth::new(BY_TURNS, setting.console.clone());
    let by_type = TollBooth::new(BY_TYPE, setting.console.clone());

    let job = Job::new("stream-fork").delivery(setting.delivery);
    let vehicles = setting.pace(job.source(setting.faulty(bridge)));
    vehicles.group(Shuffle::new()).apply(setting.faulty(by_turns)).parallelism(booths);
    vehicles.group(Fields::whole()).apply(setting.faulty(by_type)).parallelism(booths);
    job
}
