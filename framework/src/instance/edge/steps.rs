//! [`StepsEdge`]: closures between an instance and the links.

use super::{Edge, Fan, copy};
use crate::event::Event;
use crate::guard::{catch, drop_each, drop_quietly};
use crate::instance::failure::Failure;
use crate::instance::losses::Losses;
use crate::link::{BatchSize, Control};
use crate::step::{Failures, Pass, Steps, Tally, pass};
use std::collections::VecDeque;
use std::fmt;
use std::task::Waker;

/// What waits in front of the closures.
enum Waiting<S> {
    Events(Vec<S>),
    Control(Control),
}

/// An edge that leads events through closures, to the edges of the stream that these make.
///
/// Where an event can become several, a batch may become any number of batches. So it goes through only
/// as long as there is credit behind, and a few batches at a time; what is left of it waits in front.
pub(crate) struct StepsEdge<S, C: Steps<S>> {
    losses: Losses,
    steps: C,
    failures: Failures,
    made: Vec<C::Out>,
    next: Fan<C::Out>,
    waiting: VecDeque<Waiting<S>>,
    /// Events that came in, and that came out.
    taken: u64,
    outputs: u64,
    /// Events that are made before they go on.
    batch: usize,
}

impl<S: Event, C: Steps<S>> StepsEdge<S, C> {
    /// How often so many are made before the instance looks up again.
    const ROUNDS: usize = 8;

    pub(crate) fn new(losses: Losses, steps: C, next: Fan<C::Out>) -> Self {
        Self {
            losses,
            steps,
            failures: Failures::default(),
            made: Vec::new(),
            next,
            waiting: VecDeque::new(),
            taken: 0,
            outputs: 0,
            batch: BatchSize::for_type::<C::Out>().events,
        }
    }

    /// Leads events through the closures, and says how many: all of them, unless those behind are to
    /// wait.
    fn lead(&mut self, batch: &[S]) -> usize {
        if self.is_held_up() {
            return 0;
        }
        let mut events = batch.iter();
        let mut tally = Tally::default();
        let (outputs, mut lost, mut rounds) = (self.outputs, 0, 0);
        loop {
            // The iterator stays outside of what is caught: a panic takes the event at hand with it
            // and leaves those behind.
            let Self { steps, failures, made, batch, .. } = self;
            made.reserve(batch.saturating_sub(made.len()));
            let tally = &mut tally;
            let stop = catch(|| pass(steps, &mut events, failures, made, *batch, tally));
            match stop {
                Ok(Pass::Done) => break,
                Ok(Pass::Full) => {
                    self.go_on();
                    rounds += 1;
                    if self.is_held_up() || (C::EXPANDS && rounds >= Self::ROUNDS) {
                        break;
                    }
                }
                Ok(Pass::Failed) => {
                    lost += 1;
                    if let Some((step, error)) = self.failures.take() {
                        self.losses.error(step, error);
                    }
                }
                Err(panic) => {
                    lost += 1;
                    // An error that came before it is not told: the event is lost once.
                    self.failures.take().into_iter().for_each(drop_quietly);
                    self.losses.panic(self.failures.take_panicked(), panic);
                }
            }
        }
        self.go_on();
        let led = batch.len() - events.len();
        self.taken += led as u64;
        if !C::EXPANDS {
            tally.filtered = led as u64 - lost - (self.outputs - outputs);
        }
        let counters = self.losses.counters();
        counters.filtered.add(tally.filtered);
        counters.expanded.add(tally.expanded);
        counters.lost_in_steps.add(lost);
        led
    }

    /// Whether an event that may become many has to wait.
    fn is_held_up(&self) -> bool {
        C::EXPANDS && (!self.waiting.is_empty() || self.next.waits())
    }

    /// Leads on what waits in front, until the next time that it has to wait.
    fn resume(&mut self) {
        while let Some(first) = self.waiting.pop_front() {
            match first {
                Waiting::Control(Control::Barrier(_)) if self.losses.ends_the_job() => {}
                Waiting::Control(control) => self.next.push_control(control),
                Waiting::Events(mut events) => {
                    let behind = std::mem::take(&mut self.waiting);
                    let led = self.lead(&events);
                    self.waiting = behind;
                    drop_each(events.drain(..led));
                    if !events.is_empty() {
                        self.waiting.push_front(Waiting::Events(events));
                        return;
                    }
                }
            }
        }
    }

    /// What was made goes on.
    fn go_on(&mut self) {
        if !self.made.is_empty() {
            self.outputs += self.made.len() as u64;
            self.next.push(&mut self.made);
        }
    }
}

impl<S: Event, C: Steps<S>> Edge<S> for StepsEdge<S, C> {
    fn push(&mut self, batch: &mut Vec<S>) {
        let led = self.lead(batch);
        drop_each(batch.drain(..led));
        if !batch.is_empty() {
            self.waiting.push_back(Waiting::Events(std::mem::take(batch)));
        }
    }

    fn offer(&mut self, batch: &[S]) {
        let led = self.lead(batch);
        if led < batch.len() {
            let copies = copy(&batch[led..]);
            let uncopied = batch.len() - led - copies.len();
            self.losses.counters().misrouted.add(uncopied as u64);
            self.waiting.push_back(Waiting::Events(copies));
        }
    }

    fn looks(&self) -> bool {
        true
    }

    fn push_control(&mut self, control: Control) {
        // No checkpoint is to hold that the event which ends the job was passed.
        if matches!(control, Control::Barrier(_)) && self.losses.ends_the_job() {
            return;
        }
        if self.waiting.is_empty() {
            self.next.push_control(control);
        } else {
            self.waiting.push_back(Waiting::Control(control));
        }
    }

    fn flush(&mut self) {
        self.next.flush();
    }

    fn is_blocked(&mut self, waker: &Waker) -> bool {
        if self.next.is_blocked(waker) {
            return true;
        }
        if self.waiting.is_empty() {
            return false;
        }
        self.resume();
        let blocked = self.next.is_blocked(waker);
        if !blocked && !self.waiting.is_empty() {
            // Out of rounds, and not of credit: it goes on as soon as it may.
            waker.wake_by_ref();
        }
        blocked || !self.waiting.is_empty()
    }

    fn waits(&self) -> bool {
        !self.waiting.is_empty() || self.next.waits()
    }

    /// Where events become several, fewer are taken at a time.
    fn most(&mut self) -> usize {
        let most = self.next.most();
        match C::EXPANDS {
            true => (most / (self.outputs / self.taken.max(1)).max(1) as usize).max(1),
            false => most,
        }
    }

    fn discard(&mut self) -> u64 {
        let mut discarded = 0;
        for waiting in self.waiting.drain(..) {
            if let Waiting::Events(events) = waiting {
                discarded += events.len() as u64;
                drop_each(events);
            }
        }
        discarded + self.next.discard()
    }

    fn take_failure(&mut self) -> Option<Failure> {
        self.losses.take_failure().or_else(|| self.next.take_failure())
    }
}

impl<S, C: Steps<S>> fmt::Debug for StepsEdge<S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepsEdge").field("losses", &self.losses).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sending;
    use super::*;
    use crate::component::OnError;
    use crate::id::InstanceId;
    use crate::instance::tests::barrier;
    use crate::metrics::Counters;
    use crate::step::{FlatMap, Here, StepInfo};
    use std::sync::atomic::AtomicU64;
    use std::sync::{Arc, Mutex};

    /// How many events came, or which control element.
    type Came = (u64, Option<Control>);

    /// Notes what comes, and never has to wait.
    #[derive(Clone, Default)]
    struct Open(Arc<Mutex<Vec<Came>>>);

    impl Open {
        fn events(&self) -> u64 {
            self.0.lock().unwrap().iter().map(|(events, _)| events).sum()
        }
    }

    impl Edge<u64> for Open {
        fn push(&mut self, batch: &mut Vec<u64>) {
            self.0.lock().unwrap().push((batch.len() as u64, None));
            batch.clear();
        }

        fn offer(&mut self, batch: &[u64]) {
            self.push(&mut batch.to_vec());
        }

        fn looks(&self) -> bool {
            false
        }

        fn push_control(&mut self, control: Control) {
            self.0.lock().unwrap().push((0, Some(control)));
        }

        fn flush(&mut self) {}

        fn is_blocked(&mut self, _: &Waker) -> bool {
            false
        }

        fn waits(&self) -> bool {
            false
        }

        fn most(&mut self) -> usize {
            usize::MAX
        }

        fn discard(&mut self) -> u64 {
            0
        }

        fn take_failure(&mut self) -> Option<Failure> {
            None
        }
    }

    /// Makes 1,000 events of each.
    fn thousand(open: &Open, counters: &Arc<Counters>) -> impl Edge<u64> + use<> {
        let many = FlatMap::after(Here, 0, |n: &u64| vec![*n; 1_000]);
        let info = StepInfo {
            name: "flat_map#1 after test".into(),
            on_error: OnError::Skip,
            failed: AtomicU64::new(0),
        };
        let edge = Box::new(open.clone()) as Box<dyn Edge<u64>>;
        let next = Fan::new(vec![edge], Arc::clone(counters));
        let instance = InstanceId::new("test", 0);
        let sender = Sending { job: "test".into(), instance, counters: Arc::clone(counters) };
        StepsEdge::new(Losses::new(sender, [Arc::new(info)].into()), many, next)
    }

    /// However much credit there is, the instance gets to look at its orders.
    #[test]
    fn a_batch_that_becomes_many_goes_through_in_parts() {
        let open = Open::default();
        let counters = Arc::default();
        let mut edge = thousand(&open, &counters);
        edge.push(&mut (0..100).collect());
        edge.push_control(Control::Barrier(barrier(1)));
        edge.offer(&[100]);
        edge.push_control(Control::End);
        let (mut before, mut polls) = (0, 0);
        loop {
            let made = open.events() - before;
            assert!(made <= 16_000, "{made} events at once");
            before = open.events();
            if !edge.is_blocked(Waker::noop()) {
                break;
            }
            polls += 1;
        }
        assert!(polls >= 5, "{polls}");
        assert_eq!(open.events(), 101_000);
        let came = open.0.lock().unwrap();
        let first = came.iter().position(|(_, control)| control.is_some()).unwrap();
        assert_eq!(came[..first].iter().map(|(events, _)| events).sum::<u64>(), 100_000);
        assert_eq!(came[first].1, Some(Control::Barrier(barrier(1))));
        assert_eq!(came.last().unwrap().1, Some(Control::End));
        drop(came);
        assert_eq!(counters.read().expanded, 101 * 999);
    }

    #[test]
    fn what_waits_and_is_dropped_is_counted() {
        let open = Open::default();
        let counters = Arc::default();
        let mut edge = thousand(&open, &counters);
        edge.push(&mut (0..100).collect());
        let led = open.events() / 1_000;
        assert!((1..100).contains(&led), "{led}");
        assert_eq!(edge.discard(), 100 - led);
        assert!(!edge.is_blocked(Waker::noop()));
    }
}
