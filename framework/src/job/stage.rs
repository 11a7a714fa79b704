//! Stages: components that were just added to a job, to be adjusted and to go on from.

use super::SharedGraph;
use super::blueprint::{Blueprint, EdgeBlueprint, LogicBlueprint, SourceBlueprint};
use super::graph::{Edge, Node, NodeId, Origin, Role, StreamId};
use super::stream::sealed::Sealed;
use super::stream::{IntoStream, Stream};
use crate::channel::{Channel, ChannelInfo, DEAD_LETTERS};
use crate::component::{Component, Context, OnError};
use crate::event::{DeadLetter, Event};
use crate::instance::OperatorLogic;
use crate::operator::Operator;
use crate::sink::{Effect, Sink};
use crate::source::Source;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A component that is about to be added.
pub(super) struct NewNode {
    name: String,
    parallelism: usize,
    role: Role,
    blocking: bool,
    channels: &'static [ChannelInfo],
    effect: Option<Effect>,
    blueprint: Box<dyn Blueprint>,
}

impl NewNode {
    fn new<C: Component>(
        name: &str,
        parallelism: usize,
        role: Role,
        blueprint: impl Blueprint + 'static,
    ) -> Self {
        Self {
            name: name.to_owned(),
            parallelism,
            role,
            blocking: C::BLOCKING,
            channels: C::CHANNELS,
            effect: None,
            blueprint: Box::new(blueprint),
        }
    }

    /// A source, of which each split is read by a clone.
    pub(super) fn source<S: Source + Clone>(source: S) -> Self {
        let (name, parallelism) = (source.name().to_owned(), source.parallelism());
        Self::new::<S>(&name, parallelism, Role::Source, SourceBlueprint::new(source))
    }

    /// An operator of any kind, of which each instance is a clone.
    pub(super) fn of_operator<C, B>(operator: C, blueprint: impl FnOnce(C) -> B) -> Self
    where
        C: Component + Clone,
        B: Blueprint + 'static,
    {
        let (name, parallelism) = (operator.name().to_owned(), operator.parallelism());
        Self::new::<C>(&name, parallelism, Role::Operator, blueprint(operator))
    }

    /// An operator of any kind, whose instances a function makes.
    pub(super) fn of_function<C: Component>(
        name: &str,
        blueprint: impl Blueprint + 'static,
    ) -> Self {
        Self::new::<C>(name, 1, Role::Operator, blueprint)
    }

    pub(super) fn operator<O: Operator + Clone>(operator: O) -> Self {
        Self::of_operator(operator, |operator| {
            LogicBlueprint::of_prototype(operator, OperatorLogic)
        })
    }

    pub(super) fn operators_of<O, F>(name: &str, make: F) -> Self
    where
        O: Operator,
        F: FnMut(&Context) -> O + Clone + Send + 'static,
    {
        Self::of_function::<O>(name, LogicBlueprint::of_function(make, OperatorLogic))
    }

    pub(super) fn sink<S: Sink + Clone>(sink: S) -> Self {
        let (name, parallelism) = (sink.name().to_owned(), sink.parallelism());
        let node = Self::new::<S>(&name, parallelism, Role::Sink, LogicBlueprint::of_sink(sink));
        Self { effect: Some(S::EFFECT), ..node }
    }

    /// Adds the component to a graph.
    pub(super) fn add_to(self, graph: SharedGraph) -> Added {
        let (node, stream) = graph.lock().add_node(Node {
            name: self.name.into(),
            parallelism: self.parallelism,
            role: self.role,
            blocking: self.blocking,
            on_error: None,
            on_commit_error: OnError::Fail,
            channels: self.channels,
            rate: None,
            steps: 0,
            foreign: false,
            effect: self.effect,
            may_repeat: false,
            blueprint: self.blueprint,
        });
        Added { graph, node, stream }
    }

    /// Adds the component to the graph of the streams that it reads.
    pub(super) fn read(self, edges: Vec<NewEdge>) -> Added {
        let graph = edges.first().map(|edge| edge.graph.clone()).unwrap_or_default();
        let added = self.add_to(graph);
        let mut graph = added.graph.lock();
        for NewEdge { graph: of, stream, alias, by_key, is_right, blueprint } in edges {
            let from = graph.streams.get(stream.0).map(|stream| stream.from);
            match from {
                Some(from) if of.is(&added.graph) => {
                    let to = added.node;
                    let edge = Edge { stream, from, to, alias, by_key, is_right, blueprint };
                    graph.add_edge(edge);
                }
                None if of.is(&added.graph) => {
                    tracing::warn!("a job that was started can't be changed any more");
                }
                _ => graph.node_mut(added.node).foreign = true,
            }
        }
        drop(graph);
        added
    }
}

/// A subscription that is about to be added.
pub(super) struct NewEdge {
    graph: SharedGraph,
    stream: StreamId,
    alias: Option<Arc<str>>,
    by_key: bool,
    is_right: bool,
    blueprint: Box<dyn EdgeBlueprint>,
}

impl NewEdge {
    pub(super) fn of<T: Event>(
        stream: &Stream<T>,
        by_key: bool,
        blueprint: impl EdgeBlueprint + 'static,
    ) -> Self {
        Self {
            graph: stream.graph.clone(),
            stream: stream.id,
            alias: stream.alias_name(),
            by_key,
            is_right: false,
            blueprint: Box::new(blueprint),
        }
    }

    /// Of an operator with two inputs, the one on the right.
    pub(super) fn on_the_right(self) -> Self {
        Self { is_right: true, ..self }
    }
}

/// A component that was added.
pub(super) struct Added {
    graph: SharedGraph,
    node: NodeId,
    stream: StreamId,
}

impl<T: Event> From<Added> for Stage<T> {
    fn from(Added { graph, node, stream }: Added) -> Self {
        Self { stream: Stream::new(graph, stream), node }
    }
}

impl<S: Source> From<Added> for SourceStage<S> {
    fn from(Added { graph, node, stream }: Added) -> Self {
        Self { stream: Stream::new(graph, stream), node }
    }
}

impl From<Added> for SinkStage {
    fn from(Added { graph, node, .. }: Added) -> Self {
        Self { graph, node }
    }
}

macro_rules! channel {
    () => {
        /// The stream of what the component emits into a [`Channel`](crate::Channel), which has an
        /// example. A job that reads a channel which the component does not declare is refused.
        pub fn channel<U: Event>(&self, channel: Channel<U>) -> Stream<U> {
            let graph = self.stream.graph.clone();
            let id = graph.channel_stream(self.node, channel);
            Stream::new(graph, id)
        }
    };
}

impl SharedGraph {
    fn channel_stream<U: Event>(&self, node: NodeId, channel: Channel<U>) -> StreamId {
        let mut graph = self.lock();
        let info = channel.info();
        graph
            .channel(node, &info)
            .unwrap_or_else(|| graph.add_stream(node, Origin::Channel(info, Box::new(channel))))
    }
}

macro_rules! settings {
    () => {
        /// The events that were left out since the component failed at them, if
        /// [`on_error`](Self::on_error) is [`OnError::DeadLetter`]. [`DeadLetter`] has an example.
        pub fn dead_letters(&self) -> Stream<DeadLetter> {
            let (graph, node) = self.place();
            let id = graph.channel_stream(node, DEAD_LETTERS);
            Stream::new(graph, id)
        }

        /// Sets the number of instances. Without it a component has as many as
        /// [`Component::parallelism`](crate::Component::parallelism) says. With 0 the job is refused.
        pub fn parallelism(self, instances: usize) -> Self {
            self.edit(|node| node.parallelism = instances);
            self
        }

        /// Gives the component another name: unique in the job, and what its state belongs to.
        pub fn named(self, name: &str) -> Self {
            self.edit(|node| node.name = name.into());
            self
        }

        /// Says what becomes of an event that the component returns an error for; of a source, of a read
        /// that failed. [`OnError`] has an example. A panic is not an error: it rebuilds the instance.
        pub fn on_error(self, on_error: OnError) -> Self {
            self.edit(|node| node.on_error = Some(on_error));
            self
        }
    };
}

/// An operator that was just applied: can be adjusted, and is the stream of what it emits.
///
/// ```
/// use streamwork::prelude::*;
///
/// #[derive(Component, Clone)]
/// struct Double;
///
/// impl Operator for Double {
///     type In = u64;
///     type Out = u64;
///
///     fn apply(&mut self, n: u64, out: &mut Emitter<u64>) -> Result<()> {
///         out.emit(2 * n);
///         Ok(())
///     }
/// }
///
/// let got = Collect::new();
/// let job = Job::new("doubles");
/// job.source(FromIter::new(1..=3_u64))
///     .apply(Double)
///     .named("doubler")
///     .parallelism(2)
///     .sink(got.clone());
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!(outcome.component("doubler").unwrap().applied, 3);
/// assert_eq!(got.take().iter().sum::<u64>(), 12);
/// ```
pub struct Stage<T> {
    stream: Stream<T>,
    node: NodeId,
}

impl<T: Event> Stage<T> {
    settings!();
    channel!();

    fn place(&self) -> (SharedGraph, NodeId) {
        (self.stream.graph.clone(), self.node)
    }

    fn edit(&self, change: impl FnOnce(&mut Node)) {
        self.stream.graph.edit(self.node, change);
    }
}

impl<T> Deref for Stage<T> {
    type Target = Stream<T>;

    fn deref(&self) -> &Stream<T> {
        &self.stream
    }
}

impl<T> fmt::Debug for Stage<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stream.fmt(f)
    }
}

/// A source that was just added: can be adjusted, and is the stream of what it emits.
///
/// ```
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("numbers");
/// let numbers = job.source(FromIter::new(1..=3_u64)).named("numbers").parallelism(2);
/// numbers.sink(got.clone());
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!(outcome.component("numbers").unwrap().emitted, 3);
/// assert_eq!(got.len(), 3);
/// ```
pub struct SourceStage<S: Source> {
    stream: Stream<S::Out>,
    node: NodeId,
}

impl<S: Source> SourceStage<S> {
    settings!();
    channel!();

    fn place(&self) -> (SharedGraph, NodeId) {
        (self.stream.graph.clone(), self.node)
    }

    /// Holds the source to this many events a second, over all its instances. What it missed because
    /// it was blocked is made up for by a tenth of a second at most.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("paced");
    /// job.source(FromIter::new(1..=3_u64)).rate(1_000.0).sink(got.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.take(), [1, 2, 3]);
    /// ```
    #[expect(clippy::must_use_candidate, reason = "the setting is in effect already")]
    pub fn rate(self, events_per_second: f64) -> Self {
        self.edit(|node| node.rate = Some(events_per_second));
        self
    }

    fn edit(&self, change: impl FnOnce(&mut Node)) {
        self.stream.graph.edit(self.node, change);
    }
}

impl<S: Source> Deref for SourceStage<S> {
    type Target = Stream<S::Out>;

    fn deref(&self) -> &Stream<S::Out> {
        &self.stream
    }
}

impl<S: Source> fmt::Debug for SourceStage<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.stream.fmt(f)
    }
}

/// A sink that was just applied: can be adjusted.
///
/// ```
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("kept");
/// job.source(FromIter::new(0..4_u64)).sink(got.clone()).named("keeper").parallelism(2);
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!(outcome.component("keeper").unwrap().applied, 4);
/// assert_eq!(got.of_instance(0).len(), 2);
/// ```
pub struct SinkStage {
    graph: SharedGraph,
    node: NodeId,
}

impl SinkStage {
    settings!();

    fn place(&self) -> (SharedGraph, NodeId) {
        (self.graph.clone(), self.node)
    }

    /// Says what becomes of what the sink has prepared for a checkpoint, where
    /// [commits](crate::Sink::commit) fail again and again: by default the job fails, and the next start tries
    /// again. With [`OnError::Skip`] these events are left out for good, counted as dropped and logged, and
    /// the job goes on.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("lenient");
    /// job.source(FromIter::new([1_u64])).sink(Collect::new()).on_commit_error(OnError::Skip);
    /// assert!(Engine::new().run(job).is_ok());
    /// ```
    #[expect(clippy::must_use_candidate, reason = "the setting is in effect already")]
    pub fn on_commit_error(self, on_error: OnError) -> Self {
        self.edit(|node| node.on_commit_error = on_error);
        self
    }

    /// Says that what the sink does may be seen again, under
    /// [`Delivery::exactly_once`](crate::Delivery::exactly_once): without it a job is refused there whose
    /// sink is [`Repeating`](crate::Effect::Repeating). Elsewhere it changes nothing.
    ///
    /// What is seen twice: after a failure, and when a killed process is started again, the job goes back
    /// to its newest checkpoint, and the sink gets all events again that it got since then. Without
    /// failures nothing is repeated. State, and sinks that commit, count each event once all the same. What
    /// must not be repeated goes to a sink that commits, as [`NdjsonFiles`](crate::NdjsonFiles).
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::Problem;
    /// use streamwork::prelude::*;
    ///
    /// let second = Duration::from_secs(1);
    /// let job = |may_repeat: bool| {
    ///     let job = Job::new("numbers").delivery(Delivery::exactly_once(second));
    ///     let sink = job.source(FromIter::new(1..=3_u64)).sink(Print::stdout());
    ///     if may_repeat {
    ///         sink.may_repeat();
    ///     }
    ///     job
    /// };
    /// let data = std::env::temp_dir().join(format!("may-repeat-{}", std::process::id()));
    /// let error = Engine::new().data_dir(&data).run(job(false)).unwrap_err();
    /// assert_eq!(error.problems(), [Problem::RepeatingSink { name: "print".into() }]);
    /// assert!(Engine::new().data_dir(&data).run(job(true)).is_ok());
    /// # drop(std::fs::remove_dir_all(&data));
    /// ```
    #[expect(clippy::must_use_candidate, reason = "the setting is in effect already")]
    pub fn may_repeat(self) -> Self {
        self.edit(|node| node.may_repeat = true);
        self
    }

    fn edit(&self, change: impl FnOnce(&mut Node)) {
        self.graph.edit(self.node, change);
    }
}

impl fmt::Debug for SinkStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sink {:?}", self.graph.name(self.node))
    }
}

impl<T: Event> IntoStream for Stage<T> {
    type Event = T;

    fn into_stream(self) -> Stream<T> {
        self.stream
    }
}

impl<T: Event> IntoStream for &Stage<T> {
    type Event = T;

    fn into_stream(self) -> Stream<T> {
        self.stream.clone()
    }
}

impl<S: Source> IntoStream for SourceStage<S> {
    type Event = S::Out;

    fn into_stream(self) -> Stream<S::Out> {
        self.stream
    }
}

impl<S: Source> IntoStream for &SourceStage<S> {
    type Event = S::Out;

    fn into_stream(self) -> Stream<S::Out> {
        self.stream.clone()
    }
}

impl<T> Sealed for Stage<T> {}

impl<S: Source> Sealed for SourceStage<S> {}
