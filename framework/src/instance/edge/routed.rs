//! [`RoutedEdge`]: to the instances of one component.

use super::{Edge, Sending};
use crate::event::Event;
use crate::grouping::{Grouping, Target, Targets};
use crate::guard::catch;
use crate::id::ComponentName;
use crate::instance::failure::Failure;
use crate::instance::failure_is_logged;
use crate::link::{Control, Lane, LinkSender};
use crate::metrics::Counters;
use std::fmt;
use std::task::Waker;
use std::vec::Drain;

/// An edge with its grouping and one lane per receiving instance.
pub(crate) struct RoutedEdge<T, G> {
    sender: Sending,
    receiver: ComponentName,
    grouping: G,
    targets: Targets,
    /// The one lane that gets everything, if the grouping knows it beforehand.
    sole: Option<usize>,
    lanes: Vec<Lane<T>>,
}

impl<T: Event, G: Grouping<T>> RoutedEdge<T, G> {
    pub(crate) fn new(
        sender: Sending,
        receiver: ComponentName,
        grouping: G,
        targets: Targets,
        links: Vec<LinkSender>,
    ) -> Self {
        let sole = grouping.sole_target(targets).filter(|i| *i < links.len());
        let count = links.len();
        let lanes = links.into_iter().map(|link| Lane::new(link, count)).collect();
        Self { sender, receiver, grouping, targets, sole, lanes }
    }

    #[cold]
    fn misroute(&mut self, why: &dyn fmt::Display) {
        let Sending { job, instance, counters } = &self.sender;
        counters.misrouted.add(1);
        let lost = counters.misrouted.get();
        let receiver = &self.receiver;
        counters
            .note_failure(&format_args!("{instance}: the grouping to {receiver} failed: {why}"));
        if failure_is_logged(lost) {
            tracing::error!(
                job = &**job,
                component = %instance.component,
                instance = instance.index,
                lost,
                "the grouping to {} failed on an event, which is lost: {why}",
                self.receiver,
            );
        }
    }
}

/// Puts events on their lanes, until there are no more or one was sent to an instance that does not
/// exist, whose number comes back. Kept apart for the same reason as the loop over the events.
#[inline(never)]
fn deal<T: Event, G: Grouping<T>>(
    grouping: &mut G,
    targets: Targets,
    events: &mut Drain<'_, T>,
    lanes: &mut [Lane<T>],
    counters: &Counters,
) -> Option<usize> {
    for event in events {
        match grouping.target(&event, targets) {
            Target::Instance(i) => match lanes.get_mut(i) {
                Some(lane) => lane.push(event),
                None => return Some(i),
            },
            Target::All => {
                if let Some((last, others)) = lanes.split_last_mut() {
                    // All copies are made before the first is sent: a clone that panics takes the
                    // event with it, and not only some of its copies.
                    let all: Vec<T> = others.iter().map(|_| event.clone()).collect();
                    counters.copies.add(others.len() as u64);
                    others.iter_mut().zip(all).for_each(|(lane, copy)| lane.push(copy));
                    last.push(event);
                }
            }
        }
    }
    None
}

impl<T: Event, G: Grouping<T>> Edge<T> for RoutedEdge<T, G> {
    fn push(&mut self, batch: &mut Vec<T>) {
        if let Some(i) = self.sole {
            self.lanes[i].push_batch(batch);
            return;
        }
        // The iterator stays outside of what is caught: a panic takes the event at hand with it and
        // leaves those behind.
        let mut events = batch.drain(..);
        loop {
            let (grouping, lanes, targets) = (&mut self.grouping, &mut self.lanes, self.targets);
            let counters = &*self.sender.counters;
            let stopped = catch(|| deal(grouping, targets, &mut events, lanes, counters));
            match stopped {
                Ok(None) => return,
                Ok(Some(i)) => {
                    let there = self.targets.instances();
                    self.misroute(&format_args!("instance {i} was named, there are {there}"));
                }
                Err(panic) => self.misroute(&panic),
            }
        }
    }

    fn offer(&mut self, batch: &[T]) {
        let mut copies = copy(batch);
        self.sender.counters.misrouted.add((batch.len() - copies.len()) as u64);
        self.push(&mut copies);
    }

    fn looks(&self) -> bool {
        false
    }

    fn push_control(&mut self, control: Control) {
        self.lanes.iter_mut().for_each(|lane| lane.push_control(control));
    }

    fn flush(&mut self) {
        self.lanes.iter_mut().for_each(Lane::flush);
    }

    fn is_blocked(&mut self, waker: &Waker) -> bool {
        // Each lane asks for its own credit, so none may be left out.
        let blocked = self.lanes.iter_mut().filter_map(|lane| lane.is_blocked(waker).then_some(()));
        blocked.count() > 0
    }

    fn waits(&self) -> bool {
        self.lanes.iter().any(Lane::waits)
    }

    fn most(&mut self) -> usize {
        self.lanes.iter_mut().map(Lane::most).min().unwrap_or(usize::MAX)
    }

    fn discard(&mut self) -> u64 {
        self.lanes.iter_mut().map(Lane::discard).sum()
    }

    fn take_failure(&mut self) -> Option<Failure> {
        None
    }
}

/// A copy of a batch, without the events whose `clone` panics.
pub(super) fn copy<T: Clone>(batch: &[T]) -> Vec<T> {
    catch(|| batch.to_vec())
        .unwrap_or_else(|_| batch.iter().filter_map(|event| catch(|| event.clone()).ok()).collect())
}

impl<T, G> fmt::Debug for RoutedEdge<T, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.sender.instance, self.receiver)
    }
}
