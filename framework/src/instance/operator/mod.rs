//! The machine of operators and sinks.

mod careful;
mod timers;

use super::failure::{Cause, Failure, UserError};
use super::logic::{Finish, Logic};
use super::meter::{Meter, SLICE};
use super::offences::{Judgement, Watch};
use super::output::{Outlets, Output};
use super::saving::{Restorer, Saver};
use super::{Comeback, Command, Machine, Maker, Report, Seat, failure_is_logged};
use crate::checkpoint::{Alignment, Barrier};
use crate::component::{BoxError, Fatal};
use crate::emitter::{Emitter, Trial};
use crate::guard::{catch, drop_each, drop_quietly};
use crate::id::{Attempt, CheckpointId, LinkIndex};
use crate::link::{Batch, Control, Credit, Frame};
use crate::time::Moment;
use crate::watermark::{Advance, Frontier};
use careful::Examined;
use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::{self, Poll, Waker};
use std::time::Duration;
use std::vec::Drain;
use timers::Alarm;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not set up yet.
    New,
    Running,
    /// Waits for the order to build the component anew.
    Broken,
    /// All inputs are at their end, and the component is told to finish until it has.
    Finishing,
    /// Has passed on the end of data; control still goes through.
    Finished,
    /// Has passed on the close; frames may wait for credit.
    Closing,
    /// Nothing left to do.
    Over,
}

/// What has arrived on one link.
#[derive(Debug, Default)]
struct Input {
    ended: bool,
    closed: bool,
    /// What came behind a barrier while that of another link is waited for.
    held: VecDeque<Frame>,
}

/// The frame at hand. Events are taken from the front, so what is left of it is where to go on.
struct Current<T> {
    link: LinkIndex,
    events: Option<Batch<T>>,
    control: Option<Control>,
    credit: Credit,
}

impl<T> Current<T> {
    fn len(&self) -> usize {
        self.events.as_ref().map_or(0, |events| events.len())
    }
}

/// Why a run through events came to its end.
enum Stop {
    /// No more events, or as many as were asked for.
    Done,
    /// The emitter is full.
    Full,
    /// The component has no room for the next event yet, and will wake the instance.
    Pending,
    /// A panic that came up before the component was called.
    Spared(Cause),
    /// The component will never again have room.
    Shut(Cause),
    Error(BoxError),
    Panic(Cause),
}

/// An operator or a sink as a state machine.
pub(crate) struct OperatorMachine<L: Logic> {
    seat: Seat,
    maker: Maker<L>,
    logic: Option<L>,
    phase: Phase,
    inbox: VecDeque<Frame>,
    current: Option<Current<L::In>>,
    inputs: Vec<Input>,
    frontier: Frontier,
    alignment: Alignment,
    /// Since when links are held for a barrier.
    aligning: Option<Moment>,
    /// The barrier at which the component is about to be saved.
    due: Option<Barrier>,
    output: Output<L::Out>,
    meter: Meter,
    /// Had nothing to do when it was last polled.
    idle: bool,
    /// The component has no room for the event at hand.
    parked: bool,
    /// The component has finished; what it emitted may still have to leave.
    finished: bool,
    processed: u64,
    /// Events are looked at, since the component has failed at one after the last checkpoint.
    watch: Option<Watch>,
    examined: Examined,
    alarm: Option<Alarm>,
    /// Timers had their turn, and events have it now.
    fired: bool,
}

impl<L: Logic> OperatorMachine<L> {
    pub(crate) fn new(seat: Seat, maker: Maker<L>, outlets: Outlets<L::Out>) -> Self {
        let mut output = Output::new(outlets, Arc::clone(&seat.counters));
        output.emitter.set_streams(Arc::clone(&seat.streams));
        Self {
            maker,
            logic: None,
            phase: Phase::New,
            inbox: VecDeque::new(),
            current: None,
            inputs: (0..seat.links).map(|_| Input::default()).collect(),
            frontier: Frontier::new(seat.links),
            alignment: Alignment::new(seat.links, seat.saving.as_ref().is_some_and(|s| s.aligned)),
            aligning: None,
            due: None,
            output,
            meter: Meter::new(Arc::clone(&seat.pace)),
            idle: true,
            parked: false,
            finished: false,
            processed: 0,
            watch: None,
            examined: Examined::default(),
            alarm: None,
            fired: false,
            seat,
        }
    }

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

    fn start(&mut self) {
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

    fn restart(&mut self) {
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

    fn failure(&self, cause: Cause, event: Option<u64>) -> Failure {
        Failure { instance: self.seat.ctx.instance.clone(), event, step: None, cause }
    }

    /// Broken, and to be built anew.
    fn break_down(&mut self, cause: Cause, event: Option<u64>) {
        let comeback =
            if self.seat.saving.is_some() { Comeback::AtCheckpoint } else { Comeback::Fresh };
        self.come_back(comeback, cause, event);
    }

    fn come_back(&mut self, comeback: Comeback, cause: Cause, event: Option<u64>) {
        self.phase = Phase::Broken;
        let failure = self.failure(cause, event);
        self.seat.reports.report(Report::Broken(failure, comeback));
    }

    /// The component has failed at an event. It is tried again, if there is a checkpoint to go back to.
    fn fail_at_event(&mut self, cause: Cause) {
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
    fn fail(&mut self, cause: Cause, event: Option<u64>) {
        if self.seat.saving.is_some() {
            self.break_down(cause, event);
        } else {
            self.lose(cause, event);
        }
    }

    /// Broken for good: the job is going to end.
    fn lose(&mut self, cause: Cause, event: Option<u64>) {
        self.phase = Phase::Broken;
        let failure = self.failure(cause, event);
        self.seat.reports.report(Report::Lost(failure));
    }

    /// Goes on with the frame at hand: until it is done, an instance is broken, a link is out of
    /// credit, or it is time to look at the clock.
    fn advance(&mut self, now: Moment, cx: &mut task::Context<'_>) -> Moment {
        let before = self.processed;
        let broken = self.run(self.meter.chunk(), cx);
        let then = if self.processed > before {
            let then = self.seat.ctx.clock.now();
            self.meter.record(self.processed - before, then);
            then
        } else {
            now
        };
        let event = Some(self.processed);
        match broken {
            None => {}
            Some(Stop::Error(error)) if Fatal::is(&*error) => self.lose(Cause::error(error), event),
            Some(Stop::Error(error)) if self.seat.saving.is_some() => {
                self.fail_at_event(Cause::error(error));
            }
            Some(Stop::Error(error)) => self.lose(Cause::error(error), event),
            Some(Stop::Panic(cause)) if self.seat.saving.is_some() => self.fail_at_event(cause),
            Some(Stop::Panic(cause)) => {
                self.bury(&cause, 1);
                self.break_down(cause, event);
            }
            Some(Stop::Shut(cause)) => self.fail(cause, None),
            Some(Stop::Pending) => self.parked = true,
            Some(Stop::Done | Stop::Full | Stop::Spared(_)) => {}
        }
        self.output.flush_if_due(then);
        then
    }

    /// Processes at most `most` events of the frame at hand. Says what broke the instance, if
    /// anything did.
    fn run(&mut self, most: usize, cx: &mut task::Context<'_>) -> Option<Stop> {
        let looks = self.looks();
        if looks && self.examine() {
            return None;
        }
        let most = if looks { 1 } else { most };
        let mut dead = None;
        let (Some(current), Some(logic)) = (&mut self.current, &mut self.logic) else {
            return None;
        };
        let Some(batch) = &mut current.events else { return None };
        // The iterator stays outside of what is caught: a panic takes the event at hand with it and
        // leaves those behind.
        let mut events = batch.drain(..most.min(batch.len()));
        let mut broken = None;
        loop {
            let before = events.len();
            let out = &mut self.output.emitter;
            let asked = Cell::new(false);
            let stop = match catch(|| process(logic, &mut events, out, cx, &asked)) {
                Ok(stop) => stop,
                Err(panic) if asked.get() => Stop::Shut(panic.into()),
                Err(panic) if logic.is_spared() => Stop::Spared(panic.into()),
                Err(panic) => Stop::Panic(panic.into()),
            };
            let taken = (before - events.len()) as u64;
            self.output.note();
            self.processed += taken;
            let counters = &self.seat.counters;
            match stop {
                Stop::Done => {
                    counters.applied.add(taken);
                    break;
                }
                Stop::Full => {
                    counters.applied.add(taken);
                    self.output.route();
                    if self.output.waits() {
                        break;
                    }
                }
                Stop::Pending | Stop::Shut(_) => {
                    counters.applied.add(taken);
                    broken = Some(stop);
                    break;
                }
                Stop::Error(_) | Stop::Panic(_) | Stop::Spared(_) => {
                    counters.applied.add(taken - 1);
                    counters.failed.add(1);
                    match stop {
                        Stop::Error(error) if self.seat.is_skipped(&error) => {
                            if looks {
                                let cause = Cause::error(error);
                                note(&self.seat, self.processed, || cause.clone());
                                dead = Some(cause);
                            } else {
                                note(&self.seat, self.processed, || Cause::error(error));
                            }
                        }
                        Stop::Spared(cause) => note(&self.seat, self.processed, || cause),
                        stop => {
                            broken = Some(stop);
                            break;
                        }
                    }
                }
            }
        }
        let rest: Vec<L::In> = events.collect();
        if !rest.is_empty() {
            batch.splice(..0, rest);
        }
        if let Some(cause) = dead {
            self.bury(&cause, 1);
        }
        broken
    }

    /// The events of the frame at hand are done: acts on its control element, gives the credit back.
    fn complete(&mut self, current: Current<L::In>, now: Moment, cx: &mut task::Context<'_>) {
        let Current { link, events, control, credit } = current;
        match events {
            Some(empty) => credit.recycle(empty),
            None => drop(credit),
        }
        self.output.frame_done(now);
        match control {
            None => {}
            Some(Control::Watermark(watermark)) => {
                let advance = self.frontier.watermark(link, watermark);
                self.pass_on(advance);
            }
            Some(Control::Idle) => {
                let advance = self.frontier.idle(link);
                self.pass_on(advance);
            }
            Some(Control::Barrier(barrier)) => {
                self.due = self.alignment.barrier(link, barrier);
                if self.alignment.holds(link) {
                    self.aligning.get_or_insert(now);
                }
            }
            Some(Control::End) => {
                self.inputs[link.as_usize()].ended = true;
                let advance = self.frontier.end(link);
                self.pass_on(advance);
                self.due = self.alignment.end(link);
                if self.phase == Phase::Running && self.inputs.iter().all(|input| input.ended) {
                    self.phase = Phase::Finishing;
                }
            }
            Some(Control::Close) => self.inputs[link.as_usize()].closed = true,
        }
        if self.inputs.iter().all(|input| input.closed) {
            // Without the end of data before it: a source was lost. What was gathered is written,
            // and nothing is finished.
            if self.phase == Phase::Running {
                self.rest(now, cx);
            }
            if self.phase != Phase::Broken {
                self.output.control(Control::Close);
                self.phase = Phase::Closing;
            }
        }
    }

    fn pass_on(&mut self, advance: Option<Advance>) {
        match advance {
            None => {}
            Some(Advance::To(watermark)) => self.output.control(Control::Watermark(watermark)),
            Some(Advance::Idle) => self.output.control(Control::Idle),
        }
    }

    /// Saves the component at the barrier that is due, and passes the barrier on. `Pending` if the component
    /// has first to write through what it holds.
    fn save(&mut self, barrier: Barrier, cx: &mut task::Context<'_>) -> Poll<()> {
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
    fn abort(&mut self, id: CheckpointId) {
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

    /// All inputs are at their end: a step towards that of the component. `Pending` if it waits for
    /// something.
    fn finish(&mut self, cx: &mut task::Context<'_>) -> Poll<()> {
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

    /// Nothing more to read: what was gathered leaves.
    fn rest(&mut self, now: Moment, cx: &mut task::Context<'_>) {
        self.output.flush(now);
        // Once finished, a component has nothing left to flush.
        if self.phase == Phase::Running
            && let Some(logic) = &mut self.logic
        {
            let flushed = catch(|| logic.poll_flush(cx).map_err(Cause::flush));
            if let Poll::Ready(Err(cause)) =
                flushed.unwrap_or_else(|panic| Poll::Ready(Err(panic.into())))
            {
                self.fail(cause, None);
            }
        }
    }

    /// Lets what can leave, leave, since this poll is over; says whether frames wait for credit.
    /// A closure that fails the job does so now, and not when there is more to read.
    fn release(&mut self, now: Moment, waker: &Waker) -> bool {
        self.output.flush(now);
        let blocked = self.output.is_blocked(waker);
        self.lost_in_step();
        blocked
    }

    /// Whether the instance is lost, because a closure behind it has failed and the job is to end with
    /// that.
    fn lost_in_step(&mut self) -> bool {
        let Some(failure) = self.output.take_failure() else { return false };
        self.phase = Phase::Broken;
        self.seat.reports.report(Report::Lost(failure));
        true
    }

    /// Drops the component, within the time that it has to come to its end.
    fn dismiss(&mut self) {
        self.phase = Phase::Over;
        if let Some(logic) = self.logic.take() {
            drop_quietly(logic);
        }
    }

    fn drop_everything(&mut self) {
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

    fn next_frame(&mut self) -> bool {
        let frame = loop {
            let Some(frame) = self.inbox.pop_front() else { return false };
            if !self.alignment.holds(frame.link) {
                break frame;
            }
            self.inputs[frame.link.as_usize()].held.push_back(frame);
        };
        let link = frame.link;
        let (batch, control, credit) = frame.open::<L::In>();
        if batch.is_some() {
            self.frontier.wake(link);
        }
        self.output.emitter.set_stream(self.seat.stream_of[link.as_usize()]);
        self.current = Some(Current { link, events: batch, control, credit });
        true
    }
}

/// How many events a component may look at before they are applied.
const AHEAD: usize = 32;

/// Calls the component with one event after the other.
///
/// Kept apart from its caller, and small: the compiler then keeps in registers what it would spill
/// in a larger function, which is worth a tenth of the throughput of a cheap operator.
#[inline(never)]
fn process<L: Logic>(
    logic: &mut L,
    events: &mut Drain<'_, L::In>,
    out: &mut Emitter<L::Out>,
    cx: &mut task::Context<'_>,
    asked: &Cell<bool>,
) -> Stop {
    let mut warm = 0;
    while !events.as_slice().is_empty() {
        if L::WARMS {
            if warm == 0 {
                let ahead = events.as_slice();
                warm = ahead.len().min(AHEAD);
                logic.warm(&ahead[..warm]);
            }
            warm -= 1;
        }
        // Asked before an event is taken.
        let question = Asking(asked);
        let ready = logic.poll_ready(cx);
        std::mem::forget(question);
        match ready {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return Stop::Shut(Cause::error(error)),
            Poll::Pending => return Stop::Pending,
        }
        let Some(event) = events.next() else { break };
        let trial = Trial::begin(out);
        match logic.apply(event, trial.out) {
            Ok(()) => trial.keep(),
            Err(error) => return Stop::Error(error),
        }
        if out.wants_look() && out.settle() {
            return Stop::Full;
        }
    }
    Stop::Done
}

/// Notes that a panic came up where the component was asked for room, and not at an event.
struct Asking<'a>(&'a Cell<bool>);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

/// Drops a frame with its events, one by one.
fn discard<T: Send + 'static>(frame: Frame) {
    let (events, _, credit) = frame.open::<T>();
    drop_each(events.into_iter().flat_map(|batch| *batch));
    drop(credit);
}

/// Logs an event that was lost; what it was lost to is put into words only then.
#[cold]
fn note(seat: &Seat, event: u64, cause: impl FnOnce() -> Cause) {
    let failed = seat.counters.failed.get();
    if !failure_is_logged(failed) {
        drop_quietly(cause);
        return;
    }
    let id = &seat.ctx.instance;
    let cause = cause();
    let failure = Failure { instance: id.clone(), event: Some(event), step: None, cause };
    seat.counters.note_failure(&failure);
    tracing::warn!(
        job = &*seat.ctx.job,
        component = %id.component,
        instance = id.index,
        failed,
        "event lost: {failure}",
    );
    drop_quietly(failure);
}

impl<L: Logic> Machine for OperatorMachine<L> {
    fn accept(&mut self, frame: Frame) {
        let events = frame.events() as u64;
        if frame.attempt != self.seat.attempt {
            self.seat.counters.stale.add(events);
            return;
        }
        self.seat.counters.received.add(events);
        if self.phase == Phase::Over {
            self.seat.counters.discarded.add(events);
            discard::<L::In>(frame);
        } else {
            self.inbox.push_back(frame);
        }
    }

    fn poll(&mut self, cx: &mut task::Context<'_>) {
        self.seat.control.register(cx.waker());
        let mut now = self.seat.ctx.clock.now();
        let slice_ends = now + SLICE;
        if std::mem::take(&mut self.idle) {
            self.meter.start(now);
        }
        loop {
            if self.phase == Phase::Over {
                return;
            }
            if self.seat.control.has(Command::Halt) {
                self.drop_everything();
                self.seat.reports.report(Report::Ended);
                return;
            }
            if let Some(id) = self.seat.control.take_abort() {
                self.abort(id);
            }
            match self.phase {
                Phase::New => self.start(),
                Phase::Broken if self.seat.control.take(Command::Restart) => self.restart(),
                _ => {}
            }
            if self.phase == Phase::Broken {
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
            if let Some(barrier) = self.due
                && matches!(self.phase, Phase::Running | Phase::Finished)
            {
                // What a closure behind it fails at is before the barrier.
                self.output.route();
                if self.lost_in_step() {
                    continue;
                }
                if self.save(barrier, cx).is_pending() {
                    self.release(now, cx.waker());
                    return;
                }
                now = self.seat.ctx.clock.now();
                continue;
            }
            if self.phase == Phase::Finishing && now < slice_ends {
                if self.finish(cx).is_pending() {
                    self.release(now, cx.waker());
                    return;
                }
                now = self.seat.ctx.clock.now();
                continue;
            }
            if self.phase == Phase::Closing {
                self.dismiss();
                self.seat.reports.report(Report::Ended);
                return;
            }
            if now >= slice_ends {
                cx.waker().wake_by_ref();
                return;
            }
            let fired = L::TIMED && std::mem::take(&mut self.fired);
            if L::TIMED && !fired && self.fire(slice_ends) {
                self.fired = true;
                now = self.seat.ctx.clock.now();
                continue;
            }
            if self.current.is_none() && !self.next_frame() {
                if fired {
                    continue;
                }
                self.rest(now, cx);
                if !self.release(now, cx.waker()) {
                    self.idle = true;
                }
                self.set_alarm(cx);
                return;
            }
            now = self.advance(now, cx);
            if std::mem::take(&mut self.parked) {
                self.release(now, cx.waker());
                return;
            }
            if matches!(self.phase, Phase::Running | Phase::Finished)
                && let Some(done) = self.current.take_if(|current| current.len() == 0)
            {
                self.complete(done, now, cx);
            }
        }
    }

    fn close(&mut self) {
        self.drop_everything();
    }
}

impl<L: Logic> fmt::Debug for OperatorMachine<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperatorMachine")
            .field("instance", &self.seat.ctx.instance)
            .field("phase", &self.phase)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
