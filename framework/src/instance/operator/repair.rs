//! How the component is built, and what becomes of the instance when it fails.

use super::{OperatorMachine, Phase, careful};
use crate::component::Fatal;
use crate::guard::{catch, drop_quietly};
use crate::id::Attempt;
use crate::instance::failure::{Cause, UserError};
use crate::instance::logic::Logic;
use crate::instance::offences::Judgement;
use crate::instance::saving::Restorer;
use crate::instance::{Comeback, Report};

impl<L: Logic> OperatorMachine<L> {
    /// Builds the component and sets it up. If that fails, says whether it would fail again.
    fn build(&mut self) -> Result<(), (Cause, bool)> {
        if let Some(old) = self.logic.take() {
            drop_quietly(old);
        }
        let (maker, seat) = (&mut self.maker, &self.seat);
        let built = catch(|| {
            let mut logic = maker(&seat.ctx);
            let mut progress = (false, None);
            if let Some(saving) = &seat.saving {
                let restorer = Restorer::new(saving, seat.seating());
                let restored = logic.restore(&restorer).and_then(|()| restorer.progress());
                // It would not come out better another time.
                progress = restored.map_err(|error| (Cause::restore(error), true))?;
            }
            if seat.undoes_failed() {
                logic.undo_failed();
            }
            match logic.setup(&seat.ctx) {
                Ok(()) => Ok((logic, progress)),
                Err(error) => {
                    let fatal = Fatal::is(&*error);
                    Err((Cause::setup(error), fatal))
                }
            }
        });
        let (logic, (finished, watermark)) =
            built.unwrap_or_else(|panic| Err((panic.into(), false)))?;
        self.logic = Some(logic);
        if let Some(saving) = &mut self.seat.saving {
            saving.restored = None;
            self.watch = self.seat.offences.watch(saving.from, self.seat.ctx.index());
            self.finished = finished;
            self.frontier.begin_at(watermark);
        }
        Ok(())
    }

    pub(super) fn start(&mut self) {
        match self.build() {
            Ok(()) => {
                self.phase = Phase::Running;
                self.seat.reports.report(Report::Ready);
            }
            // Nothing has worked yet that could work again.
            Err((cause, fatal)) if fatal || self.seat.attempt == Attempt::FIRST => {
                self.lose(cause, None);
            }
            Err((cause, _)) => self.break_down(cause, None),
        }
    }

    pub(super) fn restart(&mut self) {
        match self.build() {
            Ok(()) => {
                self.phase = Phase::Running;
                self.seat.counters.restarts.add(1);
                self.seat.reports.report(Report::Restarted);
            }
            Err((cause, true)) => self.lose(cause, None),
            Err((cause, false)) => self.break_down(cause, None),
        }
    }

    /// Broken, and to be built anew.
    pub(super) fn break_down(&mut self, cause: Cause, event: Option<u64>) {
        let comeback =
            if self.seat.saving.is_some() { Comeback::AtCheckpoint } else { Comeback::Fresh };
        self.come_back(comeback, cause, event);
    }

    fn come_back(&mut self, comeback: Comeback, cause: Cause, event: Option<u64>) {
        self.phase = Phase::Broken;
        let failure = self.seat.failure(cause, event);
        self.seat.reports.report(Report::Broken(failure, comeback));
    }

    /// The component has failed at an event. It is tried again, if there is a checkpoint to go back to.
    pub(super) fn fail_at_event(&mut self, cause: Cause) {
        let event = Some(self.processed);
        match self.judge(&cause) {
            Judgement::Again { known: false } => self.break_down(cause, event),
            Judgement::Again { known: true } => self.come_back(Comeback::Known, cause, event),
            Judgement::LeaveOut => self.come_back(Comeback::LeavesOut, cause, event),
            Judgement::Fail(tries) => {
                let cause =
                    UserError::known(format!("{} (tried {tries} times)", careful::text(&cause)));
                self.lose(Cause::Error(cause), event);
            }
        }
    }

    /// Goes back to the last checkpoint, where there are any; else it is broken for good.
    pub(super) fn fail(&mut self, cause: Cause, event: Option<u64>) {
        if self.seat.saving.is_some() {
            self.break_down(cause, event);
        } else {
            self.lose(cause, event);
        }
    }

    /// Broken for good: the job is going to end.
    pub(super) fn lose(&mut self, cause: Cause, event: Option<u64>) {
        self.phase = Phase::Broken;
        let failure = self.seat.failure(cause, event);
        self.seat.reports.report(Report::Lost(failure));
    }
}
