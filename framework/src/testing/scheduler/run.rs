//! A run: one step after the other, as the seed has it, and what supervisors would do meanwhile.

use super::Scheduler;
use super::backstage::{Backstage, Orders};
use super::cells::{Cells, Letter};
use super::clock::{Random, SeededClock};
use crate::error::Error;
use crate::guard::{drop_each, drop_quietly};
use crate::instance::Cause;
use crate::runtime::{
    Assembly, ComponentSupervision, Deadline, Ending, JobOrder, JobState, JobSupervision, Making,
    Outcome, Recording, RecordingOrder, Verdict,
};
use crate::testing::stall::reason;
use crate::time::{Clock, Moment};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::task::{self, Waker};

/// Something that can happen next.
#[derive(Clone, Copy)]
enum Step {
    Deliver(usize),
    Poll(usize),
    Letter,
    Write,
    Commit,
}

/// Something that is done later.
#[derive(Clone, Copy, Debug)]
pub(super) enum Later {
    Restart { component: usize, instance: usize },
    Deadline(Deadline),
    Rested { region: usize },
}

/// How far a job gets.
pub(super) struct Limit {
    steps: u64,
    /// `None` where the test has said how the job ends.
    events: Option<u64>,
}

impl Limit {
    /// To sum up what was emitted takes longer than a step.
    const LOOKS: u64 = 64;

    pub(super) fn of(scheduler: &Scheduler) -> Self {
        let ending = scheduler.ending.map_or(0, |(steps, _)| steps);
        let steps = ending.saturating_add(scheduler.most.unwrap_or(Scheduler::STEPS));
        let by_default = scheduler.most.is_none() && scheduler.ending.is_none();
        Self { steps, events: by_default.then_some(Scheduler::EVENTS) }
    }

    /// Whether the job is beyond it.
    fn is_passed(&self, steps: u64, state: &JobState) -> bool {
        let emitted = || state.counts().iter().map(|(_, c)| c.emitted + c.expanded).sum::<u64>();
        let looks = steps.is_multiple_of(Self::LOOKS);
        steps > self.steps || (looks && self.events.is_some_and(|most| emitted() > most))
    }
}

pub(super) struct Run {
    pub(super) state: Arc<JobState>,
    pub(super) job: JobSupervision,
    pub(super) components: Vec<ComponentSupervision>,
    pub(super) cells: Cells,
    pub(super) assembly: Assembly,
    pub(super) recording: Option<Recording>,
    pub(super) backstage: Backstage,
    pub(super) waiting: Vec<(Moment, Later)>,
    pub(super) clock: SeededClock,
    pub(super) random: Random,
    pub(super) ending: Option<(u64, Ending)>,
    pub(super) limit: Limit,
    pub(super) steps: u64,
    pub(super) seed: u64,
}

impl Run {
    pub(super) fn run(mut self) -> Result<Outcome, Error> {
        loop {
            self.steps += 1;
            if self.limit.is_passed(self.steps, &self.state) {
                self.give_up();
            }
            if let Some((_, ending)) = self.ending.take_if(|(steps, _)| *steps <= self.steps) {
                if ending == Ending::Kill {
                    // Nothing of it goes on: not even what was ordered.
                    self.recording = None;
                    *self.backstage.lock() = Orders::default();
                }
                self.job.on_ending(ending);
            }
            if self.do_what_is_due() || self.carry_out() {
                return self.conclude();
            }
            match self.choose() {
                Some(Step::Deliver(i)) => {
                    let cell = &mut self.cells.cells[i];
                    if let Some(frame) = cell.mail.pop() {
                        cell.machine.accept(frame);
                        cell.woken.0.store(true, Ordering::Relaxed);
                    }
                }
                Some(Step::Poll(i)) => {
                    let cell = &mut self.cells.cells[i];
                    cell.woken.0.store(false, Ordering::Relaxed);
                    let waker = Waker::from(Arc::clone(&cell.woken));
                    cell.machine.poll(&mut task::Context::from_waker(&waker));
                }
                Some(Step::Letter) => {
                    if self.read_letter() {
                        return self.conclude();
                    }
                }
                Some(Step::Write) => {
                    let report = self.backstage.lock().write();
                    let now = self.clock.clock.now();
                    if let (Some(recording), Some(report)) = (&mut self.recording, report) {
                        recording.on_writer(report, now);
                    }
                }
                Some(Step::Commit) => {
                    let report = self.backstage.lock().commit();
                    if let (Some(recording), Some(report)) = (&mut self.recording, report) {
                        recording.on_committer(report);
                    }
                }
                None => self.wait(),
            }
        }
    }

    fn choose(&mut self) -> Option<Step> {
        let mut steps = Vec::new();
        for (i, cell) in self.cells.cells.iter().enumerate() {
            if !cell.mail.is_empty() {
                steps.push(Step::Deliver(i));
            }
            if cell.woken.0.load(Ordering::Relaxed) {
                steps.push(Step::Poll(i));
            }
        }
        if !self.cells.letters.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            steps.push(Step::Letter);
        }
        let backstage = self.backstage.lock();
        steps.extend((!backstage.writes.is_empty()).then_some(Step::Write));
        steps.extend(backstage.commits.is_some().then_some(Step::Commit));
        drop(backstage);
        (!steps.is_empty()).then(|| steps[self.random.below(steps.len())])
    }

    /// Acts on the oldest letter. Says whether the job is over.
    fn read_letter(&mut self) -> bool {
        let first = self.cells.letters.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let now = self.clock.clock.now();
        match first {
            None => false,
            Some(Letter::Snapshot { at, attempt, snapshot }) => {
                let day = self.clock.time_of_day();
                let is_current = self.job.is_current(at.0, attempt);
                match &mut self.recording {
                    Some(recording) if is_current => recording.on_snapshot(at, snapshot, day),
                    Some(recording) => recording.on_stale(at, snapshot),
                    None => {}
                }
                false
            }
            Some(Letter::Report { component, index, attempt, report }) => {
                match self.components[component].on_report((index, attempt), report, now) {
                    Verdict::Fine => false,
                    Verdict::Restart { instance, after } => {
                        self.waiting.push((now + after, Later::Restart { component, instance }));
                        false
                    }
                    Verdict::Tell(news) => self.job.on_news((component, attempt), news, now),
                }
            }
        }
    }

    /// Does what was decided, as the job's supervisor does. Says whether the job is to be concluded.
    fn carry_out(&mut self) -> bool {
        loop {
            let now = self.clock.clock.now();
            let orders = self.job.take_orders();
            let recorded = self.recording.as_mut().map(Recording::take_orders).unwrap_or_default();
            if orders.is_empty() && recorded.is_empty() {
                return false;
            }
            for order in orders {
                match (order, &mut self.recording) {
                    (JobOrder::Deadline(after, deadline), _) => {
                        self.waiting.push((now + after, Later::Deadline(deadline)));
                    }
                    (_, None) => {}
                    (JobOrder::Running, Some(recording)) => recording.on_running(now),
                    (JobOrder::Rewound { region }, Some(recording)) => {
                        recording.on_rewound(region, now);
                    }
                    (JobOrder::End { stop }, Some(recording)) => recording.end(stop, now),
                    (JobOrder::Rewind { region, after }, Some(recording)) => {
                        recording.on_failure(region, now);
                        self.waiting.push((now + after, Later::Rested { region }));
                    }
                }
            }
            for order in recorded {
                match order {
                    RecordingOrder::Make { region, restored } => {
                        if !self.state.status().is_running() {
                            continue;
                        }
                        let attempt = self.job.begin(region);
                        for (c, component) in self.components.iter_mut().enumerate() {
                            if self.state.components[c].region == region {
                                component.begin(attempt);
                            }
                        }
                        let restored = restored.as_deref();
                        let making = Making { attempt, region: Some(region), restored };
                        self.assembly.make(making, &mut self.cells);
                    }
                    RecordingOrder::Close => self.job.close(),
                    RecordingOrder::Halt => self.job.end(),
                    RecordingOrder::Fail(problem) => {
                        self.job.on_fault(0, Cause::Checkpoint(problem));
                    }
                    RecordingOrder::FailCommit(commit, problem) => {
                        self.job.on_refused(&commit, problem);
                    }
                }
            }
        }
    }

    /// Does what is due. Says whether the job is to be concluded.
    fn do_what_is_due(&mut self) -> bool {
        let now = self.clock.clock.now();
        while let Some(i) = self.waiting.iter().position(|(at, _)| *at <= now) {
            match self.waiting.swap_remove(i).1 {
                Later::Restart { component, instance } => {
                    self.components[component].restart(instance);
                }
                Later::Rested { region } => {
                    if let Some(recording) = &mut self.recording {
                        recording.on_rested(region);
                    }
                }
                Later::Deadline(deadline) => {
                    if self.job.on_deadline(deadline) {
                        return true;
                    }
                }
            }
        }
        if let Some(recording) = &mut self.recording
            && recording.next_time().is_some_and(|at| at <= now)
        {
            recording.on_time(now);
        }
        false
    }

    /// Nothing can go on: time passes until something is due.
    fn wait(&mut self) {
        let alarm = self.clock.clock.next_alarm();
        let waiting = self.waiting.iter().map(|(at, _)| *at).min();
        let recording = self.recording.as_ref().and_then(Recording::next_time);
        let ending = self.ending.map(|_| self.clock.clock.now());
        // An end that was ordered for a later step does not hold time up.
        match [alarm, waiting, recording].into_iter().flatten().min().or(ending) {
            Some(due) => {
                let now = self.clock.clock.now();
                self.clock.clock.advance(due.since(now));
            }
            None => {
                let (steps, seed, tree) = (self.steps, self.seed, self.state.tree());
                let reason = reason(&tree);
                panic!("the job stalled after {steps} steps (seed {seed}): {reason}\n{tree}");
            }
        }
    }

    /// The job has had its steps.
    fn give_up(&self) -> ! {
        let (steps, seed, tree) = (self.steps - 1, self.seed, self.state.tree());
        panic!(
            "the job has not ended after {steps} steps (seed {seed}): if a source of it is endless, \
             bound that (`.events(n)` of a generator, `.take(n)` of an iterator) or end the job with \
             `Scheduler::drain_after`; if it needs longer, say so with `Scheduler::at_most`\n{tree}"
        );
    }

    /// Everything has ended: what is still in a mailbox is accounted for.
    fn conclude(mut self) -> Result<Outcome, Error> {
        let conclusion = self.job.conclude();
        for cell in &mut self.cells.cells {
            while let Some(frame) = cell.mail.pop() {
                cell.machine.accept(frame);
            }
        }
        for cell in &mut self.cells.cells {
            cell.machine.close();
        }
        drop_each(self.cells.cells.drain(..));
        self.assembly.take_apart().into_iter().for_each(drop_quietly);
        match conclusion {
            None => Ok(Outcome::of(&self.state)),
            Some((failure, exhausted)) => {
                let (job, counts) = (self.state.name.clone(), self.state.counts());
                let failure = Box::new(failure);
                Err(Error::Failed { job, failure, exhausted, counts })
            }
        }
    }
}
