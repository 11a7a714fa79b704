//! [`Table`]: the keys of one instance with their state.

use super::Keyed;
use crate::key::Key;
use hashbrown::HashTable;
use hashbrown::hash_table::{Entry, OccupiedEntry};
use std::borrow::Borrow;
use std::fmt;

/// One key's entry.
struct Slot<K, S> {
    hash: u64,
    key: K,
    state: Keyed<S>,
}

/// Keys with their state, found by the key's stable hash.
pub(crate) struct Table<K, S> {
    slots: HashTable<Slot<K, S>>,
}

impl<K, S: Default> Table<K, S> {
    pub(crate) fn new() -> Self {
        Self { slots: HashTable::new() }
    }

    /// The place of a key, whose hash this is; made if there is none.
    #[inline]
    pub(crate) fn place<Q>(&mut self, hash: u64, key: &Q) -> Place<'_, K, S>
    where
        K: Borrow<Q>,
        Q: Key + ToOwned<Owned = K> + ?Sized,
    {
        let entry = self.slots.entry(hash, |slot| slot.key.borrow() == key, |slot| slot.hash);
        Place(match entry {
            Entry::Occupied(entry) => entry,
            Entry::Vacant(entry) => {
                entry.insert(Slot { hash, key: key.to_owned(), state: Keyed::new() })
            }
        })
    }

    /// The state of a key, whose hash this is; `None` if it has none.
    #[cfg(any(test, feature = "test-util"))]
    pub(crate) fn get<Q>(&self, hash: u64, key: &Q) -> Option<&S>
    where
        K: Borrow<Q>,
        Q: Key + ?Sized,
    {
        self.slots.find(hash, |slot| slot.key.borrow() == key).map(|slot| &*slot.state)
    }

    /// How many keys have state.
    #[cfg(any(test, feature = "test-util"))]
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// All keys with their state, in no order.
    pub(crate) fn into_entries(self) -> impl Iterator<Item = (K, Keyed<S>)> {
        self.slots.into_iter().map(|slot| (slot.key, slot.state))
    }
}

/// The entry of one key.
pub(crate) struct Place<'a, K, S>(OccupiedEntry<'a, Slot<K, S>>);

impl<K, S: Default> Place<'_, K, S> {
    /// Calls `use_it` with the key and its state, and forgets the key if it has none after that.
    #[inline]
    pub(crate) fn with<R>(mut self, use_it: impl FnOnce(&K, &mut Keyed<S>) -> R) -> R {
        let Slot { key, state, .. } = self.0.get_mut();
        let result = use_it(key, state);
        if !state.settle() {
            drop(self.0.remove());
        }
        result
    }
}

impl<K, S> fmt::Debug for Table<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table").field("keys", &self.slots.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::key_hash;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// As a plain map does it, with colliding hashes too; a key that was only read leaves nothing.
        #[test]
        fn a_table_is_a_map(
            actions in prop::collection::vec((0_u64..20, 0_u8..3), 0..200),
            collide in any::<bool>(),
        ) {
            let mut table = Table::<u64, u64>::new();
            let mut model = BTreeMap::new();
            for (key, action) in actions {
                let hash = if collide { 7 } else { key_hash(&key) };
                table.place(hash, &key).with(|k, state| {
                    assert_eq!(*k, key);
                    assert_eq!(state.is_new(), !model.contains_key(&key));
                    assert_eq!(**state, model.get(&key).copied().unwrap_or(0));
                    match action {
                        0 => {}
                        1 => {
                            **state += 1;
                            *model.entry(key).or_insert(0) += 1;
                        }
                        _ => {
                            state.remove();
                            model.remove(&key);
                        }
                    }
                });
                prop_assert_eq!(table.get(hash, &key), model.get(&key));
                prop_assert_eq!(table.len(), model.len());
            }
            let entries: BTreeMap<u64, u64> = table.into_entries().map(|(k, s)| (k, *s)).collect();
            prop_assert_eq!(entries, model);
        }
    }
}
