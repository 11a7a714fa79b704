//! The machine of sources.

mod barriers;
mod fused;
mod reader;

pub(crate) use fused::FusedSource;

use super::failure::{Cause, Failure};
use super::meter::SLICE;
use super::output::{Outlets, Output};
use super::pacer::Pacer;
use super::{Comeback, Command, Machine, Maker, Report, Seat};
use crate::component::{BoxError, Context, Fatal, Malformed, Result, Split};
use crate::emitter::Emitter;
use crate::guard::{Panic, catch, drop_quietly};
use crate::id::Attempt;
use crate::link::{Control, Frame};
use crate::source::{Progress, Source, Splits};
use crate::time::Moment;
use futures::future::BoxFuture;
use reader::{Item, Reader, SharedTurn, Turn, read};
use std::fmt;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{self, Poll, Waker};
use std::time::Duration;

/// The splits that instance `index` of `parallelism` reads.
pub(crate) fn splits_of(splits: Splits, index: usize, parallelism: usize) -> Vec<Split> {
    match splits {
        Splits::PerInstance => vec![Split { index, count: parallelism }],
        Splits::Fixed(count) => {
            (index..count).step_by(parallelism).map(|index| Split { index, count }).collect()
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// `setup` runs.
    Opening,
    Reading,
    /// Waits for the order to build the source anew.
    Broken,
    Ended,
}

struct SplitReader<S: Source> {
    split: Split,
    reader: Option<Reader<S>>,
    turn: SharedTurn<S::Out>,
    state: State,
    /// After the last `next` that completed.
    position: Option<S::Saved>,
    errors_in_row: u32,
    /// Until when it rests after an error.
    rest: Option<BoxFuture<'static, ()>>,
}

impl<S: Source> SplitReader<S> {
    /// Nothing more is read of it.
    fn end(&mut self) {
        self.state = State::Ended;
        if let Some(reader) = self.reader.take() {
            drop_quietly(reader);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not all splits are set up yet.
    New,
    Running,
    /// At its end, or paused after a last barrier: barriers go on until all is committed.
    Exhausted,
    /// Broken, in a job with checkpoints: waits to be replaced.
    Broken,
    /// Lost for good: waits for the halt.
    Lost,
    /// Has put end and close on its links.
    Closing,
    Over,
}

/// A source as a state machine.
pub(crate) struct SourceMachine<S: Source> {
    seat: Seat,
    maker: Maker<S>,
    splits: Vec<SplitReader<S>>,
    /// Whose turn it is.
    turn: usize,
    phase: Phase,
    output: Output<S::Out>,
    pacer: Option<Pacer>,
    alarm: Option<BoxFuture<'static, ()>>,
    /// Whether what the last checkpoint holds was looked up.
    restored: bool,
}

/// What became of asking one split.
enum Asked {
    Progress,
    Pending,
}

impl<S: Source> SourceMachine<S> {
    const ERRORS_IN_ROW: u32 = 10;

    /// `rate` is the share of this instance, in events a second.
    pub(crate) fn new(
        seat: Seat,
        maker: Maker<S>,
        splits: &[Split],
        rate: Option<f64>,
        outlets: Outlets<S::Out>,
    ) -> Self {
        let splits = splits
            .iter()
            .map(|&split| SplitReader {
                split,
                reader: None,
                turn: Arc::new(Mutex::new(Turn { out: None, limit: 1 })),
                state: State::Opening,
                position: None,
                errors_in_row: 0,
                rest: None,
            })
            .collect();
        Self {
            maker,
            splits,
            turn: 0,
            phase: Phase::New,
            output: Output::new(outlets, Arc::clone(&seat.counters)),
            pacer: rate.map(Pacer::new),
            alarm: None,
            restored: false,
            seat,
        }
    }

    /// Goes back to the last checkpoint, with everything that it is connected with.
    fn break_all(&mut self, cause: Cause) {
        self.phase = Phase::Broken;
        let failure = self.seat.failure(cause, None);
        self.seat.reports.report(Report::Broken(failure, Comeback::AtCheckpoint));
    }

    /// Builds the source of split `i`, at the position that it had reached.
    fn build(&mut self, i: usize) -> Result<(), Panic> {
        let split = &mut self.splits[i];
        if let Some(old) = split.reader.take() {
            drop_quietly(old);
        }
        let ctx = Context { split: split.split, ..self.seat.ctx.clone() };
        let maker = &mut self.maker;
        let position = &split.position;
        let source = catch(|| {
            let mut source = maker(&ctx);
            if let Some(position) = position {
                source.load(position.clone());
            }
            source
        })?;
        split.reader = Some(read(source, ctx, Arc::clone(&split.turn)));
        split.state = State::Opening;
        Ok(())
    }

    /// Whether a source that is built anew goes on where it was, or where its prototype begins.
    const COMEBACK: Comeback = if S::RESUMES { Comeback::AtPosition } else { Comeback::Fresh };

    /// A failure of split `i`. A panic while it was reading was at its next event, as far as can be
    /// told; an error was at none.
    fn failure(&self, i: usize, cause: Cause) -> Failure {
        let reading = self.splits[i].state == State::Reading;
        let at_event = reading && matches!(cause, Cause::Panic { .. });
        let event = at_event.then_some(self.seat.counters.emitted.get() + 1);
        self.seat.failure(cause, event)
    }

    fn break_down(&mut self, i: usize, cause: Cause) {
        let failure = self.failure(i, cause);
        if self.seat.saving.is_some() {
            self.phase = Phase::Broken;
            self.seat.reports.report(Report::Broken(failure, Comeback::AtCheckpoint));
            return;
        }
        self.splits[i].state = State::Broken;
        if let Some(old) = self.splits[i].reader.take() {
            drop_quietly(old);
        }
        self.seat.reports.report(Report::Broken(failure, Self::COMEBACK));
    }

    /// The first setup has failed: nothing has worked yet that could work again, unless there was an
    /// attempt before.
    fn refuse(&mut self, i: usize, cause: Cause) {
        if self.seat.attempt == Attempt::FIRST {
            self.lose(i, cause);
        } else {
            self.break_down(i, cause);
        }
    }

    fn lose(&mut self, i: usize, cause: Cause) {
        self.phase = Phase::Lost;
        let failure = self.failure(i, cause);
        self.seat.reports.report(Report::Lost(failure));
    }

    /// Is lost without a split that it could be laid to.
    fn lose_to(&mut self, cause: Cause) {
        self.phase = Phase::Lost;
        let failure = self.seat.failure(cause, None);
        self.seat.reports.report(Report::Lost(failure));
    }

    /// Polls the reader of split `i` once.
    fn ask(&mut self, i: usize, allowed: usize, cx: &mut task::Context<'_>) -> Asked {
        if self.splits[i].reader.is_none()
            && let Err(panic) = self.build(i)
        {
            self.lose(i, panic.into());
            return Asked::Progress;
        }
        let split = &mut self.splits[i];
        if let Some(rest) = &mut split.rest {
            if rest.as_mut().poll(cx).is_pending() {
                return Asked::Pending;
            }
            split.rest = None;
        }
        let Some(reader) = &mut split.reader else { return Asked::Pending };
        split.turn.lock().unwrap_or_else(PoisonError::into_inner).limit = allowed;
        match catch(|| reader.as_mut().poll_next(cx)) {
            Ok(Poll::Pending) => return Asked::Pending,
            Ok(Poll::Ready(Some(Item::Ready(outcome)))) => self.opened(i, outcome),
            Ok(Poll::Ready(Some(Item::Step { out, outcome, position }))) => {
                if let Some(before) = self.splits[i].position.replace(position) {
                    drop_quietly(before);
                }
                self.stepped(i, out, outcome);
            }
            // The reader never ends by itself.
            Ok(Poll::Ready(None)) => self.splits[i].state = State::Ended,
            Err(panic) => match self.splits[i].state {
                // As an error of the first setup.
                State::Opening if self.phase == Phase::New => self.refuse(i, panic.into()),
                State::Reading if Self::COMEBACK == Comeback::Fresh => {
                    // What the call had emitted was taken back, and may not come again.
                    self.seat.counters.failed.add(1);
                    self.break_down(i, panic.into());
                }
                _ => self.break_down(i, panic.into()),
            },
        }
        Asked::Progress
    }

    fn opened(&mut self, i: usize, outcome: Result<()>) {
        match outcome {
            Ok(()) => {
                self.splits[i].state = State::Reading;
                let opening = self.splits.iter().any(|s| s.state == State::Opening);
                if self.phase == Phase::New {
                    if !opening {
                        self.phase = Phase::Running;
                        self.seat.reports.report(Report::Ready);
                    }
                } else {
                    self.seat.counters.restarts.add(1);
                    self.seat.reports.report(Report::Restarted);
                }
            }
            Err(error) => {
                let fatal = Fatal::is(&*error);
                let cause = Cause::setup(error);
                // The first start fails at once: nothing has worked yet that could work again.
                if fatal {
                    self.lose(i, cause);
                } else if self.phase == Phase::New {
                    self.refuse(i, cause);
                } else {
                    self.break_down(i, cause);
                }
            }
        }
    }

    fn stepped(&mut self, i: usize, mut made: Emitter<S::Out>, outcome: Result<Progress>) {
        let emitted = made.total() as u64;
        if let Some(pacer) = &mut self.pacer {
            pacer.record(emitted);
        }
        self.output.emitter.take_from(&mut made);
        self.output.note();
        if self.output.emitter.settle() {
            self.output.route();
            // What came back from the links serves the next call.
            if made.buffer().capacity() == 0 {
                std::mem::swap(made.buffer(), self.output.emitter.buffer());
            }
        }
        let split = &mut self.splits[i];
        split.turn.lock().unwrap_or_else(PoisonError::into_inner).out = Some(made);
        if emitted > 0 {
            split.errors_in_row = 0;
        }
        match outcome {
            Ok(Progress::More) => {}
            Ok(Progress::End) => split.end(),
            Err(error) => {
                self.seat.counters.failed.add(1);
                if !self.seat.skips_read(&error) {
                    self.lose(i, Cause::error(error));
                    return;
                }
                if Malformed::is(&*error) {
                    self.note(i, error);
                    return;
                }
                split.errors_in_row += 1;
                let row = split.errors_in_row;
                if row >= Self::ERRORS_IN_ROW {
                    self.lose(i, Cause::error(error));
                    return;
                }
                if row > 1 {
                    let pause = Duration::from_millis(10 << (row - 2).min(6));
                    let clock = &self.seat.ctx.clock;
                    self.splits[i].rest = Some(clock.sleep_until(clock.now() + pause));
                }
                self.note(i, error);
            }
        }
    }

    /// Logs a read that failed.
    fn note(&self, i: usize, error: BoxError) {
        let failed = self.seat.counters.failed.get();
        self.seat.note("a read failed", failed, || self.failure(i, Cause::error(error)));
    }

    /// How many events may leave now; `None` if the rate allows none, and an alarm is set.
    fn allowance(&mut self, now: Moment, cx: &mut task::Context<'_>) -> Option<usize> {
        let emitter = &self.output.emitter;
        let room = emitter.limit().saturating_sub(emitter.len()).max(1);
        let Some(pacer) = &mut self.pacer else { return Some(room) };
        let allowed = pacer.allowed(now);
        if allowed > 0 {
            self.alarm = None;
            return Some(allowed.min(room));
        }
        let due = pacer.next();
        let clock = &self.seat.ctx.clock;
        let alarm = self.alarm.get_or_insert_with(|| clock.sleep_until(due));
        if alarm.as_mut().poll(cx).is_ready() {
            self.alarm = None;
            cx.waker().wake_by_ref();
        }
        None
    }

    /// Asks the splits in turn, until one has something. Says whether any did.
    fn ask_around(&mut self, allowed: usize, go: bool, cx: &mut task::Context<'_>) -> bool {
        for _ in 0..self.splits.len() {
            let i = self.turn;
            self.turn = (i + 1) % self.splits.len();
            let ask = match self.splits[i].state {
                State::Opening => true,
                State::Reading => go,
                State::Broken | State::Ended => false,
            };
            if ask && matches!(self.ask(i, allowed, cx), Asked::Progress) {
                return true;
            }
        }
        false
    }

    /// Closes the links; with the end of data before, if the input is at its end. Where there are
    /// checkpoints, the links stay open until the last one is committed.
    fn end(&mut self, end_of_data: bool) {
        self.splits.iter_mut().for_each(SplitReader::end);
        if self.phase == Phase::New {
            self.seat.reports.report(Report::Ready);
        }
        if end_of_data {
            self.output.control(Control::End);
            if self.seat.saving.is_some() {
                self.phase = Phase::Exhausted;
                self.seat.reports.report(Report::Exhausted);
                return;
            }
        }
        self.close_links();
    }

    fn close_links(&mut self) {
        self.output.control(Control::Close);
        self.phase = Phase::Closing;
    }

    /// Lets what can leave, leave: blocked or not, there is nothing to do before a credit, an event or
    /// an order. A closure that fails the job does so now, and not when there is more to read.
    fn release(&mut self, now: Moment, waker: &Waker) {
        self.output.flush(now);
        self.output.is_blocked(waker);
        self.lost_in_step();
    }

    /// Whether the instance is lost, because a closure behind it has failed and the job is to end with
    /// that. When it is given up already, that is too late for another cause.
    fn lost_in_step(&mut self) -> bool {
        let Some(failure) = self.output.take_failure() else { return false };
        let open = matches!(self.phase, Phase::New | Phase::Running | Phase::Exhausted);
        if open {
            self.phase = Phase::Lost;
            self.seat.reports.report(Report::Lost(failure));
        } else {
            drop_quietly(failure);
        }
        open
    }

    /// Does what it was ordered to. Says whether there is anything to go on with.
    fn obey(&mut self) -> bool {
        if self.phase == Phase::Over {
            return false;
        }
        if self.seat.control.has(Command::Halt) {
            self.close();
            self.seat.reports.report(Report::Ended);
            return false;
        }
        if !std::mem::replace(&mut self.restored, true)
            && let Err(error) = self.restore()
        {
            self.lose_to(Cause::restore(error));
        }
        if self.seat.control.take(Command::Restart) {
            self.rebuild_broken();
        }
        if self.seat.control.has(Command::Checkpoint) {
            self.obey_trigger();
        }
        if self.phase == Phase::Exhausted && self.seat.control.has(Command::Close) {
            self.close_links();
        }
        let retirable = matches!(self.phase, Phase::New | Phase::Running | Phase::Lost);
        if self.seat.control.has(Command::Retire) && retirable {
            self.end(false);
        }
        true
    }

    fn rebuild_broken(&mut self) {
        for i in 0..self.splits.len() {
            if self.splits[i].state == State::Broken
                && let Err(panic) = self.build(i)
            {
                self.break_down(i, panic.into());
            }
        }
    }
}

impl<S: Source> Machine for SourceMachine<S> {
    fn accept(&mut self, frame: Frame) {
        // No link ends in a source.
        drop(frame);
    }

    fn poll(&mut self, cx: &mut task::Context<'_>) {
        self.seat.control.register(cx.waker());
        let clock = Arc::clone(&self.seat.ctx.clock);
        let mut now = clock.now();
        let slice_ends = now + SLICE;
        loop {
            if !self.obey() {
                return;
            }
            let open = matches!(self.phase, Phase::New | Phase::Running);
            let all_ended = self.splits.iter().all(|s| s.state == State::Ended);
            let draining = self.seat.control.has(Command::Drain);
            self.seat.ctx.draining.store(draining, Ordering::SeqCst);
            if open && (all_ended || draining && !S::DRAINS) {
                // Nothing is finished behind a failure that what waits in front of a closure brings up.
                self.output.route();
                let blocked = self.output.is_blocked(cx.waker());
                if self.lost_in_step() {
                    continue;
                }
                if blocked {
                    self.release(now, cx.waker());
                    return;
                }
                self.end(true);
            }
            if matches!(self.phase, Phase::Lost | Phase::Broken | Phase::Exhausted) {
                self.release(now, cx.waker());
                return;
            }
            let blocked = self.output.is_blocked(cx.waker());
            if self.lost_in_step() {
                continue;
            }
            if blocked {
                self.release(now, cx.waker());
                return;
            }
            if self.phase == Phase::Closing {
                self.phase = Phase::Over;
                self.seat.reports.report(Report::Ended);
                return;
            }
            if now >= slice_ends {
                cx.waker().wake_by_ref();
                return;
            }
            let go = self.seat.control.has(Command::Go);
            let asked = match self.allowance(now, cx) {
                Some(allowed) => self.ask_around(allowed, go, cx),
                None => false,
            };
            if !asked {
                self.release(now, cx.waker());
                return;
            }
            now = clock.now();
            self.output.frame_done(now);
            self.output.flush_if_due(now);
        }
    }

    fn close(&mut self) {
        self.phase = Phase::Over;
        self.splits.iter_mut().for_each(SplitReader::end);
        self.output.discard();
    }
}

impl<S: Source> fmt::Debug for SourceMachine<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceMachine")
            .field("instance", &self.seat.ctx.instance)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
