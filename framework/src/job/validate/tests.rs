use super::super::blueprint::{Blueprint, Connection, EdgeBlueprint, Outputs};
use super::super::graph::Edge;
use super::*;
use crate::channel::Channel;
use crate::checkpoint::ComponentManifest;
use crate::component::OnError;
use crate::grouping::Targets;
use crate::instance::{Kept, Machine, Seat, Sending};
use crate::link::LinkSender;
use std::time::Duration;

/// A component that is never built.
struct Paper;

impl Blueprint for Paper {
    fn kept(&self) -> Kept {
        unreachable!("this job is never run")
    }

    fn differences(&self, _: &ComponentManifest) -> Vec<String> {
        unreachable!("this job is never run")
    }

    fn machine(&mut self, _: Seat, _: Outputs, _: Option<f64>) -> Box<dyn Machine> {
        unreachable!("a graph that is only checked")
    }
}

impl EdgeBlueprint for Paper {
    fn connect(&self, _: Sending, _: ComponentName, _: Targets, _: Vec<LinkSender>) -> Connection {
        unreachable!("a graph that is only checked")
    }
}

fn graph(nodes: &[(&str, Role, usize)], edges: &[(usize, usize)]) -> Graph {
    let mut graph = Graph::default();
    for (name, role, parallelism) in nodes {
        graph.add_node(Node {
            name: (*name).into(),
            parallelism: *parallelism,
            role: *role,
            blocking: false,
            on_commit_error: OnError::Fail,
            on_error: None,
            channels: &[],
            rate: None,
            steps: 0,
            foreign: false,
            effect: (*role == Sink).then_some(Effect::Repeating),
            may_repeat: false,
            blueprint: Box::new(Paper),
        });
    }
    for (from, to) in edges {
        graph.add_edge(Edge {
            // The first stream of each component is what it emits.
            stream: StreamId(*from),
            from: NodeId(*from),
            to: NodeId(*to),
            alias: None,
            by_key: false,
            is_right: false,
            blueprint: Box::new(Paper),
        });
    }
    graph
}

use Role::{Operator, Sink, Source};

fn check(graph: &Graph, groups: KeyGroups) -> Vec<Problem> {
    super::check(&Job::new("checked").key_groups(groups), graph)
}

#[test]
fn a_diamond_with_two_sources_is_fine() {
    let graph = graph(
        &[
            ("a", Source, 1),
            ("b", Operator, 2),
            ("c", Operator, 3),
            ("d", Sink, 1),
            ("e", Source, 1),
        ],
        &[(0, 1), (0, 2), (1, 3), (2, 3), (4, 3)],
    );
    assert_eq!(check(&graph, KeyGroups::DEFAULT), []);
    let order = graph.downstream_first();
    let place = |n| order.iter().position(|id| *id == NodeId(n)).unwrap();
    assert!(graph.edges.iter().all(|e| place(e.to.0) < place(e.from.0)));
}

#[test]
fn all_mistakes_are_listed_in_one_error() {
    let mut graph = graph(
        &[
            ("reader", Source, 1),
            ("counter", Operator, 0),
            ("counter", Operator, 1),
            ("lonely", Source, 1),
            ("island", Operator, 1),
            ("ring-a", Operator, 1),
            ("ring-b", Operator, 1),
            ("", Sink, 1),
            ("wide", Operator, 200),
        ],
        &[(0, 1), (0, 2), (0, 2), (0, 5), (5, 6), (6, 5), (1, 7), (0, 8)],
    );
    graph.edges[7].by_key = true;
    graph.nodes[3].rate = Some(f64::NAN);
    let problems = Problems::new(check(&graph, KeyGroups::DEFAULT));
    let text = problems.to_string();
    for expected in [
        "its sink has an empty name",
        "2 components are named \"counter\": tell them apart with `.named(\"..\")`",
        "\"counter\" has parallelism 0: it needs at least 1",
        "\"wide\" is grouped by key and has parallelism 200, but the job has 128 key groups",
        "\"lonely\" has the rate NaN",
        "no source reaches \"island\"",
        "nobody reads the source \"lonely\"",
        "\"counter\" is applied twice to the stream of \"reader\"",
        "ring-a -> ring-b -> ring-a form a cycle",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in {text:?}");
    }
    assert_eq!(problems.as_slice().len(), 9, "{text}");
    assert!(text.starts_with("9 problems: (1) "), "{text}");
}

#[test]
fn four_kinds_of_mistakes_are_one_error_that_names_each_component() {
    const ALERTS: Channel<u64> = Channel::new("alerts");
    let mut graph = graph(
        &[
            ("reader", Source, 1),
            ("twin", Operator, 1),
            ("twin", Operator, 1),
            ("island", Sink, 1),
            ("ring-a", Operator, 1),
            ("ring-b", Operator, 1),
            ("ring-c", Operator, 1),
            ("silent", Operator, 1),
            ("listener", Sink, 1),
        ],
        &[(0, 1), (0, 2), (0, 4), (4, 5), (5, 6), (6, 4), (0, 7)],
    );
    let alerts = Origin::Channel(ALERTS.info(), Box::new(ALERTS));
    let stream = graph.add_stream(NodeId(7), alerts);
    graph.add_edge(Edge {
        stream,
        from: NodeId(7),
        to: NodeId(8),
        alias: None,
        by_key: false,
        is_right: false,
        blueprint: Box::new(Paper),
    });
    let names = ["ring-a", "ring-b", "ring-c"];
    let found = check(&graph, KeyGroups::DEFAULT);
    assert_eq!(
        found,
        [
            Problem::DuplicateName { name: "twin".into(), times: 2 },
            Problem::Unreachable { name: "island".into() },
            Problem::NoSuchChannel {
                name: "silent".into(),
                channel: "alerts (u64)".to_owned(),
                declared: "none".to_owned(),
            },
            Problem::Cycle { names: names.map(ComponentName::from).to_vec() },
        ]
    );
    let text = Problems::new(found).to_string();
    assert!(text.starts_with("4 problems: (1) "), "{text}");
    for name in ["twin", "island", "silent", "ring-a -> ring-b -> ring-c -> ring-a"] {
        assert!(text.contains(name), "{name} is not in {text}");
    }
}

#[test]
fn an_empty_job_says_what_to_do() {
    let problems = Problems::new(check(&Graph::default(), KeyGroups::DEFAULT));
    assert_eq!(problems.to_string(), "it has no source: add one with `job.source(..)`");
}

#[test]
fn a_cycle_behind_a_tail_is_named_without_the_tail() {
    let graph = graph(
        &[
            ("s", Source, 1),
            ("tail", Operator, 1),
            ("x", Operator, 1),
            ("y", Operator, 1),
            ("z", Sink, 1),
        ],
        &[(0, 1), (1, 2), (2, 3), (3, 2), (3, 4)],
    );
    let problems = check(&graph, KeyGroups::DEFAULT);
    assert_eq!(problems, [Problem::Cycle { names: vec!["x".into(), "y".into()] }]);
}

#[test]
fn a_job_without_a_name_and_frames_is_refused() {
    use crate::link::LinkLimits;
    let limits = LinkLimits { frames: 0, ..LinkLimits::default() };
    let graph = graph(&[("a", Source, 1), ("b", Sink, 1)], &[(0, 1)]);
    let problems = super::check(&Job::new("").link_limits(limits), &graph);
    assert_eq!(problems, [Problem::UnnamedJob, Problem::NoFrames]);
}

#[test]
fn a_sink_that_repeats_is_refused_under_exactly_once_unless_it_may() {
    let mut graph = graph(
        &[("a", Source, 1), ("print", Sink, 1), ("files", Sink, 1), ("upsert", Sink, 1)],
        &[(0, 1), (0, 2), (0, 3)],
    );
    graph.nodes[2].effect = Some(Effect::Committing);
    graph.nodes[3].effect = Some(Effect::Idempotent);
    let check =
        |graph: &Graph, delivery| super::check(&Job::new("checked").delivery(delivery), graph);
    let second = Duration::from_secs(1);
    let problems = check(&graph, Delivery::exactly_once(second));
    assert_eq!(problems, [Problem::RepeatingSink { name: "print".into() }]);
    assert_eq!(
        problems[0].to_string(),
        "the sink \"print\" repeats itself after a failure, under exactly-once: use one that \
         commits, such as `NdjsonFiles`, or accept it with `.may_repeat()`"
    );
    assert_eq!(check(&graph, Delivery::at_least_once_by_checkpoints(second)), []);
    assert_eq!(check(&graph, Delivery::at_most_once()), []);
    graph.nodes[1].may_repeat = true;
    assert_eq!(check(&graph, Delivery::exactly_once(second)), []);
}
