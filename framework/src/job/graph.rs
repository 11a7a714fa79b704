//! The logical graph: components, and who subscribes to whom.

use super::blueprint::{Blueprint, ChannelBlueprint, EdgeBlueprint, Fuse, Gone, StepsBlueprint};
use crate::channel::ChannelInfo;
use crate::component::OnError;
use crate::id::ComponentName;
use crate::sink::Effect;
use crate::step::StepInfo;
use std::fmt;
use std::sync::Arc;

/// A component's place in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub(crate) usize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Source,
    Operator,
    Sink,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Operator => "operator",
            Self::Sink => "sink",
        })
    }
}

/// One component.
pub(crate) struct Node {
    pub(crate) name: ComponentName,
    pub(crate) parallelism: usize,
    pub(crate) role: Role,
    pub(crate) blocking: bool,
    /// As it was said; `None` as the delivery has it.
    pub(crate) on_error: Option<OnError>,
    /// What becomes of what it has prepared and cannot commit.
    pub(crate) on_commit_error: OnError,
    /// Those that it declares.
    pub(crate) channels: &'static [ChannelInfo],
    /// Events a second, of a source that is held to a rate.
    pub(crate) rate: Option<f64>,
    /// How many closures there are on its edges.
    pub(crate) steps: usize,
    /// Whether it was to read a stream of another job.
    pub(crate) foreign: bool,
    /// What becomes of what a sink writes when events come again; `None` of all others.
    pub(crate) effect: Option<Effect>,
    /// Whether it may be seen again.
    pub(crate) may_repeat: bool,
    pub(crate) blueprint: Box<dyn Blueprint>,
}

/// A stream's place in its graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct StreamId(pub(crate) usize);

/// One stream.
pub(crate) struct StreamNode {
    /// The component that emits it, through closures perhaps.
    pub(crate) from: NodeId,
    pub(crate) origin: Origin,
}

/// Where a stream comes from.
pub(crate) enum Origin {
    /// It is what the component emits.
    Output,
    /// It is what the component emits into a channel.
    Channel(ChannelInfo, Box<dyn ChannelBlueprint>),
    /// It is what closures make of another stream. Right behind a source, the two may be made one.
    Steps(StreamId, Box<dyn StepsBlueprint>, Option<Box<dyn Fuse>>),
    /// It is what a source emits to its own closures: nobody else sees it.
    Inner,
}

/// One subscription.
pub(crate) struct Edge {
    pub(crate) stream: StreamId,
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    /// What the subscriber calls the stream, if not by its own name.
    pub(crate) alias: Option<Arc<str>>,
    /// Whether it spreads by key groups.
    pub(crate) by_key: bool,
    /// Whether it is the right input of an operator with two.
    pub(crate) is_right: bool,
    pub(crate) blueprint: Box<dyn EdgeBlueprint>,
}

/// Components in the order in which they were added, with their streams and subscriptions.
#[derive(Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) streams: Vec<StreamNode>,
    pub(crate) edges: Vec<Edge>,
}

impl Graph {
    /// Adds a component, and the stream of what it emits.
    pub(crate) fn add_node(&mut self, node: Node) -> (NodeId, StreamId) {
        self.nodes.push(node);
        let node = NodeId(self.nodes.len() - 1);
        (node, self.add_stream(node, Origin::Output))
    }

    pub(crate) fn add_stream(&mut self, from: NodeId, origin: Origin) -> StreamId {
        self.streams.push(StreamNode { from, origin });
        StreamId(self.streams.len() - 1)
    }

    pub(crate) fn add_edge(&mut self, edge: Edge) {
        self.edges.push(edge);
    }

    pub(crate) fn stream(&self, id: StreamId) -> &StreamNode {
        &self.streams[id.0]
    }

    pub(crate) fn stream_ids(&self) -> impl Iterator<Item = StreamId> + use<> {
        (0..self.streams.len()).map(StreamId)
    }

    /// The stream that `node` emits into a channel, if somebody has asked for it.
    pub(crate) fn channel(&self, node: NodeId, channel: &ChannelInfo) -> Option<StreamId> {
        self.stream_ids().find(|id| {
            let stream = self.stream(*id);
            matches!(&stream.origin, Origin::Channel(info, _) if info.is(channel))
                && stream.from == node
        })
    }

    /// The streams that closures make of `stream`, and that lead somewhere.
    pub(crate) fn derived(&self, stream: StreamId) -> impl Iterator<Item = StreamId> {
        self.stream_ids().filter(move |id| {
            matches!(self.stream(*id).origin, Origin::Steps(of, ..) if of == stream)
                && self.is_read(*id)
        })
    }

    /// Whether a component subscribes to `stream`, or to one that is derived from it.
    pub(crate) fn is_read(&self, stream: StreamId) -> bool {
        self.edges.iter().any(|edge| edge.stream == stream) || self.derived(stream).next().is_some()
    }

    /// Makes one source of each source that is read by one chain of closures and by nobody else.
    pub(crate) fn fuse_sources(&mut self) {
        for id in self.stream_ids() {
            let Origin::Steps(of, _, Some(_)) = self.stream(id).origin else { continue };
            let StreamNode { from, origin: Origin::Output } = *self.stream(of) else { continue };
            let alone = self.derived(of).eq([id]) && self.edges.iter().all(|e| e.stream != of);
            if !alone || self.node(from).rate.is_some() {
                continue;
            }
            let origin = std::mem::replace(&mut self.streams[id.0].origin, Origin::Output);
            self.streams[of.0].origin = Origin::Inner;
            if let Origin::Steps(_, steps, Some(fuse)) = origin {
                let node = self.node_mut(from);
                let source = std::mem::replace(&mut node.blueprint, Box::new(Gone));
                node.blueprint = fuse.fuse(source, steps);
            }
        }
    }

    /// All closures on edges.
    pub(crate) fn steps(&self) -> Vec<Arc<StepInfo>> {
        let streams = self.streams.iter().filter_map(|stream| match &stream.origin {
            Origin::Steps(_, steps, _) => Some(steps.infos()),
            Origin::Output | Origin::Channel(..) | Origin::Inner => None,
        });
        streams.flatten().cloned().collect()
    }

    /// What a stream is called where it ends.
    pub(crate) fn stream_name(&self, edge: &Edge) -> Arc<str> {
        if let Some(alias) = &edge.alias {
            return Arc::clone(alias);
        }
        let name = &self.node(edge.from).name;
        match self.root(edge.stream) {
            Origin::Channel(channel, _) => format!("{name}/{}", channel.name()).into(),
            _ => name.as_str().into(),
        }
    }

    /// The output or channel that a stream begins with.
    fn root(&self, stream: StreamId) -> &Origin {
        match &self.stream(stream).origin {
            Origin::Steps(of, ..) => self.root(*of),
            root => root,
        }
    }

    /// All that is the user's, to be dropped one by one.
    pub(crate) fn take_apart(&mut self) -> Vec<Box<dyn std::any::Any + Send>> {
        let nodes =
            self.nodes.drain(..).map(|node| Box::new(node) as Box<dyn std::any::Any + Send>);
        let edges =
            self.edges.drain(..).map(|edge| Box::new(edge) as Box<dyn std::any::Any + Send>);
        let streams =
            self.streams.drain(..).map(|stream| Box::new(stream) as Box<dyn std::any::Any + Send>);
        nodes.chain(streams).chain(edges).collect()
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0]
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId)
    }

    /// The indices of the edges that leave `node`, in the order in which they were added.
    pub(crate) fn outputs(&self, node: NodeId) -> impl Iterator<Item = usize> {
        (0..self.edges.len()).filter(move |&e| self.edges[e].from == node)
    }

    pub(crate) fn inputs(&self, node: NodeId) -> impl Iterator<Item = usize> {
        (0..self.edges.len()).filter(move |&e| self.edges[e].to == node)
    }

    /// Of each component the number of its region: of what is connected with each other.
    pub(crate) fn regions(&self) -> Vec<usize> {
        let mut regions: Vec<usize> = (0..self.nodes.len()).collect();
        // Each edge makes one of two; as often as there is one that had not done so.
        while let Some(edge) = self.edges.iter().find(|e| regions[e.from.0] != regions[e.to.0]) {
            let (one, other) = (regions[edge.from.0], regions[edge.to.0]);
            let (kept, gone) = (one.min(other), one.max(other));
            regions.iter_mut().filter(|region| **region == gone).for_each(|region| *region = kept);
        }
        regions
    }

    /// Components so that each comes after all that it sends to; what lies on a cycle is left out.
    pub(crate) fn downstream_first(&self) -> Vec<NodeId> {
        let mut order = Vec::new();
        let mut left: Vec<NodeId> = self.ids().collect();
        loop {
            let (ready, rest): (Vec<_>, Vec<_>) = left
                .iter()
                .partition(|&&node| self.outputs(node).all(|e| order.contains(&self.edges[e].to)));
            if ready.is_empty() {
                return order;
            }
            order.extend(ready);
            left = rest;
        }
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let edges = self.edges.iter().map(|e| (&self.node(e.from).name, &self.node(e.to).name));
        f.debug_list().entries(edges).finish()
    }
}
