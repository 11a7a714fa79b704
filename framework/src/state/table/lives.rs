//! [`Lives`]: when the keys of an instance are to be forgotten.

use super::timers::whole_millis;
use crate::time::EventTime;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::time::Duration;

/// When a key's state was last changed. Keys are told apart by their hash here: two that share it live as long
/// as the one that was changed last.
struct Life {
    hash: u64,
    changed: EventTime,
}

/// When the states of keys were last changed that are forgotten when that is too long ago.
///
/// They lie beside the states, so that those without a time to live are no larger for it, and so that a
/// sweep goes through memory in order and touches only the states that it removes.
pub(super) struct Lives {
    /// How long a state lives after its last change.
    ttl: Duration,
    all: HashTable<Life>,
    /// How far a round of the sweep has come, in buckets.
    swept: usize,
    /// When the next round is due.
    next: EventTime,
    /// There may be states whose last change is not known.
    pub(super) incomplete: bool,
}

impl Lives {
    /// What a step of the sweep looks at, and how much it takes out of it at most.
    const LOOKS: usize = 1_024;
    const TAKES: usize = 64;
    /// Rounds are not closer together.
    const PAUSE: Duration = Duration::from_millis(10);

    pub(super) fn new(ttl: Duration) -> Self {
        let ttl = whole_millis(ttl).max(Duration::from_millis(1));
        let all = HashTable::new();
        Self { ttl, all, swept: 0, next: EventTime::MIN, incomplete: false }
    }

    pub(super) fn changed(&self, hash: u64) -> Option<EventTime> {
        self.all.find(hash, |life| life.hash == hash).map(|life| life.changed)
    }

    pub(super) fn set(&mut self, hash: u64, changed: EventTime) {
        if self.all.is_empty() {
            self.next = changed + self.ttl;
        }
        match self.all.entry(hash, |life| life.hash == hash, |life| life.hash) {
            Entry::Occupied(mut entry) => entry.get_mut().changed = changed,
            Entry::Vacant(entry) => drop(entry.insert(Life { hash, changed })),
        }
    }

    pub(super) fn remove(&mut self, hash: u64) {
        if let Ok(entry) = self.all.find_entry(hash, |life| life.hash == hash) {
            entry.remove();
        }
    }

    pub(super) fn is_over(&self, hash: u64, now: EventTime) -> bool {
        self.changed(hash).is_some_and(|changed| now >= changed + self.ttl)
    }

    /// No life has begun after `now`: the clock may have been set back while the job was down.
    pub(super) fn begin(&mut self, now: EventTime) {
        self.all.iter_mut().for_each(|life| life.changed = life.changed.min(now));
        self.next = now;
    }

    /// When a step of the sweep is due.
    pub(super) fn due(&self) -> Option<EventTime> {
        match self.swept {
            _ if self.all.is_empty() => None,
            0 => Some(self.next),
            _ => Some(EventTime::MIN),
        }
    }

    /// A step of the sweep: takes out lives that are over, and gives the hashes of their keys.
    pub(super) fn sweep(&mut self, now: EventTime) -> Vec<u64> {
        let mut over = Vec::new();
        for _ in 0..Self::LOOKS {
            if self.swept >= self.all.num_buckets() {
                self.swept = 0;
                // Shorter would not be sooner for most, and longer would keep them too long.
                self.next = now + (self.ttl / 2).max(Self::PAUSE);
                if self.all.len() < self.all.capacity() / 4 {
                    self.all.shrink_to(self.all.len() * 2, |life| life.hash);
                }
                break;
            }
            if let Ok(entry) = self.all.get_bucket_entry(self.swept)
                && now >= entry.get().changed + self.ttl
            {
                over.push(entry.remove().0.hash);
            }
            self.swept += 1;
            if over.len() >= Self::TAKES {
                break;
            }
        }
        over
    }
}
