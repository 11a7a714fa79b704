//! [`Job`]: the whole program, as it is being built.

mod blueprint;
mod delivery;
mod fan_in;
mod graph;
mod grouped;
mod keyed;
mod pair;
mod piped;
mod stage;
mod steps_operator;
mod stream;
mod validate;

pub(crate) use blueprint::{Committer, Connection, Outputs};
pub use delivery::{Checkpoints, Delivery};
pub use fan_in::{Streams, Subscription, Subscriptions};
pub(crate) use graph::{Edge, Graph, Node, NodeId, Origin, Role, StreamId};
pub use grouped::Grouped;
pub use keyed::KeyedStream;
pub use pair::{KeyedPair, Pair};
pub use piped::{AtSource, Begin, Behind, Piped, RightBehind};
pub use stage::{SinkStage, SourceStage, Stage};
pub use stream::{IntoStream, Stream};
pub use validate::{Problem, Problems};

use crate::key::KeyGroups;
use crate::link::LinkLimits;
use crate::restart::RestartStrategy;
use crate::source::Source;
use stage::NewNode;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A graph of sources, operators and sinks, to be run by an [`Engine`](crate::Engine).
///
/// ```
/// use streamwork::prelude::*;
///
/// let numbers = Collect::new();
/// let job = Job::new("numbers");
/// job.source(FromIter::new(1..=3_u64)).sink(numbers.clone());
/// Engine::new().run(job).unwrap();
/// assert_eq!(numbers.take(), [1, 2, 3]);
/// ```
pub struct Job {
    name: String,
    delivery: Delivery,
    key_groups: KeyGroups,
    limits: LinkLimits,
    restarts: RestartStrategy,
    dropped: Vec<String>,
    graph: SharedGraph,
}

/// The graph under construction, shared with the streams that extend it.
#[derive(Clone, Default)]
pub(crate) struct SharedGraph(Arc<Mutex<Graph>>);

impl SharedGraph {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Graph> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes a component, unless its job runs already.
    fn edit(&self, node: NodeId, change: impl FnOnce(&mut Node)) {
        match self.lock().nodes.get_mut(node.0) {
            Some(node) => change(node),
            None => tracing::warn!("a job that was started can't be changed any more"),
        }
    }

    fn name(&self, node: NodeId) -> String {
        let graph = self.lock();
        graph.nodes.get(node.0).map_or("a started job", |node| node.name.as_str()).to_owned()
    }

    /// The name of the component that a stream comes from.
    fn name_of(&self, stream: StreamId) -> String {
        let from = self.lock().streams.get(stream.0).map(|stream| stream.from);
        from.map_or_else(|| "a started job".to_owned(), |from| self.name(from))
    }

    /// Whether both are the same graph.
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Job {
    /// An empty job. Its name is found again in logs and errors.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            delivery: Delivery::default(),
            key_groups: KeyGroups::DEFAULT,
            limits: LinkLimits::default(),
            restarts: RestartStrategy::default(),
            dropped: Vec::new(),
            graph: SharedGraph::default(),
        }
    }

    /// Sets the delivery semantic.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("numbers").delivery(Delivery::at_most_once());
    /// job.source(FromIter::new(1..=3_u64)).sink(got.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.take(), [1, 2, 3]);
    /// ```
    #[must_use]
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Sets the number of key groups (128): the bound on the parallelism of keyed components.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::{KeyGroups, Problem};
    ///
    /// let job = Job::new("narrow").key_groups(KeyGroups::new(2).unwrap());
    /// let numbers = job.source(FromIter::new(1..=3_u64));
    /// numbers.group(Fields::whole()).sink(Collect::new()).parallelism(3);
    /// let error = Engine::new().run(job).unwrap_err();
    /// assert!(matches!(error.problems(), [Problem::TooManyInstances { groups: 2, .. }]));
    /// ```
    #[must_use]
    pub fn key_groups(mut self, groups: KeyGroups) -> Self {
        self.key_groups = groups;
        self
    }

    /// Sets the bounds of every link.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("tight").link_limits(LinkLimits { frames: 1, ..LinkLimits::default() });
    /// job.source(FromIter::new(1..=3_u64)).sink(got.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.take(), [1, 2, 3]);
    /// ```
    #[must_use]
    pub fn link_limits(mut self, limits: LinkLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how often, and how soon, an instance is built anew after a panic; [`RestartStrategy`] has
    /// an example.
    #[must_use]
    pub fn restarts(mut self, strategy: RestartStrategy) -> Self {
        self.restarts = strategy;
        self
    }

    /// Lets the job go on from a checkpoint that holds state of a component which the job has no more: the
    /// state is lost, and so is what a sink has prepared and not committed. Without this such a job is
    /// refused, since the component may only have another name.
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::MemoryStore;
    /// use streamwork::prelude::*;
    ///
    /// let engine = Engine::new().store(MemoryStore::new());
    /// let job = |sums: &str| {
    ///     let job = Job::new("sums").delivery(Delivery::exactly_once(Duration::from_secs(1)));
    ///     job.source(FromIter::new(0..3_u64))
    ///         .key_by(|n: &u64| n)
    ///         .fold(0_u64, |sum, n| *sum += n)
    ///         .named(sums)
    ///         .sink(Collect::new());
    ///     job
    /// };
    /// engine.run(job("sums")).unwrap();
    /// let error = engine.run(job("totals")).unwrap_err().to_string();
    /// assert!(error.contains("no component \"sums\" any more"), "{error}");
    /// assert!(engine.run(job("totals").drop_state_of("sums")).is_ok());
    /// ```
    #[must_use]
    pub fn drop_state_of(mut self, component: impl Into<String>) -> Self {
        self.dropped.push(component.into());
        self
    }

    /// The job's name.
    ///
    /// ```
    /// assert_eq!(streamwork::Job::new("numbers").name(), "numbers");
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Adds a source; each split is read by a clone of `source`.
    pub fn source<S: Source + Clone>(&self, source: S) -> SourceStage<S> {
        NewNode::source(source).add_to(self.graph.clone()).into()
    }

    pub(crate) fn dropped_state(&self) -> Vec<String> {
        self.dropped.clone()
    }

    pub(crate) fn restart_strategy(&self) -> RestartStrategy {
        self.restarts
    }

    pub(crate) fn settings(&self) -> (Delivery, KeyGroups, LinkLimits) {
        (self.delivery, self.key_groups, self.limits)
    }

    /// Checks the graph and takes it out.
    pub(crate) fn into_graph(self) -> Result<Graph, Problems> {
        let graph = std::mem::take(&mut *self.graph.lock());
        let problems = validate::check(&self, &graph);
        if problems.is_empty() { Ok(graph) } else { Err(Problems::new(problems)) }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("name", &self.name).finish_non_exhaustive()
    }
}
