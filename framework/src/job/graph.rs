//! The logical graph: components, and who subscribes to whom.

use super::blueprint::{Blueprint, EdgeBlueprint};
use crate::id::ComponentName;
use std::fmt;

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
    /// Events a second, of a source that is held to a rate.
    pub(crate) rate: Option<f64>,
    pub(crate) blueprint: Box<dyn Blueprint>,
}

/// One subscription.
pub(crate) struct Edge {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    /// Whether it spreads by key groups.
    pub(crate) by_key: bool,
    pub(crate) blueprint: Box<dyn EdgeBlueprint>,
}

/// Components in the order in which they were added, with their subscriptions.
#[derive(Default)]
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
}

impl Graph {
    pub(crate) fn add_node(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() - 1)
    }

    pub(crate) fn add_edge(&mut self, edge: Edge) {
        self.edges.push(edge);
    }

    /// All that is the user's, to be dropped one by one.
    pub(crate) fn take_apart(&mut self) -> Vec<Box<dyn std::any::Any + Send>> {
        let nodes =
            self.nodes.drain(..).map(|node| Box::new(node) as Box<dyn std::any::Any + Send>);
        let edges =
            self.edges.drain(..).map(|edge| Box::new(edge) as Box<dyn std::any::Any + Send>);
        nodes.chain(edges).collect()
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
