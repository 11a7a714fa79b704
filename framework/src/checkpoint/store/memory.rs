//! [`MemoryStore`]: checkpoints in memory, for tests and for jobs without a directory.

use super::{CheckpointStore, Generation, SegmentId, StoreError};
use crate::id::CheckpointId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Checkpoints in memory. Clones share what they hold, so a test can drop one, as in a crash, and go on
/// with another.
///
/// ```
/// use streamwork::{CheckpointStore, MemoryStore};
///
/// let mut store = MemoryStore::new();
/// let after_the_crash = store.clone();
/// let generation = store.begin()?;
/// let id = store.reserve(1)?;
/// store.publish(generation, id, b"manifest")?;
/// drop(store);
/// assert_eq!(after_the_crash.manifest(id)?, b"manifest");
/// # Ok::<(), streamwork::StoreError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    contents: Arc<Mutex<Contents>>,
    ours: u64,
}

#[derive(Debug, Default)]
struct Contents {
    generation: u64,
    reserved: u64,
    segments: BTreeMap<SegmentId, Vec<u8>>,
    unpublished: BTreeSet<SegmentId>,
    manifests: BTreeMap<CheckpointId, Vec<u8>>,
    confirmed: Option<CheckpointId>,
}

impl MemoryStore {
    /// A store without checkpoints.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets what was put since something was published last, as a loss of power may.
    ///
    /// ```
    /// use streamwork::{CheckpointStore, MemoryStore, SegmentId};
    ///
    /// let mut store = MemoryStore::new();
    /// let checkpoint = store.reserve(1)?;
    /// store.put(SegmentId { checkpoint, number: 0 }, b"state")?;
    /// store.lose_unpublished();
    /// assert!(store.segments()?.is_empty());
    /// # Ok::<(), streamwork::StoreError>(())
    /// ```
    pub fn lose_unpublished(&self) {
        let mut contents = self.contents();
        let lost = std::mem::take(&mut contents.unpublished);
        contents.segments.retain(|id, _| !lost.contains(id));
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CheckpointStore for MemoryStore {
    fn begin(&mut self) -> Result<Generation, StoreError> {
        let mut contents = self.contents();
        contents.generation += 1;
        let ours = contents.generation;
        drop(contents);
        self.ours = ours;
        Ok(Generation(ours))
    }

    fn reserve(&mut self, count: u64) -> Result<CheckpointId, StoreError> {
        let mut contents = self.contents();
        let first = contents.reserved + 1;
        contents.reserved = contents.reserved.saturating_add(count);
        Ok(CheckpointId(first))
    }

    fn confirm(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        let mut contents = self.contents();
        contents.confirmed = contents.confirmed.max(Some(id));
        Ok(())
    }

    fn confirmed(&self) -> Option<CheckpointId> {
        self.contents().confirmed
    }

    fn put(&mut self, id: SegmentId, bytes: &[u8]) -> Result<(), StoreError> {
        let mut contents = self.contents();
        contents.unpublished.insert(id);
        contents.segments.insert(id, bytes.to_vec());
        Ok(())
    }

    fn publish(
        &mut self,
        generation: Generation,
        id: CheckpointId,
        manifest: &[u8],
    ) -> Result<(), StoreError> {
        let mut contents = self.contents();
        if contents.generation != generation.0 {
            return Err(StoreError::Fenced { ours: generation.0, newest: contents.generation });
        }
        contents.unpublished.clear();
        contents.manifests.insert(id, manifest.to_vec());
        Ok(())
    }

    fn manifests(&self) -> Result<Vec<CheckpointId>, StoreError> {
        Ok(self.contents().manifests.keys().copied().collect())
    }

    fn manifest(&self, id: CheckpointId) -> Result<Vec<u8>, StoreError> {
        self.contents().manifests.get(&id).cloned().ok_or_else(|| StoreError::Corrupt {
            what: format!("the manifest of checkpoint {id}"),
            problem: "it is missing".to_owned(),
        })
    }

    fn segment(&self, id: SegmentId) -> Result<Vec<u8>, StoreError> {
        self.contents().segments.get(&id).cloned().ok_or_else(|| StoreError::Corrupt {
            what: format!("segment {} of checkpoint {}", id.number, id.checkpoint),
            problem: "it is missing".to_owned(),
        })
    }

    fn segments(&self) -> Result<Vec<SegmentId>, StoreError> {
        Ok(self.contents().segments.keys().copied().collect())
    }

    fn remove_manifest(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        self.contents().manifests.remove(&id);
        Ok(())
    }

    fn remove_segment(&mut self, id: SegmentId) -> Result<(), StoreError> {
        let mut contents = self.contents();
        contents.segments.remove(&id);
        contents.unpublished.remove(&id);
        Ok(())
    }

    fn reopen(&mut self) -> Result<(), StoreError> {
        let newest = self.contents().generation;
        if newest == self.ours {
            Ok(())
        } else {
            Err(StoreError::Fenced { ours: self.ours, newest })
        }
    }
}
