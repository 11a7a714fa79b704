//! Everything that can be refused before a job runs.

use super::graph::{Graph, Node, NodeId, Origin, Role, StreamId};
use super::{Delivery, Job};
use crate::channel::DEAD_LETTERS;
use crate::id::ComponentName;
use crate::key::KeyGroups;
use crate::sink::Effect;
use std::collections::BTreeMap;
use std::fmt;

/// One thing that is wrong with a job.
///
/// ```
/// use streamwork::Problem;
/// use streamwork::prelude::*;
///
/// let job = Job::new("idle");
/// job.source(FromIter::new(["car"])).parallelism(0).sink(Collect::new());
/// let error = Engine::new().run(job).unwrap_err();
/// assert_eq!(error.problems(), [Problem::NoInstances { name: "from-iter".into() }]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// There is nothing to run.
    #[error("it has no source: add one with `job.source(..)`")]
    Empty,
    /// The job has no name.
    #[error("it has an empty name: give it one with `Job::new(\"..\")`")]
    UnnamedJob,
    /// Links that could carry nothing.
    #[error("its links may hold 0 frames: `LinkLimits::frames` must be at least 1")]
    NoFrames,
    /// Nowhere to keep checkpoints.
    #[error(
        "its delivery is {delivery}, and there is nowhere to keep checkpoints: set `Engine::data_dir`"
    )]
    NoDataDirectory {
        /// The delivery.
        delivery: String,
    },
    /// A source that cannot go back to where a checkpoint has it.
    #[error(
        "its delivery is {delivery}, and the source {name:?} cannot read again what it has read: use one \
         with a position, such as `Lines` of a file, or `Delivery::at_most_once`"
    )]
    CannotReplay {
        /// The source.
        name: ComponentName,
        /// The delivery.
        delivery: String,
    },
    /// A component without a name.
    #[error("its {role} has an empty name: give it one with `.named(\"..\")`")]
    Unnamed {
        /// "source", "operator" or "sink".
        role: String,
    },
    /// A name that several components have.
    #[error("{times} components are named {name:?}: tell them apart with `.named(\"..\")`")]
    DuplicateName {
        /// The name.
        name: ComponentName,
        /// How many have it.
        times: usize,
    },
    /// No instances.
    #[error("{name:?} has parallelism 0: it needs at least 1")]
    NoInstances {
        /// The component.
        name: ComponentName,
    },
    /// More instances than a job can have.
    #[error(
        "{name:?} has parallelism {parallelism}: at most {} is possible",
        Problem::MOST_INSTANCES
    )]
    AbsurdParallelism {
        /// The component.
        name: ComponentName,
        /// Its parallelism.
        parallelism: usize,
    },
    /// More instances than keys can be spread over.
    #[error(
        "{name:?} is grouped by key and has parallelism {parallelism}, but the job has {groups} \
         key groups: lower it, or raise `Job::key_groups`"
    )]
    TooManyInstances {
        /// The component.
        name: ComponentName,
        /// Its parallelism.
        parallelism: usize,
        /// The job's key groups.
        groups: usize,
    },
    /// A rate that is not a positive number.
    #[error("{name:?} has the rate {rate}: it must be a number above 0, in events a second")]
    BadRate {
        /// The source.
        name: ComponentName,
        /// The rate as it was given.
        rate: String,
    },
    /// A component that no event can reach.
    #[error("no source reaches {name:?}: apply it to a stream that begins at a source")]
    Unreachable {
        /// The component.
        name: ComponentName,
    },
    /// A source without subscribers.
    #[error("nobody reads the source {name:?}: apply an operator or a sink to it, or remove it")]
    Unread {
        /// The source.
        name: ComponentName,
    },
    /// A channel that is read and that the component never emits into.
    #[error(
        "{name:?} has no channel {channel}: it declares {declared}; add it to \
         `#[component(channels = [..])]`"
    )]
    NoSuchChannel {
        /// The component.
        name: ComponentName,
        /// The channel that is read, with its type.
        channel: String,
        /// The channels that there are.
        declared: String,
    },
    /// A stream of another job.
    #[error("{name:?} reads a stream of another job: build both from the same `Job`")]
    ForeignStream {
        /// The component.
        name: ComponentName,
    },
    /// A component applied twice to the same stream.
    #[error("{name:?} is applied twice to the stream of {stream:?}: remove one of the two")]
    AppliedTwice {
        /// The component.
        name: ComponentName,
        /// The component that the stream comes from.
        stream: ComponentName,
    },
    /// Under exactly-once, a sink whose effects are repeated after a failure.
    #[error(
        "the sink {name:?} repeats itself after a failure, under exactly-once: use one that commits, \
         such as `NdjsonFiles`, or accept it with `.may_repeat()`"
    )]
    RepeatingSink {
        /// The sink.
        name: ComponentName,
    },
    /// Events could circle for ever.
    #[error("{} form a cycle: a job's graph must not lead back to itself", arrows(.names))]
    Cycle {
        /// The components on it, in the direction of the stream.
        names: Vec<ComponentName>,
    },
}

impl Problem {
    const MOST_INSTANCES: usize = 32_768;
}

fn arrows(names: &[ComponentName]) -> String {
    let names: Vec<&str> = names.iter().chain(names.first()).map(ComponentName::as_str).collect();
    names.join(" -> ")
}

/// All problems of one job.
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("idle");
/// let numbers = job.source(FromIter::new([1_u64]));
/// numbers.sink(Collect::new());
/// numbers.sink(Collect::new()).parallelism(0);
/// match Engine::new().run(job) {
///     Err(Error::Refused { problems, .. }) => {
///         assert_eq!(problems.as_slice().len(), 2);
///         assert!(problems.to_string().starts_with("2 problems: (1) "));
///     }
///     other => panic!("{other:?}"),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    pub(crate) fn new(problems: Vec<Problem>) -> Self {
        Self(problems)
    }

    pub(crate) fn into_vec(self) -> Vec<Problem> {
        self.0
    }

    /// The problems, in the order in which they were found.
    #[must_use]
    pub fn as_slice(&self) -> &[Problem] {
        &self.0
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [only] = self.as_slice() {
            return only.fmt(f);
        }
        write!(f, "{} problems", self.0.len())?;
        for (i, problem) in self.0.iter().enumerate() {
            write!(f, "{} ({}) {problem}", if i == 0 { ":" } else { ";" }, i + 1)?;
        }
        Ok(())
    }
}

/// Finds everything that is wrong, not only the first thing.
pub(super) fn check(job: &Job, graph: &Graph) -> Vec<Problem> {
    let mut problems = Vec::new();
    if job.name.is_empty() {
        problems.push(Problem::UnnamedJob);
    }
    if job.limits.frames == 0 {
        problems.push(Problem::NoFrames);
    }
    check_graph(graph, job.key_groups, &mut problems);
    if job.delivery.checkpoints().is_some() {
        let lost = graph.nodes.iter().filter(|node| !node.blueprint.replays());
        problems.extend(lost.map(|node| Problem::CannotReplay {
            name: node.name.clone(),
            delivery: job.delivery.to_string(),
        }));
    }
    if matches!(job.delivery, Delivery::ExactlyOnce(_)) {
        repeating_sinks(graph, &mut problems);
    }
    problems
}

fn check_graph(graph: &Graph, groups: KeyGroups, problems: &mut Vec<Problem>) {
    if !graph.nodes.iter().any(|node| node.role == Role::Source) {
        problems.push(Problem::Empty);
    }
    names(graph, problems);
    numbers(graph, groups, problems);
    subscriptions(graph, problems);
    channels(graph, problems);
    cycle(graph, problems);
}

fn names(graph: &Graph, problems: &mut Vec<Problem>) {
    let mut seen: BTreeMap<&ComponentName, usize> = BTreeMap::new();
    for node in &graph.nodes {
        if node.name.as_str().is_empty() {
            problems.push(Problem::Unnamed { role: node.role.to_string() });
        } else {
            *seen.entry(&node.name).or_default() += 1;
        }
    }
    problems.extend(
        seen.into_iter()
            .filter(|(_, times)| *times > 1)
            .map(|(name, times)| Problem::DuplicateName { name: name.clone(), times }),
    );
}

fn numbers(graph: &Graph, groups: KeyGroups, problems: &mut Vec<Problem>) {
    for (id, node) in graph.ids().zip(&graph.nodes) {
        let name = || node.name.clone();
        if node.parallelism == 0 {
            problems.push(Problem::NoInstances { name: name() });
        }
        if node.parallelism > Problem::MOST_INSTANCES {
            let parallelism = node.parallelism;
            problems.push(Problem::AbsurdParallelism { name: name(), parallelism });
        }
        let by_key = graph.inputs(id).any(|e| graph.edges[e].by_key);
        if by_key && node.parallelism > groups.count() {
            problems.push(Problem::TooManyInstances {
                name: name(),
                parallelism: node.parallelism,
                groups: groups.count(),
            });
        }
        if let Some(rate) = node.rate.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
            problems.push(Problem::BadRate { name: name(), rate: rate.to_string() });
        }
    }
}

fn subscriptions(graph: &Graph, problems: &mut Vec<Problem>) {
    let mut reached: Vec<bool> = graph.nodes.iter().map(|node| node.role == Role::Source).collect();
    let mut todo: Vec<NodeId> = graph.ids().filter(|id| reached[id.0]).collect();
    while let Some(node) = todo.pop() {
        for e in graph.outputs(node) {
            let to = graph.edges[e].to;
            if !std::mem::replace(&mut reached[to.0], true) {
                todo.push(to);
            }
        }
    }
    for (id, node) in graph.ids().zip(&graph.nodes) {
        let name = || node.name.clone();
        if !reached[id.0] {
            problems.push(Problem::Unreachable { name: name() });
        }
        if node.role == Role::Source && graph.outputs(id).next().is_none() {
            problems.push(Problem::Unread { name: name() });
        }
        if node.foreign {
            problems.push(Problem::ForeignStream { name: name() });
        }
        let input = |e: usize| (graph.edges[e].stream, graph.edges[e].is_right);
        let mut streams: Vec<(StreamId, bool)> = graph.inputs(id).map(input).collect();
        streams.sort_unstable();
        let mut twice: Vec<(StreamId, bool)> =
            streams.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]).collect();
        twice.dedup();
        for (stream, _) in twice {
            let stream = graph.node(graph.stream(stream).from).name.clone();
            problems.push(Problem::AppliedTwice { name: name(), stream });
        }
    }
}

/// Channels that are read must be emitted.
fn channels(graph: &Graph, problems: &mut Vec<Problem>) {
    for stream in &graph.streams {
        let Origin::Channel(channel, _) = &stream.origin else { continue };
        let node = graph.node(stream.from);
        let is_declared = node.channels.iter().any(|declared| declared.is(channel));
        if !is_declared && !DEAD_LETTERS.info().is(channel) {
            let declared: Vec<String> = node.channels.iter().map(ToString::to_string).collect();
            problems.push(Problem::NoSuchChannel {
                name: node.name.clone(),
                channel: channel.to_string(),
                declared: if declared.is_empty() { "none".to_owned() } else { declared.join(", ") },
            });
        }
    }
}

fn repeating_sinks(graph: &Graph, problems: &mut Vec<Problem>) {
    let repeats = |node: &&Node| node.effect == Some(Effect::Repeating) && !node.may_repeat;
    let names = graph.nodes.iter().filter(repeats).map(|node| node.name.clone());
    problems.extend(names.map(|name| Problem::RepeatingSink { name }));
}

/// One cycle, if there are any.
fn cycle(graph: &Graph, problems: &mut Vec<Problem>) {
    let ordered = graph.downstream_first();
    // What could not be ordered leads into a cycle: going on from any such node one comes round.
    let Some(start) = graph.ids().find(|id| !ordered.contains(id)) else { return };
    let mut path = vec![start];
    loop {
        let here = path[path.len() - 1];
        let next = graph.outputs(here).map(|e| graph.edges[e].to).find(|to| !ordered.contains(to));
        let Some(next) = next else { return };
        if let Some(from) = path.iter().position(|node| *node == next) {
            let names = path[from..].iter().map(|id| graph.node(*id).name.clone()).collect();
            problems.push(Problem::Cycle { names });
            return;
        }
        path.push(next);
    }
}

#[cfg(test)]
mod tests;
