//! [`Table`]: the keys of one instance with their state.

mod group;
mod lives;
mod timers;

use super::keyed::{Keyed, Settled, TimerOrders};
use super::segment::{Contents, SegmentError, SegmentReader, SegmentWriter};
use super::{Reading, State};
use crate::key::{Key, KeyGroup, KeyGroups, key_hash};
use crate::time::{Clock, EventTime, Moment, SteadyTime};
use group::{Group, Record, Slot, Stamp, rehash, within};
use hashbrown::hash_table::{Entry, OccupiedEntry};
use lives::Lives;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Borrow;
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;
use timers::{Spot, Timers};

/// The last barrier that an instance has let through: what happens after it is of this epoch.
pub(crate) type Epoch = u32;

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
    timing: Timing<K>,
}

/// What goes by time.
struct Timing<K> {
    key_groups: KeyGroups,
    /// `None` until the instance is set up.
    time: Option<SteadyTime>,
    timers: Timers<K>,
    /// If the states have a time to live.
    lives: Option<Lives>,
}

impl<K> Timing<K> {
    fn now(&mut self) -> EventTime {
        self.time.as_mut().map_or(EventTime::MIN, SteadyTime::now)
    }

    /// Whether the state of the key with this hash has lived its time.
    #[inline]
    fn is_over(&mut self, hash: u64) -> bool {
        self.lives.is_some() && self.has_lived(hash)
    }

    #[cold]
    #[inline(never)]
    fn has_lived(&mut self, hash: u64) -> bool {
        let now = self.now();
        self.lives.as_ref().is_some_and(|lives| lives.is_over(hash, now))
    }

    /// The state of a key was changed.
    #[cold]
    #[inline(never)]
    fn live(&mut self, key: &K)
    where
        K: Key,
    {
        let now = self.now();
        if let Some(lives) = &mut self.lives {
            lives.set(key_hash(key), now);
        }
    }

    /// A key was forgotten.
    #[cold]
    #[inline(never)]
    fn end(&mut self, hash: u64) {
        if let Some(lives) = &mut self.lives {
            lives.remove(hash);
        }
    }
}

impl<K: Key + Clone> Timing<K> {
    #[cold]
    #[inline(never)]
    fn carry_out(&mut self, orders: &TimerOrders, key: &K, epoch: Epoch) {
        let (now, hash) = (self.now(), key_hash(key));
        let spot = Spot { group: self.key_groups.of_hash(hash), hash, epoch };
        self.timers.carry_out(orders, key, spot, self.key_groups, now);
    }
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
        let timing = Timing { key_groups, time: None, timers: Timers::new(), lives: None };
        Self { groups, key_groups, epoch: 0, keys: 0, timing }
    }

    /// A table that forgets states that were not changed for so long.
    pub(crate) fn with_ttl(mut self, ttl: Option<Duration>) -> Self {
        self.timing.lives = ttl.map(Lives::new);
        self
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
        let (slots, record) = group.parts(self.epoch);
        let (entry, is_new) = match slots.entry(within(hash), equal, rehash) {
            Entry::Occupied(entry) => (entry, self.timing.is_over(hash)),
            Entry::Vacant(entry) => {
                let (key, state) = (key.to_owned(), S::default());
                self.keys += 1;
                (entry.insert(Slot { key, stamp: Stamp::NEW, state }), true)
            }
        };
        Place { entry, is_new, record, timing: &mut self.timing }
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
}

impl<K: Key + Clone, S: Default> Table<K, S> {
    /// Takes out the earliest timer that is due, with its key and the key's hash.
    pub(crate) fn take_timer(&mut self) -> Option<(K, u64, EventTime)> {
        self.timing.timers.first()?;
        let now = self.timing.now();
        self.timing.timers.take_due(now, self.key_groups, self.epoch)
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
                let (slots, record) = group.parts(self.epoch);
                if let Ok(entry) = slots.get_bucket_entry(bucket) {
                    let timing = &mut self.timing;
                    let is_over =
                        timing.lives.is_some() && timing.has_lived(key_hash(&entry.get().key));
                    let place = Place { entry, is_new: false, record, timing };
                    if is_over {
                        place.forget();
                        continue;
                    }
                    return Some(place.with(use_it));
                }
            }
            *cursor = Cursor { group: cursor.group + 1, bucket: 0 };
        }
        None
    }
}

/// What goes by time.
impl<K: Key, S: Default> Table<K, S> {
    /// From now on there is time.
    pub(crate) fn start(&mut self, clock: Arc<dyn Clock>) {
        let now = self.timing.time.insert(SteadyTime::new(clock)).now();
        if let Some(lives) = &mut self.timing.lives {
            if std::mem::take(&mut lives.incomplete) {
                let slots = self.groups.iter().flat_map(|group| &group.slots);
                for hash in slots.map(|slot| key_hash(&slot.key)) {
                    if lives.changed(hash).is_none() {
                        lives.set(hash, now);
                    }
                }
            }
            lives.begin(now);
        }
    }

    /// When there is next something to do without an event, if there is: the start of time if it is now.
    #[inline]
    pub(crate) fn due(&mut self) -> Option<Moment> {
        if self.timing.lives.is_none() && self.timing.timers.first().is_none() {
            return None;
        }
        let sweep = self.timing.lives.as_ref().and_then(Lives::due);
        let at = [sweep, self.timing.timers.first()].into_iter().flatten().min()?;
        let time = self.timing.time.as_mut()?;
        Some(if at <= time.now() { Moment::START } else { time.moment_of(at) })
    }

    /// A step of the sweep through the states that have a time to live, if one is due.
    pub(crate) fn sweep(&mut self) {
        let Some(due) = self.timing.lives.as_ref().and_then(Lives::due) else { return };
        let now = self.timing.now();
        if due > now {
            return;
        }
        let over = self.timing.lives.as_mut().map(|lives| lives.sweep(now));
        for hash in over.into_iter().flatten() {
            self.forget_hash(hash);
        }
    }

    /// Forgets all keys with this hash.
    fn forget_hash(&mut self, hash: u64) {
        let group = &mut self.groups[self.key_groups.of_hash(hash).0 as usize];
        loop {
            let (slots, record) = group.parts(self.epoch);
            let has_it = |slot: &Slot<K, S>| key_hash(&slot.key) == hash;
            let Ok(entry) = slots.find_entry(within(hash), has_it) else { break };
            record.forget(entry);
        }
        let (keys, room) = (group.slots.len(), group.slots.capacity());
        if keys < room / 8 {
            group.slots.shrink_to(keys * 2, rehash);
        }
    }

    /// Forgets what has lived its time in a group.
    fn expire(&mut self, group: KeyGroup) {
        if self.timing.lives.is_none() {
            return;
        }
        let now = self.timing.now();
        let Some(lives) = &mut self.timing.lives else { return };
        let slots = &self.groups[group.0 as usize].slots;
        let hashes = slots.iter().map(|slot| key_hash(&slot.key));
        let over: Vec<u64> = hashes.filter(|hash| lives.is_over(*hash, now)).collect();
        for hash in over {
            if let Some(lives) = &mut self.timing.lives {
                lives.remove(hash);
            }
            self.forget_hash(hash);
        }
    }
}

/// The entry of one key.
pub(crate) struct Place<'a, K, S> {
    entry: OccupiedEntry<'a, Slot<K, S>>,
    /// Or its state has lived its time.
    is_new: bool,
    record: Record<'a, K>,
    timing: &'a mut Timing<K>,
}

impl<K: Key + Clone, S: Default> Place<'_, K, S> {
    /// Calls `use_it` with the key and its state, and forgets the key if it has none after that.
    #[inline]
    pub(crate) fn with<R>(mut self, use_it: impl FnOnce(&K, &mut Keyed<S>) -> R) -> R {
        let Slot { key, stamp, state } = self.entry.get_mut();
        let mut guard = if self.is_new { Keyed::new() } else { Keyed::kept(std::mem::take(state)) };
        let result = use_it(key, &mut guard);
        let (now, settled, orders) = guard.settle();
        *state = now;
        if let Some(orders) = orders {
            self.timing.carry_out(&orders, key, self.record.epoch);
        }
        match settled {
            Settled::Kept => {}
            Settled::Changed => {
                self.record.change(stamp);
                if self.timing.lives.is_some() {
                    self.timing.live(key);
                }
            }
            Settled::Gone => self.forget(),
        }
        result
    }
}

impl<K: Key, S> Place<'_, K, S> {
    fn forget(self) {
        let Self { entry, record, timing, .. } = self;
        if timing.lives.is_some() {
            timing.end(key_hash(&entry.get().key));
        }
        record.forget(entry);
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

    /// All keys of a group, and their timers; `None` if it has neither.
    ///
    /// # Errors
    /// A key or a state could not be encoded.
    pub(crate) fn base(&mut self, group: KeyGroup) -> Result<Option<Vec<u8>>, SegmentError> {
        self.expire(group);
        let Self { groups, timing, .. } = self;
        let states = &mut groups[group.0 as usize];
        let timers = timing.timers.group(group).filter(|timers| !timers.slots.is_empty());
        if states.slots.is_empty() && timers.is_none() {
            return Ok(None);
        }
        let changes = timing.lives.is_some();
        let contents = Contents { delta: false, changes, timers: timers.is_some() };
        let mut writer = SegmentWriter::new(contents, states.slots.len() * 16);
        states.write_all(&mut writer, put(timing.lives.as_ref()))?;
        if let Some(timers) = timers {
            timers.write_all(&mut writer, timers::write)?;
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
        let Self { groups, timing, .. } = self;
        let states = &mut groups[group.0 as usize];
        let timers = timing.timers.group(group);
        let timers = timers.map(|timers| (timers.changes(completed), timers));
        let timers = timers.filter(|(changes, _)| *changes > 0);
        let changes = states.changes(completed);
        if changes == 0 && timers.is_none() {
            return Ok(None);
        }
        let lives = timing.lives.as_ref();
        let contents = Contents { delta: true, changes: lives.is_some(), timers: timers.is_some() };
        let mut writer = SegmentWriter::new(contents, changes * 16);
        states.write_changes(&mut writer, (completed, changes), put(lives))?;
        if let Some((changes, timers)) = timers {
            timers.write_changes(&mut writer, (completed, changes), timers::write)?;
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
        let Self { groups, key_groups, keys, timing, .. } = self;
        let (place, Timing { timers, lives, .. }) = ((group, *key_groups), timing);
        let states = &mut groups[group.0 as usize];
        for (i, bytes) in chain.into_iter().enumerate() {
            let mut reader = SegmentReader::new(bytes)?;
            let contents = reader.contents();
            // A group that was empty has no base.
            if !contents.delta && i > 0 {
                return Err(SegmentError::Segment("a base follows another segment"));
            }
            states.read(place, &mut reader, |reader, key, hash| {
                let Some(key) = key else {
                    lives.iter_mut().for_each(|lives| lives.remove(hash));
                    return Ok(None);
                };
                let state = reading
                    .read(reader.value()?)
                    .map_err(|source| SegmentError::Key { key: text(key), source })?;
                let changed = contents.changes.then(|| reader.time()).transpose()?;
                match (lives.as_mut(), changed) {
                    (Some(lives), Some(changed)) => lives.set(hash, changed),
                    (Some(lives), None) => lives.incomplete = true,
                    (None, _) => {}
                }
                Ok(Some(state))
            })?;
            if contents.timers {
                timers.read(place, &mut reader)?;
            }
            reader.end()?;
        }
        timers.arm(group);
        *keys += states.slots.len();
        Ok(())
    }
}

/// Writes a state, with the time of its last change if it has a time to live.
fn put<K: Key, S: Serialize>(
    lives: Option<&Lives>,
) -> impl FnMut(&mut SegmentWriter, &K, &S) -> Result<(), SegmentError> {
    move |writer, key, state| {
        writer.value(state)?;
        if let Some(lives) = lives {
            // One that is not known begins anew where it is read.
            writer.time(lives.changed(key_hash(key)).unwrap_or(EventTime::MAX));
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
