//! [`FaultyStore`]: a store that fails on cue.

use crate::checkpoint::{CheckpointStore, Generation, SegmentId, StoreError};
use crate::id::CheckpointId;
use std::io::{Error as IoError, ErrorKind};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A store whose writes fail for a while, as on a full disk. Its clones count their writes together.
///
/// ```
/// use streamwork::testing::FaultyStore;
/// use streamwork::{CheckpointStore, MemoryStore, SegmentId};
///
/// let mut store = FaultyStore::failing(MemoryStore::new(), 2..3);
/// let checkpoint = store.reserve(1)?;
/// store.put(SegmentId { checkpoint, number: 0 }, b"first")?;
/// let error = store.put(SegmentId { checkpoint, number: 1 }, b"second").unwrap_err();
/// assert_eq!(error.to_string(), "write 2 failed");
/// store.put(SegmentId { checkpoint, number: 1 }, b"second")?;
/// # Ok::<(), streamwork::StoreError>(())
/// ```
#[derive(Clone, Debug)]
pub struct FaultyStore<S> {
    inner: S,
    fails: Range<u64>,
    writes: Arc<AtomicU64>,
}

impl<S> FaultyStore<S> {
    /// Its writes with these numbers fail: segments and manifests, counted from 1.
    pub fn failing(inner: S, writes: Range<u64>) -> Self {
        Self { inner, fails: writes, writes: Arc::default() }
    }

    /// How many writes were tried.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    fn write(&self) -> Result<(), StoreError> {
        let write = self.writes.fetch_add(1, Ordering::Relaxed) + 1;
        if !self.fails.contains(&write) {
            return Ok(());
        }
        let source = IoError::from(ErrorKind::StorageFull);
        Err(StoreError::Io { what: format!("write {write}"), source })
    }
}

impl<S: CheckpointStore> CheckpointStore for FaultyStore<S> {
    fn begin(&mut self) -> Result<Generation, StoreError> {
        self.inner.begin()
    }

    fn reserve(&mut self, count: u64) -> Result<CheckpointId, StoreError> {
        self.inner.reserve(count)
    }

    fn put(&mut self, id: SegmentId, bytes: &[u8]) -> Result<(), StoreError> {
        self.write()?;
        self.inner.put(id, bytes)
    }

    fn publish(
        &mut self,
        generation: Generation,
        id: CheckpointId,
        manifest: &[u8],
    ) -> Result<(), StoreError> {
        self.write()?;
        self.inner.publish(generation, id, manifest)
    }

    fn manifests(&self) -> Result<Vec<CheckpointId>, StoreError> {
        self.inner.manifests()
    }

    fn manifest(&self, id: CheckpointId) -> Result<Vec<u8>, StoreError> {
        self.inner.manifest(id)
    }

    fn segment(&self, id: SegmentId) -> Result<Vec<u8>, StoreError> {
        self.inner.segment(id)
    }

    fn segments(&self) -> Result<Vec<SegmentId>, StoreError> {
        self.inner.segments()
    }

    fn remove_manifest(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        self.inner.remove_manifest(id)
    }

    fn remove_segment(&mut self, id: SegmentId) -> Result<(), StoreError> {
        self.inner.remove_segment(id)
    }

    fn confirm(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        self.inner.confirm(id)
    }

    fn confirmed(&self) -> Option<CheckpointId> {
        self.inner.confirmed()
    }

    fn reopen(&mut self) -> Result<(), StoreError> {
        self.inner.reopen()
    }
}
