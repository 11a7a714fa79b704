//! [`Grouped`]: a stream with the grouping for what follows.

use super::blueprint::GroupedEdge;
use super::stage::{NewEdge, NewNode, SinkStage, Stage};
use super::stream::Stream;
use crate::component::Context;
use crate::event::Event;
use crate::grouping::{Grouping, Shuffle};
use crate::operator::Operator;
use crate::sink::Sink;

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
#[derive(Clone, Debug)]
pub struct Grouped<T, G> {
    pub(super) stream: Stream<T>,
    pub(super) grouping: G,
}

impl<T: Event, G: Grouping<T>> Grouped<T, G> {
    /// Applies an operator; each instance is a clone of `operator`.
    pub fn apply<O>(self, operator: O) -> Stage<O::Out>
    where
        O: Operator<In = T> + Clone,
    {
        NewNode::operator(operator).read(vec![self.subscribe()]).into()
    }

    /// Applies an operator whose instances are made by a function, under the given name.
    pub fn apply_with<O, F>(self, name: &str, make: F) -> Stage<O::Out>
    where
        O: Operator<In = T>,
        F: FnMut(&Context) -> O + Clone + Send + 'static,
    {
        NewNode::operators_of(name, make).read(vec![self.subscribe()]).into()
    }

    /// Ends the stream in a sink; each instance is a clone of `sink`.
    pub fn sink<S>(self, sink: S) -> SinkStage
    where
        S: Sink<In = T> + Clone,
    {
        NewNode::sink(sink).read(vec![self.subscribe()]).into()
    }
}

impl<T: Event, G: Grouping<T>> Grouped<T, G> {
    /// The edge that leads to whoever reads it.
    pub(super) fn subscribe(self) -> NewEdge {
        let Self { stream, grouping } = self;
        let by_key = grouping.by_key();
        NewEdge::of(&stream, by_key, GroupedEdge::<T, G>::new(grouping))
    }
}

impl<T: Event> Stream<T> {
    /// Says which instances of the next component get an event. Without it they take turns
    /// ([`Shuffle`]).
    ///
    /// The number of instances belongs to that component: `parallelism` is set on the operator or the
    /// sink that follows, not on the grouping. See [`Grouped`].
    #[must_use = "a grouping does nothing until an operator or a sink is applied"]
    pub fn group<G: Grouping<T>>(&self, grouping: G) -> Grouped<T, G> {
        Grouped { stream: self.clone(), grouping }
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
