//! How a component of any type is turned into machines: the types are known here, when the job is
//! written, and forgotten after.

use crate::channel::Channel;
use crate::checkpoint::ComponentManifest;
use crate::component::{Context, Result};
use crate::event::Event;
use crate::grouping::{Grouping, Targets};
use crate::id::ComponentName;
use crate::instance::{
    ChannelFan, Edge, Fan, FusedSource, Kept, Logic, Losses, Machine, Maker, OperatorMachine,
    Outlets, RoutedEdge, Seat, Sending, SideEdge, SinkLogic, SourceMachine, StepsEdge,
    TypedChannel, splits_of,
};
use crate::link::LinkSender;
use crate::metrics::Counters;
use crate::sink::{Effect, Handle, Sink};
use crate::source::{Immediate, Source, Splits};
use crate::step::{StepInfo, Steps};
use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

/// Makes the instances of one component.
pub(crate) trait Blueprint: Any + Send {
    /// The machine of the instance that `seat` describes. `outputs` were made by the blueprints of its
    /// own streams.
    fn machine(&mut self, seat: Seat, outputs: Outputs, rate: Option<f64>) -> Box<dyn Machine>;

    /// What the component keeps in checkpoints.
    fn kept(&self) -> Kept;

    /// What keeps it from reading what was kept before, in words.
    fn differences(&self, old: &ComponentManifest) -> Vec<String>;

    /// Whether it can read again what it has read, if it is a source.
    fn replays(&self) -> bool {
        true
    }

    /// Into how many splits it falls with so many instances, if it is a source that is prepared.
    fn splits(&self, parallelism: usize) -> Option<usize> {
        let _ = parallelism;
        None
    }

    /// Called once before the first machine is made.
    fn prepare(&mut self) -> Result<()> {
        Ok(())
    }

    /// What commits for all instances of a sink that commits; `None` of all others.
    fn committer(&self) -> Option<Box<dyn Committer>> {
        None
    }
}

/// Commits what the instances of a sink have prepared.
pub(crate) trait Committer: Send {
    /// See [`Sink::commit`].
    fn commit(&mut self, handle: Handle) -> Result<()>;

    /// See [`Sink::discard`].
    fn discard(&mut self, handle: Handle) -> Result<()>;

    /// See [`Sink::clean_up`].
    fn clean_up(&mut self, owner: &str, component: &str) -> Result<()>;
}

/// A clone of the prototype of a sink.
struct SinkCommitter<S>(S);

impl<S: Sink> Committer for SinkCommitter<S> {
    fn commit(&mut self, handle: Handle) -> Result<()> {
        self.0.commit(handle)
    }

    fn discard(&mut self, handle: Handle) -> Result<()> {
        self.0.discard(handle)
    }

    fn clean_up(&mut self, owner: &str, component: &str) -> Result<()> {
        self.0.clean_up(owner, component)
    }
}

/// Stands where a blueprint is being changed.
pub(crate) struct Gone;

impl Blueprint for Gone {
    fn kept(&self) -> Kept {
        unreachable!("another has taken its place")
    }

    fn differences(&self, _: &ComponentManifest) -> Vec<String> {
        unreachable!("another has taken its place")
    }

    fn machine(&mut self, _: Seat, _: Outputs, _: Option<f64>) -> Box<dyn Machine> {
        unreachable!("another has taken its place")
    }
}

/// A `Box<dyn Edge<T>>` whose type is known to both ends.
pub(crate) struct Connection(Box<dyn Any + Send>);

/// Who subscribes to what an instance emits.
pub(crate) struct Outputs {
    pub(crate) stream: Vec<Connection>,
    pub(crate) channels: Vec<Box<dyn ChannelFan>>,
}

impl Outputs {
    fn typed<T: 'static>(self, counters: &Arc<Counters>) -> Outlets<T> {
        let stream = fan(self.stream, counters);
        Outlets { stream, channels: self.channels, losses: None }
    }
}

/// Makes the sending side of one subscription.
pub(crate) trait EdgeBlueprint: Send {
    fn connect(
        &self,
        sender: Sending,
        receiver: ComponentName,
        targets: Targets,
        links: Vec<LinkSender>,
    ) -> Connection;
}

/// Makes one source of a source and the closures right behind it.
pub(crate) trait Fuse: Send {
    /// What becomes of `source` and of `steps`, which were put behind it.
    fn fuse(
        &self,
        source: Box<dyn Blueprint>,
        steps: Box<dyn StepsBlueprint>,
    ) -> Box<dyn Blueprint>;
}

/// Makes what leads the events of a stream through closures.
pub(crate) trait StepsBlueprint: Any + Send {
    /// `next` are the edges of the stream that the closures make.
    fn connect(&self, sender: Sending, next: Vec<Connection>) -> Connection;

    /// What is known of the closures.
    fn infos(&self) -> &[Arc<StepInfo>];
}

/// Makes what hands the events of a channel to its subscribers.
pub(crate) trait ChannelBlueprint: Send {
    fn connect(&self, sender: &Sending, subscribers: Vec<Connection>) -> Box<dyn ChannelFan>;
}

impl<T: Event> ChannelBlueprint for Channel<T> {
    fn connect(&self, sender: &Sending, subscribers: Vec<Connection>) -> Box<dyn ChannelFan> {
        Box::new(TypedChannel::new(*self, fan(subscribers, &sender.counters)))
    }
}

pub(super) struct FusedSteps<S, C> {
    steps: C,
    infos: Arc<[Arc<StepInfo>]>,
    events: PhantomData<fn(S)>,
}

impl<S, C> FusedSteps<S, C> {
    pub(super) fn new(steps: C, infos: Vec<Arc<StepInfo>>) -> Self {
        Self { steps, infos: infos.into(), events: PhantomData }
    }
}

/// Closures of type `C` behind a source of type `S`.
pub(super) struct FuseSource<S, C>(PhantomData<fn(S) -> C>);

impl<S: Immediate + Clone, C: Steps<S::Out>> FuseSource<S, C> {
    /// `None` if an event can become several.
    pub(super) fn if_possible() -> Option<Box<dyn Fuse>> {
        (!C::EXPANDS).then(|| Box::new(Self(PhantomData)) as Box<dyn Fuse>)
    }
}

impl<S: Immediate + Clone, C: Steps<S::Out>> Fuse for FuseSource<S, C> {
    fn fuse(
        &self,
        source: Box<dyn Blueprint>,
        steps: Box<dyn StepsBlueprint>,
    ) -> Box<dyn Blueprint> {
        let typed = "closures and the source that they were put behind know each other's type";
        let source = (source as Box<dyn Any>).downcast::<SourceBlueprint<S>>();
        let steps = (steps as Box<dyn Any>).downcast::<FusedSteps<S::Out, C>>();
        Box::new(FusedBlueprint { source: *source.expect(typed), steps: *steps.expect(typed) })
    }
}

/// A source with the closures right behind it.
struct FusedBlueprint<S: Source, C> {
    source: SourceBlueprint<S>,
    steps: FusedSteps<S::Out, C>,
}

impl<S: Immediate + Clone, C: Steps<S::Out>> Blueprint for FusedBlueprint<S, C> {
    fn machine(&mut self, seat: Seat, outputs: Outputs, rate: Option<f64>) -> Box<dyn Machine> {
        let counters = Arc::clone(&seat.counters);
        let (job, instance) = (Arc::clone(&seat.ctx.job), seat.ctx.instance.clone());
        let sending = Sending { job, instance, counters };
        let losses = Losses::new(sending, Arc::clone(&self.steps.infos));
        let mut outlets = outputs.typed(&seat.counters);
        outlets.losses = Some(losses.clone());
        let (source, steps) = (self.source.source.clone(), self.steps.steps.clone());
        let maker: Maker<FusedSource<S, C>> =
            Box::new(move |_| FusedSource::new(source.clone(), steps.clone(), losses.clone()));
        self.source.machine_of(seat, maker, outlets, rate)
    }

    fn kept(&self) -> Kept {
        self.source.kept()
    }

    fn differences(&self, old: &ComponentManifest) -> Vec<String> {
        self.source.differences(old)
    }

    fn replays(&self) -> bool {
        self.source.replays()
    }

    fn splits(&self, parallelism: usize) -> Option<usize> {
        Blueprint::splits(&self.source, parallelism)
    }

    fn prepare(&mut self) -> Result<()> {
        self.source.prepare()
    }
}

impl<S: Event, C: Steps<S>> StepsBlueprint for FusedSteps<S, C> {
    fn connect(&self, sender: Sending, next: Vec<Connection>) -> Connection {
        let steps = self.steps.clone();
        let next = fan(next, &sender.counters);
        let losses = Losses::new(sender, Arc::clone(&self.infos));
        let edge = StepsEdge::<S, C>::new(losses, steps, next);
        Connection::new::<S>(edge)
    }

    fn infos(&self) -> &[Arc<StepInfo>] {
        &self.infos
    }
}

impl Connection {
    fn new<T: 'static>(edge: impl Edge<T> + 'static) -> Self {
        let edge: Box<dyn Edge<T>> = Box::new(edge);
        Self(Box::new(edge))
    }
}

fn fan<T: 'static>(connections: Vec<Connection>, counters: &Arc<Counters>) -> Fan<T> {
    let typed = |connection: Connection| {
        *connection
            .0
            .downcast::<Box<dyn Edge<T>>>()
            .expect("an edge and its sender were made from one typed stream")
    };
    Fan::new(connections.into_iter().map(typed).collect(), Arc::clone(counters))
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
        sender: Sending,
        receiver: ComponentName,
        targets: Targets,
        links: Vec<LinkSender>,
    ) -> Connection {
        let grouping = self.grouping.clone();
        Connection::new(RoutedEdge::<T, G>::new(sender, receiver, grouping, targets, links))
    }
}

/// As [`GroupedEdge`], for a side of an operator with two inputs.
pub(super) struct SideGroupedEdge<S, T, G> {
    wrap: fn(S) -> T,
    grouping: G,
}

impl<S, T, G> SideGroupedEdge<S, T, G> {
    pub(super) fn new(wrap: fn(S) -> T, grouping: G) -> Self {
        Self { wrap, grouping }
    }
}

impl<S: Event, T: Event, G: Grouping<T>> EdgeBlueprint for SideGroupedEdge<S, T, G> {
    fn connect(
        &self,
        sender: Sending,
        receiver: ComponentName,
        targets: Targets,
        links: Vec<LinkSender>,
    ) -> Connection {
        let counters = Arc::clone(&sender.counters);
        let routed = RoutedEdge::new(sender, receiver, self.grouping.clone(), targets, links);
        Connection::new::<S>(SideEdge::new(self.wrap, counters, routed))
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

impl<S> SourceBlueprint<S> {
    /// The machine of a source with these splits.
    fn machine_of<R: Source>(
        &self,
        seat: Seat,
        maker: Maker<R>,
        outlets: Outlets<R::Out>,
        rate: Option<f64>,
    ) -> Box<dyn Machine> {
        let (index, parallelism) = (seat.ctx.instance.index, seat.ctx.parallelism);
        let splits = splits_of(self.splits, index, parallelism);
        // Each split gets the same share of the rate.
        let all = match self.splits {
            Splits::PerInstance => parallelism,
            Splits::Fixed(count) => count,
        };
        let rate = rate.map(|rate| rate * splits.len() as f64 / all.max(1) as f64);
        Box::new(SourceMachine::new(seat, maker, &splits, rate, outlets))
    }
}

impl<S: Source + Clone> Blueprint for SourceBlueprint<S> {
    fn machine(&mut self, seat: Seat, outputs: Outputs, rate: Option<f64>) -> Box<dyn Machine> {
        let source = self.source.clone();
        let maker: Maker<S> = Box::new(move |_| source.clone());
        let outlets = outputs.typed(&seat.counters);
        self.machine_of(seat, maker, outlets, rate)
    }

    fn kept(&self) -> Kept {
        Kept::fields_of::<S>()
    }

    fn differences(&self, old: &ComponentManifest) -> Vec<String> {
        Kept::differences::<S>(old)
    }

    fn replays(&self) -> bool {
        self.source.replays()
    }

    fn splits(&self, parallelism: usize) -> Option<usize> {
        Some(match self.splits {
            Splits::PerInstance => parallelism,
            Splits::Fixed(count) => count,
        })
    }

    fn prepare(&mut self) -> Result<()> {
        self.splits = self.source.splits()?;
        Ok(())
    }
}

/// Makes one [`Maker`] for each instance.
pub(super) type MakerOf<L> = Box<dyn FnMut() -> Maker<L> + Send>;

/// Makes committers of a sink.
type MakeCommitter = Box<dyn Fn() -> Box<dyn Committer> + Send>;

pub(super) struct LogicBlueprint<L: Logic> {
    makers: MakerOf<L>,
    committers: Option<MakeCommitter>,
}

impl<S: Sink + Clone> LogicBlueprint<SinkLogic<S>> {
    /// Of a sink, which is cloned for each instance and at each restart, and once more to commit.
    pub(super) fn of_sink(prototype: S) -> Self {
        let committers = (S::EFFECT == Effect::Committing).then(|| {
            let prototype = prototype.clone();
            Box::new(move || Box::new(SinkCommitter(prototype.clone())) as Box<dyn Committer>)
                as MakeCommitter
        });
        Self { committers, ..Self::of_prototype(prototype, SinkLogic::new) }
    }
}

impl<L: Logic + 'static> LogicBlueprint<L> {
    /// From a prototype, which is cloned for each instance and at each restart.
    pub(super) fn of_prototype<C, W>(prototype: C, wrap: W) -> Self
    where
        C: Clone + Send + 'static,
        W: Fn(C) -> L + Clone + Send + 'static,
    {
        Self {
            makers: Box::new(move || {
                let (prototype, wrap) = (prototype.clone(), wrap.clone());
                Box::new(move |_: &Context| wrap(prototype.clone()))
            }),
            committers: None,
        }
    }

    /// From a function, which is called for each instance and at each restart.
    pub(super) fn of_function<C, F, W>(make: F, wrap: W) -> Self
    where
        C: 'static,
        F: FnMut(&Context) -> C + Clone + Send + 'static,
        W: Fn(C) -> L + Clone + Send + 'static,
    {
        Self {
            makers: Box::new(move || {
                let (mut make, wrap) = (make.clone(), wrap.clone());
                Box::new(move |ctx: &Context| wrap(make(ctx)))
            }),
            committers: None,
        }
    }
}

impl<L: Logic + 'static> Blueprint for LogicBlueprint<L> {
    fn machine(&mut self, seat: Seat, outputs: Outputs, _: Option<f64>) -> Box<dyn Machine> {
        let outlets = outputs.typed(&seat.counters);
        Box::new(OperatorMachine::new(seat, (self.makers)(), outlets))
    }

    fn kept(&self) -> Kept {
        L::kept()
    }

    fn differences(&self, old: &ComponentManifest) -> Vec<String> {
        L::differences(old)
    }

    fn committer(&self) -> Option<Box<dyn Committer>> {
        self.committers.as_ref().map(|make| make())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::Component;
    use crate::id::CheckpointId;
    use crate::sink::{ForEach, TwoPhaseSink};
    use std::sync::Mutex;

    /// Notes what is done to its clones.
    #[derive(Clone, Default)]
    struct Noting(Arc<Mutex<Vec<String>>>);

    impl Component for Noting {
        type Saved = ();

        fn name(&self) -> &str {
            "noting"
        }

        fn save(&self) {}

        fn load(&mut self, (): ()) {}
    }

    impl TwoPhaseSink for Noting {
        type In = u64;
        type Handle = u64;

        fn write(&mut self, _: u64) -> Result<()> {
            Ok(())
        }

        fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<u64>> {
            Ok(Some(checkpoint.0))
        }

        fn commit(&mut self, handle: u64) -> Result<()> {
            self.0.lock().unwrap().push(format!("commit {handle}"));
            Ok(())
        }

        fn clean_up(&mut self, job: &str, component: &str) -> Result<()> {
            self.0.lock().unwrap().push(format!("clean up {job}/{component}"));
            Ok(())
        }
    }

    #[test]
    fn only_a_sink_that_commits_has_a_committer_and_it_is_a_clone_of_the_prototype() {
        let mut noting = Noting::default();
        let handle = Sink::prepare(&mut noting, CheckpointId(7)).unwrap().unwrap();
        let blueprint = LogicBlueprint::of_sink(noting.clone());
        let mut committer = blueprint.committer().unwrap();
        committer.commit(handle).unwrap();
        committer.clean_up("job", "component").unwrap();
        assert_eq!(*noting.0.lock().unwrap(), ["commit 7", "clean up job/component"]);
        assert!(LogicBlueprint::of_sink(ForEach::new(|_: u64| {})).committer().is_none());
    }
}
