//! What becomes of a component's state when its parallelism changes.

use super::value::State;
use crate::key::{Key, KeyGroups};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

/// What becomes of a state field when the parallelism changes.
///
/// ```
/// use std::collections::HashMap;
/// use streamwork::{Component, Rescale};
///
/// #[derive(Component)]
/// struct Counter {
///     #[state(by_key)]
///     counts: HashMap<String, u64>,
///     #[state(replicated)]
///     limit: u64,
/// }
///
/// assert_eq!(Counter::STATE[0].rescale, Rescale::ByKey);
/// assert_eq!(Counter::STATE[1].rescale, Rescale::Replicated);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Rescale {
    /// `#[state]`: another parallelism is refused.
    #[default]
    Refuse,
    /// `#[state(by_key)]`: a map whose entries move with their keys.
    ByKey,
    /// `#[state(replicated)]`: the same on every instance; a new one gets that of the first.
    Replicated,
    /// `#[state(redistribute)]`: [`Redistribute`] says it.
    Redistribute,
}

/// For which instance of how many state is read, and by how many it was written.
///
/// ```
/// use streamwork::{KeyGroups, Rescaling};
///
/// let grown = Rescaling { index: 2, parallelism: 4, before: 2, key_groups: KeyGroups::DEFAULT };
/// assert_ne!(grown.before, grown.parallelism);
/// assert_eq!(Rescaling::WHOLE.parallelism, 1, "a split of a source is read alone");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rescaling {
    /// The instance that reads, from 0.
    pub index: usize,
    /// How many instances there are now.
    pub parallelism: usize,
    /// How many there were.
    pub before: usize,
    /// The job's key groups, then and now.
    pub key_groups: KeyGroups,
}

impl Rescaling {
    /// What one wrote is read by one: so it is with a split of a source.
    pub const WHOLE: Self =
        Self { index: 0, parallelism: 1, before: 1, key_groups: KeyGroups::DEFAULT };
}

/// State that is spread anew when the parallelism changes: `#[state(redistribute)]`.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::{Redistribute, State};
///
/// /// How many events were seen: the sum over all instances counts.
/// #[derive(State, Clone, Default, Serialize, Deserialize)]
/// struct Seen(u64);
///
/// impl Redistribute for Seen {
///     fn redistribute(old: Vec<Self>, index: usize, _: usize) -> Self {
///         let sum = old.iter().map(|seen| seen.0).sum();
///         Self(if index == 0 { sum } else { 0 })
///     }
/// }
///
/// let of_two = |index| Seen::redistribute(vec![Seen(3), Seen(4), Seen(5)], index, 2).0;
/// assert_eq!((of_two(0), of_two(1)), (12, 0));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` doesn't say how it is spread over another number of instances",
    note = "implement `Redistribute` for it, or mark the field `#[state(replicated)]`, or `#[state]` to \
            keep the parallelism"
)]
pub trait Redistribute: Sized {
    /// The state of instance `index` of `parallelism`, from that of all instances that there were, in
    /// order. Called once for each new instance, and only if the parallelism has changed.
    fn redistribute(old: Vec<Self>, index: usize, parallelism: usize) -> Self;
}

/// A map that can be split by its keys: `#[state(by_key)]`.
///
/// ```
/// use std::collections::BTreeMap;
/// use streamwork::KeyedMap;
///
/// let counts: BTreeMap<String, u64> = KeyedMap::from_entries([("car".to_owned(), 1)]);
/// assert_eq!(counts.entries().count(), 1);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no entries that move with their keys",
    note = "`#[state(by_key)]` is for a `HashMap` or a `BTreeMap` whose key is a `Key` and can be kept \
            (`#[derive(Key, State)]`), and whose value is `State`"
)]
pub trait KeyedMap: State {
    /// What its entries are found by.
    type Key: Key + State;
    /// What is found.
    type Value: State;

    /// All entries.
    fn entries(&self) -> impl Iterator<Item = (&Self::Key, &Self::Value)>;

    /// A map of these entries.
    fn from_entries(entries: impl IntoIterator<Item = (Self::Key, Self::Value)>) -> Self;
}

impl<K: Key + State + Ord, V: State> KeyedMap for BTreeMap<K, V> {
    type Key = K;
    type Value = V;

    fn entries(&self) -> impl Iterator<Item = (&K, &V)> {
        self.iter()
    }

    fn from_entries(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        entries.into_iter().collect()
    }
}

impl<K, V, S> KeyedMap for HashMap<K, V, S>
where
    K: Key + State + Hash,
    V: State,
    S: BuildHasher + Default + Send + 'static,
{
    type Key = K;
    type Value = V;

    fn entries(&self) -> impl Iterator<Item = (&K, &V)> {
        self.iter()
    }

    fn from_entries(entries: impl IntoIterator<Item = (K, V)>) -> Self {
        entries.into_iter().collect()
    }
}
