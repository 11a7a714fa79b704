//! What is known of a running job: shared, so that it can be read at any time from any thread.

use super::checkpoints::Costs;
use super::keeping::Keeping;
use super::status::JobStatus;
use super::tree::{ComponentTree, InstanceState, InstanceTree, SupervisionTree};
use crate::checkpoint::PendingCommit;
use crate::component::OnError;
use crate::id::{CheckpointId, ComponentName, InstanceId};
use crate::instance::{ControlCell, Offences};
use crate::job::Role;
use crate::metrics::{Counters, Counts, StepCounts};
use crate::step::StepInfo;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// One instance, as seen from outside.
#[derive(Debug)]
pub(crate) struct InstanceView {
    pub(crate) id: InstanceId,
    control: Mutex<Arc<ControlCell>>,
    pub(crate) counters: Arc<Counters>,
    state: Mutex<(InstanceState, Option<String>)>,
}

impl InstanceView {
    pub(crate) fn new(id: InstanceId) -> Self {
        Self {
            id,
            control: Mutex::default(),
            counters: Arc::default(),
            state: Mutex::new((InstanceState::Starting, None)),
        }
    }

    /// Where orders are given to the machine that there is now.
    pub(crate) fn control(&self) -> Arc<ControlCell> {
        Arc::clone(&self.control.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Another machine takes the place of the one that there is: orders that were given to that do not
    /// concern it.
    pub(crate) fn renew_control(&self) -> Arc<ControlCell> {
        let new = Arc::default();
        *self.control.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&new);
        new
    }

    pub(crate) fn state(&self) -> InstanceState {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    pub(crate) fn set_state(&self, state: InstanceState) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).0 = state;
    }

    pub(crate) fn set_failure(&self, state: InstanceState, failure: String) {
        self.counters.note_failure(&format_args!("{}: {failure}", self.id));
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = (state, Some(failure));
    }

    fn tree(&self) -> InstanceTree {
        let (state, failure) = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        InstanceTree {
            index: self.id.index,
            state,
            counts: self.counters.read(),
            failure,
            first_failure: self.counters.first_failure().map(str::to_owned),
        }
    }
}

/// One component with its instances.
#[derive(Debug)]
pub(crate) struct ComponentView {
    pub(crate) name: ComponentName,
    pub(crate) role: Role,
    /// Whether nobody subscribes to it.
    pub(crate) last: bool,
    /// What becomes of what it has prepared and cannot commit.
    pub(crate) on_commit_error: OnError,
    /// What it has failed at.
    pub(crate) offences: Arc<Offences>,
    /// Which components it is connected with: they go back to a checkpoint together.
    pub(crate) region: usize,
    pub(crate) instances: Vec<Arc<InstanceView>>,
}

impl ComponentView {
    fn counts(&self) -> Counts {
        self.instances.iter().map(|i| i.counters.read()).sum()
    }
}

/// A job that was started.
#[derive(Debug)]
pub(crate) struct JobState {
    pub(crate) name: String,
    pub(crate) components: Vec<ComponentView>,
    steps: Vec<Arc<StepInfo>>,
    status: Mutex<JobStatus>,
    checkpoints: Mutex<Taken>,
    /// Events that sinks have prepared, and that were left out since they could not be committed.
    left_out: AtomicU64,
}

/// The checkpoints of a job so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Taken {
    /// Where they are kept; `None` if the job takes none.
    pub(crate) keeping: Option<Keeping>,
    /// What is unique to the directory that they are in.
    pub(crate) place: Option<String>,
    pub(crate) costs: Costs,
    /// The last one.
    pub(crate) last: Option<CheckpointId>,
    /// What the job went on from.
    pub(crate) restored: Option<CheckpointId>,
}

impl JobState {
    pub(crate) fn new(
        name: String,
        components: Vec<ComponentView>,
        steps: Vec<Arc<StepInfo>>,
    ) -> Self {
        let status = Mutex::new(JobStatus::Starting);
        let (checkpoints, left_out) = (Mutex::default(), AtomicU64::new(0));
        Self { name, components, steps, status, checkpoints, left_out }
    }

    pub(crate) fn status(&self) -> JobStatus {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_status(&self, status: JobStatus) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    pub(crate) fn instances(&self) -> impl Iterator<Item = &Arc<InstanceView>> {
        self.components.iter().flat_map(|component| &component.instances)
    }

    /// The instances of sources.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Arc<InstanceView>> {
        self.components.iter().filter(|c| c.role == Role::Source).flat_map(|c| &c.instances)
    }

    /// What becomes of what a sink has prepared and cannot commit.
    pub(crate) fn on_commit_error(&self, sink: &str) -> OnError {
        let sink = self.components.iter().find(|c| c.name.as_str() == sink);
        sink.map_or(OnError::Fail, |sink| sink.on_commit_error)
    }

    /// A commit that cannot be made is left out by policy.
    pub(crate) fn leave_out(&self, commit: &PendingCommit, problem: &str) {
        tracing::error!(
            job = self.name,
            component = commit.component,
            instance = commit.instance,
            checkpoint = commit.checkpoint.0,
            events = commit.events,
            "a commit is left out, as it was said: {problem}",
        );
        self.left_out.fetch_add(commit.events, Ordering::Relaxed);
    }

    pub(crate) fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    pub(crate) fn checkpoints(&self) -> Taken {
        self.checkpoints.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What tells what the job leaves outside from what others do.
    pub(crate) fn owner(&self) -> String {
        match self.checkpoints().place {
            Some(place) => format!("{} {place}", self.name),
            None => self.name.clone(),
        }
    }

    /// Where the job keeps checkpoints, in words.
    pub(crate) fn place_of_checkpoints(&self) -> String {
        let keeping = self.checkpoints().keeping;
        keeping.map_or_else(|| "none".to_owned(), |keeping| keeping.place.to_string())
    }

    /// The job takes checkpoints, and goes on from this one.
    pub(crate) fn begin_checkpoints(
        &self,
        keeping: Keeping,
        place: Option<String>,
        restored: Option<CheckpointId>,
    ) {
        let mut taken = self.checkpoints.lock().unwrap_or_else(PoisonError::into_inner);
        let keeping = Some(keeping);
        *taken = Taken { keeping, place, restored, last: restored, ..Taken::default() };
    }

    pub(crate) fn set_checkpoints(&self, costs: Costs, last: Option<CheckpointId>) {
        let mut taken = self.checkpoints.lock().unwrap_or_else(PoisonError::into_inner);
        (taken.costs, taken.last) = (costs, last);
    }

    pub(crate) fn tree(&self) -> SupervisionTree {
        SupervisionTree {
            job: self.name.clone(),
            status: self.status(),
            components: self
                .components
                .iter()
                .map(|component| ComponentTree {
                    name: component.name.clone(),
                    role: component.role.to_string(),
                    instances: component.instances.iter().map(|i| i.tree()).collect(),
                })
                .collect(),
        }
    }

    pub(crate) fn counts(&self) -> Vec<(ComponentName, Counts)> {
        self.components.iter().map(|c| (c.name.clone(), c.counts())).collect()
    }

    pub(crate) fn component(&self, name: &str) -> Option<Counts> {
        let component = self.components.iter().find(|c| c.name.as_str() == name)?;
        Some(component.counts())
    }

    pub(crate) fn steps(&self) -> Vec<(Arc<str>, StepCounts)> {
        let counts = |step: &StepInfo| StepCounts { failed: step.failed.load(Ordering::Relaxed) };
        self.steps.iter().map(|step| (Arc::clone(&step.name), counts(step))).collect()
    }
}
