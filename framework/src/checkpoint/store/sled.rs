//! [`SledStore`]: checkpoints in a sled database.
//!
//! sled is good at many small writes and survives the death of its process, but some things have to be
//! done in its stead:
//!
//! * Large batches make it leak, and values of more than 16 KiB are never given back. So everything is
//!   plain inserts of small chunks, and what makes a checkpoint one piece is that its manifest's entry is
//!   inserted last, after a flush.
//! * Its `flush` does not wait for the disk. So its files are synced by hand.
//! * It panics, or quietly goes back in time, when its files are damaged. So every call is guarded, every
//!   byte that is read has a checksum of its own, and [`DataDir`](crate::DataDir) knows which checkpoint
//!   is the newest.
//! * After an error it stays failed until it is opened anew.

use super::blob::{self, BlobId, MANIFESTS, SEGMENTS};
use super::{CheckpointStore, Generation, SegmentId, StoreError};
use crate::guard;
use crate::id::CheckpointId;
use ::sled::{Db, IVec, Tree};
use std::cell::RefCell;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const CACHE_BYTES: u64 = 64 << 20;
const FLUSH_EVERY_MS: u64 = 500;

const GENERATION: &str = "generation";
const RESERVED: &str = "reserved";

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
pub struct SledStore {
    path: PathBuf,
    open: Option<Open>,
    /// Why nothing can be done before it is opened anew.
    failed: RefCell<Option<String>>,
    generation: u64,
    reserved: u64,
}

#[derive(Debug)]
struct Open {
    db: Db,
    entries: Tree,
    chunks: Tree,
    numbers: Tree,
}

/// What can go wrong inside: with sled, or with what it gave us.
enum Trouble {
    Sled(::sled::Error),
    Store(StoreError),
}

impl From<::sled::Error> for Trouble {
    fn from(error: ::sled::Error) -> Self {
        Self::Sled(error)
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl SledStore {
    /// Opens the store in the directory `path`, which is made if it is missing.
    ///
    /// # Errors
    /// It cannot be read or written, another one has it open, or it is damaged.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        let (open, generation, reserved) = Open::at(&path)?;
        let failed = RefCell::new(None);
        Ok(Self { path, open: Some(open), failed, generation, reserved })
    }

    /// Calls `f`, which reads or writes. A panic of sled, or an error, fails the store until it is opened
    /// anew; that something read is damaged does not.
    fn run<R>(
        &self,
        what: &str,
        f: impl FnOnce(&Open) -> Result<R, Trouble>,
    ) -> Result<R, StoreError> {
        let name = || format!("the store in {:?}", self.path);
        let open = match (&self.open, &*self.failed.borrow()) {
            (Some(open), None) => open,
            (_, problem) => {
                let problem = problem.clone().unwrap_or_else(|| "it is closed".to_owned());
                return Err(StoreError::Failed { what: name(), problem });
            }
        };
        let error = match attempt(|| f(open), &self.path, what) {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(damage)) => return Err(damage),
            Err(error) => error,
        };
        let mut text = error.to_string();
        if let Some(source) = std::error::Error::source(&error) {
            text = format!("{text}: {source}");
        }
        *self.failed.borrow_mut() = Some(text);
        Err(error)
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            guard::drop_silently(open);
        }
    }
}

impl Drop for SledStore {
    fn drop(&mut self) {
        self.close();
    }
}

/// Calls what uses sled: outside an error of sled's, inside one that leaves it usable.
fn attempt<R>(
    f: impl FnOnce() -> Result<R, Trouble>,
    path: &Path,
    what: &str,
) -> Result<Result<R, StoreError>, StoreError> {
    let corrupt = |problem: String| {
        Err(StoreError::Corrupt { what: format!("the store in {path:?}"), problem })
    };
    match guard::catch_silently(f) {
        Ok(Ok(result)) => Ok(Ok(result)),
        Ok(Err(Trouble::Store(error @ StoreError::Io { .. }))) => Err(error),
        Ok(Err(Trouble::Store(error))) => Ok(Err(error)),
        Ok(Err(Trouble::Sled(::sled::Error::Io(source)))) => {
            Err(StoreError::Io { what: format!("{what} in {path:?}"), source })
        }
        Ok(Err(Trouble::Sled(error))) => corrupt(format!("{what}: {error}")),
        Err(panic) => corrupt(format!("{what}: {panic}")),
    }
}

impl Open {
    /// The database, its generation, and how many numbers are used.
    fn at(path: &Path) -> Result<(Self, u64, u64), StoreError> {
        let open = || {
            let db = ::sled::Config::new()
                .path(path)
                .cache_capacity(CACHE_BYTES)
                .flush_every_ms(Some(FLUSH_EVERY_MS))
                .open()?;
            let entries = db.open_tree("entries")?;
            let chunks = db.open_tree("chunks")?;
            let numbers = db.open_tree("numbers")?;
            let open = Self { db, entries, chunks, numbers };
            let generation = open.number(GENERATION)?;
            let ids = [open.ids(&MANIFESTS)?, open.ids(&SEGMENTS)?].concat();
            let newest = ids.into_iter().map(|id| id.checkpoint().0).max().unwrap_or_default();
            let reserved = open.number(RESERVED)?.max(newest);
            Ok((open, generation, reserved))
        };
        attempt(open, path, "opening it")?
    }

    fn number(&self, key: &str) -> Result<u64, Trouble> {
        Ok(blob::unsealed(key, self.numbers.get(key)?)?)
    }

    fn set_number(&self, key: &str, number: u64, path: &Path) -> Result<(), Trouble> {
        self.numbers.insert(key, &blob::sealed(key, number))?;
        self.settle(path)
    }

    /// Makes all that was written durable.
    fn settle(&self, path: &Path) -> Result<(), Trouble> {
        self.db.flush()?;
        sync_all(path).map_err(|source| {
            Trouble::Store(StoreError::Io { what: format!("syncing {path:?}"), source })
        })
    }

    /// Whose entries there are, in order.
    fn ids(&self, kind: &[u8]) -> Result<Vec<BlobId>, Trouble> {
        let keys = self.entries.scan_prefix(kind).keys();
        keys.map(|key| Ok(BlobId::from_key(&key?)?)).collect()
    }

    fn insert_chunks(&self, id: BlobId, bytes: &[u8]) -> Result<(), Trouble> {
        for (key, value) in id.chunks(bytes) {
            self.chunks.insert(key, value)?;
        }
        Ok(())
    }

    fn read(&self, id: BlobId) -> Result<Vec<u8>, Trouble> {
        id.read(self.entries.get(id.key())?, |key| Ok(self.chunks.get(key)?))
    }

    fn remove_chunks(&self, id: BlobId, entry: &IVec) -> Result<(), Trouble> {
        match id.count(entry) {
            Ok(count) => {
                for chunk in 0..count {
                    self.chunks.remove(id.chunk_key(chunk))?;
                }
            }
            Err(_) => {
                for key in self.chunks.scan_prefix(id.key()).keys() {
                    self.chunks.remove(key?)?;
                }
            }
        }
        Ok(())
    }

    /// Removes what a publication that was interrupted has left, or the removal of a manifest.
    fn remove_stray_manifests(&self) -> Result<(), Trouble> {
        for key in self.chunks.scan_prefix(MANIFESTS).keys() {
            let key = key?;
            if !self.entries.contains_key(BlobId::from_key(&key)?.key())? {
                self.chunks.remove(key)?;
            }
        }
        Ok(())
    }
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
    if cfg!(unix) {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

impl CheckpointStore for SledStore {
    fn begin(&mut self) -> Result<Generation, StoreError> {
        let ours = self.run("beginning a generation", |open| {
            open.remove_stray_manifests()?;
            let ours = open.number(GENERATION)? + 1;
            open.set_number(GENERATION, ours, &self.path)?;
            Ok(ours)
        })?;
        self.generation = ours;
        Ok(Generation(ours))
    }

    fn reserve(&mut self, count: u64) -> Result<CheckpointId, StoreError> {
        let reserved = self.reserved.saturating_add(count);
        self.run("reserving numbers", |open| open.set_number(RESERVED, reserved, &self.path))?;
        Ok(CheckpointId(std::mem::replace(&mut self.reserved, reserved).saturating_add(1)))
    }

    fn put(&mut self, id: SegmentId, bytes: &[u8]) -> Result<(), StoreError> {
        let id = BlobId::Segment(id);
        self.run("writing a segment", |open| {
            // First, so that whatever there is of a segment, its entry is there, too.
            open.entries.insert(id.key(), &id.entry(bytes))?;
            open.insert_chunks(id, bytes)
        })
    }

    fn publish(
        &mut self,
        generation: Generation,
        id: CheckpointId,
        manifest: &[u8],
    ) -> Result<(), StoreError> {
        let id = BlobId::Manifest(id);
        self.run("publishing a checkpoint", |open| {
            let newest = open.number(GENERATION)?;
            if newest != generation.0 {
                return Err(StoreError::Fenced { ours: generation.0, newest }.into());
            }
            open.insert_chunks(id, manifest)?;
            open.db.flush()?;
            open.entries.insert(id.key(), &id.entry(manifest))?;
            open.settle(&self.path)
        })
    }

    fn manifests(&self) -> Result<Vec<CheckpointId>, StoreError> {
        let ids = self.run("listing checkpoints", |open| open.ids(&MANIFESTS))?;
        Ok(ids.into_iter().map(BlobId::checkpoint).collect())
    }

    fn manifest(&self, id: CheckpointId) -> Result<Vec<u8>, StoreError> {
        self.run("reading a manifest", |open| open.read(BlobId::Manifest(id)))
    }

    fn segment(&self, id: SegmentId) -> Result<Vec<u8>, StoreError> {
        self.run("reading a segment", |open| open.read(BlobId::Segment(id)))
    }

    fn segments(&self) -> Result<Vec<SegmentId>, StoreError> {
        let ids = self.run("listing segments", |open| open.ids(&SEGMENTS))?;
        Ok(ids.into_iter().filter_map(BlobId::segment).collect())
    }

    fn remove_manifest(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        let id = BlobId::Manifest(id);
        self.run("removing a checkpoint", |open| {
            // First the entry: without it there is no checkpoint, with it there must be all of it.
            if let Some(entry) = open.entries.remove(id.key())? {
                open.settle(&self.path)?;
                open.remove_chunks(id, &entry)?;
            }
            Ok(())
        })
    }

    fn remove_segment(&mut self, id: SegmentId) -> Result<(), StoreError> {
        let id = BlobId::Segment(id);
        self.run("removing a segment", |open| {
            if let Some(entry) = open.entries.get(id.key())? {
                open.remove_chunks(id, &entry)?;
                open.entries.remove(id.key())?;
            }
            Ok(())
        })
    }

    fn reopen(&mut self) -> Result<(), StoreError> {
        self.close();
        *self.failed.borrow_mut() = Some("it could not be opened anew".to_owned());
        let (open, generation, reserved) = Open::at(&self.path)?;
        let newest = generation;
        if newest > self.generation {
            return Err(StoreError::Fenced { ours: self.generation, newest });
        }
        if newest < self.generation {
            return Err(StoreError::Corrupt {
                what: format!("the store in {:?}", self.path),
                problem: format!("its generation went from {} back to {newest}", self.generation),
            });
        }
        self.reserved = self.reserved.max(reserved);
        self.open = Some(open);
        *self.failed.borrow_mut() = None;
        Ok(())
    }
}
