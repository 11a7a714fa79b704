//! [`Streams`]: several streams that one component reads.

use super::grouped::Grouped;
use super::piped::{Begin, Piped};
use super::stage::{NewEdge, NewNode, SinkStage, SourceStage, Stage};
use super::stream::sealed::Sealed;
use super::stream::{IntoStream, Stream};
use crate::component::Context;
use crate::event::Event;
use crate::grouping::{Grouping, Shuffle};
use crate::operator::Operator;
use crate::sink::Sink;
use crate::source::Source;
use crate::step::Steps;
use std::fmt;

/// A stream with the grouping for who reads it: a plain one has none of its own yet.
///
/// ```
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("both");
/// let some = job.source(FromIter::new([1_u64])).named("some");
/// let more = job.source(FromIter::new([2_u64])).named("more");
/// // one with a grouping, one without
/// Streams::of((some.group(All), more.map(|n| n * 10))).sink(got.clone()).parallelism(2);
/// Engine::new().run(job).unwrap();
/// let mut got = got.take();
/// got.sort();
/// assert_eq!(got, [1, 1, 20]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no stream that a component could read",
    note = "a stream, the stage of a component, closures behind one, or any of these with `.group(..)`"
)]
pub trait Subscription: Sealed {
    /// What flows in it.
    type Event: Event;
    /// Its grouping; [`Shuffle`] for a plain stream.
    type Grouping: Grouping<Self::Event>;

    /// Whether the grouping was given.
    #[doc(hidden)]
    const IS_GROUPED: bool;

    /// The stream with its grouping.
    fn into_grouped(self) -> Grouped<Self::Event, Self::Grouping>;
}

impl<T: Event, G: Grouping<T>> Subscription for Grouped<T, G> {
    type Event = T;
    type Grouping = G;

    const IS_GROUPED: bool = true;

    fn into_grouped(self) -> Self {
        self
    }
}

macro_rules! plain {
    ($(($($of:tt)*) $stream:ty),*) => { $(
        impl<$($of)*> Subscription for $stream {
            type Event = <Self as IntoStream>::Event;
            type Grouping = Shuffle;

            const IS_GROUPED: bool = false;

            fn into_grouped(self) -> Grouped<Self::Event, Shuffle> {
                self.into_stream().group(Shuffle::new())
            }
        }
    )* };
}

plain!(
    (T: Event) Stream<T>,
    (T: Event) &Stream<T>,
    (T: Event) Stage<T>,
    (T: Event) &Stage<T>,
    (S: Source) SourceStage<S>,
    (S: Source) &SourceStage<S>,
    (S: Event, C: Steps<S>, B: Begin<S>) Piped<S, C, B>
);

/// Several streams of the same events: an array, a vector or a tuple of [`Subscription`]s.
///
/// ```
/// use streamwork::Subscriptions;
/// use streamwork::prelude::*;
///
/// fn all(streams: impl Subscriptions<Event = u64>, into: Collect<u64>) {
///     Streams::of(streams).sink(into);
/// }
///
/// let got = Collect::new();
/// let job = Job::new("all");
/// let sources: Vec<_> = (0..3_u64)
///     .map(|n| job.source(FromIter::new([n])).named(&format!("source-{n}")))
///     .collect();
/// all(sources, got.clone());
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.len(), 3);
/// ```
pub trait Subscriptions: Sealed {
    /// What flows in all of them.
    type Event: Event;

    /// The streams together.
    fn into_streams(self) -> Streams<Self::Event>;
}

impl<T, G> Sealed for Grouped<T, G> {}

impl<S, const N: usize> Sealed for [S; N] {}

impl<S> Sealed for Vec<S> {}

impl<S: Subscription, const N: usize> Subscriptions for [S; N] {
    type Event = S::Event;

    fn into_streams(self) -> Streams<S::Event> {
        Streams { inputs: self.into_iter().map(Input::of).collect() }
    }
}

impl<S: Subscription> Subscriptions for Vec<S> {
    type Event = S::Event;

    fn into_streams(self) -> Streams<S::Event> {
        Streams { inputs: self.into_iter().map(Input::of).collect() }
    }
}

macro_rules! tuple {
    ($first:ident $($name:ident)*) => {
        impl<$first, $($name),*> Sealed for ($first, $($name,)*) {}

        impl<$first: Subscription, $($name: Subscription<Event = $first::Event>),*> Subscriptions
            for ($first, $($name,)*)
        {
            type Event = $first::Event;

            fn into_streams(self) -> Streams<Self::Event> {
                #[expect(non_snake_case, reason = "the type's name serves as the variable's")]
                let ($first, $($name,)*) = self;
                Streams { inputs: vec![Input::of($first), $(Input::of($name)),*] }
            }
        }
    };
}

tuple!(A);
tuple!(A B);
tuple!(A B C);
tuple!(A B C D);
tuple!(A B C D E);
tuple!(A B C D E F);
tuple!(A B C D E F G);
tuple!(A B C D E F G H);

/// One stream, with the edge of its own grouping if it has one.
struct Input<T> {
    stream: Stream<T>,
    edge: Option<NewEdge>,
}

impl<T: Event> Input<T> {
    fn of<S: Subscription<Event = T>>(subscription: S) -> Self {
        let grouped = subscription.into_grouped();
        let stream = grouped.stream.clone();
        Self { stream, edge: S::IS_GROUPED.then(|| grouped.subscribe()) }
    }

    /// Its edge; by this grouping if it has none of its own.
    fn subscribe<G: Grouping<T>>(self, grouping: G) -> NewEdge {
        self.edge.unwrap_or_else(|| self.stream.group(grouping).subscribe())
    }
}

/// Several streams that one component reads: it is one set of instances, and sees all events of all of
/// them. Those of each stream keep their order; between two streams there is none.
///
/// ```
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("merge");
/// let cars = job.source(FromIter::new(["car"])).named("cars");
/// let vans = job.source(FromIter::new(["van"])).named("vans");
/// Streams::of([&cars, &vans]).sink(got.clone());
/// Engine::new().run(job).unwrap();
/// let mut kinds = got.take();
/// kinds.sort();
/// assert_eq!(kinds, ["car", "van"]);
/// ```
///
/// Each stream has its own grouping. One that it was given before counts; the others get that of
/// [`group`](Self::group), or take turns.
///
/// For streams of different events, map them to one enum, or see
/// [`Stream::connect`](crate::Stream::connect).
#[must_use = "streams do nothing until an operator or a sink is applied"]
pub struct Streams<T> {
    inputs: Vec<Input<T>>,
}

impl<T: Event> Streams<T> {
    /// Puts streams together: an array, a vector, or a tuple where their types differ.
    ///
    /// # Panics
    /// If there are none.
    pub fn of<S: Subscriptions<Event = T>>(streams: S) -> Self {
        let streams = streams.into_streams();
        assert!(!streams.inputs.is_empty(), "`Streams::of` needs at least one stream");
        streams
    }

    /// The grouping of those streams that have none of their own.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("by-value");
    /// let a = job.source(FromIter::new([1_u64, 2])).named("a");
    /// let b = job.source(FromIter::new([1_u64, 2])).named("b");
    /// Streams::of([&a, &b]).group(Fields::whole()).sink(got.clone()).parallelism(3);
    /// Engine::new().run(job).unwrap();
    /// let ones = |i| got.of_instance(i).iter().filter(|n| **n == 1).count();
    /// assert!((0..3).any(|i| ones(i) == 2));
    /// ```
    pub fn group<G: Grouping<T>>(self, grouping: G) -> Self {
        let inputs = self.inputs.into_iter().map(move |input| Input {
            stream: input.stream.clone(),
            edge: Some(input.subscribe(grouping.clone())),
        });
        Self { inputs: inputs.collect() }
    }

    /// As [`Stream::apply`].
    pub fn apply<O>(self, operator: O) -> Stage<O::Out>
    where
        O: Operator<In = T> + Clone,
    {
        NewNode::operator(operator).read(self.subscribe()).into()
    }

    /// As [`Stream::apply_with`].
    pub fn apply_with<O, F>(self, name: &str, make: F) -> Stage<O::Out>
    where
        O: Operator<In = T>,
        F: FnMut(&Context) -> O + Clone + Send + 'static,
    {
        NewNode::operators_of(name, make).read(self.subscribe()).into()
    }

    /// As [`Stream::sink`].
    pub fn sink<S>(self, sink: S) -> SinkStage
    where
        S: Sink<In = T> + Clone,
    {
        NewNode::sink(sink).read(self.subscribe()).into()
    }

    pub(super) fn into_vec(self) -> Vec<Stream<T>> {
        self.inputs.into_iter().map(|input| input.stream).collect()
    }

    fn subscribe(self) -> Vec<NewEdge> {
        self.inputs.into_iter().map(|input| input.subscribe(Shuffle::new())).collect()
    }
}

impl<T> fmt::Debug for Streams<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.inputs.iter().map(|input| &input.stream)).finish()
    }
}
