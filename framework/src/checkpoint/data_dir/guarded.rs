//! The store of a data directory: it keeps `LATEST`, and the directory's lock.

use super::files;
use super::latest::Latest;
use super::{COMMITTED, LATEST, read_latest};
use crate::checkpoint::store::{CheckpointStore, Generation, SegmentId, StoreError};
use crate::id::CheckpointId;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// A store whose newest checkpoint is noted beside it.
#[derive(Debug)]
pub(super) struct Guarded {
    pub(super) inner: Box<dyn CheckpointStore>,
    pub(super) path: PathBuf,
    /// Nobody else opens the directory as long as its store is used.
    pub(super) _lock: Arc<File>,
}

impl Guarded {
    fn note(&self, latest: &Latest) -> Result<(), StoreError> {
        files::replace(&self.path, LATEST, &latest.to_line()).map_err(|source| StoreError::Io {
            what: format!("writing LATEST in {:?}", self.path),
            source,
        })
    }
}

impl CheckpointStore for Guarded {
    fn begin(&mut self) -> Result<Generation, StoreError> {
        self.inner.begin()
    }

    fn reserve(&mut self, count: u64) -> Result<CheckpointId, StoreError> {
        let first = self.inner.reserve(count)?;
        match read_latest(&self.path).id() {
            // The store went back, and somebody goes on with an earlier checkpoint.
            Some(latest) if latest >= first => {
                let used = latest.0 - first.0 + 1;
                self.inner.reserve(used)?;
                Ok(CheckpointId(first.0 + used))
            }
            _ => Ok(first),
        }
    }

    fn confirm(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        let line = Latest::of(id, b"").to_line();
        files::replace(&self.path, COMMITTED, &line).map_err(|source| StoreError::Io {
            what: format!("writing {COMMITTED} in {:?}", self.path),
            source,
        })
    }

    fn confirmed(&self) -> Option<CheckpointId> {
        // One that is damaged or missing confirms nothing.
        let line = files::read(&self.path, COMMITTED).ok().flatten()?;
        Latest::from_line(&line).id()
    }

    fn put(&mut self, id: SegmentId, bytes: &[u8]) -> Result<(), StoreError> {
        self.inner.put(id, bytes)
    }

    fn publish(
        &mut self,
        generation: Generation,
        id: CheckpointId,
        manifest: &[u8],
    ) -> Result<(), StoreError> {
        self.inner.publish(generation, id, manifest)?;
        self.note(&Latest::of(id, manifest))
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
        // Only that of a checkpoint that is there no more may name it, and not for a moment the other way.
        if read_latest(&self.path).id() == Some(id) {
            let before = self.inner.manifests()?.into_iter().filter(|other| *other != id).max();
            let latest = match before {
                Some(before) => Latest::of(before, &self.inner.manifest(before)?),
                None => Latest::None,
            };
            self.note(&latest)?;
        }
        self.inner.remove_manifest(id)
    }

    fn remove_segment(&mut self, id: SegmentId) -> Result<(), StoreError> {
        self.inner.remove_segment(id)
    }

    fn reopen(&mut self) -> Result<(), StoreError> {
        self.inner.reopen()
    }
}
