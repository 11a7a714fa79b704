//! Why a job under the scheduler can't go on, in words.

use crate::runtime::{ComponentTree, InstanceState, InstanceTree, SupervisionTree};

/// Says who waits, for what, and what to do about it. Nothing in the job can go on: who is not at its end
/// waits for something that the scheduler does not drive.
pub(super) fn reason(tree: &SupervisionTree) -> String {
    let running = |instance: &InstanceTree| {
        matches!(instance.state, InstanceState::Starting | InstanceState::Running)
    };
    let holding = |instance: &InstanceTree| running(instance) && held(instance) > 0;
    // Who holds events is what everything before it waits for; components are in the order in which they
    // were added, so the last one that does is what holds back the others.
    let behind = tree.components.iter().rev().filter(|c| c.role != "source");
    if let Some((names, events)) = behind.map(|c| (names(c, holding), events(c, holding))).find(any)
    {
        let events = count(events, "event");
        return format!("{}, with {events} at hand: run this job with `Engine`", wait(&names));
    }
    let sources = tree.components.iter().filter(|c| c.role == "source");
    let sources: Vec<_> = sources.flat_map(|c| names(c, running)).collect();
    if !sources.is_empty() {
        return format!(
            "{} (files, sockets and threads are read on another thread): run this job with `Engine`, or \
             test the part behind the source",
            wait(&sources)
        );
    }
    // All sources are at their end: the first component that is not waits in its `flush` or `finish`.
    let behind = tree.components.iter().map(|c| names(c, running));
    match behind.into_iter().find(|names| !names.is_empty()) {
        Some(names) => format!("{}, at the end of data: run this job with `Engine`", wait(&names)),
        None => "nobody is left to go on".to_owned(),
    }
}

fn any((names, _): &(Vec<String>, u64)) -> bool {
    !names.is_empty()
}

/// `csv[0] waits for something outside of the test`.
fn wait(names: &[String]) -> String {
    let verb = if names.len() == 1 { "waits" } else { "wait" };
    format!("{} {verb} for something outside of the test", names.join(", "))
}

/// `1 event`, `2 events`.
pub(super) fn count(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Events that an instance has received and not done with.
fn held(instance: &InstanceTree) -> u64 {
    let c = &instance.counts;
    c.received.saturating_sub(c.applied + c.failed + c.discarded)
}

/// The instances of a component of which something holds, as in `csv[0]`.
fn names(component: &ComponentTree, holds: impl Fn(&InstanceTree) -> bool) -> Vec<String> {
    let name = |i: &InstanceTree| format!("{}[{}]", component.name, i.index);
    component.instances.iter().filter(|i| holds(i)).map(name).collect()
}

/// The events that they hold.
fn events(component: &ComponentTree, holds: impl Fn(&InstanceTree) -> bool) -> u64 {
    component.instances.iter().filter(|i| holds(i)).map(held).sum()
}
