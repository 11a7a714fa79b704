//! The second shell: machines on one thread, in an order that a seed decides.

use super::stall::reason;
use crate::checkpoint::{CheckpointStore, ManifestKind, MemoryStore, PendingCommit, Snapshot};
use crate::error::Error;
use crate::guard::{drop_each, drop_quietly};
use crate::id::{Attempt, InstanceId};
use crate::instance::{Cause, Machine, Report, Reports, Snapshots};
use crate::job::Job;
use crate::link::{Frame, Mailbox};
use crate::runtime::{
    Assembly, CommitReport, Committers, ComponentSupervision, Deadline, Ending, Helpers, JobOrder,
    JobState, JobStatus, JobSupervision, Keeping, MakeStore, Making, Opened, Outcome, Place,
    Recording, RecordingOrder, Refused, Settings, Shell, StorePlace, Verdict, WriterOrder,
    WriterReport, Writing, state_of,
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
#[derive(Clone)]
pub struct Scheduler {
    seed: u64,
    store: Option<MakeStore>,
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
        Self { seed, store: None, ending: None, most: None }
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

    /// Kills the job after this many steps: what it had not written yet is lost, as when its process dies.
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::MemoryStore;
    /// use streamwork::prelude::*;
    /// use streamwork::testing::Scheduler;
    ///
    /// let store = MemoryStore::new();
    /// let got = Collect::new();
    /// let job = || {
    ///     let job = Job::new("numbers").delivery(Delivery::exactly_once(Duration::from_millis(1)));
    ///     job.source(Generator::indexed(|n| n).events(20_000)).sink(got.clone());
    ///     job
    /// };
    /// let killed = Scheduler::seeded(1).store(store.clone()).kill_after(40).run(job()).unwrap();
    /// assert_eq!(killed.status(), JobStatus::Killed);
    /// let outcome = Scheduler::seeded(2).store(store).run(job()).unwrap();
    /// assert_eq!(outcome.status(), JobStatus::Finished);
    /// assert_eq!(got.take(), (0..20_000).collect::<Vec<_>>());
    /// ```
    #[must_use]
    pub fn kill_after(self, steps: u64) -> Self {
        Self { ending: Some((steps, Ending::Kill)), ..self }
    }

    /// Keeps the checkpoints of the job in this store, of which a clone holds the same. Without it each run
    /// has one of its own, in memory. [`kill_after`](Self::kill_after) has an example.
    #[must_use]
    pub fn store<S: CheckpointStore + Clone + Sync + 'static>(self, store: S) -> Self {
        Self { store: Some(Arc::new(move || Box::new(store.clone()))), ..self }
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
        let (delivery, key_groups, limits) = job.settings();
        let strategy = job.restart_strategy();
        let dropped = job.dropped_state();
        let graph = match job.into_graph() {
            Ok(graph) => graph,
            Err(problems) => return Err(Error::Refused { job: name, problems }),
        };
        let state = Arc::new(state_of(&name, &graph));
        let clock = SeededClock::new(self.seed);
        let seeded = Arc::new(clock.clone());
        let settings = Settings { key_groups, limits, clock: seeded, delivery, dropped };
        let mut assembly = match Assembly::new(graph, Arc::clone(&state), settings) {
            Ok(assembly) => assembly,
            Err((error, mut graph)) => {
                graph.take_apart().into_iter().for_each(drop_quietly);
                return Err(Error::Assembly { job: name, cause: Cause::setup(error) });
            }
        };
        let place = StorePlace::Store(self.store.clone().unwrap_or_else(|| {
            let store = MemoryStore::new();
            Arc::new(move || Box::new(store.clone()))
        }));
        let keeping = Keeping { place, fresh: false, wanted: None };
        let opened = delivery
            .checkpoints()
            .map(|taking| Opened::open(&state, &assembly, &keeping, taking, &|_| {}))
            .transpose();
        let opened = match opened {
            Ok(opened) => opened,
            Err(error) => {
                assembly.take_apart().into_iter().for_each(drop_quietly);
                return Err(error);
            }
        };
        let rewinds = opened.is_some();
        let mut cells = Cells::default();
        let restored = opened.as_ref().and_then(|opened| opened.restored.clone());
        if restored.as_ref().is_some_and(|r| r.manifest.kind == ManifestKind::Finished) {
            assembly.take_apart().into_iter().for_each(drop_quietly);
            state.set_status(JobStatus::Finished);
            return Ok(Outcome::of(&state));
        }
        let backstage = Backstage::default();
        let recording = opened.map(|opened| {
            let coordination = opened.coordination(&state, &assembly, "seeded");
            let Opened { writing, committers, .. } = opened;
            backstage.lock().machinery = Some((writing, committers));
            Recording::new(Arc::clone(&state), coordination, Box::new(backstage.clone()))
        });
        let components = (0..state.components.len())
            .map(|c| ComponentSupervision::new(Arc::clone(&state), c, strategy, rewinds))
            .collect();
        let job = JobSupervision::new(Arc::clone(&state), strategy, rewinds);
        let restored = restored.as_ref();
        assembly.make(Making { attempt: Attempt::FIRST, region: None, restored }, &mut cells);
        if !rewinds {
            // As the engine does: their destructors are the user's.
            assembly.take_apart().into_iter().for_each(drop_quietly);
        }
        let run = Run {
            job,
            components,
            cells,
            assembly,
            recording,
            backstage,
            waiting: Vec::new(),
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

impl std::fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { seed, ending, most, .. } = self;
        f.debug_struct("Scheduler")
            .field("seed", seed)
            .field("ending", ending)
            .field("most", most)
            .finish_non_exhaustive()
    }
}

/// The writer and the committer, whose orders are carried out when the seed says so.
#[derive(Clone, Debug, Default)]
struct Backstage(Arc<Mutex<Orders>>);

#[derive(Debug, Default)]
struct Orders {
    machinery: Option<(Writing, Committers)>,
    writes: VecDeque<WriterOrder>,
    /// The last order of commits has in it what was not confirmed of those before.
    commits: Option<Vec<PendingCommit>>,
    tries: u32,
}

impl Backstage {
    fn lock(&self) -> std::sync::MutexGuard<'_, Orders> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Helpers for Backstage {
    fn write(&mut self, order: WriterOrder) {
        self.lock().writes.push_back(order);
    }

    fn commit(&mut self, commits: Vec<PendingCommit>) {
        let mut orders = self.lock();
        (orders.commits, orders.tries) = (Some(commits), 0);
    }

    fn discard(&mut self, commits: Vec<PendingCommit>) {
        if let Some((_, committers)) = &mut self.lock().machinery {
            commits.iter().for_each(|commit| committers.discard(commit));
        }
    }

    fn quit(self: Box<Self>, _: Duration) -> bool {
        true
    }
}

impl Orders {
    const TRIES: u32 = 8;

    /// Carries out the oldest order of the writer, or sweeps if there is none.
    fn write(&mut self) -> Option<WriterReport> {
        let (writing, _) = self.machinery.as_mut()?;
        let order = self.writes.pop_front()?;
        let open = matches!(order, WriterOrder::Put(_) | WriterOrder::Confirm(_));
        let report = writing.carry_out(order);
        if !open && self.writes.is_empty() {
            while writing.sweep() {}
        }
        report
    }

    fn commit(&mut self) -> Option<CommitReport> {
        let (_, committers) = self.machinery.as_mut()?;
        let commits = self.commits.take()?;
        for commit in &commits {
            if let Err(Refused { problem, for_good }) = committers.commit(commit) {
                self.tries += 1;
                let tries = self.tries;
                if for_good || tries >= Self::TRIES {
                    return Some(CommitReport::GaveUp { commit: commit.clone(), problem, tries });
                }
                self.commits = Some(commits);
                return None;
            }
        }
        commits.iter().map(|commit| commit.checkpoint).max().map(CommitReport::Committed)
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

/// What instances tell, in the order in which they do.
enum Letter {
    Report { component: usize, index: usize, attempt: Attempt, report: Report },
    Snapshot { at: (usize, usize), attempt: Attempt, snapshot: Snapshot },
}

type Inbox = Arc<Mutex<VecDeque<Letter>>>;

struct Reporter {
    inbox: Inbox,
    component: usize,
    index: usize,
    attempt: Attempt,
}

impl Reporter {
    fn post(&self, letter: Letter) {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).push_back(letter);
    }
}

impl Reports for Reporter {
    fn report(&self, report: Report) {
        let Self { component, index, attempt, .. } = *self;
        self.post(Letter::Report { component, index, attempt, report });
    }
}

impl Snapshots for Reporter {
    fn put(&self, snapshot: Snapshot) {
        let Self { component, index, attempt, .. } = *self;
        self.post(Letter::Snapshot { at: (component, index), attempt, snapshot });
    }
}

/// The shell.
#[derive(Default)]
struct Cells {
    cells: Vec<Cell>,
    ids: Vec<InstanceId>,
    letters: Inbox,
}

impl Shell for Cells {
    fn arbiters(&self) -> usize {
        1
    }

    fn reports(&mut self, component: usize, index: usize, attempt: Attempt) -> Arc<dyn Reports> {
        Arc::new(Reporter { inbox: Arc::clone(&self.letters), component, index, attempt })
    }

    fn snapshots(
        &mut self,
        component: usize,
        index: usize,
        attempt: Attempt,
    ) -> Arc<dyn Snapshots> {
        Arc::new(Reporter { inbox: Arc::clone(&self.letters), component, index, attempt })
    }

    fn drive(
        &mut self,
        _: usize,
        id: &InstanceId,
        _: Place,
        _: Arc<dyn Reports>,
        machine: Box<dyn Machine>,
    ) -> Arc<dyn Mailbox> {
        if let Some(i) = self.ids.iter().position(|other| other == id) {
            let cell = &mut self.cells[i];
            let mut old = std::mem::replace(&mut cell.machine, machine);
            old.close();
            drop_quietly(old);
            cell.woken.0.store(true, Ordering::Relaxed);
            return Arc::clone(&cell.mail) as Arc<dyn Mailbox>;
        }
        let mail = Arc::new(Mail::default());
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        self.ids.push(id.clone());
        self.cells.push(Cell { machine, mail: Arc::clone(&mail), woken });
        mail
    }
}

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
enum Later {
    Restart { component: usize, instance: usize },
    Deadline(Deadline),
    Rested { region: usize },
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
    assembly: Assembly,
    recording: Option<Recording>,
    backstage: Backstage,
    waiting: Vec<(Moment, Later)>,
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
