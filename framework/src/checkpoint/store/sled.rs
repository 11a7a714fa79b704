//! [`SledStore`]: checkpoints in a sled database.
//!
//! sled is good at many small writes and survives the death of its process, but some things have to be
//! done in its stead:
//!
//! * Large batches make it leak: so everything is plain inserts.
//! * A page of more than 128 KiB it writes as a file of its own, which it may never remove, and when the disk
//!   is full then, it waits for ever for what it could not write. A page has 16 values, and up to 20 for a
//!   moment: so no chunk has more than 6 KiB.
//! * Its `flush` does not wait for the disk: so its files are synced by hand.
//! * It panics, or quietly goes back in time, when its files are damaged: so every call is guarded, every
//!   byte that is read has a checksum of its own, and [`DataDir`](crate::DataDir) knows which checkpoint
//!   is the newest.
//! * After an error it stays failed until it is opened anew.
//! * When it was dropped, threads of its own may hold its lock a little longer: so opening waits a little.

use super::database::{Change, Database, DatabaseStore, Table, Trouble, checkpoint_store};
use super::{Generation, SegmentId, StoreError};
use crate::checkpoint::lock::lock_within;
use crate::id::CheckpointId;
use ::sled::{Config, Db, IVec, Tree};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

const CACHE_BYTES: u64 = 64 << 20;

/// In the flusher's thread sled gives space back.
const FLUSH_EVERY_MS: u64 = 500;

/// How long to wait for the lock.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// Checkpoints in a sled database: a directory of its own.
///
/// ```
/// use streamwork::{CheckpointStore, SegmentId, SledStore};
///
/// # let path = std::env::temp_dir().join(format!("streamwork-sled-example-{}", std::process::id()));
/// let mut store = SledStore::open(&path)?;
/// let generation = store.begin()?;
/// let checkpoint = store.reserve(1)?;
/// let segment = SegmentId { checkpoint, number: 0 };
/// store.put(segment, b"state")?;
/// store.publish(generation, checkpoint, b"manifest")?;
/// drop(store);
///
/// let store = SledStore::open(&path)?;
/// assert_eq!(store.manifests()?, [checkpoint]);
/// assert_eq!(store.segment(segment)?, b"state");
/// # drop(store);
/// # std::fs::remove_dir_all(&path).ok();
/// # Ok::<(), streamwork::StoreError>(())
/// ```
#[derive(Debug)]
pub struct SledStore(DatabaseStore<SledDatabase>);

impl SledStore {
    /// Opens the store in the directory `path`, which is made if it is missing.
    ///
    /// # Errors
    /// It cannot be read or written, another one has it open, or it is damaged.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        DatabaseStore::open(path.into()).map(Self)
    }
}

checkpoint_store!(SledStore);

#[derive(Debug)]
struct SledDatabase {
    path: PathBuf,
    db: Db,
    entries: Tree,
    chunks: Tree,
    numbers: Tree,
}

impl SledDatabase {
    fn tree(&self, table: Table) -> &Tree {
        match table {
            Table::Entries => &self.entries,
            Table::Chunks => &self.chunks,
            Table::Numbers => &self.numbers,
        }
    }
}

impl Database for SledDatabase {
    type Value = IVec;

    fn open(path: PathBuf) -> Result<Self, Trouble> {
        wait_for_lock(&path)?;
        let config = Config::new().path(&path).cache_capacity(CACHE_BYTES);
        let db = config.flush_every_ms(Some(FLUSH_EVERY_MS)).open()?;
        let tree = |table: Table| db.open_tree(table.name());
        let (entries, chunks) = (tree(Table::Entries)?, tree(Table::Chunks)?);
        let numbers = tree(Table::Numbers)?;
        Ok(Self { path, db, entries, chunks, numbers })
    }

    fn get(&self, table: Table, key: &[u8]) -> Result<Option<IVec>, Trouble> {
        Ok(self.tree(table).get(key)?)
    }

    fn keys(&self, table: Table, prefix: &[u8]) -> Result<Vec<Vec<u8>>, Trouble> {
        let keys = self.tree(table).scan_prefix(prefix).keys();
        keys.map(|key| Ok(key?.to_vec())).collect()
    }

    fn apply(&self, changes: impl Iterator<Item = Change>) -> Result<(), Trouble> {
        for change in changes {
            match change {
                Change::Put(table, key, value) => self.tree(table).insert(key, value)?,
                Change::Remove(table, key) => self.tree(table).remove(key)?,
            };
        }
        Ok(())
    }

    fn separate(&self) -> Result<(), Trouble> {
        self.db.flush()?;
        Ok(())
    }

    fn sync(&self) -> Result<(), Trouble> {
        self.db.flush()?;
        Ok(sync_all(&self.path)?)
    }
}

impl From<::sled::Error> for Trouble {
    fn from(error: ::sled::Error) -> Self {
        match error {
            ::sled::Error::Io(error) => Self::Io(error),
            // It would print an offset and a backtrace, of which it has none.
            ::sled::Error::Corruption { .. } => Self::Database("a checksum is wrong".to_owned()),
            error => Self::Database(error.to_string()),
        }
    }
}

/// Waits until a database that was dropped before has let its lock go, or until it is clear that somebody
/// uses it: sled says so then.
fn wait_for_lock(path: &Path) -> io::Result<()> {
    let file = match File::open(path.join("db")) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    lock_within(&file, LOCK_WAIT).map(drop)
}

/// Waits until everything in a directory is on the disk.
fn sync_all(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            sync_all(&path)?;
            continue;
        }
        match File::open(&path) {
            Ok(file) => file.sync_all()?,
            // sled has removed a snapshot meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    // Elsewhere a directory is no file that could be opened.
    if cfg!(unix) { File::open(directory)?.sync_all() } else { Ok(()) }
}
