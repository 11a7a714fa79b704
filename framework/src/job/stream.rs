//! [`Stream`]: the events of a component, or what closures made of them, as an edge of a job that is
//! being built.

use super::SharedGraph;
use super::graph::StreamId;
use crate::event::Event;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

/// The events that a component emits, as an edge of a job that is being built.
///
/// Each operator or sink applied to a stream gets every event of it:
///
/// ```
/// use streamwork::prelude::*;
///
/// let (all, again) = (Collect::new(), Collect::new());
/// let job = Job::new("fan-out");
/// let numbers = job.source(FromIter::new(1..=3_u64));
/// numbers.sink(all.clone()).named("all");
/// numbers.sink(again.clone()).named("again");
/// Engine::new().run(job).unwrap();
/// assert_eq!(all.take(), again.take());
/// ```
///
/// Closures run in the component that emits, before anything is sent; see [`Piped`](crate::Piped).
pub struct Stream<T> {
    pub(super) graph: SharedGraph,
    pub(super) id: StreamId,
    alias: Option<Arc<str>>,
    events: PhantomData<fn() -> T>,
}

impl<T: Event> Stream<T> {
    pub(super) fn new(graph: SharedGraph, id: StreamId) -> Self {
        Self { graph, id, alias: None, events: PhantomData }
    }

    /// The same stream under another name for the operator that is applied to it, which reads it as
    /// [`Emitter::stream`](crate::Emitter::stream); that has an example.
    #[must_use = "the name is that of the stream which is returned"]
    pub fn alias(&self, name: &str) -> Self {
        Self { alias: Some(name.into()), ..self.clone() }
    }

    pub(super) fn alias_name(&self) -> Option<Arc<str>> {
        self.alias.clone()
    }
}

impl<T> Clone for Stream<T> {
    fn clone(&self) -> Self {
        let Self { graph, id, alias, .. } = self;
        Self { graph: graph.clone(), id: *id, alias: alias.clone(), events: PhantomData }
    }
}

impl<T> fmt::Debug for Stream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream of {:?}", self.graph.name_of(self.id))
    }
}

/// What can be used as a stream of events: a [`Stream`], the stage of a component, or closures behind
/// one.
///
/// ```
/// use streamwork::IntoStream;
/// use streamwork::prelude::*;
///
/// fn count(events: impl IntoStream<Event = u64>, into: Collect<(u64, u64)>) {
///     let keyed = events.into_stream().key_by_value(|n: &u64| n % 2);
///     keyed.fold(0_u64, |n, _| *n += 1).sink(into);
/// }
///
/// let got = Collect::new();
/// let job = Job::new("counts");
/// count(job.source(FromIter::new([4_u64, 7])).map(|n| n + 1), got.clone());
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.take(), [(1, 1), (0, 1)]);
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is no stream of events")]
pub trait IntoStream: sealed::Sealed {
    /// What flows in it.
    type Event: Event;

    /// The stream.
    fn into_stream(self) -> Stream<Self::Event>;
}

impl<T: Event> IntoStream for Stream<T> {
    type Event = T;

    fn into_stream(self) -> Self {
        self
    }
}

impl<T: Event> IntoStream for &Stream<T> {
    type Event = T;

    fn into_stream(self) -> Stream<T> {
        self.clone()
    }
}

impl<T> sealed::Sealed for Stream<T> {}

impl<S: sealed::Sealed> sealed::Sealed for &S {}

pub(super) mod sealed {
    /// What the builder makes, and nothing else.
    pub trait Sealed {}
}
