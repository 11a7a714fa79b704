//! [`Outcome`]: a job that has ended.

use super::keeping::Keeping;
use super::saved_state::SavedState;
use super::state::{JobState, Taken};
use super::status::JobStatus;
use super::tree::SupervisionTree;
use crate::error::Error;
use crate::id::CheckpointId;
use crate::job::Role;
use crate::metrics::{Counts, StepCounts};
use std::sync::Arc;
use std::time::Duration;

/// How a job ended, and what it counted.
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("picky");
/// job.source(FromIter::new(1..=4_u64)).sink(TryForEach::new(|n| {
///     if n == 3 { Err("no threes".into()) } else { Ok(()) }
/// }));
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!(outcome.status(), JobStatus::Finished);
/// assert_eq!((outcome.events_in(), outcome.events_out()), (4, 3));
/// assert_eq!((outcome.failed(), outcome.dropped(), outcome.restarts()), (1, 0, 0));
/// assert_eq!(outcome.component("try-for-each").unwrap().applied, 3);
/// assert_eq!(outcome.component("nobody"), None);
/// assert_eq!(outcome.tree().components.len(), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Outcome {
    tree: SupervisionTree,
    steps: Vec<(Arc<str>, StepCounts)>,
    events_in: u64,
    events_out: u64,
    dropped: u64,
    total: Counts,
    taken: Taken,
}

impl Outcome {
    pub(crate) fn of(state: &JobState) -> Self {
        let mut events_in = 0;
        let mut events_out = 0;
        let mut failed_reads = 0;
        let mut total = Counts::default();
        for component in &state.components {
            let counts: Counts = component.instances.iter().map(|i| i.counters.read()).sum();
            if component.role == Role::Source {
                // What could not be read came in, and failed.
                events_in += counts.emitted + counts.failed;
                failed_reads += counts.failed;
            }
            if component.last {
                events_out += counts.applied;
            }
            total += counts;
        }
        // What was emitted and never met user code again; so it holds also for instances that were
        // left behind and could not count any more.
        let failed = total.failed - failed_reads;
        let left_out = total.filtered + total.lost_in_steps + total.misrouted + total.unread;
        let gone = left_out + total.applied + failed;
        let taken = state.checkpoints();
        // What has a checkpoint behind it comes again at the next start, or has come again already.
        let dropped = match taken.keeping {
            Some(_) => state.left_out(),
            None => (total.emitted + total.copies + total.expanded).saturating_sub(gone),
        };
        let (tree, steps) = (state.tree(), state.steps());
        Self { tree, steps, events_in, events_out, dropped, total, taken }
    }

    /// How it ended.
    #[must_use]
    pub fn status(&self) -> JobStatus {
        self.tree.status
    }

    /// Events that the sources emitted, and reads of theirs that failed.
    #[must_use]
    pub fn events_in(&self) -> u64 {
        self.events_in
    }

    /// Events that the last components of the job (those without subscribers) processed.
    #[must_use]
    pub fn events_out(&self) -> u64 {
        self.events_out
    }

    /// Events lost to failures of user code, closures on edges and groupings included.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.total.failed + self.total.lost_in_steps + self.total.misrouted
    }

    /// Events that were under way when the job was stopped, killed or failed. In a job with checkpoints these
    /// come again, and what counts here is what was left out since it could not be committed.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// What the last checkpoint holds, also that of an earlier run of a job that has finished; `None` if the
    /// job takes none, or took none. It is read again each time that this is called, so a job that was
    /// started since must not be using the data directory. [`SavedState`] has an example.
    ///
    /// # Errors
    /// As [`Engine::start`](crate::Engine::start) of a job that goes on from it.
    pub fn saved_state(&self) -> Result<Option<SavedState>, Error> {
        let Some(keeping) = &self.taken.keeping else { return Ok(None) };
        let keeping = Keeping { fresh: false, wanted: None, ..keeping.clone() };
        let opened = keeping.open(&self.tree.job)?;
        Ok(opened.restored.map(SavedState::new))
    }

    /// Of the events that failed, those that were given to the dead letters.
    #[must_use]
    pub fn dead(&self) -> u64 {
        self.total.dead
    }

    /// The checkpoints that it took.
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::MemoryStore;
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("numbers").delivery(Delivery::exactly_once(Duration::from_secs(1)));
    /// job.source(FromIter::new(0..9_u64)).sink(Collect::new());
    /// let outcome = Engine::new().store(MemoryStore::new()).run(job).unwrap();
    /// let checkpoints = outcome.checkpoints();
    /// assert!(checkpoints.completed >= 1 && checkpoints.restored.is_none());
    /// ```
    #[must_use]
    pub fn checkpoints(&self) -> CheckpointCounts {
        CheckpointCounts::of(&self.taken)
    }

    /// Restarts of instances.
    #[must_use]
    pub fn restarts(&self) -> u64 {
        self.total.restarts
    }

    /// What the component named `name` counted.
    #[must_use]
    pub fn component(&self, name: &str) -> Option<Counts> {
        let component = self.tree.components.iter().find(|c| c.name.as_str() == name)?;
        Some(component.instances.iter().map(|i| i.counts).sum())
    }

    /// What the closure of this name counted, as in `map#2 after readings`. [`StepCounts`] has an
    /// example.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<StepCounts> {
        self.steps.iter().find(|(step, _)| &**step == name).map(|(_, counts)| *counts)
    }

    /// The supervision tree at the end.
    #[must_use]
    pub fn tree(&self) -> &SupervisionTree {
        &self.tree
    }
}

/// The checkpoints that a run of a job took, and what they cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckpointCounts {
    /// How many were published.
    pub completed: u64,
    /// How many were begun and not published.
    pub failed: u64,
    /// From the beginning of the first one that was published to its publication.
    pub first: Duration,
    /// The longest time from the beginning of one to its publication.
    pub worst: Duration,
    /// The longest time that an instance took to save its state: it processes nothing meanwhile.
    pub stall: Duration,
    /// The longest time that an instance held links for the barriers of others.
    pub aligned: Duration,
    /// The last one, of this run or the one that it went on from.
    pub last: Option<CheckpointId>,
    /// The one that it went on from.
    pub restored: Option<CheckpointId>,
}

impl CheckpointCounts {
    pub(super) fn of(taken: &Taken) -> Self {
        let Taken { costs, last, restored, .. } = taken;
        Self {
            completed: costs.completed,
            failed: costs.failed,
            first: costs.first,
            worst: costs.worst,
            stall: costs.stall,
            aligned: costs.aligned,
            last: *last,
            restored: *restored,
        }
    }
}
