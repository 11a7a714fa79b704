//! What is done about reports. Pure: facts come in, verdicts go out, and somebody else carries them
//! out. The supervising actors and the tests' scheduler use the same.

use super::state::{ComponentView, JobState};
use super::status::JobStatus;
use super::tree::InstanceState;
use crate::instance::{Cause, Command, Failure, Report};
use crate::job::Role;
use crate::restart::{Budget, Decision, RestartStrategy};
use crate::time::Moment;
use std::sync::Arc;
use std::time::Duration;

/// What a component's supervisor decides.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Nothing to do.
    Fine,
    /// Give the instance the order to restart, after the pause.
    Restart { instance: usize, after: Duration },
    /// This is for the job's supervisor.
    Tell(News),
}

/// What the job's supervisor has to know.
#[derive(Debug)]
pub(crate) enum News {
    /// All instances of a component have been set up.
    Ready,
    /// One has come back after a failure.
    Restarted,
    /// An instance is lost, and the job with it.
    Lost { failure: Failure, exhausted: bool },
    /// All instances have come to their end.
    Ended,
}

/// The supervisor of one component: one instance at a time is restarted, the others never notice.
#[derive(Debug)]
pub(crate) struct ComponentSupervision {
    state: Arc<JobState>,
    component: usize,
    strategy: RestartStrategy,
    instances: Vec<Watched>,
}

/// What a supervisor remembers of an instance.
#[derive(Debug, Default)]
struct Watched {
    budget: Budget,
    set_up: bool,
    ended: bool,
}

impl ComponentSupervision {
    pub(crate) fn new(state: Arc<JobState>, component: usize, strategy: RestartStrategy) -> Self {
        let instances = state.components[component].instances.len();
        Self {
            state,
            component,
            strategy,
            instances: (0..instances).map(|_| Watched::default()).collect(),
        }
    }

    fn view(&self) -> &ComponentView {
        &self.state.components[self.component]
    }

    /// Instance `instance` reports.
    pub(crate) fn on_report(&mut self, instance: usize, report: Report, now: Moment) -> Verdict {
        let view = Arc::clone(&self.view().instances[instance]);
        match report {
            Report::Ready => {
                view.set_state(InstanceState::Running);
                let first = !std::mem::replace(&mut self.instances[instance].set_up, true);
                if first && self.instances.iter().all(|i| i.set_up) {
                    Verdict::Tell(News::Ready)
                } else {
                    Verdict::Fine
                }
            }
            Report::Restarted => {
                view.set_state(InstanceState::Running);
                Verdict::Tell(News::Restarted)
            }
            Report::Broken(failure, comeback) => {
                match self.instances[instance].budget.spend(&self.strategy, now) {
                    Decision::RestartAfter(after) => {
                        view.set_failure(InstanceState::Restarting, failure.cause.to_string());
                        tracing::warn!(
                            job = &*self.state.name,
                            component = %failure.instance.component,
                            instance = failure.instance.index,
                            "{failure}; restarting in {after:?}, {comeback}",
                        );
                        Verdict::Restart { instance, after }
                    }
                    Decision::GiveUp => {
                        view.set_failure(InstanceState::Failed, failure.cause.to_string());
                        Verdict::Tell(News::Lost { failure, exhausted: true })
                    }
                }
            }
            Report::Lost(failure) => {
                view.set_failure(InstanceState::Failed, failure.cause.to_string());
                Verdict::Tell(News::Lost { failure, exhausted: false })
            }
            Report::Ended => {
                if view.state() != InstanceState::Failed {
                    view.set_state(InstanceState::Ended);
                }
                let first = !std::mem::replace(&mut self.instances[instance].ended, true);
                if first && self.instances.iter().all(|i| i.ended) {
                    Verdict::Tell(News::Ended)
                } else {
                    Verdict::Fine
                }
            }
        }
    }

    /// Gives the order to restart.
    pub(crate) fn restart(&self, instance: usize) {
        self.view().instances[instance].control.give(Command::Restart);
    }
}

/// How a job is asked to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Sources end as if their input had.
    Drain,
    /// What is under way is dropped.
    Stop,
    Kill,
}

/// What the job's supervisor does if the job has not ended within a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deadline {
    /// Stop waiting for what is under way.
    Halt,
    /// Leave behind who did not react.
    Conclude,
}

/// How long instances have to react to a halt, all together and each of them. They look up every
/// quarter of a millisecond, unless user code holds them; but many need their turn on few cores.
const GRACE: Duration = Duration::from_millis(30);
const GRACE_EACH: Duration = Duration::from_millis(1);

/// How long what is under way may take after a source was lost.
const PATIENCE: Duration = Duration::from_secs(10);

/// The supervisor of the job.
#[derive(Debug)]
pub(crate) struct JobSupervision {
    state: Arc<JobState>,
    /// Operators and sinks that are not set up yet.
    starting: usize,
    /// Sources that are not.
    opening: usize,
    running: usize,
    failure: Option<(Failure, bool)>,
    deadline: Option<(Duration, Deadline)>,
}

impl JobSupervision {
    pub(crate) fn new(state: Arc<JobState>) -> Self {
        let running = state.components.len();
        let opening = state.components.iter().filter(|c| c.role == Role::Source).count();
        let starting = running - opening;
        let this = Self { state, starting, opening, running, failure: None, deadline: None };
        if starting == 0 {
            this.go();
        }
        this
    }

    /// Sources may read: what follows them is set up.
    fn go(&self) {
        if self.state.status() == JobStatus::Starting {
            self.state.set_status(JobStatus::Running);
        }
        let sources = self.state.components.iter().filter(|c| c.role == Role::Source);
        for instance in sources.flat_map(|c| &c.instances) {
            instance.control.give(Command::Go);
        }
    }

    /// Whether every instance has been set up.
    pub(crate) fn is_set_up(&self) -> bool {
        self.starting == 0 && self.opening == 0
    }

    /// A component's supervisor has news. Says whether everything has come to its end.
    pub(crate) fn on_news(&mut self, component: usize, news: News) -> bool {
        match news {
            News::Ready => {
                if self.state.components[component].role == Role::Source {
                    self.opening -= 1;
                } else {
                    self.starting -= 1;
                    if self.starting == 0 {
                        self.go();
                    }
                }
            }
            News::Restarted => {}
            News::Lost { failure, exhausted } => self.fail(component, failure, exhausted),
            News::Ended => self.running -= 1,
        }
        self.running == 0
    }

    /// An instance is lost. The first such failure is the cause; what fails while the job ends is not.
    fn fail(&mut self, component: usize, failure: Failure, exhausted: bool) {
        let source = self.state.components[component].role == Role::Source;
        let died = matches!(failure.cause, Cause::Died);
        if self.failure.is_some() {
            // A second source that is lost retires like the first. Without an operator, or an actor
            // that could close its links, what is under way can't be waited for any more.
            if self.state.status() == JobStatus::Failing && (!source || died) {
                self.halt(JobStatus::Failing);
            }
            return;
        }
        if !self.state.status().is_running() {
            return;
        }
        tracing::error!(
            job = &*self.state.name,
            component = %failure.instance.component,
            instance = failure.instance.index,
            "{failure}; the job fails{}",
            if exhausted { ": the restarts are used up" } else { "" },
        );
        self.failure = Some((failure, exhausted));
        if source && !died {
            // What the sources have emitted is processed before the job ends.
            self.state.set_status(JobStatus::Failing);
            self.give(Command::Retire);
            self.deadline = Some((PATIENCE, Deadline::Halt));
        } else {
            self.halt(JobStatus::Failing);
        }
    }

    /// Somebody asks the job to end.
    pub(crate) fn on_ending(&mut self, ending: Ending) {
        let status = self.state.status();
        match ending {
            Ending::Drain if matches!(status, JobStatus::Starting | JobStatus::Running) => {
                self.state.set_status(JobStatus::Draining);
                self.give(Command::Drain);
            }
            Ending::Stop if status.is_running() => self.halt(JobStatus::Stopping),
            Ending::Kill if status.is_running() || status == JobStatus::Stopping => {
                self.halt(JobStatus::Killing);
            }
            // A job that fails, and waits for what is under way, goes on failing without it.
            Ending::Stop | Ending::Kill if status == JobStatus::Failing => self.halt(status),
            _ => {}
        }
    }

    fn give(&self, command: Command) {
        self.state.instances().for_each(|instance| instance.control.give(command));
    }

    fn halt(&mut self, status: JobStatus) {
        self.state.set_status(status);
        self.give(Command::Halt);
        let instances = u32::try_from(self.state.instances().count()).unwrap_or(u32::MAX);
        let grace = GRACE.saturating_add(GRACE_EACH.saturating_mul(instances));
        self.deadline = Some((grace, Deadline::Conclude));
    }

    /// The deadline that was set since the last look: to be kept by [`on_deadline`](Self::on_deadline).
    pub(crate) fn take_deadline(&mut self) -> Option<(Duration, Deadline)> {
        self.deadline.take()
    }

    /// A deadline has passed. Says whether the job is to be concluded.
    pub(crate) fn on_deadline(&mut self, deadline: Deadline) -> bool {
        match deadline {
            Deadline::Conclude => true,
            Deadline::Halt => {
                self.halt(self.state.status());
                false
            }
        }
    }

    /// Everything has ended, or was left behind.
    pub(crate) fn conclude(&mut self) -> Option<(Failure, bool)> {
        for instance in self.state.instances() {
            if !matches!(instance.state(), InstanceState::Ended | InstanceState::Failed) {
                instance.set_state(InstanceState::Abandoned);
            }
        }
        self.state.set_status(self.state.status().ended());
        self.failure.take()
    }
}
