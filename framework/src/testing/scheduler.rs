//! The second shell: machines on one thread, in an order that a seed decides.

use super::stall::reason;
use crate::error::Error;
use crate::guard::{drop_each, drop_quietly};
use crate::id::InstanceId;
use crate::instance::{Cause, Machine, Report, Reports};
use crate::job::Job;
use crate::link::{Frame, Mailbox};
use crate::runtime::{
    ComponentSupervision, Deadline, Ending, JobState, JobSupervision, Outcome, Place, Settings,
    Shell, Verdict, assemble, state_of,
};
use crate::time::{Clock, ManualClock, Moment};
use futures::future::BoxFuture;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{self, Wake, Waker};
use std::time::Duration;

/// Runs a whole job on the calling thread. Which instance goes on, whether a frame is delivered
/// first, how long anything takes: all of it is drawn from the seed, so a seed is an interleaving,
/// and the same seed is the same run.
///
/// Time is simulated, for the supervisors too: the pause before a restart, and how long a job that is to
/// end waits for what is under way. Sources that wait for something outside (a file or a socket, which are
/// read on another thread) can't be run by it: such a job stalls, and the panic names who waits.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing::Scheduler;
///
/// for seed in 0..20 {
///     let got = Collect::new();
///     let job = Job::new("seeded");
///     job.source(FromIter::new(0..100_u64)).parallelism(2).sink(got.clone()).parallelism(3);
///     let outcome = Scheduler::seeded(seed).run(job).unwrap();
///     assert_eq!(outcome.status(), JobStatus::Finished);
///     assert_eq!(got.len(), 100);
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Scheduler {
    seed: u64,
    ending: Option<(u64, Ending)>,
    /// How many steps the job may take, if the test says so.
    most: Option<u64>,
}

impl Scheduler {
    /// How far a job gets by default.
    const STEPS: u64 = 10_000_000;
    const EVENTS: u64 = 10_000_000;

    /// A scheduler for one interleaving.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self { seed, ending: None, most: None }
    }

    /// Its seed.
    ///
    /// ```
    /// assert_eq!(streamwork::testing::Scheduler::seeded(7).seed(), 7);
    /// ```
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Drains the job after this many steps.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::Scheduler;
    ///
    /// let job = Job::new("endless");
    /// job.source(FromIter::new(0_u64..)).sink(Collect::new());
    /// let outcome = Scheduler::seeded(1).drain_after(500).run(job).unwrap();
    /// assert_eq!(outcome.status(), JobStatus::Drained);
    /// assert_eq!(outcome.events_in(), outcome.events_out());
    /// ```
    #[must_use]
    pub fn drain_after(self, steps: u64) -> Self {
        Self { ending: Some((steps, Ending::Drain)), ..self }
    }

    /// Stops the job after this many steps.
    ///
    /// ```
    /// use streamwork::prelude::*;
    /// use streamwork::testing::Scheduler;
    ///
    /// let job = Job::new("endless");
    /// job.source(FromIter::new(0_u64..)).sink(Collect::new());
    /// let outcome = Scheduler::seeded(1).stop_after(500).run(job).unwrap();
    /// assert_eq!(outcome.status(), JobStatus::Stopped);
    /// assert_eq!(outcome.events_in(), outcome.events_out() + outcome.dropped());
    /// ```
    #[must_use]
    pub fn stop_after(self, steps: u64) -> Self {
        Self { ending: Some((steps, Ending::Stop)), ..self }
    }

    /// Gives the job this many steps to its end, from the order to [drain](Self::drain_after) or
    /// [stop](Self::stop_after) on if there is one. Without it a job may take ten million steps and emit ten
    /// million events, so that one with an endless source does not fill the memory. A step is a frame
    /// delivered or an instance that goes on for a while, with up to some hundred events.
    ///
    /// ```should_panic
    /// use streamwork::prelude::*;
    /// use streamwork::testing::Scheduler;
    ///
    /// let job = Job::new("endless");
    /// job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {}));
    /// // panics: the job has not ended after 1000 steps
    /// Scheduler::seeded(1).at_most(1_000).run(job).unwrap();
    /// ```
    #[must_use]
    pub fn at_most(self, steps: u64) -> Self {
        Self { most: Some(steps), ..self }
    }

    /// Runs the job to its end.
    ///
    /// # Errors
    /// As [`Engine::run`](crate::Engine::run).
    ///
    /// # Panics
    /// If the job stalls: nothing can go on and nothing is going to happen. The message names the
    /// instances that wait for something outside, and has the supervision tree and the seed. If the job
    /// does not end within its [steps](Self::at_most), most likely because a source is endless.
    pub fn run(&self, job: Job) -> Result<Outcome, Error> {
        let name = job.name().to_owned();
        let (_, key_groups, limits) = job.settings();
        let strategy = job.restart_strategy();
        let mut graph = match job.into_graph() {
            Ok(graph) => graph,
            Err(problems) => return Err(Error::Refused { job: name, problems }),
        };
        let state = Arc::new(state_of(&name, &graph));
        let clock = SeededClock::new(self.seed);
        let settings = Settings { key_groups, limits, clock: Arc::new(clock.clone()) };
        let mut cells = Cells::default();
        let assembled = assemble(&mut graph, &state, &settings, &mut cells);
        // As the engine does: their destructors are the user's.
        graph.take_apart().into_iter().for_each(drop_quietly);
        if let Err(error) = assembled {
            return Err(Error::Assembly { job: name, cause: Cause::setup(error) });
        }
        let components = (0..state.components.len())
            .map(|c| ComponentSupervision::new(Arc::clone(&state), c, strategy))
            .collect();
        let run = Run {
            job: JobSupervision::new(Arc::clone(&state)),
            components,
            cells,
            restarts: Vec::new(),
            deadlines: Vec::new(),
            clock,
            random: Random(self.seed),
            ending: self.ending,
            limit: Limit::of(self),
            steps: 0,
            seed: self.seed,
            state,
        };
        run.run()
    }
}

/// `SplitMix64`.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// A manual clock that moves on a little each time that somebody looks at it: so slices end and
/// events take time, differently for each seed.
#[derive(Clone, Debug)]
struct SeededClock {
    clock: ManualClock,
    random: Arc<AtomicU64>,
}

impl SeededClock {
    fn new(seed: u64) -> Self {
        Self { clock: ManualClock::new(), random: Arc::new(AtomicU64::new(!seed)) }
    }
}

impl Clock for SeededClock {
    fn now(&self) -> Moment {
        let drawn = Random(self.random.fetch_add(1, Ordering::Relaxed)).next();
        // Mostly microseconds, now and then more than a slice.
        let micros = if drawn.is_multiple_of(16) { drawn >> 53 } else { (drawn >> 58) + 1 };
        self.clock.advance(Duration::from_micros(micros));
        self.clock.now()
    }

    fn sleep_until(&self, moment: Moment) -> BoxFuture<'static, ()> {
        self.clock.sleep_until(moment)
    }
}

/// A machine with its mailbox.
struct Cell {
    machine: Box<dyn Machine>,
    mail: Arc<Mail>,
    woken: Arc<Woken>,
}

#[derive(Default)]
struct Mail(Mutex<VecDeque<Frame>>);

impl Mail {
    fn pop(&self) -> Option<Frame> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl Mailbox for Mail {
    fn deliver(&self, frame: Frame) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(frame);
    }
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

type Inbox = Arc<Mutex<VecDeque<(usize, usize, Report)>>>;

struct Reporter {
    inbox: Inbox,
    component: usize,
    index: usize,
}

impl Reports for Reporter {
    fn report(&self, report: Report) {
        let mut inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.push_back((self.component, self.index, report));
    }
}

/// The shell.
#[derive(Default)]
struct Cells {
    cells: Vec<Cell>,
    reports: Inbox,
}

impl Shell for Cells {
    fn arbiters(&self) -> usize {
        1
    }

    fn reports(&mut self, component: usize, index: usize) -> Arc<dyn Reports> {
        Arc::new(Reporter { inbox: Arc::clone(&self.reports), component, index })
    }

    fn spawn(
        &mut self,
        _: usize,
        _: &InstanceId,
        _: Place,
        machine: Box<dyn Machine>,
    ) -> Arc<dyn Mailbox> {
        let mail = Arc::new(Mail::default());
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        self.cells.push(Cell { machine, mail: Arc::clone(&mail), woken });
        mail
    }
}

/// Something that can happen next.
#[derive(Clone, Copy)]
enum Step {
    Deliver(usize),
    Poll(usize),
    Report,
}

/// How far a job gets.
struct Limit {
    steps: u64,
    /// `None` where the test has said how the job ends.
    events: Option<u64>,
}

impl Limit {
    /// To sum up what was emitted takes longer than a step.
    const LOOKS: u64 = 64;

    fn of(scheduler: &Scheduler) -> Self {
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

struct Run {
    state: Arc<JobState>,
    job: JobSupervision,
    components: Vec<ComponentSupervision>,
    cells: Cells,
    /// Restarts that were decided: when, component, instance.
    restarts: Vec<(Moment, usize, usize)>,
    /// What the job's supervisor does if the job has not ended by then.
    deadlines: Vec<(Moment, Deadline)>,
    clock: SeededClock,
    random: Random,
    ending: Option<(u64, Ending)>,
    limit: Limit,
    steps: u64,
    seed: u64,
}

impl Run {
    fn run(mut self) -> Result<Outcome, Error> {
        loop {
            self.steps += 1;
            if self.limit.is_passed(self.steps, &self.state) {
                self.give_up();
            }
            if let Some((_, ending)) = self.ending.take_if(|(steps, _)| *steps <= self.steps) {
                self.job.on_ending(ending);
                self.keep_deadline();
            }
            self.restart_due();
            if self.deadline_passed() {
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
                Some(Step::Report) => {
                    if self.report() {
                        return self.conclude();
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
        if !self.cells.reports.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            steps.push(Step::Report);
        }
        (!steps.is_empty()).then(|| steps[self.random.below(steps.len())])
    }

    /// Acts on the oldest report. Says whether the job is over.
    fn report(&mut self) -> bool {
        let first = self.cells.reports.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let Some((component, index, report)) = first else { return false };
        let now = self.clock.clock.now();
        match self.components[component].on_report(index, report, now) {
            Verdict::Fine => false,
            Verdict::Restart { instance, after } => {
                self.restarts.push((now + after, component, instance));
                false
            }
            Verdict::Tell(news) => {
                let over = self.job.on_news(component, news);
                self.keep_deadline();
                over
            }
        }
    }

    /// Keeps the deadline that was set, if one was.
    fn keep_deadline(&mut self) {
        if let Some((after, deadline)) = self.job.take_deadline() {
            self.deadlines.push((self.clock.clock.now() + after, deadline));
        }
    }

    /// Acts on the deadlines that have passed. Says whether the job is to be concluded.
    fn deadline_passed(&mut self) -> bool {
        let now = self.clock.clock.now();
        while let Some(i) = self.deadlines.iter().position(|(at, _)| *at <= now) {
            let (_, deadline) = self.deadlines.swap_remove(i);
            if self.job.on_deadline(deadline) {
                return true;
            }
            self.keep_deadline();
        }
        false
    }

    fn restart_due(&mut self) {
        let now = self.clock.clock.now();
        let components = &self.components;
        self.restarts.retain(|(at, component, instance)| {
            let due = *at <= now;
            if due {
                components[*component].restart(*instance);
            }
            !due
        });
    }

    /// Nothing can go on: time passes until something is due.
    fn wait(&mut self) {
        let alarm = self.clock.clock.next_alarm();
        let restart = self.restarts.iter().map(|(at, _, _)| *at).min();
        let deadline = self.deadlines.iter().map(|(at, _)| *at).min();
        let ending = self.ending.map(|_| self.clock.clock.now());
        match [alarm, restart, deadline, ending].into_iter().flatten().min() {
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
