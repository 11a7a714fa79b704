//! What is done about reports. Pure: facts come in, verdicts go out, and somebody else carries them
//! out. The supervising actors and the tests' scheduler use the same.

use super::state::{ComponentView, JobState};
use super::status::JobStatus;
use super::tree::InstanceState;
use crate::checkpoint::PendingCommit;
use crate::id::{Attempt, InstanceId};
use crate::instance::{Cause, Comeback, Command, Failure, Report};
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
    /// One has failed: what it is connected with goes back to the last checkpoint.
    Broken(Failure, Comeback),
    /// All instances of a source are at the end of their data.
    Exhausted,
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
    /// Whether an instance goes back to a checkpoint, and never by itself.
    rewinds: bool,
    attempt: Attempt,
    instances: Vec<Watched>,
}

/// What a supervisor remembers of an instance.
#[derive(Debug, Default)]
struct Watched {
    budget: Budget,
    set_up: bool,
    exhausted: bool,
    ended: bool,
}

impl ComponentSupervision {
    pub(crate) fn new(
        state: Arc<JobState>,
        component: usize,
        strategy: RestartStrategy,
        rewinds: bool,
    ) -> Self {
        let instances = state.components[component].instances.len();
        Self {
            state,
            component,
            strategy,
            rewinds,
            attempt: Attempt::FIRST,
            instances: (0..instances).map(|_| Watched::default()).collect(),
        }
    }

    fn view(&self) -> &ComponentView {
        &self.state.components[self.component]
    }

    /// Other machines take the place of all that there are.
    pub(crate) fn begin(&mut self, attempt: Attempt) {
        self.attempt = attempt;
        for watched in &mut self.instances {
            let budget = std::mem::take(&mut watched.budget);
            *watched = Watched { budget, ..Watched::default() };
        }
    }

    /// Instance `instance` reports. What a machine reports that has been replaced is of no interest.
    pub(crate) fn on_report(
        &mut self,
        (instance, attempt): (usize, Attempt),
        report: Report,
        now: Moment,
    ) -> Verdict {
        if attempt != self.attempt {
            return Verdict::Fine;
        }
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
            Report::Exhausted => {
                let first = !std::mem::replace(&mut self.instances[instance].exhausted, true);
                if first && self.instances.iter().all(|i| i.exhausted) {
                    Verdict::Tell(News::Exhausted)
                } else {
                    Verdict::Fine
                }
            }
            Report::Broken(failure, comeback) if self.rewinds => {
                view.set_failure(InstanceState::Restarting, failure.cause.to_string());
                Verdict::Tell(News::Broken(failure, comeback))
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
        self.view().instances[instance].control().give(Command::Restart);
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

/// What is to be done beside the orders that instances get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobOrder {
    /// If the job has not ended after this time, that is to be done.
    Deadline(Duration, Deadline),
    /// A region has failed: it goes back to the last checkpoint, after this time.
    Rewind { region: usize, after: Duration },
    /// A region that has gone back is set up.
    Rewound { region: usize },
    /// Everything is set up.
    Running,
    /// All sources are at their end, or (`stop`) the job is to end where it is: with a checkpoint.
    End { stop: bool },
}

/// The supervisor of the job.
#[derive(Debug)]
pub(crate) struct JobSupervision {
    state: Arc<JobState>,
    strategy: RestartStrategy,
    /// Whether what fails goes back to a checkpoint.
    rewinds: bool,
    /// How it stands with each component.
    components: Vec<Standing>,
    /// By their number.
    regions: Vec<Region>,
    failure: Option<(Failure, bool)>,
    /// Everything was set up, once.
    begun: bool,
    orders: Vec<JobOrder>,
}

/// What is known of a region.
#[derive(Debug, Default)]
struct Region {
    budget: Budget,
    phase: RegionPhase,
    /// How often it has gone back, or is about to.
    times: u32,
}

impl Region {
    fn attempt(&self) -> Attempt {
        Attempt(Attempt::FIRST.0 + self.times)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum RegionPhase {
    #[default]
    Up,
    /// Has failed, and waits to go back.
    Failed,
    /// Is being set up again.
    GoingBack,
}

#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    set_up: bool,
    exhausted: bool,
    ended: bool,
}

impl JobSupervision {
    pub(crate) fn new(state: Arc<JobState>, strategy: RestartStrategy, rewinds: bool) -> Self {
        let components = vec![Standing::default(); state.components.len()];
        let regions = state.components.iter().map(|_| Region::default()).collect();
        let (failure, begun, orders) = (None, false, Vec::new());
        let this = Self { state, strategy, rewinds, components, regions, failure, begun, orders };
        this.go_if_ready();
        this
    }

    fn of_role(&self, source: bool) -> impl Iterator<Item = (usize, &Standing)> {
        let standings = self.components.iter().enumerate();
        standings.filter(move |(c, _)| (self.state.components[*c].role == Role::Source) == source)
    }

    /// Sources may read when what follows them is set up.
    fn go_if_ready(&self) {
        if !self.of_role(false).all(|(_, component)| component.set_up) {
            return;
        }
        if self.state.status() == JobStatus::Starting {
            self.state.set_status(JobStatus::Running);
        }
        let draining = self.state.status() == JobStatus::Draining;
        for (c, _) in self.of_role(true) {
            for instance in &self.state.components[c].instances {
                let control = instance.control();
                control.give(Command::Go);
                if draining {
                    control.give(Command::Drain);
                }
            }
        }
    }

    /// Whether every instance has been set up.
    pub(crate) fn is_set_up(&self) -> bool {
        self.components.iter().all(|component| component.set_up)
    }

    /// What is to be done.
    pub(crate) fn take_orders(&mut self) -> Vec<JobOrder> {
        std::mem::take(&mut self.orders)
    }

    /// A component's supervisor has news of this attempt. Says whether everything has come to its end.
    ///
    /// What machines say that have failed, or are to be replaced, is of no interest any more: one of them
    /// may have been at its end, and the one that takes its place is not. Only who is lost for good is.
    pub(crate) fn on_news(
        &mut self,
        (component, attempt): (usize, Attempt),
        news: News,
        now: Moment,
    ) -> bool {
        if !self.is_current(component, attempt) && !matches!(news, News::Lost { .. }) {
            return false;
        }
        let standing = &mut self.components[component];
        match news {
            News::Ready => {
                standing.set_up = true;
                self.go_if_ready();
                self.on_set_up(component);
            }
            News::Restarted => {}
            News::Broken(failure, comeback) => self.on_broken(component, failure, comeback, now),
            News::Exhausted => {
                standing.exhausted = true;
                if self.of_role(true).all(|(_, source)| source.exhausted) {
                    self.orders.push(JobOrder::End { stop: false });
                }
            }
            News::Lost { failure, exhausted } => self.fail(component, failure, exhausted),
            News::Ended => standing.ended = true,
        }
        self.components.iter().all(|component| component.ended)
    }

    fn on_set_up(&mut self, component: usize) {
        let region = self.state.components[component].region;
        let in_region = |c: &usize| self.state.components[*c].region == region;
        if self.regions[region].phase == RegionPhase::GoingBack {
            let mut components = (0..self.components.len()).filter(in_region);
            if components.all(|c| self.components[c].set_up) {
                self.regions[region].phase = RegionPhase::Up;
                self.orders.push(JobOrder::Rewound { region });
            }
        }
        if !self.begun && self.is_set_up() {
            self.begun = true;
            self.orders.push(JobOrder::Running);
        }
    }

    /// Something in a region has failed. All of it is one failure, until the region has gone back.
    fn on_broken(&mut self, component: usize, failure: Failure, comeback: Comeback, now: Moment) {
        if !self.state.status().is_running() && self.state.status() != JobStatus::Stopping {
            return;
        }
        let region = self.state.components[component].region;
        let Region { budget, phase, times } = &mut self.regions[region];
        if *phase == RegionPhase::Failed {
            return;
        }
        let decision = match comeback {
            Comeback::Known => Decision::RestartAfter(self.strategy.pause),
            Comeback::LeavesOut => {
                // Nor does the first try count, when it was not known yet that this is such an event.
                budget.give_back();
                Decision::RestartAfter(self.strategy.pause)
            }
            _ => budget.spend(&self.strategy, now),
        };
        match decision {
            Decision::GiveUp => self.fail(component, failure, true),
            Decision::RestartAfter(after) => {
                *phase = RegionPhase::Failed;
                *times += 1;
                tracing::warn!(
                    job = &*self.state.name,
                    component = %failure.instance.component,
                    instance = failure.instance.index,
                    "{failure}; going back to the last checkpoint in {after:?}",
                );
                for (c, component) in self.state.components.iter().enumerate() {
                    if component.region != region {
                        continue;
                    }
                    // What was said of the machines that there were does not hold of those to come.
                    self.components[c] = Standing::default();
                    for instance in &component.instances {
                        instance.control().give(Command::Halt);
                        instance.set_state(InstanceState::Restarting);
                    }
                }
                // Its machine raises no counter any more, and this one it never has.
                let failed = &self.state.components[component].instances;
                failed[failure.instance.index].counters.restarts.add(1);
                self.orders.push(JobOrder::Rewind { region, after });
            }
        }
    }

    /// Whether what a machine says is of interest: it is of an attempt that has not failed.
    pub(crate) fn is_current(&self, component: usize, attempt: Attempt) -> bool {
        self.regions[self.state.components[component].region].attempt() == attempt
    }

    /// A region goes back: other machines are about to take the place of those that there are. Gives the
    /// number of their attempt.
    pub(crate) fn begin(&mut self, region: usize) -> Attempt {
        self.regions[region].phase = RegionPhase::GoingBack;
        self.regions[region].attempt()
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
        let ends_by_itself = self.state.status() == JobStatus::Stopping && self.rewinds;
        if !self.state.status().is_running() && !ends_by_itself {
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
        if source && !died && !self.rewinds {
            // What the sources have emitted is processed before the job ends.
            self.state.set_status(JobStatus::Failing);
            self.give(Command::Retire);
            self.orders.push(JobOrder::Deadline(PATIENCE, Deadline::Halt));
        } else {
            self.halt(JobStatus::Failing);
        }
    }

    /// Something beside the instances has failed, and the job with it.
    pub(crate) fn on_fault(&mut self, component: usize, cause: Cause) {
        let name = self.state.components[component].name.clone();
        let instance = InstanceId { component: name, index: 0 };
        self.fail(component, Failure { instance, event: None, step: None, cause }, false);
    }

    /// A sink could not commit this, and the job fails with that.
    pub(crate) fn on_refused(&mut self, commit: &PendingCommit, problem: String) {
        let PendingCommit { checkpoint, component, events, .. } = commit;
        let sink = self.state.components.iter().position(|c| c.name.as_str() == component);
        let cause = Cause::Commit { checkpoint: *checkpoint, events: *events, problem };
        self.on_fault(sink.unwrap_or(0), cause);
    }

    /// Somebody asks the job to end.
    pub(crate) fn on_ending(&mut self, ending: Ending) {
        let status = self.state.status();
        match ending {
            Ending::Drain if matches!(status, JobStatus::Starting | JobStatus::Running) => {
                self.state.set_status(JobStatus::Draining);
                self.give(Command::Drain);
            }
            // What was not begun has nothing to go on with.
            Ending::Stop
                if self.rewinds && status.is_running() && status != JobStatus::Starting =>
            {
                self.state.set_status(JobStatus::Stopping);
                self.orders.push(JobOrder::End { stop: true });
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

    /// The last checkpoint is committed: sources close their links, and the rest follows.
    pub(crate) fn close(&self) {
        self.give(Command::Close);
    }

    /// The last checkpoint is committed, and nobody needs to go on.
    pub(crate) fn end(&mut self) {
        if self.failure.is_none() {
            self.halt(self.state.status());
        }
    }

    fn give(&self, command: Command) {
        self.state.instances().for_each(|instance| instance.control().give(command));
    }

    fn halt(&mut self, status: JobStatus) {
        self.state.set_status(status);
        self.give(Command::Halt);
        let instances = u32::try_from(self.state.instances().count()).unwrap_or(u32::MAX);
        let grace = GRACE.saturating_add(GRACE_EACH.saturating_mul(instances));
        self.orders.push(JobOrder::Deadline(grace, Deadline::Conclude));
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
