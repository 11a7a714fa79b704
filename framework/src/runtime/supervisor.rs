//! The supervising actors. They live on the engine's own thread, which runs no user code, and carry
//! out what [`supervision`](super::supervision) decides.

use super::actor::post;
use super::checkpoints::{CommitReport, WriterReport};
use super::recording::{Asked, Recording, RecordingOrder};
use super::state::JobState;
use super::supervision::{ComponentSupervision, Ending, JobOrder, JobSupervision, News, Verdict};
use crate::checkpoint::{Restored, Snapshot};
use crate::id::Attempt;
use crate::instance::{Cause, Failure, Report, Reports, Snapshots};
use crate::time::{Clock, Moment};
use actix::{Actor, Addr, AsyncContext, Context, Handler, Message};
use futures::channel::oneshot;
use std::sync::Arc;
use std::time::Duration;

/// After this long a job that is not set up yet shows who it waits for.
const SLOW_START: Duration = Duration::from_millis(500);

/// How long a job that is over waits for what was ordered of the writer and the committer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Watches the instances of one component.
pub(super) struct ComponentSupervisor {
    component: usize,
    supervision: ComponentSupervision,
    clock: Arc<dyn Clock>,
    job: Addr<JobSupervisor>,
}

impl ComponentSupervisor {
    pub(super) fn new(
        component: usize,
        supervision: ComponentSupervision,
        clock: Arc<dyn Clock>,
        job: Addr<JobSupervisor>,
    ) -> Self {
        Self { component, supervision, clock, job }
    }
}

impl Actor for ComponentSupervisor {
    type Context = Context<Self>;
}

/// Instance `index` reports to its supervisor.
pub(super) struct InstanceReport {
    index: usize,
    attempt: Attempt,
    report: Report,
}

impl Message for InstanceReport {
    type Result = ();
}

impl Handler<InstanceReport> for ComponentSupervisor {
    type Result = ();

    fn handle(&mut self, message: InstanceReport, ctx: &mut Self::Context) {
        let InstanceReport { index, attempt, report } = message;
        match self.supervision.on_report((index, attempt), report, self.clock.now()) {
            Verdict::Fine => {}
            Verdict::Restart { instance, after } => {
                ctx.run_later(after, move |this, _| this.supervision.restart(instance));
                post(&self.job, TreeChanged);
            }
            Verdict::Tell(news) => {
                post(&self.job, ComponentNews { component: self.component, attempt, news });
            }
        }
    }
}

/// Other machines take the place of those that there are.
struct Begin(Attempt);

impl Message for Begin {
    type Result = ();
}

impl Handler<Begin> for ComponentSupervisor {
    type Result = ();

    fn handle(&mut self, Begin(attempt): Begin, _: &mut Self::Context) {
        self.supervision.begin(attempt);
    }
}

/// The way from a machine to its supervisor.
pub(super) struct Reporter {
    pub(super) supervisor: Addr<ComponentSupervisor>,
    pub(super) index: usize,
    pub(super) attempt: Attempt,
}

impl Reports for Reporter {
    fn report(&self, report: Report) {
        let Self { index, attempt, .. } = *self;
        post(&self.supervisor, InstanceReport { index, attempt, report });
    }
}

/// The way of an instance's snapshots.
pub(super) struct SnapshotPost {
    pub(super) job: Addr<JobSupervisor>,
    /// The component, and which instance of it.
    pub(super) at: (usize, usize),
    pub(super) attempt: Attempt,
}

impl Snapshots for SnapshotPost {
    fn put(&self, snapshot: Snapshot) {
        let Self { at, attempt, .. } = *self;
        post(&self.job, InstanceSnapshot { at, attempt, snapshot });
    }
}

/// An instance has saved itself.
struct InstanceSnapshot {
    at: (usize, usize),
    attempt: Attempt,
    snapshot: Snapshot,
}

impl Message for InstanceSnapshot {
    type Result = ();
}

/// The end of a job, with the failure that ended it and whether restarts were used up.
pub(super) type Conclusion = Option<(Failure, bool)>;

/// Makes the machines of a region anew.
pub(super) type Remake =
    Box<dyn FnMut(usize, Attempt, Option<&Restored>) -> Result<(), Cause> + 'static>;

/// What a supervisor needs to let regions go back to a checkpoint.
pub(super) struct Rewinder {
    pub(super) recording: Recording,
    pub(super) components: Vec<Addr<ComponentSupervisor>>,
    pub(super) remake: Remake,
}

/// Watches the component supervisors and brings the job to its end.
pub(super) struct JobSupervisor {
    state: Arc<JobState>,
    supervision: JobSupervision,
    clock: Arc<dyn Clock>,
    done: Option<oneshot::Sender<Conclusion>>,
    rewinder: Option<Rewinder>,
    /// When it looks for what is due.
    alarm: Option<Moment>,
}

impl JobSupervisor {
    pub(super) fn new(
        state: Arc<JobState>,
        supervision: JobSupervision,
        clock: Arc<dyn Clock>,
        done: oneshot::Sender<Conclusion>,
        rewinder: Option<Rewinder>,
    ) -> Self {
        let done = Some(done);
        Self { state, supervision, clock, done, rewinder, alarm: None }
    }

    fn log_tree(&self) {
        // The tree begins with the job's name; a field would stand behind its last line.
        tracing::info!("supervision tree\n{}", self.state.tree());
    }

    fn conclude(&mut self) {
        if let Some(done) = self.done.take() {
            let conclusion = self.supervision.conclude();
            self.let_go();
            self.log_tree();
            // Nobody waits any more: then nobody asks how it ended.
            drop(done.send(conclusion));
        }
    }

    /// Waits until what writes and commits is over, and the store free.
    fn let_go(&mut self) {
        if let Some(Rewinder { recording, .. }) = self.rewinder.take() {
            recording.quit(PATIENCE);
        }
    }

    /// Does what was decided, and what is decided because of that.
    fn carry_out(&mut self, ctx: &mut Context<Self>) {
        loop {
            let orders = self.supervision.take_orders();
            let recording = self.rewinder.as_mut().map(|rewinder| &mut rewinder.recording);
            let recorded = recording.map(Recording::take_orders).unwrap_or_default();
            if self.done.is_none() || orders.is_empty() && recorded.is_empty() {
                break;
            }
            orders.into_iter().for_each(|order| self.carry_out_one(order, ctx));
            recorded.into_iter().for_each(|order| self.carry_out_recorded(order));
        }
        self.set_alarm(ctx);
    }

    fn carry_out_one(&mut self, order: JobOrder, ctx: &mut Context<Self>) {
        let now = self.clock.now();
        let recording = self.rewinder.as_mut().map(|rewinder| &mut rewinder.recording);
        match (order, recording) {
            (JobOrder::Deadline(after, deadline), _) => {
                ctx.run_later(after, move |this, ctx| {
                    if this.done.is_some() {
                        if this.supervision.on_deadline(deadline) {
                            this.conclude();
                        }
                        this.carry_out(ctx);
                    }
                });
            }
            (_, None) => {}
            (JobOrder::Running, Some(recording)) => recording.on_running(now),
            (JobOrder::Rewound { region }, Some(recording)) => {
                recording.on_rewound(region, now);
                self.log_tree();
            }
            (JobOrder::End { stop }, Some(recording)) => recording.end(stop, now),
            (JobOrder::Rewind { region, after }, Some(recording)) => {
                recording.on_failure(region, now);
                ctx.run_later(after, move |this, ctx| {
                    if let Some(rewinder) = &mut this.rewinder {
                        rewinder.recording.on_rested(region);
                    }
                    this.carry_out(ctx);
                });
                self.log_tree();
            }
        }
    }

    fn carry_out_recorded(&mut self, order: RecordingOrder) {
        match order {
            RecordingOrder::Make { region, restored } => self.make(region, restored.as_deref()),
            RecordingOrder::Close => self.supervision.close(),
            RecordingOrder::Halt => self.supervision.end(),
            RecordingOrder::Fail(problem) => {
                self.supervision.on_fault(0, Cause::Checkpoint(problem));
            }
            RecordingOrder::FailCommit(commit, problem) => {
                self.supervision.on_refused(&commit, problem);
            }
        }
    }

    /// Makes the machines of a region anew.
    fn make(&mut self, region: usize, restored: Option<&Restored>) {
        let Some(rewinder) = &mut self.rewinder else { return };
        if !self.state.status().is_running() {
            return;
        }
        let attempt = self.supervision.begin(region);
        for (component, supervisor) in self.state.components.iter().zip(&rewinder.components) {
            if component.region == region {
                post(supervisor, Begin(attempt));
            }
        }
        if let Err(cause) = (rewinder.remake)(region, attempt, restored) {
            self.supervision.on_fault(region, cause);
        }
    }

    /// Looks again when something is due.
    fn set_alarm(&mut self, ctx: &mut Context<Self>) {
        let next = self.rewinder.as_ref().and_then(|rewinder| rewinder.recording.next_time());
        if next.is_none() || next == self.alarm {
            return;
        }
        self.alarm = next;
        let after = next.map_or(Duration::ZERO, |next| next.since(self.clock.now()));
        ctx.run_later(after, move |this, ctx| {
            // One that was set since looks by itself.
            if this.alarm == next {
                this.alarm = None;
                let now = this.clock.now();
                if let Some(rewinder) = &mut this.rewinder {
                    rewinder.recording.on_time(now);
                }
                this.carry_out(ctx);
            }
        });
    }
}

impl Actor for JobSupervisor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Self::Context) {
        // The tree is shown when everything is set up; if that takes long, without waiting for it.
        ctx.run_later(SLOW_START, |this, _| {
            if !this.supervision.is_set_up() && this.done.is_some() {
                this.log_tree();
            }
        });
    }
}

impl Handler<InstanceSnapshot> for JobSupervisor {
    type Result = ();

    fn handle(&mut self, message: InstanceSnapshot, ctx: &mut Self::Context) {
        let InstanceSnapshot { at, attempt, snapshot } = message;
        let is_current = self.supervision.is_current(at.0, attempt);
        let day = self.clock.time_of_day();
        match &mut self.rewinder {
            Some(rewinder) if is_current => rewinder.recording.on_snapshot(at, snapshot, day),
            Some(rewinder) => rewinder.recording.on_stale(at, snapshot),
            None => {}
        }
        self.carry_out(ctx);
    }
}

impl Message for WriterReport {
    type Result = ();
}

impl Handler<WriterReport> for JobSupervisor {
    type Result = ();

    fn handle(&mut self, report: WriterReport, ctx: &mut Self::Context) {
        let now = self.clock.now();
        if let Some(rewinder) = &mut self.rewinder {
            rewinder.recording.on_writer(report, now);
        }
        self.carry_out(ctx);
    }
}

impl Message for CommitReport {
    type Result = ();
}

impl Handler<CommitReport> for JobSupervisor {
    type Result = ();

    fn handle(&mut self, report: CommitReport, ctx: &mut Self::Context) {
        if let Some(rewinder) = &mut self.rewinder {
            rewinder.recording.on_committer(report);
        }
        self.carry_out(ctx);
    }
}

/// Somebody asks for a savepoint.
pub(super) struct AskSavepoint {
    pub(super) name: String,
    pub(super) asked: Asked,
}

impl Message for AskSavepoint {
    type Result = ();
}

impl Handler<AskSavepoint> for JobSupervisor {
    type Result = ();

    fn handle(&mut self, message: AskSavepoint, ctx: &mut Self::Context) {
        let AskSavepoint { name, asked } = message;
        let now = self.clock.now();
        if let Some(rewinder) = &mut self.rewinder {
            rewinder.recording.savepoint(name, asked, now);
        }
        self.carry_out(ctx);
    }
}

pub(super) struct ComponentNews {
    component: usize,
    attempt: Attempt,
    news: News,
}

impl Message for ComponentNews {
    type Result = ();
}

impl Handler<ComponentNews> for JobSupervisor {
    type Result = ();

    fn handle(&mut self, message: ComponentNews, ctx: &mut Self::Context) {
        let ComponentNews { component, attempt, news } = message;
        let ready = matches!(news, News::Ready);
        let restarted = matches!(news, News::Restarted);
        let over = self.supervision.on_news((component, attempt), news, self.clock.now());
        if restarted || (ready && self.supervision.is_set_up()) {
            self.log_tree();
        }
        if over {
            self.conclude();
        }
        self.carry_out(ctx);
    }
}

/// The job is over, or never began: its store is to be free for whoever comes next.
pub(super) struct LetGo;

impl Message for LetGo {
    type Result = ();
}

impl Handler<LetGo> for JobSupervisor {
    type Result = ();

    fn handle(&mut self, _: LetGo, _: &mut Self::Context) {
        self.let_go();
    }
}

/// Something below has changed that is worth a look.
pub(super) struct TreeChanged;

impl Message for TreeChanged {
    type Result = ();
}

impl Handler<TreeChanged> for JobSupervisor {
    type Result = ();

    fn handle(&mut self, _: TreeChanged, _: &mut Self::Context) {
        self.log_tree();
    }
}

impl Message for Ending {
    type Result = ();
}

impl Handler<Ending> for JobSupervisor {
    type Result = ();

    fn handle(&mut self, ending: Ending, ctx: &mut Self::Context) {
        self.supervision.on_ending(ending);
        self.carry_out(ctx);
    }
}
