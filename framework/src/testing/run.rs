//! Whole jobs in one call.

use super::Scheduler;
use super::stall::count;
use crate::error::Error;
use crate::guard::catch;
use crate::job::{IntoStream, Job};
use crate::runtime::{Outcome, SupervisionTree};
use crate::sink::Collect;

/// The interleaving of [`run`] and [`collect`].
const SEED: u64 = 0;

/// Runs a whole job on the calling thread, on a clock that is moved on by hand and in an order that is
/// always the same: what [`Scheduler`] does, with a fixed seed.
///
/// ```
/// use std::time::Duration;
/// use streamwork::prelude::*;
/// use streamwork::testing;
///
/// let got = Collect::new();
/// let job = Job::new("slow");
/// // an hour of simulated time, and done at once
/// job.source(FromIter::new(0..3_600_u64)).rate(1.0).sink(got.clone());
/// let outcome = testing::run(job)?;
/// assert_eq!((outcome.status(), got.len()), (JobStatus::Finished, 3_600));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`Engine::run`](crate::Engine::run).
///
/// # Panics
/// As [`Scheduler::run`]: if the job stalls, or does not end because a source is endless.
pub fn run(job: Job) -> Result<Outcome, Error> {
    Scheduler::seeded(SEED).run(job)
}

/// What a stream emits: builds a job by the closure, [runs](run) it and collects the events of the
/// stream that the closure returns.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing;
///
/// let squares = testing::collect(|job| job.source(FromIter::new(1..=3_u64)).map(|n| n * n));
/// assert_eq!(squares, [1, 4, 9]);
/// ```
///
/// # Panics
/// If the job is refused, fails, stalls or does not end, and if an event was lost to a failure of user
/// code: the message has the first one. A test that expects one uses [`try_collect`].
#[track_caller]
pub fn collect<S: IntoStream>(build: impl FnOnce(&Job) -> S) -> Vec<S::Event> {
    match try_collect(build) {
        Ok((events, outcome)) if outcome.failed() == 0 => events,
        Ok((_, outcome)) => {
            let (events, tree) = (count(outcome.failed(), "event"), outcome.tree());
            let first = first_failure(tree).map(|failure| format!(", first {failure}"));
            let first = first.unwrap_or_default();
            panic!(
                "user code failed at {events}{first}; where that is meant, use try_collect\n{tree}"
            );
        }
        Err(error) => panic!("{error}"),
    }
}

/// Of the first instance that has one.
fn first_failure(tree: &SupervisionTree) -> Option<&str> {
    let mut instances = tree.components.iter().flat_map(|component| &component.instances);
    instances.find_map(|instance| instance.first_failure.as_deref())
}

/// As [`collect`], for jobs in which something goes wrong: gives the events with how the job ended.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing;
///
/// let (numbers, outcome) = testing::try_collect(|job| {
///     job.source(FromIter::new(["1", "x", "3"])).try_map(|text| Ok(text.parse::<u64>()?))
/// })?;
/// assert_eq!((numbers, outcome.failed()), (vec![1, 3], 1));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// As [`Engine::run`](crate::Engine::run).
///
/// # Panics
/// As [`Scheduler::run`]: if the job stalls, or does not end because a source is endless.
pub fn try_collect<S: IntoStream>(
    build: impl FnOnce(&Job) -> S,
) -> Result<(Vec<S::Event>, Outcome), Error> {
    let got = Collect::new();
    let job = Job::new("test");
    build(&job).into_stream().sink(got.clone()).named("collected");
    let outcome = run(job)?;
    Ok((got.take(), outcome))
}

/// Runs a test once for each seed, and names the seed that it fails with.
///
/// The closure builds its job, runs it with the scheduler that it gets, and asserts: what must hold in
/// every interleaving is tried in some of them. To look into a seed that failed, run it alone: `[7]`
/// instead of `0..20`.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing;
///
/// testing::every_seed(0..20, |scheduler| {
///     let got = Collect::new();
///     let job = Job::new("spread");
///     job.source(FromIter::new(0..100_u64)).parallelism(2).sink(got.clone()).parallelism(3);
///     scheduler.run(job).unwrap();
///     let mut numbers = got.take();
///     numbers.sort();
///     assert!(numbers.into_iter().eq(0..100));
/// });
/// ```
///
/// # Panics
/// With the first seed that the closure panics with, and its message. If there are no seeds: such a test
/// would check nothing.
#[track_caller]
pub fn every_seed(seeds: impl IntoIterator<Item = u64>, mut test: impl FnMut(Scheduler)) {
    let mut passed = 0_u64;
    for seed in seeds {
        if let Err(failure) = catch(|| test(Scheduler::seeded(seed))) {
            let place = failure.place.map(|place| format!(" at {place}")).unwrap_or_default();
            let message = failure.message;
            panic!("failed with seed {seed}{place}, after {passed} that passed:\n{message}");
        }
        passed += 1;
    }
    assert!(passed > 0, "no seeds, so nothing was tested");
}
