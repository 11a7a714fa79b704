//! [`Stream`]: the events of a component, or what closures made of them, as an edge of a job that is
//! being built.

use super::SharedGraph;
use super::fan_in::Subscription;
use super::graph::StreamId;
use super::grouped::Grouped;
use super::keyed::KeyedStream;
use super::pair::Pair;
use super::piped::Piped;
use super::stage::{SinkStage, SourceStage, Stage};
use crate::component::{Context, Result};
use crate::event::Event;
use crate::grouping::{Grouping, Shuffle};
use crate::key::{Key, KeyBy, KeyOn};
use crate::operator::Operator;
use crate::sink::Sink;
use crate::step::{Filter, FlatMap, Here, Inspect, Map, TryMap};
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
/// Closures run in the component that emits, before anything is sent; see [`Piped`].
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

    /// Says which instances of the next component get an event. Without it they take turns
    /// ([`Shuffle`]).
    ///
    /// The number of instances belongs to that component: `parallelism` is set on the operator or the
    /// sink that follows, not on the grouping. See [`Grouped`].
    #[must_use = "a grouping does nothing until an operator or a sink is applied"]
    pub fn group<G: Grouping<T>>(&self, grouping: G) -> Grouped<T, G> {
        Grouped { stream: self.clone(), grouping }
    }

    /// The same stream under another name for the operator that is applied to it, which reads it as
    /// [`Emitter::stream`](crate::Emitter::stream); that has an example.
    #[must_use = "the name is that of the stream which is returned"]
    pub fn alias(&self, name: &str) -> Self {
        Self { alias: Some(name.into()), ..self.clone() }
    }

    /// Applies an operator; each instance is a clone of `operator`. [`Stage`] has an example.
    pub fn apply<O>(&self, operator: O) -> Stage<O::Out>
    where
        O: Operator<In = T> + Clone,
    {
        self.group(Shuffle::new()).apply(operator)
    }

    /// Applies an operator whose instances are made by a function.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct Numbered(usize);
    ///
    /// impl Operator for Numbered {
    ///     type In = u64;
    ///     type Out = (usize, u64);
    ///     fn apply(&mut self, n: u64, out: &mut Emitter<Self::Out>) -> Result<()> {
    ///         out.emit((self.0, n));
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let got = Collect::new();
    /// let job = Job::new("numbered");
    /// job.source(FromIter::new(1..=2_u64))
    ///     .apply_with("numbered", |ctx| Numbered(ctx.index()))
    ///     .sink(got.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.take(), [(0, 1), (0, 2)]);
    /// ```
    pub fn apply_with<O, F>(&self, name: &str, make: F) -> Stage<O::Out>
    where
        O: Operator<In = T>,
        F: FnMut(&Context) -> O + Clone + Send + 'static,
    {
        self.group(Shuffle::new()).apply_with(name, make)
    }

    /// Ends the stream in a sink; each instance is a clone of `sink`.
    pub fn sink<S>(&self, sink: S) -> SinkStage
    where
        S: Sink<In = T> + Clone,
    {
        self.group(Shuffle::new()).sink(sink)
    }

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

    /// Makes any number of events of each, by a closure that returns an iterator.
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

    /// Keys the stream by a part of each event, for a [`KeyedOperator`](crate::KeyedOperator), which
    /// has an example. The closure's argument needs its type written.
    pub fn key_by<K, F>(&self, key: F) -> KeyedStream<T, KeyOn<K, F>>
    where
        K: Key + ?Sized + 'static,
        F: for<'a> Fn(&'a T) -> &'a K + Clone + Send + 'static,
    {
        KeyedStream { streams: vec![self.clone()], selector: KeyOn::new(key) }
    }

    /// Keys the stream by a key that is made from each event; as [`key_by`](Self::key_by).
    /// [`KeyedStream::fold`] has an example.
    pub fn key_by_value<K, F>(&self, key: F) -> KeyedStream<T, KeyBy<K, F>>
    where
        K: Key + 'static,
        F: Fn(&T) -> K + Clone + Send + 'static,
    {
        KeyedStream { streams: vec![self.clone()], selector: KeyBy::new(key) }
    }

    /// Puts another stream beside this one, for an operator with [two inputs](crate::TwoInput), which
    /// has an example. Either may be grouped before.
    pub fn connect<R: Subscription>(&self, right: R) -> Pair<Grouped<T, Shuffle>, R> {
        Pair { left: self.group(Shuffle::new()), right }
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
pub trait IntoStream {
    /// What flows in it.
    type Event: Event;

    /// The stream.
    fn into_stream(self) -> Stream<Self::Event>;
}

macro_rules! into_stream {
    ($($stage:ident),*) => { $(
        impl<T: Event> IntoStream for $stage<T> {
            type Event = T;

            fn into_stream(self) -> Stream<T> {
                (&self).into_stream()
            }
        }

        impl<T: Event> IntoStream for &$stage<T> {
            type Event = T;

            fn into_stream(self) -> Stream<T> {
                Stream::clone(self)
            }
        }
    )* };
}

into_stream!(Stream, Stage, SourceStage);
