//! How a component of any type is turned into machines: the types are known here, when the job is
//! written, and forgotten after.

use crate::component::{Context, Result};
use crate::event::Event;
use crate::grouping::{Grouping, Targets};
use crate::id::{ComponentName, InstanceId};
use crate::instance::{
    Edge, Logic, Machine, Maker, OperatorMachine, RoutedEdge, Seat, SourceMachine, splits_of,
};
use crate::link::LinkSender;
use crate::source::{Source, Splits};
use std::any::Any;
use std::marker::PhantomData;

/// Makes the instances of one component.
pub(crate) trait Blueprint: Send {
    /// The machine of the instance that `seat` describes. `outputs` are its edges, made by the
    /// [`EdgeBlueprint`]s of the same stream.
    fn machine(
        &mut self,
        seat: Seat,
        outputs: Vec<Connection>,
        rate: Option<f64>,
    ) -> Box<dyn Machine>;

    /// Called once before the first machine is made.
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }
}

/// A `Box<dyn Edge<T>>` whose type is known to both ends.
pub(crate) struct Connection(Box<dyn Any + Send>);

/// Makes the sending side of one subscription.
pub(crate) trait EdgeBlueprint: Send {
    fn connect(
        &self,
        sender: InstanceId,
        receiver: ComponentName,
        targets: Targets,
        links: Vec<LinkSender>,
    ) -> Connection;
}

fn edges<T: 'static>(outputs: Vec<Connection>) -> Vec<Box<dyn Edge<T>>> {
    let typed = |connection: Connection| {
        *connection
            .0
            .downcast::<Box<dyn Edge<T>>>()
            .expect("an edge and its sender were made from one typed stream")
    };
    outputs.into_iter().map(typed).collect()
}

pub(super) struct GroupedEdge<T, G> {
    grouping: G,
    events: PhantomData<fn(T)>,
}

impl<T, G> GroupedEdge<T, G> {
    pub(super) fn new(grouping: G) -> Self {
        Self { grouping, events: PhantomData }
    }
}

impl<T: Event, G: Grouping<T>> EdgeBlueprint for GroupedEdge<T, G> {
    fn connect(
        &self,
        sender: InstanceId,
        receiver: ComponentName,
        targets: Targets,
        links: Vec<LinkSender>,
    ) -> Connection {
        let grouping = self.grouping.clone();
        let edge = RoutedEdge::new(sender, receiver, grouping, targets, links);
        let edge: Box<dyn Edge<T>> = Box::new(edge);
        Connection(Box::new(edge))
    }
}

pub(super) struct SourceBlueprint<S> {
    source: S,
    splits: Splits,
}

impl<S: Source + Clone> SourceBlueprint<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source, splits: Splits::PerInstance }
    }
}

impl<S: Source + Clone> Blueprint for SourceBlueprint<S> {
    fn machine(
        &mut self,
        seat: Seat,
        outputs: Vec<Connection>,
        rate: Option<f64>,
    ) -> Box<dyn Machine> {
        let source = self.source.clone();
        let maker: Maker<S> = Box::new(move |_| source.clone());
        let (index, parallelism) = (seat.ctx.instance.index, seat.ctx.parallelism);
        let splits = splits_of(self.splits, index, parallelism);
        // Each split gets the same share of the rate.
        let all = match self.splits {
            Splits::PerInstance => parallelism,
            Splits::Fixed(count) => count,
        };
        let rate = rate.map(|rate| rate * splits.len() as f64 / all.max(1) as f64);
        Box::new(SourceMachine::new(seat, maker, &splits, rate, edges(outputs)))
    }

    fn prepare(&mut self) -> Result<()> {
        self.splits = self.source.splits()?;
        Ok(())
    }
}

/// Makes one [`Maker`] for each instance.
pub(super) type MakerOf<L> = Box<dyn FnMut() -> Maker<L> + Send>;

pub(super) struct LogicBlueprint<L: Logic> {
    makers: MakerOf<L>,
}

impl<L: Logic + 'static> LogicBlueprint<L> {
    /// From a prototype, which is cloned for each instance and at each restart.
    pub(super) fn of_prototype<C>(prototype: C, wrap: fn(C) -> L) -> Self
    where
        C: Clone + Send + 'static,
    {
        Self {
            makers: Box::new(move || {
                let prototype = prototype.clone();
                Box::new(move |_: &Context| wrap(prototype.clone()))
            }),
        }
    }

    /// From a function, which is called for each instance and at each restart.
    pub(super) fn of_function<C, F>(make: F, wrap: fn(C) -> L) -> Self
    where
        C: 'static,
        F: FnMut(&Context) -> C + Clone + Send + 'static,
    {
        Self {
            makers: Box::new(move || {
                let mut make = make.clone();
                Box::new(move |ctx: &Context| wrap(make(ctx)))
            }),
        }
    }
}

impl<L: Logic + 'static> Blueprint for LogicBlueprint<L> {
    fn machine(
        &mut self,
        seat: Seat,
        outputs: Vec<Connection>,
        _: Option<f64>,
    ) -> Box<dyn Machine> {
        Box::new(OperatorMachine::new(seat, (self.makers)(), edges(outputs)))
    }
}
