//! What the instance does at a barrier: it holds back the links behind it, is saved, and passes it on.

use super::{Examined, OperatorMachine};
use crate::checkpoint::Barrier;
use crate::guard::catch;
use crate::id::CheckpointId;
use crate::instance::failure::Cause;
use crate::instance::logic::Logic;
use crate::instance::saving::Saver;
use crate::link::Control;
use std::task::{self, Poll};
use std::time::Duration;

impl<L: Logic> OperatorMachine<L> {
    /// Saves the component at the barrier that is due, and passes the barrier on. `Pending` if the component
    /// has first to write through what it holds.
    pub(super) fn save(&mut self, barrier: Barrier, cx: &mut task::Context<'_>) -> Poll<()> {
        // What a closure behind it fails at is before the barrier.
        self.output.route();
        if self.lost_in_step() {
            return Poll::Ready(());
        }
        let (Some(saving), Some(logic)) = (&self.seat.saving, &mut self.logic) else {
            // Nobody asks for it: it only goes through.
            self.pass(barrier);
            return Poll::Ready(());
        };
        let clock = &self.seat.ctx.clock;
        let begun = clock.now();
        if barrier.since != saving.from && self.watch.take().is_some() {
            self.seat.offences.passed();
            self.examined = Examined::default();
        }
        let finished = self.finished;
        let watermark = self.frontier.told();
        let mut saver = Saver::new(barrier, saving, self.seat.seating());
        let saved = catch(|| {
            if !finished {
                match logic.poll_flush(cx) {
                    Poll::Ready(Ok(())) => {}
                    Poll::Ready(Err(error)) => return Poll::Ready(Err(Cause::flush(error))),
                    Poll::Pending => return Poll::Pending,
                }
            }
            Poll::Ready(logic.save(&mut saver).map_err(Cause::save))
        });
        match saved.unwrap_or_else(|panic| Poll::Ready(Err(panic.into()))) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Err(cause)) => self.fail(cause, None),
            Poll::Ready(Ok(())) => {
                let held = self.aligning.map_or(Duration::ZERO, |since| begun.since(since));
                let took = clock.now().since(begun);
                match saver.finish(finished, watermark, held, took) {
                    Ok(snapshot) => {
                        saving.snapshots.put(snapshot);
                        self.pass(barrier);
                    }
                    Err(error) => self.fail(Cause::save(error), None),
                }
            }
        }
        Poll::Ready(())
    }

    /// The checkpoints up to `id` are given up: nobody waits for them any more.
    pub(super) fn abort(&mut self, id: CheckpointId) {
        self.alignment.abort(id);
        if self.due.is_some_and(|due| due.id <= id) {
            self.due = None;
        }
        if !self.alignment.is_waiting() && self.due.is_none() {
            self.release_held();
        }
    }

    /// Passes a barrier on, and lets in what was held for it.
    fn pass(&mut self, barrier: Barrier) {
        self.due = None;
        self.output.control(Control::Barrier(barrier));
        self.release_held();
    }

    /// What was held goes before what has come since, link by link.
    fn release_held(&mut self) {
        self.aligning = None;
        for input in self.inputs.iter_mut().rev() {
            while let Some(frame) = input.held.pop_back() {
                self.inbox.push_front(frame);
            }
        }
    }
}
