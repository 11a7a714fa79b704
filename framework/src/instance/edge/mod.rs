//! [`Edge`]: from what an instance emitted to the links that it goes out on.
//!
//! A [`Fan`] hands a batch to all edges of a stream. An edge either routes it to the instances of one
//! component ([`RoutedEdge`]), or leads it through closures to a fan of its own ([`StepsEdge`]).

mod fan;
mod routed;
mod side;
mod steps;

pub(crate) use fan::Fan;
pub(crate) use routed::RoutedEdge;
use routed::copy;
pub(crate) use side::SideEdge;
pub(crate) use steps::StepsEdge;

use super::failure::Failure;
use crate::id::InstanceId;
use crate::link::Control;
use crate::metrics::Counters;
use std::sync::Arc;
use std::task::Waker;

/// One subscription, seen from the sending instance.
pub(crate) trait Edge<T>: Send {
    /// Takes all of `batch` and leaves it empty.
    fn push(&mut self, batch: &mut Vec<T>);

    /// Takes what it needs of a batch that others need too.
    fn offer(&mut self, batch: &[T]);

    /// Whether it can do with a look at the events, and clones none that it does not send.
    fn looks(&self) -> bool;

    /// Puts a control element on every link, behind everything pushed so far.
    fn push_control(&mut self, control: Control);

    /// Sends partial frames where credit allows it.
    fn flush(&mut self);

    /// Sends what credit allows; if something stays behind, asks to be woken and says so.
    fn is_blocked(&mut self, waker: &Waker) -> bool;

    /// Whether whole frames wait for credit.
    fn waits(&self) -> bool;

    /// How many events it should be given at a time, for the pace of its slowest receiver.
    fn most(&mut self) -> usize;

    /// Drops what was not sent, and says how many events that were.
    fn discard(&mut self) -> u64;

    /// A failure of a closure that is to end the job.
    fn take_failure(&mut self) -> Option<Failure>;
}

/// Who sends over an edge, and where it is counted.
#[derive(Clone, Debug)]
pub(crate) struct Sending {
    pub(crate) job: Arc<str>,
    pub(crate) instance: InstanceId,
    pub(crate) counters: Arc<Counters>,
}
