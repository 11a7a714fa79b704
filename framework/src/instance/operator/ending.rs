//! How the instance comes to its end: it finishes, or drops what it has.

use super::{OperatorMachine, Phase};
use crate::emitter::Trial;
use crate::guard::{catch, drop_each, drop_quietly};
use crate::instance::failure::Cause;
use crate::instance::logic::{Finish, Logic};
use crate::link::{Control, Frame};
use std::task::{self, Poll};

impl<L: Logic> OperatorMachine<L> {
    /// All inputs are at their end: a step towards that of the component. `Pending` if it waits for
    /// something.
    pub(super) fn finish(&mut self, cx: &mut task::Context<'_>) -> Poll<()> {
        if self.finished {
            // Everything has left, and no closure has failed on it: nothing is finished behind one.
            self.output.control(Control::End);
            self.phase = Phase::Finished;
            return Poll::Ready(());
        }
        let Some(logic) = &mut self.logic else { return Poll::Ready(()) };
        let out = &mut self.output.emitter;
        let finished = catch(|| {
            let trial = Trial::begin(out);
            let finished = logic.poll_finish(trial.out, cx);
            if !matches!(finished, Poll::Ready(Err(_))) {
                trial.keep();
                out.settle();
            }
            finished.map_err(Cause::finish)
        });
        match finished.unwrap_or_else(|panic| Poll::Ready(Err(panic.into()))) {
            Poll::Pending => return Poll::Pending,
            Poll::Ready(Ok(Finish::More)) => {
                if self.output.emitter.is_full() {
                    self.output.route();
                }
            }
            Poll::Ready(Ok(Finish::Done)) => {
                self.finished = true;
                self.output.route();
            }
            Poll::Ready(Err(cause)) => self.fail(cause, None),
        }
        Poll::Ready(())
    }

    /// Drops the component, within the time that it has to come to its end.
    pub(super) fn dismiss(&mut self) {
        self.phase = Phase::Over;
        if let Some(logic) = self.logic.take() {
            drop_quietly(logic);
        }
    }

    pub(super) fn drop_everything(&mut self) {
        self.dismiss();
        let mut discarded = 0;
        if let Some(current) = self.current.take() {
            discarded += current.len();
            drop_each(current.events.into_iter().flat_map(|batch| *batch));
        }
        let held = self.inputs.iter_mut().flat_map(|input| std::mem::take(&mut input.held));
        for frame in std::mem::take(&mut self.inbox).into_iter().chain(held) {
            discarded += frame.events();
            discard::<L::In>(frame);
        }
        self.seat.counters.discarded.add(discarded as u64);
        self.output.discard();
    }
}

/// Drops a frame with its events, one by one.
pub(super) fn discard<T: Send + 'static>(frame: Frame) {
    let (events, _, credit) = frame.open::<T>();
    drop_each(events.into_iter().flat_map(|batch| *batch));
    drop(credit);
}
