//! Checkpoints: consistent cuts through a running job, what they are made of, and where they are kept.
//!
//! A checkpoint is the state of every instance at one point of every stream, with the positions of the
//! sources and what the sinks have prepared. Its state lies in *segments*: for each part (a key group of a
//! keyed component, a split of a source, an instance) a base, and deltas after it. Its *manifest* says
//! which segments it consists of; a checkpoint exists when its manifest is published.

mod alignment;
mod data_dir;
mod lock;
mod manifest;
mod pending;
mod recovery;
mod snapshot;
mod store;
mod sweep;

pub(crate) use alignment::{Alignment, Barrier};
pub use data_dir::{DataDir, DataDirError, Latest, StoreKind};
pub use manifest::{
    ComponentManifest, Manifest, ManifestError, ManifestKind, Part, PartManifest, PendingCommit,
    SegmentRef,
};
pub(crate) use pending::{Pending, Segments};
pub use recovery::{Found, Health, RecoveryError, Refusal, Restored};
pub(crate) use snapshot::{Change, RestoredComponent, Snapshot};
#[cfg(feature = "redb")]
pub use store::RedbStore;
#[cfg(feature = "sled")]
pub use store::SledStore;
pub use store::{CheckpointStore, Generation, MemoryStore, SegmentId, StoreError};
pub(crate) use sweep::{Retention, Sweeper};
