//! [`Timers`]: when the keys of an instance are to be woken.

use super::group::{Group, Slot, Stamp, rehash, within};
use super::{Epoch, SegmentError, SegmentReader, SegmentWriter};
use crate::key::{Key, KeyGroup, KeyGroups, key_hash};
use crate::state::keyed::{TimerOrder, TimerOrders};
use crate::time::EventTime;
use hashbrown::hash_table::Entry;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// The times for which a key has timers, in order.
type Times = Vec<EventTime>;

/// The timers of the keys of an instance. What a checkpoint has to know of them is what it has to know of
/// state: the times of a key are written as its state is.
pub(super) struct Timers<K> {
    /// As many as there are key groups, or none as long as there are no timers.
    groups: Vec<Group<K, Times>>,
    /// How many keys of a hash are to be woken at a time: more than one only where they share their hash.
    due: BTreeMap<(EventTime, u64), u32>,
}

/// Where the timers of a key are.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) group: KeyGroup,
    pub(super) hash: u64,
    pub(super) epoch: Epoch,
}

impl<K> Timers<K> {
    pub(super) const fn new() -> Self {
        Self { groups: Vec::new(), due: BTreeMap::new() }
    }

    /// The earliest time for which there is a timer.
    #[inline]
    pub(super) fn first(&self) -> Option<EventTime> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }

    fn grow(&mut self, key_groups: KeyGroups) {
        if self.groups.is_empty() {
            self.groups = (0..key_groups.count()).map(|_| Group::new()).collect();
        }
    }

    pub(super) fn group(&mut self, group: KeyGroup) -> Option<&mut Group<K, Times>> {
        self.groups.get_mut(group.0 as usize)
    }
}

impl<K: Key + Clone> Timers<K> {
    /// Carries out what a call has ordered for a key at the time `now`.
    pub(super) fn carry_out(
        &mut self,
        orders: &TimerOrders,
        key: &K,
        spot: Spot,
        key_groups: KeyGroups,
        now: EventTime,
    ) {
        self.grow(key_groups);
        let Self { groups, due } = self;
        let (slots, mut record) = groups[spot.group.0 as usize].parts(spot.epoch);
        let equal = |slot: &Slot<K, Times>| slot.key == *key;
        let mut entry = match slots.entry(within(spot.hash), equal, rehash) {
            Entry::Occupied(entry) => entry,
            Entry::Vacant(entry) => {
                entry.insert(Slot { key: key.clone(), stamp: Stamp::NEW, state: Times::new() })
            }
        };
        let Slot { stamp, state: times, .. } = entry.get_mut();
        let before = times.clone();
        for order in &orders.0 {
            match *order {
                TimerOrder::At(at) => set(times, at),
                TimerOrder::After(delay) => set(times, now + whole_millis(delay)),
                TimerOrder::Cancel(at) => times.retain(|time| *time != at),
                TimerOrder::CancelAll => times.clear(),
            }
        }
        if *times != before {
            record.change(stamp);
            for at in before.iter().filter(|at| times.binary_search(at).is_err()) {
                take_off(due, (*at, spot.hash));
            }
            for at in times.iter().filter(|at| before.binary_search(at).is_err()) {
                *due.entry((*at, spot.hash)).or_insert(0) += 1;
            }
        }
        if times.is_empty() {
            record.forget(entry);
        }
    }

    /// Takes out the earliest timer, if it is due at the time `now`.
    pub(super) fn take_due(
        &mut self,
        now: EventTime,
        key_groups: KeyGroups,
        epoch: Epoch,
    ) -> Option<(K, u64, EventTime)> {
        let (&(at, hash), _) = self.due.first_key_value()?;
        if at > now {
            return None;
        }
        take_off(&mut self.due, (at, hash));
        let group = self.group(key_groups.of_hash(hash))?;
        let (slots, mut record) = group.parts(epoch);
        let has_it =
            |slot: &Slot<K, Times>| slot.state.contains(&at) && key_hash(&slot.key) == hash;
        let mut entry = slots.find_entry(within(hash), has_it).ok()?;
        let Slot { key, stamp, state: times } = entry.get_mut();
        let key = key.clone();
        times.retain(|time| *time != at);
        record.change(stamp);
        if times.is_empty() {
            record.forget(entry);
        }
        Some((key, hash, at))
    }
}

fn set(times: &mut Times, at: EventTime) {
    if let Err(place) = times.binary_search(&at) {
        times.insert(place, at);
    }
}

fn take_off(due: &mut BTreeMap<(EventTime, u64), u32>, at: (EventTime, u64)) {
    if let Some(count) = due.get_mut(&at) {
        *count -= 1;
        if *count == 0 {
            due.remove(&at);
        }
    }
}

/// A duration in whole milliseconds, the last one counted if it has begun.
pub(super) fn whole_millis(duration: std::time::Duration) -> std::time::Duration {
    duration.saturating_add(std::time::Duration::from_nanos(999_999))
}

pub(super) fn write(
    writer: &mut SegmentWriter,
    _: &impl Sized,
    times: &Times,
) -> Result<(), SegmentError> {
    writer.count(times.len());
    times.iter().for_each(|time| writer.time(*time));
    Ok(())
}

impl<K: Key + Serialize + DeserializeOwned> Timers<K> {
    /// Takes in what a segment has of the timers of a group.
    pub(super) fn read(
        &mut self,
        (group, key_groups): (KeyGroup, KeyGroups),
        reader: &mut SegmentReader<'_>,
    ) -> Result<(), SegmentError> {
        self.grow(key_groups);
        let slots = &mut self.groups[group.0 as usize];
        slots.read((group, key_groups), reader, |reader, key, _| {
            let Some(_) = key else { return Ok(None) };
            let times = (0..reader.count()?).map(|_| reader.time());
            Ok(Some(times.collect::<Result<_, _>>()?))
        })
    }

    /// Everything was read of a group: its timers can fall due.
    pub(super) fn arm(&mut self, group: KeyGroup) {
        let Some(slots) = self.groups.get(group.0 as usize) else { return };
        for slot in &slots.slots {
            let hash = key_hash(&slot.key);
            for at in &slot.state {
                *self.due.entry((*at, hash)).or_insert(0) += 1;
            }
        }
    }
}
