//! An instance as a plain state machine: frames and control go in, frames and reports come out.
//!
//! A machine knows no actors, no threads and no clock of its own. Two shells drive it, an actor and
//! the seeded scheduler of the tests. A shell hands frames over with [`Machine::accept`] and calls
//! [`Machine::poll`] when the waker that it passed was woken, or something was accepted; a poll does
//! a bounded amount of work and never waits.

mod channels;
mod control;
mod edge;
mod failure;
mod kept;
mod logic;
mod losses;
mod meter;
mod offences;
mod operator;
mod output;
mod pacer;
mod saving;
mod source;
#[cfg(test)]
mod tests;

pub(crate) use channels::{ChannelFan, TypedChannel};
pub(crate) use control::{Command, ControlCell, Trigger};
pub(crate) use edge::{Edge, Fan, RoutedEdge, Sending, SideEdge, StepsEdge};
pub use failure::{Cause, Failure, UserError};
pub(crate) use kept::Kept;
#[cfg(feature = "test-util")]
pub(crate) use logic::Finish;
pub(crate) use logic::{
    KeyedLogic, KeyedTwoInputLogic, LeftOf, Logic, OperatorLogic, RightOf, Side, SinkLogic,
    TwoInputLogic,
};
pub(crate) use losses::Losses;
pub(crate) use offences::Offences;
pub(crate) use operator::OperatorMachine;
pub(crate) use output::Outlets;
pub(crate) use saving::{Restorer, Saver, Saving, Seating, Snapshots, read_fields, read_keys};
pub(crate) use source::{FusedSource, SourceMachine, splits_of};

use crate::component::{BoxError, Context, Fatal, OnError};
use crate::guard::drop_quietly;
use crate::id::Attempt;
use crate::link::{Frame, Pace};
use crate::metrics::Counters;
use std::fmt;
use std::sync::Arc;
use std::task;

/// One instance, as its shell sees it.
pub(crate) trait Machine: Send {
    /// Takes a frame from the mailbox. Cheap: the work is done by [`poll`](Self::poll).
    fn accept(&mut self, frame: Frame);

    /// Goes on for about a millisecond at most, then wakes itself or arranges to be woken.
    fn poll(&mut self, cx: &mut task::Context<'_>);

    /// The end: nothing will be accepted any more. Drops and counts what is left.
    fn close(&mut self);
}

/// What an instance tells its supervisor.
#[derive(Debug)]
pub(crate) enum Report {
    /// Set up for the first time.
    Ready,
    /// Broken; waits for [`Command::Restart`], and will go on from there.
    Broken(Failure, Comeback),
    /// Built anew and set up.
    Restarted,
    /// Broken for good.
    Lost(Failure),
    /// A source has come to the end of its data, and keeps its links open until that is committed.
    Exhausted,
    /// Has processed everything, or dropped it after a stop.
    Ended,
}

/// With what an instance that is built anew begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comeback {
    /// With nothing.
    Fresh,
    /// At the position that its source had reached.
    AtPosition,
    /// At the last checkpoint, with everything that it is connected with.
    AtCheckpoint,
    /// As that, since it has failed at an event that it is known to fail at, and that is left out in the end.
    Known,
    /// As that, and now the event is left out.
    LeavesOut,
}

impl fmt::Display for Comeback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fresh => "fresh",
            Self::AtPosition => "at its position",
            Self::AtCheckpoint | Self::Known | Self::LeavesOut => "at the last checkpoint",
        })
    }
}

/// Where reports go.
pub(crate) trait Reports: Send + Sync {
    fn report(&self, report: Report);
}

/// The place of an instance in its job: all that a machine is given.
pub(crate) struct Seat {
    pub(crate) ctx: Context,
    pub(crate) attempt: Attempt,
    /// Links that end here.
    pub(crate) links: usize,
    pub(crate) pace: Arc<Pace>,
    pub(crate) control: Arc<ControlCell>,
    pub(crate) counters: Arc<Counters>,
    /// As the user said it; `None` as the delivery has it.
    pub(crate) on_error: Option<OnError>,
    /// What the component has failed at.
    pub(crate) offences: Arc<Offences>,
    /// The names of the streams that end here, and for each link which of them it belongs to.
    pub(crate) streams: Arc<[Arc<str>]>,
    pub(crate) stream_of: Arc<[usize]>,
    pub(crate) reports: Arc<dyn Reports>,
    /// In a job with checkpoints.
    pub(crate) saving: Option<Saving>,
}

impl Seat {
    /// Whether a read is left out for this error, and the job goes on.
    fn skips_read(&self, error: &BoxError) -> bool {
        self.on_error != Some(OnError::Fail) && !Fatal::is(&**error)
    }

    /// Whether an event is left out for this error, and the job goes on. With checkpoints it is first tried
    /// again.
    fn is_skipped(&self, error: &BoxError) -> bool {
        self.saving.is_none() && self.skips_read(error)
    }

    /// Whether what a failed call has changed in the state of a key is undone, event by event. With checkpoints
    /// the state of all goes back.
    fn undoes_failed(&self) -> bool {
        self.saving.is_none() && matches!(self.on_error, Some(OnError::Skip | OnError::DeadLetter))
    }

    /// A failure of the component; at its n-th event, if it was at one.
    fn failure(&self, cause: Cause, event: Option<u64>) -> Failure {
        Failure { instance: self.ctx.instance.clone(), event, step: None, cause }
    }

    /// Logs that something was lost, the `failed`-th of its kind, unless there are many. Only then is put
    /// into words what it was lost to.
    #[cold]
    fn note(&self, what: &str, failed: u64, failure: impl FnOnce() -> Failure) {
        if !failure_is_logged(failed) {
            drop_quietly(failure);
            return;
        }
        let failure = failure();
        self.counters.note_failure(&failure);
        tracing::warn!(
            job = &*self.ctx.job,
            component = %self.ctx.instance.component,
            instance = self.ctx.instance.index,
            failed,
            "{what}: {failure}",
        );
        drop_quietly(failure);
    }

    fn seating(&self) -> Seating {
        let component = self.ctx.instance.component.clone();
        let (index, parallelism) = (self.ctx.instance.index, self.ctx.parallelism);
        Seating { component, index, parallelism }
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat").field("instance", &self.ctx.instance).finish_non_exhaustive()
    }
}

/// Makes a component for an instance, at its start and at each restart.
pub(crate) type Maker<C> = Box<dyn FnMut(&Context) -> C + Send>;

/// Which of a row of failures are logged: the first ten, then at each power of two.
pub(crate) fn failure_is_logged(count: u64) -> bool {
    count <= 10 || count.is_power_of_two()
}
