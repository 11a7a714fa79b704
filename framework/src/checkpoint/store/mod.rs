//! [`CheckpointStore`]: where segments and manifests are kept.

#[cfg(any(feature = "sled", feature = "redb"))]
mod blob;
#[cfg(any(feature = "sled", feature = "redb"))]
mod database;
mod memory;
#[cfg(feature = "redb")]
mod redb;
#[cfg(feature = "sled")]
mod sled;

#[cfg(feature = "redb")]
pub use self::redb::RedbStore;
#[cfg(feature = "sled")]
pub use self::sled::SledStore;
pub use memory::MemoryStore;

use crate::id::CheckpointId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The place of a segment in its store. No two segments ever have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SegmentId {
    /// The checkpoint that it was written for.
    pub checkpoint: CheckpointId,
    /// Its number among the segments of that checkpoint.
    pub number: u32,
}

/// How often a store was opened by a job. A store takes manifests of its newest generation only, so a
/// process that believes itself alone and is not cannot publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Generation(pub u64);

/// Keeps checkpoints. Every call comes from one thread, which may be blocked.
///
/// What was put is sure to be there only when [`publish`](Self::publish) has returned: then all of it is,
/// also after a loss of power.
pub trait CheckpointStore: Send + fmt::Debug {
    /// Begins a new generation, and ends those before it.
    ///
    /// # Errors
    /// The store cannot be read or written.
    fn begin(&mut self) -> Result<Generation, StoreError>;

    /// Reserves numbers of checkpoints: the first that was never used, and `count` in all. Durable when it
    /// returns.
    ///
    /// # Errors
    /// The store cannot be read or written.
    fn reserve(&mut self, count: u64) -> Result<CheckpointId, StoreError>;

    /// Puts a segment.
    ///
    /// # Errors
    /// The store cannot be written, or is full.
    fn put(&mut self, id: SegmentId, bytes: &[u8]) -> Result<(), StoreError>;

    /// Makes everything that was put durable, and then the manifest.
    ///
    /// # Errors
    /// The store cannot be written, or is full; [`StoreError::Fenced`] if `generation` is not the newest.
    /// Whether the checkpoint is published is not known then, before [`manifests`](Self::manifests) says so
    /// after [`reopen`](Self::reopen).
    fn publish(
        &mut self,
        generation: Generation,
        id: CheckpointId,
        manifest: &[u8],
    ) -> Result<(), StoreError>;

    /// The checkpoints that are published, in order.
    ///
    /// # Errors
    /// The store cannot be read, or is damaged.
    fn manifests(&self) -> Result<Vec<CheckpointId>, StoreError>;

    /// A manifest, as it was published.
    ///
    /// # Errors
    /// The store cannot be read; [`StoreError::Corrupt`] if what is there is not what was published, or is
    /// missing.
    fn manifest(&self, id: CheckpointId) -> Result<Vec<u8>, StoreError>;

    /// A segment, as it was put.
    ///
    /// # Errors
    /// As [`manifest`](Self::manifest).
    fn segment(&self, id: SegmentId) -> Result<Vec<u8>, StoreError>;

    /// All segments that are there, in order.
    ///
    /// # Errors
    /// The store cannot be read.
    fn segments(&self) -> Result<Vec<SegmentId>, StoreError>;

    /// Removes a manifest, and thereby a checkpoint. Durable when it returns. One that is gone already is no
    /// error.
    ///
    /// # Errors
    /// The store cannot be written.
    fn remove_manifest(&mut self, id: CheckpointId) -> Result<(), StoreError>;

    /// Removes a segment. One that is gone already is no error.
    ///
    /// # Errors
    /// The store cannot be written.
    fn remove_segment(&mut self, id: SegmentId) -> Result<(), StoreError>;

    /// Notes that everything which sinks have prepared for checkpoints up to this one is committed. It need not
    /// be durable: what is not noted is committed again, which changes nothing. By default nothing is noted.
    ///
    /// # Errors
    /// The store cannot be written.
    fn confirm(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        let _ = id;
        Ok(())
    }

    /// The checkpoint that was [confirmed](Self::confirm) last, if that is known.
    fn confirmed(&self) -> Option<CheckpointId> {
        None
    }

    /// Opens the store anew after an error, keeping its generation. What was put and not published may be
    /// gone.
    ///
    /// # Errors
    /// It cannot be opened, or another process has opened it meanwhile.
    fn reopen(&mut self) -> Result<(), StoreError>;
}

/// What went wrong with a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The system refused to read or write.
    #[error("{what} failed")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// What was read is not what was written.
    #[error("{what} is damaged: {problem}")]
    Corrupt {
        /// What is damaged.
        what: String,
        /// In which way.
        problem: String,
    },
    /// An earlier call failed, and the store was not opened anew since.
    #[error("{what} was given up after an error: {problem}")]
    Failed {
        /// The store.
        what: String,
        /// What happened then.
        problem: String,
    },
    /// Another process has opened the store since.
    #[error("another process has taken over the store (generation {newest} after {ours})")]
    Fenced {
        /// The generation that published.
        ours: u64,
        /// The newest one.
        newest: u64,
    },
}
