//! [`Table`]: the keys of one instance with their state.

use super::keyed::{Keyed, Settled};
use super::segment::{Kind, SegmentError, SegmentReader, SegmentWriter};
use super::{Reading, State};
use crate::key::{Key, KeyGroup, KeyGroups, key_hash};
use hashbrown::HashTable;
use hashbrown::hash_table::{Entry, OccupiedEntry};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Borrow;
use std::fmt;
use std::hint::black_box;

/// The last barrier that an instance has let through: what happens after it is of this epoch.
pub(crate) type Epoch = u32;

/// One key's entry. It is small, since most of what a large table costs is to fetch it: the hash is made
/// again where it is wanted, and the guard is put around the state for the call alone.
struct Slot<K, S> {
    key: K,
    stamp: Stamp,
    state: S,
}

/// When a key's state was last changed, and whether a checkpoint may hold it.
#[derive(Clone, Copy, Debug)]
struct Stamp(u32);

impl Stamp {
    const SAVED: u32 = 1 << 31;

    const NEW: Self = Self(0);
    const RESTORED: Self = Self(Self::SAVED);

    #[inline]
    fn change(&mut self, epoch: Epoch) {
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

fn rehash<K: Key, S>(slot: &Slot<K, S>) -> u64 {
    within(key_hash(&slot.key))
}

/// By what a slot is found within its group: the upper bits, which chose the group, are the same for all of
/// them.
#[inline]
const fn within(hash: u64) -> u64 {
    hash.rotate_left(32)
}

/// The keys of one key group.
struct Group<K, S> {
    slots: HashTable<Slot<K, S>>,
    /// Keys that a checkpoint may hold and that are gone since the epoch beside them.
    removed: Vec<(K, Epoch)>,
    /// The last epoch in which a key was changed or removed.
    changed: Epoch,
}

impl<K, S> Group<K, S> {
    const fn new() -> Self {
        Self { slots: HashTable::new(), removed: Vec::new(), changed: 0 }
    }
}

/// Keys that are fetched at once.
const AT_ONCE: usize = 64;

/// Keys with their state, found by the key's stable hash, in key groups.
///
/// What is written for a checkpoint is decided by *epochs*. The epoch is the number of the last barrier
/// that the instance has let through; a change carries the epoch in which it was made. The delta for a
/// barrier, against the last checkpoint that was *completed* before it, is everything that was changed in
/// the epoch of that checkpoint or later. So a checkpoint that is given up loses nothing: what it held is
/// written again.
pub(crate) struct Table<K, S> {
    groups: Vec<Group<K, S>>,
    key_groups: KeyGroups,
    epoch: Epoch,
    /// Keys that were added, more or less: those that are gone are not taken off.
    keys: usize,
}

/// How far a walk over all keys has come.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cursor {
    group: usize,
    bucket: usize,
}

impl<K, S: Default> Table<K, S> {
    /// Bytes that stay in a near cache.
    const NEAR: usize = 256 << 10;

    /// A table whose keys are never saved: one group does.
    pub(crate) fn volatile() -> Self {
        Self::new(KeyGroups::ONE)
    }

    pub(crate) fn new(key_groups: KeyGroups) -> Self {
        let groups = (0..key_groups.count()).map(|_| Group::new()).collect();
        Self { groups, key_groups, epoch: 0, keys: 0 }
    }

    /// The place of a key, whose hash this is; made if there is none.
    #[inline]
    pub(crate) fn place<Q>(&mut self, hash: u64, key: &Q) -> Place<'_, K, S>
    where
        K: Key + Borrow<Q>,
        Q: Key + ToOwned<Owned = K> + ?Sized,
    {
        let group = &mut self.groups[self.key_groups.of_hash(hash).0 as usize];
        let equal = |slot: &Slot<K, S>| slot.key.borrow() == key;
        let (entry, is_new) = match group.slots.entry(within(hash), equal, rehash) {
            Entry::Occupied(entry) => (entry, false),
            Entry::Vacant(entry) => {
                let (key, state) = (key.to_owned(), S::default());
                self.keys += 1;
                (entry.insert(Slot { key, stamp: Stamp::NEW, state }), true)
            }
        };
        let record =
            Record { removed: &mut group.removed, changed: &mut group.changed, epoch: self.epoch };
        Place { entry, is_new, record }
    }

    /// Whether the keys are too many for a near cache, so that it pays to fetch some of them at once.
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.keys * size_of::<Slot<K, S>>() > Self::NEAR
    }

    /// Brings the places of some keys near, of which these are the hashes: the processor waits for all of
    /// them together, and not for one after the other.
    pub(crate) fn fetch(&self, hashes: impl Iterator<Item = u64>) {
        // Three short loops: the less is done between two accesses, the more of them are under way.
        let mut noted = [0; AT_ONCE];
        let mut count = 0;
        for (note, hash) in noted.iter_mut().zip(hashes) {
            *note = hash;
            count += 1;
        }
        let noted = &noted[..count];
        let slots = |hash: &u64| &self.groups[self.key_groups.of_hash(*hash).0 as usize].slots;
        let found = |hash: &&u64| slots(hash).iter_hash(within(**hash)).next().is_some();
        black_box(noted.iter().filter(found).count());
        let first =
            |hash: &u64| slots(hash).iter_hash(within(*hash)).next().map(|slot| slot.stamp.0);
        black_box(noted.iter().filter_map(first).fold(0, |sum, stamp| sum ^ stamp));
    }

    /// The state of a key, whose hash this is; `None` if it has none.
    #[cfg(any(test, feature = "test-util"))]
    pub(crate) fn get<Q>(&self, hash: u64, key: &Q) -> Option<&S>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        let group = &self.groups[self.key_groups.of_hash(hash).0 as usize];
        group.slots.find(within(hash), |slot| slot.key.borrow() == key).map(|slot| &slot.state)
    }

    /// How many keys have state.
    #[cfg(any(test, feature = "test-util"))]
    pub(crate) fn len(&self) -> usize {
        self.groups.iter().map(|group| group.slots.len()).sum()
    }

    /// All keys with their state, in no order.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = (K, S)> {
        self.groups.into_iter().flat_map(|group| group.slots).map(|slot| (slot.key, slot.state))
    }

    /// Calls `use_it` with the next key of a walk and its state, and forgets the key if it has none after
    /// that; `None` when all have been met. No key may be added meanwhile.
    pub(crate) fn walk<R>(
        &mut self,
        cursor: &mut Cursor,
        use_it: impl FnOnce(&K, &mut Keyed<S>) -> R,
    ) -> Option<R> {
        while let Some(group) = self.groups.get_mut(cursor.group) {
            while cursor.bucket < group.slots.num_buckets() {
                let bucket = cursor.bucket;
                cursor.bucket += 1;
                if let Ok(entry) = group.slots.get_bucket_entry(bucket) {
                    let (removed, changed) = (&mut group.removed, &mut group.changed);
                    let record = Record { removed, changed, epoch: self.epoch };
                    return Some(Place { entry, is_new: false, record }.with(use_it));
                }
            }
            *cursor = Cursor { group: cursor.group + 1, bucket: 0 };
        }
        None
    }
}

/// What is noted of a group when one of its keys is changed or removed.
struct Record<'a, K> {
    removed: &'a mut Vec<(K, Epoch)>,
    changed: &'a mut Epoch,
    epoch: Epoch,
}

/// The entry of one key.
pub(crate) struct Place<'a, K, S> {
    entry: OccupiedEntry<'a, Slot<K, S>>,
    is_new: bool,
    record: Record<'a, K>,
}

impl<K, S: Default> Place<'_, K, S> {
    /// Calls `use_it` with the key and its state, and forgets the key if it has none after that.
    #[inline]
    pub(crate) fn with<R>(mut self, use_it: impl FnOnce(&K, &mut Keyed<S>) -> R) -> R {
        let Slot { key, stamp, state } = self.entry.get_mut();
        let mut guard = if self.is_new { Keyed::new() } else { Keyed::kept(std::mem::take(state)) };
        let result = use_it(key, &mut guard);
        let (now, settled) = guard.settle();
        *state = now;
        match settled {
            Settled::Kept => {}
            Settled::Changed => {
                stamp.change(self.record.epoch);
                *self.record.changed = self.record.epoch;
            }
            Settled::Gone => self.forget(),
        }
        result
    }

    fn forget(self) {
        let (slot, _) = self.entry.remove();
        // What no checkpoint can hold need not be removed from any.
        if slot.stamp.is_saved() {
            *self.record.changed = self.record.epoch;
            self.record.removed.push((slot.key, self.record.epoch));
        }
    }
}

impl<K, S> Table<K, S>
where
    K: Key + Serialize + DeserializeOwned,
    S: Default + State,
{
    /// Goes into the epoch that begins behind barrier `epoch`.
    pub(crate) fn enter(&mut self, epoch: Epoch) {
        self.epoch = epoch;
    }

    /// All keys of a group; `None` if it has none.
    ///
    /// # Errors
    /// A key or a state could not be encoded.
    pub(crate) fn base(&mut self, group: KeyGroup) -> Result<Option<Vec<u8>>, SegmentError> {
        let group = &mut self.groups[group.0 as usize];
        let slots = &mut group.slots;
        if slots.is_empty() {
            return Ok(None);
        }
        let mut writer = SegmentWriter::new(Kind::Base, slots.len() * 16);
        writer.count(0);
        writer.count(slots.len());
        for Slot { key, stamp, state } in slots.iter_mut() {
            writer.value(&*key)?;
            writer.value(&*state)?;
            stamp.save();
        }
        Ok(Some(writer.into_bytes()))
    }

    /// What has changed in a group since `completed`, the last checkpoint that was completed; `None` if
    /// nothing has.
    ///
    /// # Errors
    /// As [`base`](Self::base).
    pub(crate) fn delta(
        &mut self,
        group: KeyGroup,
        completed: Epoch,
    ) -> Result<Option<Vec<u8>>, SegmentError> {
        let group = &mut self.groups[group.0 as usize];
        // A completed checkpoint holds it: nobody will ask for it again.
        group.removed.retain(|(_, epoch)| *epoch >= completed);
        if group.changed < completed || group.slots.is_empty() && group.removed.is_empty() {
            return Ok(None);
        }
        let changed = |slot: &&mut Slot<K, S>| slot.stamp.is_changed_since(completed);
        let count = group.slots.iter_mut().filter(changed).count();
        if count == 0 && group.removed.is_empty() {
            return Ok(None);
        }
        let mut writer = SegmentWriter::new(Kind::Delta, (count + group.removed.len()) * 16);
        writer.count(group.removed.len());
        for (key, _) in &group.removed {
            writer.value(key)?;
        }
        writer.count(count);
        for Slot { key, stamp, state } in group.slots.iter_mut().filter(changed) {
            writer.value(&*key)?;
            writer.value(&*state)?;
            stamp.save();
        }
        Ok(Some(writer.into_bytes()))
    }

    /// Puts the keys of a group back: a base and the deltas after it, with states that are read as
    /// `reading` says. The group must be empty.
    ///
    /// # Errors
    /// The segments cannot be read; a key or a state cannot be decoded; a key does not belong here.
    pub(crate) fn restore<'a>(
        &mut self,
        group: KeyGroup,
        reading: &Reading<S>,
        chain: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), SegmentError> {
        let Self { groups, key_groups, keys, .. } = self;
        let slots = &mut groups[group.0 as usize].slots;
        for (i, bytes) in chain.into_iter().enumerate() {
            let mut reader = SegmentReader::new(bytes)?;
            // A group that was empty has no base.
            if reader.kind() == Kind::Base && i > 0 {
                return Err(SegmentError::Segment("a base follows another segment"));
            }
            for _ in 0..reader.count()? {
                let key: K = read_key(reader.value()?)?;
                let hash = key_hash(&key);
                if let Ok(entry) = slots.find_entry(within(hash), |slot| slot.key == key) {
                    drop(entry.remove());
                }
            }
            let entries = reader.count()?;
            // Not what is claimed, but what there can be at most.
            slots.reserve(entries.min(bytes.len() / 2), rehash);
            for _ in 0..entries {
                let key: K = read_key(reader.value()?)?;
                let state = reader.value()?;
                let state = reading
                    .read(state)
                    .map_err(|source| SegmentError::Key { key: text(&key), source })?;
                let hash = key_hash(&key);
                let right = key_groups.of_hash(hash);
                if right != group {
                    let (found, right) = (group.0, right.0);
                    return Err(SegmentError::Misplaced { key: text(&key), found, right });
                }
                let slot = Slot { key, stamp: Stamp::RESTORED, state };
                let equal = |other: &Slot<K, S>| other.key == slot.key;
                match slots.entry(within(hash), equal, rehash) {
                    Entry::Occupied(mut entry) => *entry.get_mut() = slot,
                    Entry::Vacant(entry) => {
                        *keys += 1;
                        entry.insert(slot);
                    }
                }
            }
            reader.end()?;
        }
        Ok(())
    }
}

fn read_key<K: DeserializeOwned>(bytes: &[u8]) -> Result<K, SegmentError> {
    rmp_serde::from_slice(bytes)
        .map_err(|error| SegmentError::Key { key: format!("{bytes:02x?}"), source: error.into() })
}

/// A key for people.
fn text<K: Serialize>(key: &K) -> String {
    serde_json::to_string(key).unwrap_or_else(|_| "that is no text".to_owned())
}

impl<K, S> fmt::Debug for Table<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: usize = self.groups.iter().map(|group| group.slots.len()).sum();
        f.debug_struct("Table").field("keys", &keys).finish()
    }
}

#[cfg(test)]
mod tests;
