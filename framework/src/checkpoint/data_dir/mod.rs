//! [`DataDir`]: the directory in which a job keeps its checkpoints.
//!
//! ```text
//! lock                 locked by the process that uses the directory
//! IDENTITY             whose directory it is
//! LATEST               which checkpoint was published last
//! COMMITTED            up to which checkpoint the sinks have committed, as far as that was noted
//! checkpoints.sled/    the store, or checkpoints.redb
//! archive/1/           what was here before the job began anew
//! ```

mod archive;
mod files;
mod guarded;
mod identity;
mod latest;

pub use latest::Latest;

use super::lock::lock_within;
use super::store::{CheckpointStore, StoreError};
use guarded::Guarded;
use identity::Identity;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const LOCK: &str = "lock";
const IDENTITY: &str = "IDENTITY";
const LATEST: &str = "LATEST";
const COMMITTED: &str = "COMMITTED";
const ARCHIVE: &str = "archive";

/// How long to wait for a process that is just ending.
const LOCK_WAIT: Duration = Duration::from_millis(100);

/// The directory in which one job keeps its checkpoints, locked as long as this lives.
///
/// ```
/// use streamwork::{DataDir, Latest};
///
/// # let path = std::env::temp_dir().join(format!("streamwork-dir-example-{}", std::process::id()));
/// let directory = DataDir::open(&path, "vehicle-count", false)?;
/// let mut store = directory.store()?;
/// let generation = store.begin()?;
/// let id = store.reserve(1)?;
/// store.publish(generation, id, b"manifest")?;
/// drop((store, directory));
///
/// let directory = DataDir::open(&path, "vehicle-count", false)?;
/// assert_eq!(directory.latest().id(), Some(id));
/// assert_eq!(directory.store()?.manifests()?, [id]);
/// drop(directory);
///
/// // Another job cannot have it.
/// let error = DataDir::open(&path, "fraud-detection", false).unwrap_err();
/// assert!(error.to_string().contains("vehicle-count"));
/// # std::fs::remove_dir_all(&path).ok();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DataDir {
    path: PathBuf,
    identity: Identity,
    lock: Arc<File>,
    archived: Option<PathBuf>,
}

/// What kind of store a data directory has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum StoreKind {
    /// sled, with the feature `sled`.
    Sled,
    /// redb, with the feature `redb`.
    Redb,
}

impl fmt::Display for StoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sled => "sled",
            Self::Redb => "redb",
        })
    }
}

impl Default for StoreKind {
    /// sled, unless there is only redb.
    fn default() -> Self {
        if cfg!(all(feature = "redb", not(feature = "sled"))) { Self::Redb } else { Self::Sled }
    }
}

impl DataDir {
    /// Opens the directory of a job, or makes it. `fresh` moves what is in it to `archive/<n>` in it, so
    /// that the job begins anew.
    ///
    /// # Errors
    /// It is no directory, cannot be written, is used by another process or belongs to something else; see
    /// [`DataDirError`].
    pub fn open(path: impl AsRef<Path>, job: &str, fresh: bool) -> Result<Self, DataDirError> {
        Self::open_as(path.as_ref(), job, fresh, None)
    }

    /// As [`open`](Self::open), with a store of a kind that is not the default.
    ///
    /// # Errors
    /// As `open`; and the directory has a store of another kind.
    pub fn open_with(
        path: impl AsRef<Path>,
        job: &str,
        fresh: bool,
        store: StoreKind,
    ) -> Result<Self, DataDirError> {
        Self::open_as(path.as_ref(), job, fresh, Some(store))
    }

    /// Opens a directory that is there, whatever job it belongs to.
    ///
    /// # Errors
    /// As [`open`](Self::open); and there is none.
    pub fn existing(path: impl AsRef<Path>) -> Result<Self, DataDirError> {
        let path = path.as_ref();
        let failed = |what, source| DataDirError::Io { what, path: path.to_owned(), source };
        if !path.is_dir() {
            return Err(DataDirError::NoDirectory { path: path.to_owned() });
        }
        // Without making it a data directory, and without a lock in it, if it is none.
        if files::read(path, IDENTITY).map_err(|e| failed("read", e))?.is_none()
            && !path.join(ARCHIVE).is_dir()
        {
            return Err(DataDirError::NoDataDirectory { path: path.to_owned() });
        }
        let lock = lock(path)?;
        archive::finish(path).map_err(|e| failed("archive what is in", e))?;
        let identity = identity_of(path)?
            .ok_or_else(|| DataDirError::NoDataDirectory { path: path.to_owned() })?;
        Ok(Self { path: path.to_owned(), identity, lock: Arc::new(lock), archived: None })
    }

    fn open_as(
        path: &Path,
        job: &str,
        fresh: bool,
        store: Option<StoreKind>,
    ) -> Result<Self, DataDirError> {
        let failed = |what, source| DataDirError::Io { what, path: path.to_owned(), source };
        if path.exists() && !path.is_dir() {
            return Err(DataDirError::NoDirectory { path: path.to_owned() });
        }
        fs::create_dir_all(path).map_err(|e| failed("make", e))?;
        let lock = Arc::new(lock(path)?);
        archive::finish(path).map_err(|e| failed("archive what is in", e))?;
        let contents = archive::contents(path).map_err(|e| failed("read", e))?;
        let is_ours = |name: &std::ffi::OsString| {
            name.to_str().is_some_and(|name| {
                [IDENTITY, LATEST, COMMITTED]
                    .contains(&name.trim_start_matches('.').trim_end_matches(".tmp"))
                    || [StoreKind::Sled, StoreKind::Redb].map(directory_name).contains(&name)
            })
        };
        if !contents.is_empty() && !contents.iter().any(is_ours) {
            return Err(DataDirError::Foreign { path: path.to_owned() });
        }
        let mut archived = None;
        if fresh {
            archived = archive::archive(path).map_err(|e| failed("archive what is in", e))?;
        }
        let identity = match identity_of(path)? {
            Some(identity) => identity,
            None => {
                let identity = Identity::new(job, store.unwrap_or_default());
                // In this order: a directory that says whose it is says what was published, too.
                files::replace(path, LATEST, &Latest::None.to_line())
                    .map_err(|e| failed("write LATEST in", e))?;
                let text = identity.to_text().map_err(|e| failed("write IDENTITY in", e.into()))?;
                files::replace(path, IDENTITY, &text)
                    .map_err(|e| failed("write IDENTITY in", e))?;
                identity
            }
        };
        if identity.job != job {
            let (found, job) = (identity.job, job.to_owned());
            return Err(DataDirError::OtherJob { path: path.to_owned(), found, job });
        }
        if let Some(wanted) = store.filter(|wanted| *wanted != identity.store) {
            let found = identity.store;
            return Err(DataDirError::OtherStore { path: path.to_owned(), found, wanted });
        }
        Ok(Self { path: path.to_owned(), identity, lock, archived })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The job that it belongs to.
    #[must_use]
    pub fn job(&self) -> &str {
        &self.identity.job
    }

    /// What kind of store it has.
    #[must_use]
    pub fn store_kind(&self) -> StoreKind {
        self.identity.store
    }

    /// What no other data directory has, but for copies of this one.
    pub(crate) fn unique(&self) -> Option<&str> {
        self.identity.unique.as_deref()
    }

    /// Where what was in it was moved to, if it was opened fresh and there was something.
    #[must_use]
    pub fn archived(&self) -> Option<&Path> {
        self.archived.as_deref()
    }

    /// Which checkpoint was published last.
    #[must_use]
    pub fn latest(&self) -> Latest {
        read_latest(&self.path)
    }

    /// Opens the store in it. It keeps the directory locked, and [`latest`](Self::latest) up to date.
    ///
    /// # Errors
    /// The store cannot be opened, or is damaged; it is open already; it is of a kind that this program was
    /// built without.
    pub fn store(&self) -> Result<Box<dyn CheckpointStore>, DataDirError> {
        let kind = self.identity.store;
        let place = self.path.join(directory_name(kind));
        let inner = open_store(kind, &place).map_err(|source| match source {
            Some(source) => DataDirError::Store { path: self.path.clone(), source },
            None => DataDirError::NoStore { path: self.path.clone(), kind },
        })?;
        let (path, lock) = (self.path.clone(), Arc::clone(&self.lock));
        Ok(Box::new(Guarded { inner, path, _lock: lock }))
    }
}

fn directory_name(kind: StoreKind) -> &'static str {
    match kind {
        StoreKind::Sled => "checkpoints.sled",
        StoreKind::Redb => "checkpoints.redb",
    }
}

/// `None` as an error if this program was built without that kind.
fn open_store(
    kind: StoreKind,
    place: &Path,
) -> Result<Box<dyn CheckpointStore>, Option<StoreError>> {
    match kind {
        #[cfg(feature = "sled")]
        StoreKind::Sled => Ok(Box::new(super::store::SledStore::open(place)?)),
        #[cfg(feature = "redb")]
        StoreKind::Redb => Ok(Box::new(super::store::RedbStore::open(place)?)),
        #[allow(unreachable_patterns, reason = "which are left depends on the features")]
        _ => {
            let _ = place;
            Err(None)
        }
    }
}

fn identity_of(path: &Path) -> Result<Option<Identity>, DataDirError> {
    let text = files::read(path, IDENTITY).map_err(|source| DataDirError::Io {
        what: "read IDENTITY in",
        path: path.to_owned(),
        source,
    })?;
    if let Some(text) = text {
        return Identity::from_text(&text, path).map(Some);
    }
    let has_store = [StoreKind::Sled, StoreKind::Redb]
        .iter()
        .any(|kind| path.join(directory_name(*kind)).exists());
    if has_store {
        let problem = "IDENTITY is missing".to_owned();
        return Err(DataDirError::Damaged { path: path.to_owned(), problem });
    }
    Ok(None)
}

fn read_latest(path: &Path) -> Latest {
    match files::read(path, LATEST) {
        Ok(Some(line)) => Latest::from_line(&line),
        Ok(None) => Latest::Unknown("the file LATEST is missing".to_owned()),
        Err(error) => Latest::Unknown(format!("the file LATEST cannot be read: {error}")),
    }
}

fn lock(path: &Path) -> Result<File, DataDirError> {
    let failed = |source| DataDirError::Io { what: "lock", path: path.to_owned(), source };
    let mut options = File::options();
    let file =
        options.create(true).truncate(false).write(true).open(path.join(LOCK)).map_err(failed)?;
    if lock_within(&file, LOCK_WAIT).map_err(failed)? {
        Ok(file)
    } else {
        Err(DataDirError::Locked { path: path.to_owned() })
    }
}

/// Why a data directory cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataDirError {
    /// The path is something else, or nothing.
    #[error("{path:?} is no directory: give the job one of its own")]
    NoDirectory {
        /// The path.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {what} the data directory {path:?}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Another process uses it.
    #[error(
        "the data directory {path:?} is in use: end the other process, or take another directory"
    )]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// There are files in it, and none of ours.
    #[error("{path:?} is no data directory, and not empty: give the job a directory of its own")]
    Foreign {
        /// The directory.
        path: PathBuf,
    },
    /// It was to be one that is there, and no job has made it one.
    #[error("{path:?} is no data directory: no job has kept checkpoints in it")]
    NoDataDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// It belongs to another job.
    #[error(
        "the data directory {path:?} belongs to the job {found:?}, not to {job:?}: take another directory, \
         or begin afresh"
    )]
    OtherJob {
        /// The directory.
        path: PathBuf,
        /// The job that it belongs to.
        found: String,
        /// The job that wants it.
        job: String,
    },
    /// Its store is of another kind.
    #[error(
        "the data directory {path:?} has a store of {found}, not of {wanted}: take another directory, or \
         begin afresh"
    )]
    OtherStore {
        /// The directory.
        path: PathBuf,
        /// What it has.
        found: StoreKind,
        /// What was asked for.
        wanted: StoreKind,
    },
    /// Its store is of a kind that this program cannot open.
    #[error("the data directory {path:?} needs a program that was built with the feature `{kind}`")]
    NoStore {
        /// The directory.
        path: PathBuf,
        /// The kind.
        kind: StoreKind,
    },
    /// A newer version has made it.
    #[error(
        "the data directory {path:?} has format {found}, and this program knows up to {known}: use a newer \
         version, or begin afresh"
    )]
    Newer {
        /// The directory.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// The newest format that is known here.
        known: u32,
    },
    /// It is not said whose it is.
    #[error("the data directory {path:?} is damaged: {problem}: put it right, or begin afresh")]
    Damaged {
        /// The directory.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Its store cannot be opened.
    #[error(
        "the checkpoints in the data directory {path:?} cannot be opened; a copy may help, or begin afresh"
    )]
    Store {
        /// The directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: StoreError,
    },
}
