//! How far the splits are: put into a checkpoint at a barrier, and taken from one.

use super::{Phase, SourceMachine, State};
use crate::component::Result;
use crate::guard::catch;
use crate::instance::Trigger;
use crate::instance::failure::Cause;
use crate::instance::saving::{Restorer, Saver};
use crate::link::Control;
use crate::source::Source;

impl<S: Source> SourceMachine<S> {
    /// Lets each split begin where the checkpoint has it.
    pub(super) fn restore(&mut self) -> Result<()> {
        let seating = self.seat.seating();
        let Some(saving) = &mut self.seat.saving else { return Ok(()) };
        let restorer = Restorer::new(saving, seating);
        for split in &mut self.splits {
            let (ended, position) = restorer.split::<S>(split.split.index)?;
            split.position = position;
            if ended {
                split.state = State::Ended;
            }
        }
        saving.restored = None;
        Ok(())
    }

    /// Sends the barrier that was ordered; not before all splits are set up, nor when the instance is given up.
    pub(super) fn obey_trigger(&mut self) {
        if !matches!(self.phase, Phase::Running | Phase::Exhausted) {
            return;
        }
        // What a closure behind it fails at is before the barrier.
        self.output.route();
        if self.lost_in_step() {
            return;
        }
        if let Some(trigger) = self.seat.control.take_trigger() {
            self.send_barrier(trigger);
            if trigger.is_last && self.phase == Phase::Running {
                self.phase = Phase::Exhausted;
            }
        }
    }

    /// Puts a barrier behind what was emitted, and saves how far each split is: after the last `next` that
    /// has completed. One that is under way goes on.
    fn send_barrier(&mut self, trigger: Trigger) {
        let Some(saving) = &self.seat.saving else { return };
        let clock = &self.seat.ctx.clock;
        let begun = clock.now();
        let mut saver = Saver::new(trigger.barrier, saving, self.seat.seating());
        let splits = &self.splits;
        let saved = catch(|| {
            splits.iter().try_for_each(|split| {
                let ended = split.state == State::Ended;
                saver.split::<S>(split.split.index, ended, split.position.as_ref())
            })
        });
        match saved.map_err(Cause::from).and_then(|saved| saved.map_err(Cause::save)) {
            Ok(()) => {
                saving.snapshots.put(saver.finish_source(clock.now().since(begun)));
                self.output.control(Control::Barrier(trigger.barrier));
            }
            Err(cause) => self.break_all(cause),
        }
    }
}
