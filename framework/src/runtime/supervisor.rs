//! The supervising actors. They live on the engine's own thread, which runs no user code, and carry
//! out what [`supervision`](super::supervision) decides.

use super::actor::post;
use super::state::JobState;
use super::supervision::{ComponentSupervision, Ending, JobSupervision, News, Verdict};
use crate::instance::{Failure, Report, Reports};
use crate::restart::RestartStrategy;
use crate::time::Clock;
use actix::{Actor, Addr, AsyncContext, Context, Handler, Message};
use futures::channel::oneshot;
use std::sync::Arc;
use std::time::Duration;

/// After this long a job that is not set up yet shows who it waits for.
const SLOW_START: Duration = Duration::from_millis(500);

/// Watches the instances of one component.
pub(super) struct ComponentSupervisor {
    component: usize,
    supervision: ComponentSupervision,
    clock: Arc<dyn Clock>,
    job: Addr<JobSupervisor>,
}

impl ComponentSupervisor {
    pub(super) fn new(
        state: Arc<JobState>,
        component: usize,
        strategy: RestartStrategy,
        clock: Arc<dyn Clock>,
        job: Addr<JobSupervisor>,
    ) -> Self {
        let supervision = ComponentSupervision::new(state, component, strategy);
        Self { component, supervision, clock, job }
    }
}

impl Actor for ComponentSupervisor {
    type Context = Context<Self>;
}

/// Instance `index` reports to its supervisor.
pub(super) struct InstanceReport {
    index: usize,
    report: Report,
}

impl Message for InstanceReport {
    type Result = ();
}

impl Handler<InstanceReport> for ComponentSupervisor {
    type Result = ();

    fn handle(&mut self, message: InstanceReport, ctx: &mut Self::Context) {
        let InstanceReport { index, report } = message;
        match self.supervision.on_report(index, report, self.clock.now()) {
            Verdict::Fine => {}
            Verdict::Restart { instance, after } => {
                ctx.run_later(after, move |this, _| this.supervision.restart(instance));
                post(&self.job, TreeChanged);
            }
            Verdict::Tell(news) => {
                post(&self.job, ComponentNews { component: self.component, news });
            }
        }
    }
}

/// The way from a machine to its supervisor.
pub(super) struct Reporter {
    pub(super) supervisor: Addr<ComponentSupervisor>,
    pub(super) index: usize,
}

impl Reports for Reporter {
    fn report(&self, report: Report) {
        post(&self.supervisor, InstanceReport { index: self.index, report });
    }
}

/// The end of a job, with the failure that ended it and whether restarts were used up.
pub(super) type Conclusion = Option<(Failure, bool)>;

/// Watches the component supervisors and brings the job to its end.
pub(super) struct JobSupervisor {
    state: Arc<JobState>,
    supervision: JobSupervision,
    done: Option<oneshot::Sender<Conclusion>>,
}

impl JobSupervisor {
    pub(super) fn new(state: Arc<JobState>, done: oneshot::Sender<Conclusion>) -> Self {
        let supervision = JobSupervision::new(Arc::clone(&state));
        Self { state, supervision, done: Some(done) }
    }

    fn log_tree(&self) {
        // The tree begins with the job's name; a field would stand behind its last line.
        tracing::info!("supervision tree\n{}", self.state.tree());
    }

    fn conclude(&mut self) {
        if let Some(done) = self.done.take() {
            let conclusion = self.supervision.conclude();
            self.log_tree();
            // Nobody waits any more: then nobody asks how it ended.
            drop(done.send(conclusion));
        }
    }

    /// Keeps the deadline that was set, if one was.
    fn keep_deadline(&mut self, ctx: &mut Context<Self>) {
        if let Some((after, deadline)) = self.supervision.take_deadline() {
            ctx.run_later(after, move |this, ctx| {
                if this.done.is_some() {
                    if this.supervision.on_deadline(deadline) {
                        this.conclude();
                    }
                    this.keep_deadline(ctx);
                }
            });
        }
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

pub(super) struct ComponentNews {
    component: usize,
    news: News,
}

impl Message for ComponentNews {
    type Result = ();
}

impl Handler<ComponentNews> for JobSupervisor {
    type Result = ();

    fn handle(&mut self, message: ComponentNews, ctx: &mut Self::Context) {
        let ComponentNews { component, news } = message;
        let ready = matches!(news, News::Ready);
        let restarted = matches!(news, News::Restarted);
        let over = self.supervision.on_news(component, news);
        if restarted || (ready && self.supervision.is_set_up()) {
            self.log_tree();
        }
        if over {
            self.conclude();
        }
        self.keep_deadline(ctx);
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
        self.keep_deadline(ctx);
    }
}
