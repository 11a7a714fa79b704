//! [`Opened`]: a job's checkpoints, before it runs.

use super::assembly::Assembly;
use super::checkpoints::{Committers, Coordination, Retry, Template, WriterOrder, Writing};
use super::keeping::{Keeping, OpenedStore};
use super::state::JobState;
use crate::checkpoint::{PendingCommit, Restored};
use crate::component::OnError;
use crate::error::Error;
use crate::id::CheckpointId;
use crate::job::Checkpoints;
use std::sync::Arc;
use std::time::Duration;

/// A store that is open, and what the job goes on from: all that its sinks had prepared for that is
/// committed, and what they had prepared beside it is removed.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) writing: Writing,
    pub(crate) committers: Committers,
    pub(crate) restored: Option<Restored>,
    settings: Checkpoints,
    next: CheckpointId,
}

impl Opened {
    /// # Errors
    /// The store cannot be had or read; the job has become another since its last checkpoint; what is to be
    /// committed cannot be.
    pub(crate) fn open(
        state: &JobState,
        assembly: &Assembly,
        keeping: &Keeping,
        settings: Checkpoints,
        wait: &dyn Fn(Duration),
    ) -> Result<Self, Error> {
        let job = &state.name;
        let OpenedStore { store, restored, unique } = keeping.open(job)?;
        if let Some(Restored { manifest, .. }) = &restored {
            let differences = assembly.differences(manifest);
            if !differences.is_empty() {
                let (job, checkpoint) = (job.clone(), manifest.id);
                return Err(Error::Incompatible { job, checkpoint, differences });
            }
        }
        let confirmed = store.confirmed();
        let manifest = restored.as_ref().map(|restored| &restored.manifest);
        let from = manifest.map(|manifest| manifest.id);
        let (mut writing, next) = Writing::begin(store, settings.keep, from)
            .map_err(|source| Error::Store { job: job.clone(), source })?;
        state.begin_checkpoints(keeping.clone(), unique, from);
        let mut committers = assembly.committers();
        let commits = manifest.map_or(&[][..], |manifest| &manifest.commits);
        let open = commits.iter().filter(|commit| Some(commit.checkpoint) > confirmed);
        if let Some(last) = settle(state, assembly, open, wait, &mut committers)? {
            writing.carry_out(WriterOrder::Confirm(last));
        }
        Ok(Self { writing, committers, restored, settings, next })
    }

    /// What decides about the checkpoints of the run that begins.
    pub(crate) fn coordination(
        &self,
        state: &JobState,
        assembly: &Assembly,
        run: &str,
    ) -> Coordination {
        let (delivery, key_groups) = assembly.settings();
        let template = Template {
            job: state.name.clone(),
            run: run.to_owned(),
            delivery: delivery.to_string(),
            key_groups: u16::try_from(key_groups.count()).unwrap_or(u16::MAX),
            components: assembly.components(),
            regions: state.components.iter().map(|component| component.region).collect(),
        };
        let restored = self.restored.as_ref().map(|restored| Arc::new(restored.manifest.clone()));
        Coordination::new(self.settings, template, restored, self.next)
    }
}

/// Commits what the checkpoint holds and nobody has confirmed, and removes what is in none. Gives the last
/// checkpoint that something was committed of. What a sink has prepared that is gone, and may be lost, is left
/// as it is.
fn settle<'a>(
    state: &JobState,
    assembly: &Assembly,
    commits: impl Iterator<Item = &'a PendingCommit>,
    wait: &dyn Fn(Duration),
    committers: &mut Committers,
) -> Result<Option<CheckpointId>, Error> {
    let mut last = None;
    for commit in commits {
        last = last.max(Some(commit.checkpoint));
        if assembly.drops(&commit.component) && !committers.has(&commit.component) {
            tracing::warn!(
                job = state.name,
                component = commit.component,
                instance = commit.instance,
                checkpoint = commit.checkpoint.0,
                events = commit.events,
                "a commit is left out, if it was not made before: the sink is gone, as it was said",
            );
            continue;
        }
        let Err(problem) = committers.commit_at_last(commit, Retry::default(), wait) else {
            continue;
        };
        if state.on_commit_error(&commit.component) == OnError::Fail {
            return Err(Error::Commit {
                job: state.name.clone(),
                sink: commit.component.clone(),
                checkpoint: commit.checkpoint,
                events: commit.events,
                problem,
            });
        }
        state.leave_out(commit, &problem);
    }
    let job = state.name.clone();
    committers.clean_up().map_err(|(sink, problem)| Error::CleanUp { job, sink, problem })?;
    Ok(last)
}
