//! [`RedbStore`]: checkpoints in a redb database.
//!
//! Everything is written in transactions that nobody waits for, and a checkpoint is published by one that
//! is durable, with all that came before it.

use super::database::{Change, Database, DatabaseStore, Table, Trouble, checkpoint_store};
use super::{Generation, SegmentId, StoreError};
use crate::id::CheckpointId;
use ::redb::{Durability, Error, ReadOnlyTable, ReadableDatabase, TableDefinition};
use std::fs::File;
use std::path::PathBuf;

const CACHE_BYTES: usize = 64 << 20;

/// Checkpoints in a redb database: one file.
///
/// ```
/// use streamwork::{CheckpointStore, RedbStore, SegmentId};
///
/// # let path = std::env::temp_dir().join(format!("streamwork-redb-example-{}", std::process::id()));
/// let mut store = RedbStore::open(&path)?;
/// let generation = store.begin()?;
/// let checkpoint = store.reserve(1)?;
/// let segment = SegmentId { checkpoint, number: 0 };
/// store.put(segment, b"state")?;
/// store.publish(generation, checkpoint, b"manifest")?;
/// drop(store);
///
/// let store = RedbStore::open(&path)?;
/// assert_eq!(store.manifests()?, [checkpoint]);
/// assert_eq!(store.segment(segment)?, b"state");
/// # drop(store);
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), streamwork::StoreError>(())
/// ```
#[derive(Debug)]
pub struct RedbStore(DatabaseStore<RedbDatabase>);

impl RedbStore {
    /// Opens the store in the file `path`, which is made if it is missing.
    ///
    /// # Errors
    /// It cannot be read or written, another one has it open, or it is damaged.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        DatabaseStore::open(path.into()).map(Self)
    }
}

checkpoint_store!(RedbStore);

#[derive(Debug)]
struct RedbDatabase(::redb::Database);

type Definition = TableDefinition<'static, &'static [u8], &'static [u8]>;

fn definition(table: Table) -> Definition {
    TableDefinition::new(table.name())
}

impl RedbDatabase {
    fn table(&self, table: Table) -> Result<ReadOnlyTable<&'static [u8], &'static [u8]>, Error> {
        Ok(self.0.begin_read()?.open_table(definition(table))?)
    }

    fn write(
        &self,
        durability: Durability,
        changes: impl Iterator<Item = Change>,
    ) -> Result<(), Error> {
        let mut transaction = self.0.begin_write()?;
        transaction.set_durability(durability)?;
        {
            let [mut entries, mut chunks, mut numbers] = [
                transaction.open_table(definition(Table::Entries))?,
                transaction.open_table(definition(Table::Chunks))?,
                transaction.open_table(definition(Table::Numbers))?,
            ];
            for change in changes {
                let (Change::Put(table, ..) | Change::Remove(table, _)) = &change;
                let table = match table {
                    Table::Entries => &mut entries,
                    Table::Chunks => &mut chunks,
                    Table::Numbers => &mut numbers,
                };
                match change {
                    Change::Put(_, key, value) => drop(table.insert(&*key, &*value)?),
                    Change::Remove(_, key) => drop(table.remove(&*key)?),
                }
            }
        }
        Ok(transaction.commit()?)
    }

    fn keys_with(&self, table: Table, prefix: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let mut keys = Vec::new();
        for item in self.table(table)?.range(prefix..)? {
            let (key, _) = item?;
            if !key.value().starts_with(prefix) {
                break;
            }
            keys.push(key.value().to_vec());
        }
        Ok(keys)
    }
}

impl Database for RedbDatabase {
    type Value = Vec<u8>;

    fn open(path: PathBuf) -> Result<Self, Trouble> {
        let is_new = !path.exists();
        let database = ::redb::Builder::new().set_cache_size(CACHE_BYTES).create(&path);
        let database = Self(database.map_err(Error::from)?);
        if is_new {
            // Makes the tables, too.
            database.sync()?;
            if let Some(directory) = path.parent().filter(|_| cfg!(unix)) {
                File::open(directory)?.sync_all()?;
            }
        }
        Ok(database)
    }

    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, Trouble> {
        let value = self.table(table)?.get(key).map_err(Error::from)?;
        Ok(value.map(|value| value.value().to_vec()))
    }

    fn keys(&self, table: Table, prefix: &[u8]) -> Result<Vec<Vec<u8>>, Trouble> {
        Ok(self.keys_with(table, prefix)?)
    }

    fn apply(&self, changes: impl Iterator<Item = Change>) -> Result<(), Trouble> {
        Ok(self.write(Durability::None, changes)?)
    }

    fn separate(&self) -> Result<(), Trouble> {
        // Transactions become durable in their order.
        Ok(())
    }

    fn sync(&self) -> Result<(), Trouble> {
        Ok(self.write(Durability::Immediate, std::iter::empty())?)
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        match error {
            Error::Io(error) => Self::Io(error),
            error => Self::Database(error.to_string()),
        }
    }
}
