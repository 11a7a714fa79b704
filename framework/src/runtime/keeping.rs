//! [`Keeping`]: where a job's checkpoints are kept.

use crate::checkpoint::{CheckpointStore, DataDir, Latest, Restored};
use crate::error::Error;
use crate::id::CheckpointId;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Makes a store.
pub(crate) type MakeStore = Arc<dyn Fn() -> Box<dyn CheckpointStore> + Send + Sync>;

#[derive(Clone)]
pub(crate) enum StorePlace {
    Directory(PathBuf),
    Store(MakeStore),
}

impl fmt::Debug for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => path.fmt(f),
            Self::Store(_) => f.write_str("a store of the caller's"),
        }
    }
}

impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(path) => path.display().fmt(f),
            Self::Store(_) => f.write_str("a store of the caller's"),
        }
    }
}

/// A store, and what was found in it.
#[derive(Debug)]
pub(crate) struct OpenedStore {
    pub(crate) store: Box<dyn CheckpointStore>,
    /// What the job goes on from.
    pub(crate) restored: Option<Restored>,
    /// What is unique to its directory.
    pub(crate) unique: Option<String>,
}

/// Where a job's checkpoints are kept, and which one it goes on from.
#[derive(Clone, Debug)]
pub(crate) struct Keeping {
    pub(crate) place: StorePlace,
    /// Begin anew, and move what is there aside.
    pub(crate) fresh: bool,
    /// The one that is wanted, and not the newest.
    pub(crate) wanted: Option<CheckpointId>,
}

impl Keeping {
    /// Opens the store, and reads the checkpoint that the job goes on from.
    ///
    /// # Errors
    /// The directory cannot be had; there is a checkpoint and it cannot be read.
    pub(crate) fn open(&self, job: &str) -> Result<OpenedStore, Error> {
        let (store, latest, unique) = match &self.place {
            StorePlace::Store(make) => (make(), Latest::None, None),
            StorePlace::Directory(path) => {
                let refused = |source| Error::DataDirectory { job: job.to_owned(), source };
                let directory = DataDir::open(path, job, self.fresh).map_err(refused)?;
                let unique = directory.unique().map(str::to_owned);
                (directory.store().map_err(refused)?, directory.latest(), unique)
            }
        };
        let restored = Restored::read(&*store, &latest, self.wanted)
            .map_err(|source| Error::Recovery { job: job.to_owned(), source })?;
        Ok(OpenedStore { store, restored, unique })
    }
}
