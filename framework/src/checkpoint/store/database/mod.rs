//! [`DatabaseStore`]: a store of checkpoints in an embedded database, the same for all of them.
//!
//! What a database gives is little: tables of keys and values, in order. What makes a checkpoint whole is
//! that the entry of its manifest is written last. A database may break under its caller: every call is
//! guarded, and after an error nothing is done before it was opened anew.

use super::blob::{self, BlobId, MANIFESTS, SEGMENTS};
use super::{Generation, SegmentId, StoreError};
use crate::guard;
use crate::id::CheckpointId;
use std::cell::RefCell;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

const GENERATION: &str = "generation";
const RESERVED: &str = "reserved";

/// The tables of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// What segments and manifests there are.
    Entries,
    /// Their bytes.
    Chunks,
    /// The generation, and how many numbers are reserved.
    Numbers,
}

impl Table {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Entries => "entries",
            Self::Chunks => "chunks",
            Self::Numbers => "numbers",
        }
    }
}

/// A change of a table.
pub(super) enum Change {
    Put(Table, Vec<u8>, Vec<u8>),
    Remove(Table, Vec<u8>),
}

/// Tables of keys and values, each in the order of its keys.
pub(super) trait Database: Sized + fmt::Debug {
    type Value: AsRef<[u8]>;

    /// Opens it, or makes it.
    fn open(path: PathBuf) -> Result<Self, Trouble>;

    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Self::Value>, Trouble>;

    /// The keys that begin with this, in order.
    fn keys(&self, table: Table, prefix: &[u8]) -> Result<Vec<Vec<u8>>, Trouble>;

    /// Makes changes in this order.
    fn apply(&self, changes: impl Iterator<Item = Change>) -> Result<(), Trouble>;

    /// Sees to it that after a crash nothing that comes after this is there without all that came before.
    fn separate(&self) -> Result<(), Trouble>;

    /// Makes all changes durable.
    fn sync(&self) -> Result<(), Trouble>;
}

/// What can go wrong inside: with the system, with the database, or with what it holds.
pub(super) enum Trouble {
    Io(io::Error),
    Database(String),
    Contents(StoreError),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Contents(error)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// A store in a database.
#[derive(Debug)]
pub(super) struct DatabaseStore<D: Database> {
    path: PathBuf,
    database: Option<D>,
    /// Why nothing can be done before it is opened anew.
    failed: RefCell<Option<String>>,
    generation: u64,
    reserved: u64,
}

impl<D: Database> DatabaseStore<D> {
    pub(super) fn open(path: PathBuf) -> Result<Self, StoreError> {
        let mut store =
            Self { path, database: None, failed: RefCell::new(None), generation: 0, reserved: 0 };
        store.open_database()?;
        Ok(store)
    }

    fn open_database(&mut self) -> Result<(), StoreError> {
        let path = self.path.clone();
        let database = self.guarded("opening it", || D::open(path))?;
        self.database = Some(database);
        let (generation, reserved) = self.run("opening it", |database| {
            let used = [ids(database, &MANIFESTS)?, ids(database, &SEGMENTS)?].concat();
            let newest = used.into_iter().map(|id| id.checkpoint().0).max().unwrap_or_default();
            Ok((number(database, GENERATION)?, number(database, RESERVED)?.max(newest)))
        })?;
        self.generation = generation;
        self.reserved = self.reserved.max(reserved);
        Ok(())
    }

    /// Calls `f` with the database. A panic in it, or an error of its own, fails the store until it is opened
    /// anew; that something in it is damaged does not.
    fn run<R>(
        &self,
        what: &str,
        f: impl FnOnce(&D) -> Result<R, Trouble>,
    ) -> Result<R, StoreError> {
        let problem = self.failed.borrow().clone();
        match (&self.database, problem) {
            (Some(database), None) => self.guarded(what, || f(database)),
            (_, problem) => {
                let problem = problem.unwrap_or_else(|| "it is closed".to_owned());
                Err(StoreError::Failed { what: self.name(), problem })
            }
        }
    }

    fn guarded<R>(
        &self,
        what: &str,
        f: impl FnOnce() -> Result<R, Trouble>,
    ) -> Result<R, StoreError> {
        let corrupt = |problem| StoreError::Corrupt { what: self.name(), problem };
        let error = match guard::catch_silently(f) {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(Trouble::Contents(error))) => return Err(error),
            Ok(Err(Trouble::Io(source))) => {
                StoreError::Io { what: format!("{what} in {:?}", self.path), source }
            }
            Ok(Err(Trouble::Database(problem))) => corrupt(format!("{what}: {problem}")),
            Err(panic) => corrupt(format!("{what}: {panic}")),
        };
        let cause = error.source().map(|source| format!(": {source}"));
        let text = format!("{error}{}", cause.unwrap_or_default());
        *self.failed.borrow_mut() = Some(text);
        Err(error)
    }

    fn name(&self) -> String {
        format!("the store in {:?}", self.path)
    }

    fn set_number(&self, what: &str, key: &str, number: u64) -> Result<(), StoreError> {
        let value = blob::sealed(key, number).to_vec();
        let change = Change::Put(Table::Numbers, key.as_bytes().to_vec(), value);
        self.run(what, |database| {
            database.apply([change].into_iter())?;
            database.sync()
        })
    }

    pub(super) fn begin(&mut self) -> Result<Generation, StoreError> {
        let what = "beginning a generation";
        let ours = self.run(what, |database| {
            remove_stray_manifests(database)?;
            Ok(number(database, GENERATION)? + 1)
        })?;
        self.set_number(what, GENERATION, ours)?;
        self.generation = ours;
        Ok(Generation(ours))
    }

    pub(super) fn reserve(&mut self, count: u64) -> Result<CheckpointId, StoreError> {
        let reserved = self.reserved.saturating_add(count);
        self.set_number("reserving numbers", RESERVED, reserved)?;
        Ok(CheckpointId(std::mem::replace(&mut self.reserved, reserved).saturating_add(1)))
    }

    pub(super) fn put(&mut self, id: SegmentId, bytes: &[u8]) -> Result<(), StoreError> {
        let id = BlobId::Segment(id);
        // First the entry: of whatever there is of a segment there is the entry, too.
        let changes = std::iter::once(entry(id, bytes)).chain(chunks(id, bytes));
        self.run("writing a segment", |database| database.apply(changes))
    }

    pub(super) fn publish(
        &mut self,
        generation: Generation,
        id: CheckpointId,
        manifest: &[u8],
    ) -> Result<(), StoreError> {
        let id = BlobId::Manifest(id);
        self.run("publishing a checkpoint", |database| {
            let newest = number(database, GENERATION)?;
            if newest != generation.0 {
                return Err(StoreError::Fenced { ours: generation.0, newest }.into());
            }
            database.apply(chunks(id, manifest))?;
            database.separate()?;
            database.apply([entry(id, manifest)].into_iter())?;
            database.sync()
        })
    }

    pub(super) fn manifests(&self) -> Result<Vec<CheckpointId>, StoreError> {
        let ids = self.run("listing checkpoints", |database| ids(database, &MANIFESTS))?;
        Ok(ids.into_iter().map(BlobId::checkpoint).collect())
    }

    pub(super) fn segments(&self) -> Result<Vec<SegmentId>, StoreError> {
        let ids = self.run("listing segments", |database| ids(database, &SEGMENTS))?;
        Ok(ids.into_iter().filter_map(BlobId::segment).collect())
    }

    pub(super) fn manifest(&self, id: CheckpointId) -> Result<Vec<u8>, StoreError> {
        self.run("reading a manifest", |database| read(database, BlobId::Manifest(id)))
    }

    pub(super) fn segment(&self, id: SegmentId) -> Result<Vec<u8>, StoreError> {
        self.run("reading a segment", |database| read(database, BlobId::Segment(id)))
    }

    pub(super) fn remove_manifest(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        let id = BlobId::Manifest(id);
        self.run("removing a checkpoint", |database| {
            let Some(entry) = database.get(Table::Entries, &id.key())? else { return Ok(()) };
            // First the entry: with it there must be all, without it there is no checkpoint.
            database.apply([Change::Remove(Table::Entries, id.key().to_vec())].into_iter())?;
            database.sync()?;
            database.apply(removals(database, id, entry.as_ref())?.into_iter())
        })
    }

    pub(super) fn remove_segment(&mut self, id: SegmentId) -> Result<(), StoreError> {
        let id = BlobId::Segment(id);
        self.run("removing a segment", |database| {
            let Some(entry) = database.get(Table::Entries, &id.key())? else { return Ok(()) };
            let entry_last = Change::Remove(Table::Entries, id.key().to_vec());
            let chunks = removals(database, id, entry.as_ref())?.into_iter();
            database.apply(chunks.chain([entry_last]))
        })
    }

    pub(super) fn reopen(&mut self) -> Result<(), StoreError> {
        self.close();
        *self.failed.borrow_mut() = None;
        let ours = self.generation;
        let opened = self.open_database();
        let newest = std::mem::replace(&mut self.generation, ours);
        let checked = opened.and_then(|()| match newest.cmp(&ours) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Greater => Err(StoreError::Fenced { ours, newest }),
            std::cmp::Ordering::Less => Err(StoreError::Corrupt {
                what: self.name(),
                problem: format!("its generation went from {ours} back to {newest}"),
            }),
        });
        if checked.is_err() {
            self.close();
        }
        checked
    }

    fn close(&mut self) {
        if let Some(database) = self.database.take() {
            guard::drop_silently(database);
        }
    }
}

impl<D: Database> Drop for DatabaseStore<D> {
    fn drop(&mut self) {
        self.close();
    }
}

fn entry(id: BlobId, bytes: &[u8]) -> Change {
    Change::Put(Table::Entries, id.key().to_vec(), id.entry(bytes).to_vec())
}

fn chunks(id: BlobId, bytes: &[u8]) -> impl Iterator<Item = Change> {
    id.chunks(bytes).map(|(key, value)| Change::Put(Table::Chunks, key.to_vec(), value))
}

/// The removals of all chunks of a blob with this entry.
fn removals<D: Database>(database: &D, id: BlobId, entry: &[u8]) -> Result<Vec<Change>, Trouble> {
    let keys = match id.count(entry) {
        Ok(count) => (0..count).map(|chunk| id.chunk_key(chunk).to_vec()).collect(),
        Err(_) => database.keys(Table::Chunks, &id.key())?,
    };
    Ok(keys.into_iter().map(|key| Change::Remove(Table::Chunks, key)).collect())
}

fn read<D: Database>(database: &D, id: BlobId) -> Result<Vec<u8>, Trouble> {
    let entry = database.get(Table::Entries, &id.key())?;
    id.read(entry, |key| database.get(Table::Chunks, key))
}

fn number<D: Database>(database: &D, key: &str) -> Result<u64, Trouble> {
    Ok(blob::unsealed(key, database.get(Table::Numbers, key.as_bytes())?)?)
}

/// Of what there are entries, in order.
fn ids<D: Database>(database: &D, kind: &[u8]) -> Result<Vec<BlobId>, Trouble> {
    let keys = database.keys(Table::Entries, kind)?;
    keys.iter().map(|key| Ok(BlobId::from_key(key)?)).collect()
}

/// Removes what is left of a publication, or of a removal, that was interrupted.
fn remove_stray_manifests<D: Database>(database: &D) -> Result<(), Trouble> {
    let mut stray = Vec::new();
    for key in database.keys(Table::Chunks, &MANIFESTS)? {
        if database.get(Table::Entries, &BlobId::from_key(&key)?.key())?.is_none() {
            stray.push(Change::Remove(Table::Chunks, key));
        }
    }
    database.apply(stray.into_iter())
}

/// Makes a type around a [`DatabaseStore`] a store.
macro_rules! checkpoint_store {
    ($store:ident) => {
        impl $crate::checkpoint::CheckpointStore for $store {
            fn begin(&mut self) -> Result<Generation, StoreError> {
                self.0.begin()
            }

            fn reserve(&mut self, count: u64) -> Result<CheckpointId, StoreError> {
                self.0.reserve(count)
            }

            fn put(&mut self, id: SegmentId, bytes: &[u8]) -> Result<(), StoreError> {
                self.0.put(id, bytes)
            }

            fn publish(
                &mut self,
                generation: Generation,
                id: CheckpointId,
                manifest: &[u8],
            ) -> Result<(), StoreError> {
                self.0.publish(generation, id, manifest)
            }

            fn manifests(&self) -> Result<Vec<CheckpointId>, StoreError> {
                self.0.manifests()
            }

            fn manifest(&self, id: CheckpointId) -> Result<Vec<u8>, StoreError> {
                self.0.manifest(id)
            }

            fn segment(&self, id: SegmentId) -> Result<Vec<u8>, StoreError> {
                self.0.segment(id)
            }

            fn segments(&self) -> Result<Vec<SegmentId>, StoreError> {
                self.0.segments()
            }

            fn remove_manifest(&mut self, id: CheckpointId) -> Result<(), StoreError> {
                self.0.remove_manifest(id)
            }

            fn remove_segment(&mut self, id: SegmentId) -> Result<(), StoreError> {
                self.0.remove_segment(id)
            }

            fn reopen(&mut self) -> Result<(), StoreError> {
                self.0.reopen()
            }
        }
    };
}

pub(super) use checkpoint_store;

#[cfg(test)]
mod tests;
