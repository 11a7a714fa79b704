//! From the logical graph to instances and the links between them, for any shell.

use super::placement::Placement;
use super::state::{ComponentView, InstanceView, JobState};
use crate::component::{Context, Result, Split};
use crate::grouping::Targets;
use crate::id::{Attempt, InstanceId, LinkIndex};
use crate::instance::{Machine, Reports, Seat, Sending};
use crate::job::{Connection, Edge, Graph, NodeId, Origin, Outputs, StreamId};
use crate::key::KeyGroups;
use crate::link::{LinkLimits, LinkSender, LinkState, Mailbox, Pace};
use crate::time::Clock;
use std::collections::HashMap;
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

    /// Where instance `index` of component `component` is to report.
    fn reports(&mut self, component: usize, index: usize) -> Arc<dyn Reports>;

    /// Starts to drive a machine.
    fn spawn(
        &mut self,
        component: usize,
        id: &InstanceId,
        place: Place,
        machine: Box<dyn Machine>,
    ) -> Arc<dyn Mailbox>;
}

/// What a job is assembled by, beside its graph.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) key_groups: KeyGroups,
    pub(crate) limits: LinkLimits,
    pub(crate) clock: Arc<dyn Clock>,
}

/// The receiving side of one instance.
struct Inlet {
    mailbox: Arc<dyn Mailbox>,
    pace: Arc<Pace>,
    links: usize,
}

/// What is known of a job before its instances are started.
pub(crate) fn state_of(job: &str, graph: &Graph) -> JobState {
    let components = graph.ids().zip(&graph.nodes).map(|(id, node)| ComponentView {
        name: node.name.clone(),
        role: node.role,
        last: graph.outputs(id).next().is_none(),
        instances: (0..node.parallelism)
            .map(|index| Arc::new(InstanceView::new(InstanceId::new(node.name.clone(), index))))
            .collect(),
    });
    JobState::new(job.to_owned(), components.collect(), graph.steps())
}

/// Makes all instances and connects them, those without successors first: whoever sends finds its
/// receivers there.
///
/// # Errors
/// A source could not say into which splits it falls.
pub(crate) fn assemble(
    graph: &mut Graph,
    state: &JobState,
    settings: &Settings,
    shell: &mut dyn Shell,
) -> Result<()> {
    graph.fuse_sources();
    for node in &mut graph.nodes {
        node.blueprint.prepare()?;
    }
    let job: Arc<str> = state.name.as_str().into();
    let placement = Placement {
        instances: graph.nodes.iter().map(|node| node.parallelism).sum(),
        widest: graph.nodes.iter().map(|node| node.parallelism).max().unwrap_or(1),
        arbiters: shell.arbiters(),
    };
    let mut inlets: HashMap<NodeId, Vec<Inlet>> = HashMap::new();
    for node in graph.downstream_first() {
        let parallelism = graph.node(node).parallelism;
        let blocking = graph.node(node).blocking;
        let rate = graph.node(node).rate;
        let links = graph.inputs(node).map(|e| graph.node(graph.edges[e].from).parallelism).sum();
        let before = graph.nodes[..node.0].iter().map(|node| node.parallelism).sum();
        let (streams, stream_of) = streams_into(graph, node);
        let mut made = Vec::new();
        for index in 0..parallelism {
            let view = &state.components[node.0].instances[index];
            let pace = Arc::new(Pace::default());
            let sending = Sending {
                job: Arc::clone(&job),
                instance: view.id.clone(),
                counters: Arc::clone(&view.counters),
            };
            let sender = Sender { graph, index, sending, inlets: &inlets, settings };
            let outputs = sender.outputs(node);
            let seat = Seat {
                ctx: Context {
                    job: Arc::clone(&job),
                    instance: view.id.clone(),
                    parallelism,
                    split: Split { index, count: parallelism },
                    clock: Arc::clone(&settings.clock),
                    draining: Arc::default(),
                    checkpointed: false,
                },
                attempt: Attempt::FIRST,
                links,
                pace: Arc::clone(&pace),
                control: Arc::clone(&view.control),
                counters: Arc::clone(&view.counters),
                on_error: graph.node(node).on_error,
                streams: Arc::clone(&streams),
                stream_of: Arc::clone(&stream_of),
                reports: shell.reports(node.0, index),
            };
            let machine = graph.node_mut(node).blueprint.machine(seat, outputs, rate);
            let place = if blocking {
                Place::OwnThread
            } else {
                Place::Arbiter(placement.arbiter_of(before, index))
            };
            let mailbox = shell.spawn(node.0, &view.id, place, machine);
            made.push(Inlet { mailbox, pace, links });
        }
        inlets.insert(node, made);
    }
    Ok(())
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
            attempt: Attempt::FIRST,
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
