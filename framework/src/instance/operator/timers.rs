//! What an operator has to do without an event: timers, and states that have lived their time.

use super::{OperatorMachine, Phase};
use crate::component::{BoxError, Fatal};
use crate::emitter::Trial;
use crate::guard::catch;
use crate::instance::failure::Cause;
use crate::instance::logic::Logic;
use crate::time::Moment;
use futures::future::BoxFuture;
use std::task;
use std::time::Duration;

/// Wakes the instance at a moment.
pub(super) struct Alarm {
    at: Moment,
    sleep: BoxFuture<'static, ()>,
}

/// Timers that fire before the instance looks up.
const AT_ONCE: usize = 64;

/// Nobody sleeps longer: the clock may be set forwards meanwhile.
const LONGEST: Duration = Duration::from_secs(60);

impl<L: Logic> OperatorMachine<L> {
    /// Whether timers have to wait. At the barrier of a checkpoint they do, so that an instance that is held
    /// adds nothing to what it holds back; once the data has ended they are not wanted any more.
    fn is_timeless(&self) -> bool {
        self.phase != Phase::Running
            || self.finished
            || self.due.is_some()
            || self.alignment.is_waiting()
    }

    /// Does some of what is due: as long as there is room for what it emits, and up to `until`. Says whether
    /// anything was due.
    pub(super) fn fire(&mut self, until: Moment) -> bool {
        let is_timeless = self.is_timeless();
        let Some(logic) = self.logic.as_mut().filter(|_| !is_timeless) else { return false };
        let Some(at) = logic.due() else { return false };
        let clock = &self.seat.ctx.clock;
        if at > clock.now() {
            return false;
        }
        let counters = &self.seat.counters;
        let mut broken = None;
        for _ in 0..AT_ONCE {
            let out = &mut self.output.emitter;
            let fired = catch(|| {
                let trial = Trial::begin(out);
                let fired = logic.on_time(trial.out)?;
                trial.keep();
                Ok::<_, BoxError>(fired)
            });
            match fired {
                Ok(Ok(fired)) => counters.timers.add(u64::from(fired)),
                Ok(Err(error)) => {
                    counters.failed_timers.add(1);
                    if !self.seat.is_skipped(&error) {
                        broken = Some(Ok(error));
                        break;
                    }
                    let failed = counters.failed_timers.get();
                    let failure = || self.seat.failure(Cause::error(error), None);
                    self.seat.note("timer lost", failed, failure);
                }
                Err(panic) => {
                    counters.failed_timers.add(1);
                    broken = Some(Err(Cause::from(panic)));
                    break;
                }
            }
            let out = &mut self.output.emitter;
            let is_full = out.wants_look() && out.settle();
            let now = clock.now();
            if is_full || now >= until || logic.due().is_none_or(|at| at > now) {
                break;
            }
        }
        self.output.note();
        if self.output.emitter.is_full() {
            self.output.route();
        }
        self.output.flush_if_due(self.seat.ctx.clock.now());
        match broken {
            None => {}
            Some(Err(cause)) => self.break_down(cause, None),
            Some(Ok(error)) if Fatal::is(&*error) => self.lose(Cause::error(error), None),
            Some(Ok(error)) => self.fail(Cause::error(error), None),
        }
        true
    }

    /// There is nothing to read: lets the instance be woken when something is due.
    pub(super) fn set_alarm(&mut self, cx: &mut task::Context<'_>) {
        if !L::TIMED || self.is_timeless() {
            return;
        }
        let Some(at) = self.logic.as_mut().and_then(Logic::due) else {
            self.alarm = None;
            return;
        };
        let clock = &self.seat.ctx.clock;
        let now = clock.now();
        let at = at.min(now + LONGEST);
        // One that is too early does no harm, and is cheaper than another.
        let alarm = match self.alarm.take().filter(|alarm| now < alarm.at && alarm.at <= at) {
            Some(alarm) => alarm,
            None => Alarm { at, sleep: clock.sleep_until(at) },
        };
        if self.alarm.insert(alarm).sleep.as_mut().poll(cx).is_ready() {
            self.alarm = None;
            cx.waker().wake_by_ref();
        }
    }
}
