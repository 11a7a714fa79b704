//! From the logical graph to instances and the links between them, for any shell.

use super::checkpoints::Committers;
use super::placement::Placement;
use super::state::{ComponentView, InstanceView, JobState};
use crate::checkpoint::{ComponentManifest, Manifest, Part, Restored, RestoredComponent};
use crate::component::{BoxError, Context, Split};
use crate::grouping::Targets;
use crate::id::{Attempt, InstanceId, LinkIndex};
use crate::instance::{Kept, Machine, Reports, Saving, Seat, Sending, Snapshots};
use crate::job::{
    Connection, Delivery, Edge, Graph, Node, NodeId, Origin, Outputs, Role, StreamId,
};
use crate::key::KeyGroups;
use crate::link::{LinkLimits, LinkSender, LinkState, Mailbox, Pace};
use crate::time::Clock;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

/// Where an instance runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On the arbiter of this number, with others.
    Arbiter(usize),
    /// On a thread of its own, since it blocks.
    OwnThread,
}

/// What drives machines: actors, or the tests' scheduler.
pub(crate) trait Shell {
    /// How many arbiters there are to place instances on.
    fn arbiters(&self) -> usize;

    /// Where instance `index` of component `component` is to report, and where its snapshots go.
    fn reports(&mut self, component: usize, index: usize, attempt: Attempt) -> Arc<dyn Reports>;
    fn snapshots(&mut self, component: usize, index: usize, attempt: Attempt)
    -> Arc<dyn Snapshots>;

    /// Starts to drive a machine; in the place of the one that there was, if there was one.
    fn drive(
        &mut self,
        component: usize,
        id: &InstanceId,
        place: Place,
        reports: Arc<dyn Reports>,
        machine: Box<dyn Machine>,
    ) -> Arc<dyn Mailbox>;
}

/// What a job is assembled by, beside its graph.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) key_groups: KeyGroups,
    pub(crate) limits: LinkLimits,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) delivery: Delivery,
    /// Components whose state may be lost.
    pub(crate) dropped: Vec<String>,
}

/// Which machines are to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Making<'a> {
    pub(crate) attempt: Attempt,
    /// Those of one region, or all.
    pub(crate) region: Option<usize>,
    /// What they go on from.
    pub(crate) restored: Option<&'a Restored>,
}

/// The receiving side of one instance.
struct Inlet {
    mailbox: Arc<dyn Mailbox>,
    pace: Arc<Pace>,
    links: usize,
}

/// What is known of a job before its instances are started.
pub(crate) fn state_of(job: &str, graph: &Graph) -> JobState {
    let regions = graph.regions();
    let components = graph.ids().zip(&graph.nodes).map(|(id, node)| ComponentView {
        name: node.name.clone(),
        role: node.role,
        // Also one whose dead letters are read.
        last: node.role == Role::Sink || graph.outputs(id).next().is_none(),
        offences: Arc::default(),
        on_commit_error: node.on_commit_error,
        region: regions[id.0],
        instances: (0..node.parallelism)
            .map(|index| Arc::new(InstanceView::new(InstanceId::new(node.name.clone(), index))))
            .collect(),
    });
    JobState::new(job.to_owned(), components.collect(), graph.steps())
}

/// A job that is put together: once, and again where parts of it go back to a checkpoint.
pub(crate) struct Assembly {
    graph: Graph,
    state: Arc<JobState>,
    settings: Settings,
}

impl fmt::Debug for Assembly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assembly").field("graph", &self.graph).finish_non_exhaustive()
    }
}

impl Assembly {
    /// # Errors
    /// A source could not say into which splits it falls.
    pub(crate) fn new(
        mut graph: Graph,
        state: Arc<JobState>,
        settings: Settings,
    ) -> Result<Self, (BoxError, Graph)> {
        graph.fuse_sources();
        let prepared = graph.nodes.iter_mut().try_for_each(|node| node.blueprint.prepare());
        match prepared {
            Ok(()) => Ok(Self { graph, state, settings }),
            Err(error) => Err((error, graph)),
        }
    }

    /// All that is the user's, to be dropped one by one.
    pub(crate) fn take_apart(&mut self) -> Vec<Box<dyn std::any::Any + Send>> {
        self.graph.take_apart()
    }

    pub(crate) fn settings(&self) -> (Delivery, KeyGroups) {
        (self.settings.delivery, self.settings.key_groups)
    }

    /// What a manifest says of the components, without their parts.
    pub(crate) fn components(&self) -> Vec<ComponentManifest> {
        let component = |node: &Node| {
            let Kept { fields, keyed, .. } = node.blueprint.kept();
            ComponentManifest {
                name: node.name.to_string(),
                role: node.role.to_string(),
                parallelism: u32::try_from(node.parallelism).unwrap_or(u32::MAX),
                fields,
                keyed,
                parts: Vec::new(),
            }
        };
        self.graph.nodes.iter().map(component).collect()
    }

    /// What commits what the sinks prepare.
    pub(crate) fn committers(&self) -> Committers {
        let committer = |node: &Node| Some((node.name.to_string(), node.blueprint.committer()?));
        Committers::new(&self.state.owner(), self.graph.nodes.iter().filter_map(committer))
    }

    /// Whether the state of this component may be lost.
    pub(crate) fn drops(&self, component: &String) -> bool {
        self.settings.dropped.contains(component)
    }

    /// What keeps this job from going on from that checkpoint, in words.
    pub(crate) fn differences(&self, manifest: &Manifest) -> Vec<String> {
        let mut words = Vec::new();
        let groups = self.settings.key_groups.count();
        if usize::from(manifest.key_groups) != groups {
            words.push(format!(
                "it was taken with {} key groups, and the job has {groups}: set \
                 `Job::key_groups` as it was",
                manifest.key_groups,
            ));
        }
        for old in &manifest.components {
            let name = &old.name;
            let node = self.graph.nodes.iter().find(|node| node.name.as_str() == name);
            match node {
                None if old.is_stateless() || self.drops(name) => {}
                None => words.push(format!(
                    "the job has no component {name:?} any more, and its state would be lost: give a \
                     component that name, or say `Job::drop_state_of({name:?})`"
                )),
                Some(node) if old.role != node.role.to_string() && !old.is_stateless() => {
                    words.push(format!(
                        "{name:?} was {}, and is {} now: give it another name, and say \
                         `Job::drop_state_of({name:?})`",
                        with_article(&old.role),
                        with_article(&node.role.to_string()),
                    ));
                }
                Some(node) => {
                    let differences = node.blueprint.differences(old);
                    words.extend(differences.iter().map(|words| format!("{name:?}: {words}")));
                    // What a source has saved belongs to its splits.
                    if node.role != Role::Source {
                        let refused = node.blueprint.kept().not_rescaled(old, node.parallelism);
                        words.extend(refused.iter().map(ToString::to_string));
                    }
                    let before =
                        old.parts.iter().filter(|part| matches!(part.part, Part::Split(_))).count();
                    let now = node.blueprint.splits(node.parallelism);
                    words.extend(now.filter(|now| *now != before).map(|now| {
                        format!(
                            "{name:?} falls into {now} splits, and had {before}: give it the input, and \
                             where it has a split for each instance the parallelism, that it had"
                        )
                    }));
                }
            }
        }
        let is_gone = |name: &&String| {
            let named = |node: &Node| node.name.as_str() == name.as_str();
            !self.graph.nodes.iter().any(named) && !self.drops(name)
        };
        let sinks: BTreeSet<&String> =
            manifest.commits.iter().map(|commit| &commit.component).filter(is_gone).collect();
        words.extend(sinks.into_iter().map(|sink| {
            format!(
                "the job has no sink {sink:?} any more, which has prepared what may not be committed yet: \
                 give a sink of that kind the name, or say `Job::drop_state_of({sink:?})`"
            )
        }));
        words
    }

    /// Makes instances and connects them, those without successors first: whoever sends finds its
    /// receivers there.
    pub(crate) fn make(&mut self, making: Making<'_>, shell: &mut dyn Shell) {
        let Self { graph, state, settings } = self;
        let job: Arc<str> = state.name.as_str().into();
        let owner: Arc<str> = state.owner().into();
        let placement = Placement {
            instances: graph.nodes.iter().map(|node| node.parallelism).sum(),
            widest: graph.nodes.iter().map(|node| node.parallelism).max().unwrap_or(1),
            arbiters: shell.arbiters(),
        };
        let mut inlets: HashMap<NodeId, Vec<Inlet>> = HashMap::new();
        let is_made =
            |node: &NodeId| making.region.is_none_or(|r| state.components[node.0].region == r);
        for node in graph.downstream_first().into_iter().filter(is_made) {
            let parallelism = graph.node(node).parallelism;
            let blocking = graph.node(node).blocking;
            let rate = graph.node(node).rate;
            let links =
                graph.inputs(node).map(|e| graph.node(graph.edges[e].from).parallelism).sum();
            let before = graph.nodes[..node.0].iter().map(|node| node.parallelism).sum();
            let (streams, stream_of) = streams_into(graph, node);
            let restored = making.restored.and_then(|restored| {
                RestoredComponent::of(restored, graph.node(node).name.as_str())
            });
            let restored = restored.map(Arc::new);
            let rebase = restored.as_ref().is_some_and(|restored| {
                let kept = graph.node(node).blueprint.kept();
                kept.fields != restored.fields
                    || kept.keyed.map(|(_, state)| state) != restored.keyed
            });
            let mut made = Vec::new();
            for index in 0..parallelism {
                let view = &state.components[node.0].instances[index];
                let pace = Arc::new(Pace::default());
                let sending = Sending {
                    job: Arc::clone(&job),
                    instance: view.id.clone(),
                    counters: Arc::clone(&view.counters),
                };
                let attempt = making.attempt;
                let sender = Sender { graph, index, sending, inlets: &inlets, settings, attempt };
                let outputs = sender.outputs(node);
                let saving = settings.delivery.checkpoints().map(|_| Saving {
                    aligned: matches!(settings.delivery, Delivery::ExactlyOnce(_)),
                    key_groups: settings.key_groups,
                    snapshots: shell.snapshots(node.0, index, attempt),
                    from: making.restored.map(|restored| restored.manifest.id),
                    restored: restored.clone(),
                    rebase,
                });
                let reports = shell.reports(node.0, index, attempt);
                let seat = Seat {
                    ctx: Context {
                        job: Arc::clone(&job),
                        instance: view.id.clone(),
                        parallelism,
                        split: Split { index, count: parallelism },
                        clock: Arc::clone(&settings.clock),
                        draining: Arc::default(),
                        checkpointed: saving.is_some(),
                        owner: Arc::clone(&owner),
                    },
                    attempt,
                    links,
                    pace: Arc::clone(&pace),
                    control: view.renew_control(),
                    counters: Arc::clone(&view.counters),
                    on_error: graph.node(node).on_error,
                    offences: Arc::clone(&state.components[node.0].offences),
                    streams: Arc::clone(&streams),
                    stream_of: Arc::clone(&stream_of),
                    reports: Arc::clone(&reports),
                    saving,
                };
                let machine = graph.node_mut(node).blueprint.machine(seat, outputs, rate);
                let place = if blocking {
                    Place::OwnThread
                } else {
                    Place::Arbiter(placement.arbiter_of(before, index))
                };
                let mailbox = shell.drive(node.0, &view.id, place, reports, machine);
                made.push(Inlet { mailbox, pace, links });
            }
            inlets.insert(node, made);
        }
    }
}

fn with_article(role: &str) -> String {
    format!("{} {role}", if role.starts_with('o') { "an" } else { "a" })
}

/// The names of the streams that end in `node`, and for each of its links the place of its stream
/// among them. Links are numbered edge by edge.
fn streams_into(graph: &Graph, node: NodeId) -> (Arc<[Arc<str>]>, Arc<[usize]>) {
    let edges: Vec<&Edge> = graph.inputs(node).map(|e| &graph.edges[e]).collect();
    let names = edges.iter().map(|edge| graph.stream_name(edge)).collect();
    let links = edges
        .iter()
        .enumerate()
        .flat_map(|(i, edge)| std::iter::repeat_n(i, graph.node(edge.from).parallelism));
    (names, links.collect())
}

/// One sending instance.
struct Sender<'a> {
    graph: &'a Graph,
    index: usize,
    sending: Sending,
    inlets: &'a HashMap<NodeId, Vec<Inlet>>,
    settings: &'a Settings,
    attempt: Attempt,
}

impl Sender<'_> {
    /// All that it sends to.
    fn outputs(&self, node: NodeId) -> Outputs {
        let mut outputs = Outputs { stream: Vec::new(), channels: Vec::new() };
        for id in self.graph.stream_ids().filter(|id| self.graph.stream(*id).from == node) {
            match &self.graph.stream(id).origin {
                Origin::Output => outputs.stream = self.subscribers(id),
                Origin::Channel(_, channel) => {
                    outputs.channels.push(channel.connect(&self.sending, self.subscribers(id)));
                }
                // Part of what the stream that it is derived from leads to.
                Origin::Steps(..) | Origin::Inner => {}
            }
        }
        outputs
    }

    /// The edges of a stream, through closures and directly.
    fn subscribers(&self, stream: StreamId) -> Vec<Connection> {
        let derived =
            self.graph.derived(stream).filter_map(|id| match &self.graph.stream(id).origin {
                Origin::Steps(_, steps, _) => {
                    Some(steps.connect(self.sending.clone(), self.subscribers(id)))
                }
                Origin::Output | Origin::Channel(..) | Origin::Inner => None,
            });
        let direct = (0..self.graph.edges.len()).filter(|e| self.graph.edges[*e].stream == stream);
        derived.chain(direct.map(|e| self.connect(e))).collect()
    }

    /// The sending side of edge `e`.
    fn connect(&self, e: usize) -> Connection {
        let Self { graph, inlets, settings, .. } = self;
        let edge = &graph.edges[e];
        let before: usize = graph
            .inputs(edge.to)
            .take_while(|other| *other != e)
            .map(|other| graph.node(graph.edges[other].from).parallelism)
            .sum();
        let index = LinkIndex(u32::try_from(before + self.index).unwrap_or(u32::MAX));
        let links = inlets[&edge.to].iter().map(|inlet| LinkSender {
            state: LinkState::new(settings.limits.shared_by(inlet.links), Arc::clone(&inlet.pace)),
            mailbox: Arc::clone(&inlet.mailbox),
            index,
            attempt: self.attempt,
            counters: Arc::clone(&self.sending.counters),
        });
        let targets = Targets {
            sender: self.index,
            instances: graph.node(edge.to).parallelism,
            key_groups: settings.key_groups,
        };
        let receiver = graph.node(edge.to).name.clone();
        edge.blueprint.connect(self.sending.clone(), receiver, targets, links.collect())
    }
}
