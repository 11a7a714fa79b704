//! [`Group`]: what belongs to the keys of one key group, with what checkpoints have to know of it.

use super::{Epoch, read_key, text};
use crate::key::{Key, KeyGroup, KeyGroups, key_hash};
use crate::state::segment::{SegmentError, SegmentReader, SegmentWriter};
use hashbrown::HashTable;
use hashbrown::hash_table::{Entry, OccupiedEntry};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// One key's entry. It is small, since most of what a large table costs is to fetch it: the hash is made
/// again where it is wanted, and the guard is put around the state for the call alone.
pub(super) struct Slot<K, S> {
    pub(super) key: K,
    pub(super) stamp: Stamp,
    pub(super) state: S,
}

/// When a key's state was last changed, and whether a checkpoint may hold it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stamp(pub(super) u32);

impl Stamp {
    const SAVED: u32 = 1 << 31;

    pub(super) const NEW: Self = Self(0);
    const RESTORED: Self = Self(Self::SAVED);

    #[inline]
    pub(super) fn change(&mut self, epoch: Epoch) {
        self.0 = self.0 & Self::SAVED | epoch;
    }

    fn is_changed_since(self, epoch: Epoch) -> bool {
        self.0 & !Self::SAVED >= epoch
    }

    fn save(&mut self) {
        self.0 |= Self::SAVED;
    }

    fn is_saved(self) -> bool {
        self.0 & Self::SAVED != 0
    }
}

pub(super) fn rehash<K: Key, S>(slot: &Slot<K, S>) -> u64 {
    within(key_hash(&slot.key))
}

/// By what a slot is found within its group: the upper bits, which chose the group, are the same for all of
/// them.
#[inline]
pub(super) const fn within(hash: u64) -> u64 {
    hash.rotate_left(32)
}

/// The keys of one key group.
pub(super) struct Group<K, S> {
    pub(super) slots: HashTable<Slot<K, S>>,
    /// Keys that a checkpoint may hold and that are gone since the epoch beside them.
    pub(super) removed: Vec<(K, Epoch)>,
    /// The last epoch in which a key was changed or removed.
    pub(super) changed: Epoch,
}

/// What is noted of a group when one of its keys is changed or removed.
pub(super) struct Record<'a, K> {
    pub(super) removed: &'a mut Vec<(K, Epoch)>,
    pub(super) changed: &'a mut Epoch,
    pub(super) epoch: Epoch,
}

impl<K> Record<'_, K> {
    #[inline]
    pub(super) fn change(&mut self, stamp: &mut Stamp) {
        stamp.change(self.epoch);
        *self.changed = self.epoch;
    }

    pub(super) fn forget<S>(self, entry: OccupiedEntry<'_, Slot<K, S>>) {
        let (slot, _) = entry.remove();
        // What no checkpoint can hold need not be removed from any.
        if slot.stamp.is_saved() {
            *self.changed = self.epoch;
            self.removed.push((slot.key, self.epoch));
        }
    }
}

impl<K, S> Group<K, S> {
    pub(super) const fn new() -> Self {
        Self { slots: HashTable::new(), removed: Vec::new(), changed: 0 }
    }

    /// The slots, and where it is noted what becomes of them.
    pub(super) fn parts(&mut self, epoch: Epoch) -> (&mut HashTable<Slot<K, S>>, Record<'_, K>) {
        let Self { slots, removed, changed } = self;
        (slots, Record { removed, changed, epoch })
    }

    /// How many keys were changed or removed since `completed`, the last checkpoint that was completed.
    pub(super) fn changes(&mut self, completed: Epoch) -> usize {
        // A completed checkpoint holds it: nobody will ask for it again.
        self.removed.retain(|(_, epoch)| *epoch >= completed);
        if self.changed < completed {
            return 0;
        }
        let changed = |slot: &&Slot<K, S>| slot.stamp.is_changed_since(completed);
        self.slots.iter().filter(changed).count() + self.removed.len()
    }
}

type Result<T> = std::result::Result<T, SegmentError>;

impl<K: Serialize, S> Group<K, S> {
    /// Writes all keys, each with what `put` writes of its hash and its state.
    pub(super) fn write_all(
        &mut self,
        writer: &mut SegmentWriter,
        mut put: impl FnMut(&mut SegmentWriter, &K, &S) -> Result<()>,
    ) -> Result<()> {
        writer.count(0);
        writer.count(self.slots.len());
        for Slot { key, stamp, state } in self.slots.iter_mut() {
            writer.value(&*key)?;
            put(writer, key, state)?;
            stamp.save();
        }
        Ok(())
    }

    /// Writes what has changed since `completed`, after [`changes`](Self::changes) has counted `changes`.
    pub(super) fn write_changes(
        &mut self,
        writer: &mut SegmentWriter,
        (completed, changes): (Epoch, usize),
        mut put: impl FnMut(&mut SegmentWriter, &K, &S) -> Result<()>,
    ) -> Result<()> {
        // What was removed before is in the last completed checkpoint already.
        writer.count(self.removed.len());
        for (key, _) in &self.removed {
            writer.value(key)?;
        }
        writer.count(changes - self.removed.len());
        let changed = |slot: &&mut Slot<K, S>| slot.stamp.is_changed_since(completed);
        for Slot { key, stamp, state } in self.slots.iter_mut().filter(changed) {
            writer.value(&*key)?;
            put(writer, key, state)?;
            stamp.save();
        }
        Ok(())
    }
}

impl<K: Key + Serialize + DeserializeOwned, S> Group<K, S> {
    /// Takes in what a segment has of this group: `None` of keys that are gone, and of the others what `take`
    /// reads.
    pub(super) fn read(
        &mut self,
        (group, key_groups): (KeyGroup, KeyGroups),
        reader: &mut SegmentReader<'_>,
        mut take: impl FnMut(&mut SegmentReader<'_>, Option<&K>, u64) -> Result<Option<S>>,
    ) -> Result<()> {
        for _ in 0..reader.count()? {
            let key: K = read_key(reader.value()?)?;
            let hash = key_hash(&key);
            if let Ok(entry) = self.slots.find_entry(within(hash), |slot| slot.key == key) {
                drop(entry.remove());
            }
            take(reader, None, hash)?;
        }
        let entries = reader.count()?;
        // Not what is claimed, but what there can be at most.
        self.slots.reserve(entries.min(reader.len() / 2), rehash);
        for _ in 0..entries {
            let key: K = read_key(reader.value()?)?;
            let hash = key_hash(&key);
            let state = take(reader, Some(&key), hash)?;
            let right = key_groups.of_hash(hash);
            if right != group {
                let (found, right) = (group.0, right.0);
                return Err(SegmentError::Misplaced { key: text(&key), found, right });
            }
            let Some(state) = state else { continue };
            let slot = Slot { key, stamp: Stamp::RESTORED, state };
            let equal = |other: &Slot<K, S>| other.key == slot.key;
            match self.slots.entry(within(hash), equal, rehash) {
                Entry::Occupied(mut entry) => *entry.get_mut() = slot,
                Entry::Vacant(entry) => drop(entry.insert(slot)),
            }
        }
        Ok(())
    }
}
