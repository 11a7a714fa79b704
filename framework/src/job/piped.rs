//! [`Piped`]: closures behind a stream.

use super::SharedGraph;
use super::blueprint::{Fuse, FuseSource, FusedSteps, StepsBlueprint};
use super::graph::{Origin, StreamId};
use super::grouped::Grouped;
use super::stage::{SinkStage, SourceStage, Stage};
use super::steps_operator::StepsOperator;
use super::stream::{IntoStream, Stream};
use crate::component::{Context, OnError, Result};
use crate::event::Event;
use crate::grouping::Grouping;
use crate::operator::Operator;
use crate::sink::Sink;
use crate::source::{Immediate, Source};
use crate::step::{Filter, FlatMap, Here, Inspect, Map, StepInfo, Steps, TryMap};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A stream with closures behind it: what [`Stream::map`] and its siblings return. Closures that follow
/// one another are one loop over the events of a batch.
///
/// They run in the component that emits, before its events are sent: they cost no thread and no
/// mailbox, and what a filter leaves out is never sent. Each closure is called once for each event,
/// and cloned for each instance.
///
/// A closure that returns an error or panics loses the event at hand: it is counted
/// ([`Outcome::step`](crate::Outcome::step)) and logged under the closure's name, `map#2 after readings`
/// for the second closure behind `readings`. No other event is lost, and the component goes on as if
/// nothing had happened. [`on_error`](Self::on_error) makes an error fail the job instead.
///
/// It is used once: every method takes it. For several subscribers, or to store it in a field, turn it
/// into a plain [`Stream`] with [`boxed`](Self::boxed); for instances of its own, into a component with
/// [`named`](Self::named).
///
/// ```
/// use streamwork::prelude::*;
///
/// let (small, large) = (Collect::new(), Collect::new());
/// let job = Job::new("squares");
/// let squares = job.source(FromIter::new(1..=4_u64)).map(|n| n * n).boxed();
/// squares.filter(|n| *n < 5).sink(small.clone()).named("small");
/// squares.filter(|n| *n >= 5).sink(large.clone()).named("large");
/// Engine::new().run(job).unwrap();
/// assert_eq!((small.take(), large.take()), (vec![1, 4], vec![9, 16]));
/// ```
#[must_use = "closures do nothing until an operator or a sink is applied"]
pub struct Piped<S, C, B = Behind> {
    stream: Stream<S>,
    steps: C,
    infos: Vec<StepInfo>,
    begins: PhantomData<fn() -> B>,
}

/// Where closures begin; [`Behind`] or [`RightBehind`]. The module [`step`](crate::step) has an example.
pub trait Begin<T>: sealed::Sealed {
    #[doc(hidden)]
    fn fuse<C: Steps<T>>() -> sealed::Fused;
}

/// Closures begin behind any stream. See [`Begin`].
#[derive(Debug)]
pub enum Behind {}

impl<T: Event> Begin<T> for Behind {
    fn fuse<C: Steps<T>>() -> sealed::Fused {
        sealed::Fused(None)
    }
}

/// Closures begin right behind the source `S`: what they leave out need not be stored (see
/// [`Immediate`]).
#[derive(Debug)]
pub struct RightBehind<S>(PhantomData<fn() -> S>);

impl<S: Immediate + Clone> Begin<S::Out> for RightBehind<S> {
    fn fuse<C: Steps<S::Out>>() -> sealed::Fused {
        sealed::Fused(FuseSource::<S, C>::if_possible())
    }
}

mod sealed {
    use crate::job::blueprint::Fuse;

    pub trait Sealed {}

    impl Sealed for super::Behind {}

    impl<S> Sealed for super::RightBehind<S> {}

    #[expect(missing_debug_implementations, reason = "never seen outside")]
    pub struct Fused(pub(super) Option<Box<dyn Fuse>>);
}

impl<S: Event, B: Begin<S>> Piped<S, Here, B> {
    pub(super) fn begin(stream: &Stream<S>) -> Self {
        Self { stream: stream.clone(), steps: Here, infos: Vec::new(), begins: PhantomData }
    }
}

impl<S: Event, C: Steps<S>, B: Begin<S>> Piped<S, C, B> {
    /// One step more: `after` makes it from those before and its place.
    fn then<D>(mut self, kind: &str, after: impl FnOnce(C, usize) -> D) -> Piped<S, D, B> {
        let index = self.infos.len();
        let name = self.stream.graph.name_step(self.stream.id, kind);
        self.infos.push(StepInfo {
            name: name.into(),
            on_error: OnError::default(),
            failed: AtomicU64::new(0),
        });
        let Self { stream, steps, infos, begins } = self;
        Piped { stream, steps: after(steps, index), infos, begins }
    }

    /// As [`Stream::map`].
    pub fn map<U, F>(self, call: F) -> Piped<S, Map<C, U, F>, B>
    where
        U: Event,
        F: Fn(&C::Out) -> U + Clone + Send + 'static,
    {
        self.then("map", |before, index| Map::after(before, index, call))
    }

    /// As [`Stream::try_map`].
    pub fn try_map<U, F>(self, call: F) -> Piped<S, TryMap<C, U, F>, B>
    where
        U: Event,
        F: Fn(&C::Out) -> Result<U> + Clone + Send + 'static,
    {
        self.then("try_map", |before, index| TryMap::after(before, index, call))
    }

    /// As [`Stream::filter`].
    pub fn filter<F>(self, call: F) -> Piped<S, Filter<C, C::Out, F>, B>
    where
        F: Fn(&C::Out) -> bool + Clone + Send + 'static,
    {
        self.then("filter", |before, index| Filter::after(before, index, call))
    }

    /// As [`Stream::flat_map`].
    pub fn flat_map<U, I, F>(self, call: F) -> Piped<S, FlatMap<C, (U, I), F>, B>
    where
        U: Event,
        I: IntoIterator<Item = U> + 'static,
        F: Fn(&C::Out) -> I + Clone + Send + 'static,
    {
        self.then("flat_map", |before, index| FlatMap::after(before, index, call))
    }

    /// As [`Stream::inspect`].
    pub fn inspect<F>(self, call: F) -> Piped<S, Inspect<C, C::Out, F>, B>
    where
        F: Fn(&C::Out) + Clone + Send + 'static,
    {
        self.then("inspect", |before, index| Inspect::after(before, index, call))
    }

    /// Says what becomes of an event for which the last closure returns an error. [`OnError`] has an
    /// example.
    pub fn on_error(mut self, on_error: OnError) -> Self {
        if let Some(last) = self.infos.last_mut() {
            last.on_error = on_error;
        }
        self
    }

    /// The stream behind the closures, whatever they are: it can be stored, and any number of components
    /// may subscribe to it. The closures are called once for each event all the same.
    pub fn boxed(self) -> Stream<C::Out> {
        let Self { stream, steps, infos, .. } = self;
        let infos = infos.into_iter().map(Arc::new).collect();
        let steps = FusedSteps::<S, C>::new(steps, infos);
        let alias = stream.alias_name();
        let graph = stream.graph;
        let id = graph.add_steps(stream.id, steps, B::fuse::<C>().0);
        let behind = Stream::new(graph, id);
        alias.map_or_else(|| behind.clone(), |name| behind.alias(&name))
    }

    /// Makes a component of the closures, with a name, instances and a mailbox of its own.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("heavy");
    /// job.source(FromIter::new(1..=3_u64))
    ///     .map(|n| n * n)
    ///     .named("square")
    ///     .parallelism(2)
    ///     .sink(got.clone());
    /// let outcome = Engine::new().run(job).unwrap();
    /// assert_eq!(outcome.component("square").unwrap().applied, 3);
    /// ```
    ///
    /// Errors and panics are those of an operator then: an error loses the event or fails the job, as its
    /// closure's `on_error` says, and names the closure; a panic rebuilds the instance.
    pub fn named(self, name: &str) -> Stage<C::Out> {
        let infos = self.infos.into_iter().map(Arc::new).collect();
        self.stream.apply(StepsOperator::new(self.steps, infos)).named(name)
    }
}

impl<S: Event, C: Steps<S>, B: Begin<S>> Piped<S, C, B> {
    /// As [`Stream::group`].
    #[must_use = "a grouping does nothing until an operator or a sink is applied"]
    pub fn group<G: Grouping<C::Out>>(self, grouping: G) -> Grouped<C::Out, G> {
        self.boxed().group(grouping)
    }

    /// As [`Stream::alias`].
    #[must_use = "the name is that of the stream which is returned"]
    pub fn alias(self, name: &str) -> Stream<C::Out> {
        self.boxed().alias(name)
    }

    /// As [`Stream::apply`].
    pub fn apply<O>(self, operator: O) -> Stage<O::Out>
    where
        O: Operator<In = C::Out> + Clone,
    {
        self.boxed().apply(operator)
    }

    /// As [`Stream::apply_with`].
    pub fn apply_with<O, F>(self, name: &str, make: F) -> Stage<O::Out>
    where
        O: Operator<In = C::Out>,
        F: FnMut(&Context) -> O + Clone + Send + 'static,
    {
        self.boxed().apply_with(name, make)
    }

    /// As [`Stream::sink`].
    pub fn sink<K>(self, sink: K) -> SinkStage
    where
        K: Sink<In = C::Out> + Clone,
    {
        self.boxed().sink(sink)
    }
}

impl<T: Event> Stream<T> {
    /// Makes another event of each, by a closure that looks at it. [`Piped`] says where closures run
    /// and what becomes of their failures.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("lengths");
    /// job.source(FromIter::new(["car", "truck"])).map(|kind| kind.len()).sink(got.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.take(), [3, 5]);
    /// ```
    pub fn map<U, F>(&self, call: F) -> Piped<T, Map<Here, U, F>>
    where
        U: Event,
        F: Fn(&T) -> U + Clone + Send + 'static,
    {
        Piped::begin(self).map(call)
    }

    /// As [`map`](Self::map), by a closure that may fail: an event that it returns an error for is left
    /// out, counted and logged, or fails the job ([`Piped::on_error`]).
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("numbers");
    /// let words = job.source(FromIter::new(["1", "two", "3"]));
    /// words.try_map(|word| Ok(word.parse::<u64>()?)).sink(got.clone());
    /// let outcome = Engine::new().run(job).unwrap();
    /// assert_eq!((got.take(), outcome.failed()), (vec![1, 3], 1));
    /// assert_eq!(outcome.step("try_map#1 after from-iter").unwrap().failed, 1);
    /// ```
    pub fn try_map<U, F>(&self, call: F) -> Piped<T, TryMap<Here, U, F>>
    where
        U: Event,
        F: Fn(&T) -> Result<U> + Clone + Send + 'static,
    {
        Piped::begin(self).try_map(call)
    }

    /// Keeps the events for which a closure says `true`. What it leaves out is never sent.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("even");
    /// job.source(FromIter::new(1..=4_u64)).filter(|n| n % 2 == 0).sink(got.clone());
    /// let outcome = Engine::new().run(job).unwrap();
    /// assert_eq!(got.take(), [2, 4]);
    /// assert_eq!(outcome.component("from-iter").unwrap().filtered, 2);
    /// ```
    pub fn filter<F>(&self, call: F) -> Piped<T, Filter<Here, T, F>>
    where
        F: Fn(&T) -> bool + Clone + Send + 'static,
    {
        Piped::begin(self).filter(call)
    }

    /// Makes any number of events of each, by a closure that returns an iterator. What it makes of one event
    /// must have an end: nothing else goes on until it is made.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("letters");
    /// job.source(FromIter::new(["ab", "", "c"]))
    ///     .flat_map(|word| word.chars().collect::<Vec<_>>())
    ///     .sink(got.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.take(), ['a', 'b', 'c']);
    /// ```
    pub fn flat_map<U, I, F>(&self, call: F) -> Piped<T, FlatMap<Here, (U, I), F>>
    where
        U: Event,
        I: IntoIterator<Item = U> + 'static,
        F: Fn(&T) -> I + Clone + Send + 'static,
    {
        Piped::begin(self).flat_map(call)
    }

    /// Looks at each event and passes it on as it is.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use streamwork::prelude::*;
    ///
    /// let seen = Arc::new(AtomicU64::new(0));
    /// let sum = Arc::clone(&seen);
    /// let job = Job::new("looked-at");
    /// job.source(FromIter::new(1..=3_u64))
    ///     .inspect(move |n| drop(sum.fetch_add(*n, Ordering::Relaxed)))
    ///     .sink(Collect::new());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(seen.load(Ordering::Relaxed), 6);
    /// ```
    pub fn inspect<F>(&self, call: F) -> Piped<T, Inspect<Here, T, F>>
    where
        F: Fn(&T) + Clone + Send + 'static,
    {
        Piped::begin(self).inspect(call)
    }
}

/// Closures right behind the source `S`, one of which takes what the source emits.
pub type AtSource<S, D> = Piped<<S as Source>::Out, D, RightBehind<S>>;

/// Closures right behind a source that never waits. They are those of [`Stream`], and do the same.
impl<S: Immediate + Clone> SourceStage<S> {
    /// As [`Stream::map`].
    pub fn map<U, F>(&self, call: F) -> AtSource<S, Map<Here, U, F>>
    where
        U: Event,
        F: Fn(&S::Out) -> U + Clone + Send + 'static,
    {
        Piped::begin(self).map(call)
    }

    /// As [`Stream::try_map`].
    pub fn try_map<U, F>(&self, call: F) -> AtSource<S, TryMap<Here, U, F>>
    where
        U: Event,
        F: Fn(&S::Out) -> Result<U> + Clone + Send + 'static,
    {
        Piped::begin(self).try_map(call)
    }

    /// As [`Stream::filter`].
    pub fn filter<F>(&self, call: F) -> AtSource<S, Filter<Here, S::Out, F>>
    where
        F: Fn(&S::Out) -> bool + Clone + Send + 'static,
    {
        Piped::begin(self).filter(call)
    }

    /// As [`Stream::inspect`].
    pub fn inspect<F>(&self, call: F) -> AtSource<S, Inspect<Here, S::Out, F>>
    where
        F: Fn(&S::Out) + Clone + Send + 'static,
    {
        Piped::begin(self).inspect(call)
    }
}

impl<S: Event, C: Steps<S>, B: Begin<S>> IntoStream for Piped<S, C, B> {
    type Event = C::Out;

    fn into_stream(self) -> Stream<C::Out> {
        self.boxed()
    }
}

impl<S, C, B> fmt::Debug for Piped<S, C, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<&str> = self.infos.iter().map(|info| &*info.name).collect();
        f.debug_struct("Piped").field("stream", &self.stream).field("steps", &steps).finish()
    }
}

impl SharedGraph {
    /// The stream that closures make of another. (Of a job that was started it leads nowhere.)
    fn add_steps(
        &self,
        of: StreamId,
        steps: impl StepsBlueprint + 'static,
        fuse: Option<Box<dyn Fuse>>,
    ) -> StreamId {
        let mut graph = self.lock();
        match graph.streams.get(of.0).map(|stream| stream.from) {
            Some(from) => graph.add_stream(from, Origin::Steps(of, Box::new(steps), fuse)),
            None => of,
        }
    }

    /// The name of one more closure behind the component that a stream comes from.
    fn name_step(&self, stream: StreamId, kind: &str) -> String {
        let mut graph = self.lock();
        let Some(node) = graph.streams.get(stream.0).map(|stream| stream.from) else {
            return kind.to_owned();
        };
        // A job that was started has none.
        let Some(node) = graph.nodes.get_mut(node.0) else { return kind.to_owned() };
        node.steps += 1;
        format!("{kind}#{} after {}", node.steps, node.name)
    }
}

impl<S, C, B> super::stream::sealed::Sealed for Piped<S, C, B> {}
