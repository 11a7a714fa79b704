//! Sweeping: removing checkpoints that are not kept, and segments that nobody needs any more.
//!
//! A segment lives as long as a checkpoint that is kept names it, or as the checkpoint that it was written
//! for may still be published. What to remove is decided by [`garbage`], a pure function; [`Sweeper`]
//! carries it out.

use super::manifest::{Manifest, ManifestKind};
use super::store::{CheckpointStore, SegmentId, StoreError};
use crate::id::CheckpointId;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

/// What is kept beside savepoints.
#[derive(Debug)]
pub(crate) struct Retention {
    /// How many of the newest checkpoints; never less than one.
    pub(crate) keep: usize,
    /// Checkpoints that are kept in any case, with the segments that were written for them: those that are
    /// in flight and those that they build on, and those of which a commit is not confirmed.
    pub(crate) needed: BTreeSet<CheckpointId>,
}

/// What is known of a checkpoint that is published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// Whether it is a savepoint, and the segments that it names.
    Manifest { is_savepoint: bool, segments: BTreeSet<SegmentId> },
    /// Its manifest is damaged. It stays where it is, with what was written for it, until somebody deletes
    /// it: it may have been a savepoint.
    Damaged,
}

impl From<&Manifest> for Known {
    fn from(manifest: &Manifest) -> Self {
        Self::Manifest {
            is_savepoint: matches!(manifest.kind, ManifestKind::Savepoint(_)),
            segments: manifest.segments().map(|segment| segment.id).collect(),
        }
    }
}

/// What is to be removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Garbage {
    pub(crate) manifests: Vec<CheckpointId>,
    pub(crate) segments: Vec<SegmentId>,
}

/// What a store holds and nobody needs.
pub(crate) fn garbage(
    published: &BTreeMap<CheckpointId, Known>,
    segments: &[SegmentId],
    retention: &Retention,
) -> Garbage {
    let mut places = retention.keep.max(1);
    let mut manifests = Vec::new();
    let mut named: BTreeSet<&SegmentId> = BTreeSet::new();
    let mut whole = retention.needed.clone();
    for (id, known) in published.iter().rev() {
        match known {
            Known::Damaged => {
                whole.insert(*id);
            }
            Known::Manifest { is_savepoint, segments } => {
                let has_place = !is_savepoint && places > 0;
                places -= usize::from(has_place);
                if has_place || *is_savepoint || retention.needed.contains(id) {
                    named.extend(segments);
                } else {
                    manifests.push(*id);
                }
            }
        }
    }
    manifests.reverse();
    let is_garbage = |id: &&SegmentId| !named.contains(*id) && !whole.contains(&id.checkpoint);
    Garbage { manifests, segments: segments.iter().filter(is_garbage).copied().collect() }
}

/// Removes what is not kept, a bounded number at a time.
#[derive(Debug)]
pub(crate) struct Sweeper {
    budget: usize,
    known: BTreeMap<CheckpointId, Known>,
}

impl Default for Sweeper {
    /// One that removes up to 1,024 at a time.
    fn default() -> Self {
        Self::new(1024)
    }
}

impl Sweeper {
    /// One that removes up to `budget` manifests and segments at a time; at least one.
    fn new(budget: usize) -> Self {
        Self { budget: budget.max(1), known: BTreeMap::new() }
    }

    /// Removes some of what is not kept. Whether there is more to remove.
    ///
    /// It never fails: what went wrong is logged, and tried again next time. (The store may have to be opened
    /// anew, which its next user is told.) Where a removal was interrupted by a crash, the rest is removed.
    pub(crate) fn sweep(&mut self, store: &mut dyn CheckpointStore, retention: &Retention) -> bool {
        self.try_sweep(store, retention).unwrap_or_else(|error| {
            let cause = error.source().map(ToString::to_string);
            tracing::warn!(%error, cause, "old checkpoints were not removed; they are next time");
            false
        })
    }

    fn try_sweep(
        &mut self,
        store: &mut dyn CheckpointStore,
        retention: &Retention,
    ) -> Result<bool, StoreError> {
        self.learn(store)?;
        let garbage = garbage(&self.known, &store.segments()?, retention);
        let mut budget = self.budget;
        let total = garbage.manifests.len() + garbage.segments.len();
        // First the manifests: what is listed must be there.
        for id in garbage.manifests.into_iter().take(budget) {
            store.remove_manifest(id)?;
            self.known.remove(&id);
            budget -= 1;
        }
        for id in garbage.segments.into_iter().take(budget) {
            store.remove_segment(id)?;
        }
        Ok(total > self.budget)
    }

    /// Reads the manifests that came since the last time.
    fn learn(&mut self, store: &dyn CheckpointStore) -> Result<(), StoreError> {
        let published = store.manifests()?;
        self.known.retain(|id, _| published.binary_search(id).is_ok());
        for id in published {
            if self.known.contains_key(&id) {
                continue;
            }
            let manifest = match store.manifest(id) {
                Ok(bytes) => Manifest::decode(&bytes).map_err(|error| error.to_string()),
                Err(error @ StoreError::Corrupt { .. }) => Err(error.to_string()),
                Err(error) => return Err(error),
            };
            let known = manifest.as_ref().map_or(Known::Damaged, Known::from);
            if let Err(problem) = manifest {
                tracing::warn!(checkpoint = %id, problem, "a damaged checkpoint stays until it is deleted");
            }
            self.known.insert(id, known);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
