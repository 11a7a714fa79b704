//! [`Stream`] and the stages that are made from it.

use super::SharedGraph;
use super::blueprint::{GroupedEdge, LogicBlueprint};
use super::graph::{Edge, Node, NodeId, Role};
use crate::component::{Component, Context};
use crate::event::Event;
use crate::grouping::{Grouping, Shuffle};
use crate::instance::{Logic, OperatorLogic, SinkLogic};
use crate::operator::Operator;
use crate::sink::Sink;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

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
pub struct Stream<T> {
    graph: SharedGraph,
    from: NodeId,
    events: PhantomData<fn() -> T>,
}

impl<T: Event> Stream<T> {
    fn new(graph: SharedGraph, from: NodeId) -> Self {
        Self { graph, from, events: PhantomData }
    }

    /// Says which instances of the next component get an event. Without it they take turns
    /// ([`Shuffle`]).
    ///
    /// The number of instances belongs to that component: `parallelism` is set on the operator or the
    /// sink that follows, not on the grouping. See [`Grouped`].
    #[must_use = "a grouping does nothing until an operator or a sink is applied"]
    pub fn group<G: Grouping<T>>(&self, grouping: G) -> Grouped<T, G> {
        Grouped { stream: Self::new(self.graph.clone(), self.from), grouping }
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
}

impl<T> fmt::Debug for Stream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream of {:?}", self.graph.name(self.from))
    }
}

/// A stream with the grouping for the next component; made by [`Stream::group`].
///
/// ```
/// use streamwork::prelude::*;
///
/// #[derive(Component, Clone, Default)]
/// struct Count(u64);
///
/// impl Operator for Count {
///     type In = &'static str;
///     type Out = (&'static str, u64);
///
///     fn apply(&mut self, kind: &'static str, out: &mut Emitter<Self::Out>) -> Result<()> {
///         self.0 += 1;
///         out.emit((kind, self.0));
///         Ok(())
///     }
/// }
///
/// let got = Collect::new();
/// let job = Job::new("count");
/// let kinds = job.source(FromIter::new(["car", "car", "car"]));
/// let counts = kinds.group(Fields::whole()).apply(Count::default()).parallelism(3);
/// counts.group(Global).sink(got.clone());
/// kinds.group(All).apply_with("twice", |_| Count(7)).parallelism(2).sink(ForEach::new(|_| {}));
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!(got.take(), [("car", 1), ("car", 2), ("car", 3)]);
/// assert_eq!(outcome.component("twice").unwrap().applied, 6);
/// ```
#[derive(Debug)]
pub struct Grouped<T, G> {
    stream: Stream<T>,
    grouping: G,
}

impl<T: Event, G: Grouping<T>> Grouped<T, G> {
    /// Applies an operator; each instance is a clone of `operator`.
    pub fn apply<O>(self, operator: O) -> Stage<O::Out>
    where
        O: Operator<In = T> + Clone,
    {
        let new = NewNode::of(&operator, Role::Operator);
        let blueprint = LogicBlueprint::of_prototype(operator, OperatorLogic);
        let (graph, node) = self.attach(new, blueprint);
        Stage { stream: Stream::new(graph, node) }
    }

    /// Applies an operator whose instances are made by a function, under the given name.
    pub fn apply_with<O, F>(self, name: &str, make: F) -> Stage<O::Out>
    where
        O: Operator<In = T>,
        F: FnMut(&Context) -> O + Clone + Send + 'static,
    {
        let new = NewNode {
            name: name.to_owned(),
            parallelism: 1,
            role: Role::Operator,
            blocking: O::BLOCKING,
        };
        let blueprint = LogicBlueprint::of_function(make, OperatorLogic);
        let (graph, node) = self.attach(new, blueprint);
        Stage { stream: Stream::new(graph, node) }
    }

    /// Ends the stream in a sink; each instance is a clone of `sink`.
    pub fn sink<S>(self, sink: S) -> SinkStage
    where
        S: Sink<In = T> + Clone,
    {
        let new = NewNode::of(&sink, Role::Sink);
        let blueprint = LogicBlueprint::of_prototype(sink, SinkLogic);
        let (graph, node) = self.attach(new, blueprint);
        SinkStage { graph, node }
    }

    fn attach<L: Logic + 'static>(
        self,
        new: NewNode,
        blueprint: LogicBlueprint<L>,
    ) -> (SharedGraph, NodeId) {
        let Self { stream: Stream { graph, from, .. }, grouping } = self;
        let mut nodes = graph.lock();
        let to = nodes.add_node(Node {
            name: new.name.into(),
            parallelism: new.parallelism,
            role: new.role,
            blocking: new.blocking,
            rate: None,
            blueprint: Box::new(blueprint),
        });
        let by_key = grouping.by_key();
        let blueprint = Box::new(GroupedEdge::<T, G>::new(grouping));
        nodes.add_edge(Edge { from, to, by_key, blueprint });
        drop(nodes);
        (graph, to)
    }
}

/// What is known of a component before it has a place.
struct NewNode {
    name: String,
    parallelism: usize,
    role: Role,
    blocking: bool,
}

impl NewNode {
    fn of<C: Component>(component: &C, role: Role) -> Self {
        Self {
            name: component.name().to_owned(),
            parallelism: component.parallelism(),
            role,
            blocking: C::BLOCKING,
        }
    }
}

macro_rules! settings {
    () => {
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
}

impl<T: Event> Stage<T> {
    settings!();

    fn edit(&self, change: impl FnOnce(&mut Node)) {
        self.stream.graph.edit(self.stream.from, change);
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
pub struct SourceStage<T> {
    stream: Stream<T>,
}

impl<T: Event> SourceStage<T> {
    pub(super) fn new(graph: SharedGraph, node: NodeId) -> Self {
        Self { stream: Stream::new(graph, node) }
    }

    settings!();

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
        self.stream.graph.edit(self.stream.from, change);
    }
}

impl<T> Deref for SourceStage<T> {
    type Target = Stream<T>;

    fn deref(&self) -> &Stream<T> {
        &self.stream
    }
}

impl<T> fmt::Debug for SourceStage<T> {
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

    fn edit(&self, change: impl FnOnce(&mut Node)) {
        self.graph.edit(self.node, change);
    }
}

impl fmt::Debug for SinkStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sink {:?}", self.graph.name(self.node))
    }
}
