//! What is known of a running job: shared, so that it can be read at any time from any thread.

use super::status::JobStatus;
use super::tree::{ComponentTree, InstanceState, InstanceTree, SupervisionTree};
use crate::id::{ComponentName, InstanceId};
use crate::instance::ControlCell;
use crate::job::Role;
use crate::metrics::{Counters, Counts, StepCounts};
use crate::step::StepInfo;
use std::sync::atomic::Ordering;
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
}

impl JobState {
    pub(crate) fn new(
        name: String,
        components: Vec<ComponentView>,
        steps: Vec<Arc<StepInfo>>,
    ) -> Self {
        Self { name, components, steps, status: Mutex::new(JobStatus::Starting) }
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
