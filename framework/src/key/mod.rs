//! [`Key`]: the stable hash, and the way from a key to a key group to an instance.
//!
//! Routing, state, restore and rescaling all go through the two functions of this module, so a key
//! can't be looked for in a place where it was not put.

mod hasher;
mod selector;
mod types;

pub use hasher::KeyHasher;
pub use selector::{KeyBy, KeyOn, KeySelector};

use crate::shape::Shape;

/// A value that events can be grouped by.
///
/// Its hash is this crate's own and fixed for ever: unlike std's `Hash` it does not change with the
/// compiler, so state that was saved under it is found again. `#[derive(Key)]` writes it for structs
/// and enums. Floats are no keys: `NaN` equals nothing, and 0.0 equals -0.0.
///
/// ```
/// use streamwork::{Key, key_hash};
///
/// #[derive(Key, Clone, PartialEq, Eq)]
/// struct Account {
///     bank: u32,
///     number: String,
/// }
///
/// let a = Account { bank: 1, number: "7".into() };
/// assert_eq!(key_hash(&a), key_hash(&a.clone()));
/// assert_eq!(key_hash("car"), key_hash(&String::from("car")));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key",
    note = "add `#[derive(Key)]` to the type; a float is no key: group by an integer or a string"
)]
pub trait Key: Eq {
    /// Feeds the value into `hasher`. Equal values must feed the same. [`KeyHasher`] has an example.
    fn feed(&self, hasher: &mut KeyHasher);

    /// What it is made of. State that was saved by keys is found again only by keys of the same
    /// [text](Shape#impl-Display-for-Shape); `str` and `String` are alike.
    ///
    /// ```
    /// use streamwork::Key;
    ///
    /// assert_eq!(<(u32, &str) as Key>::shape().to_string(), "(u32, string)");
    /// ```
    fn shape() -> Shape;
}

/// The stable hash of a key.
///
/// ```
/// // the same with every compiler and on every machine
/// assert_eq!(streamwork::key_hash("car"), 0x655B_67E9_909B_276B);
/// ```
#[inline]
#[must_use]
pub fn key_hash<K: Key + ?Sized>(key: &K) -> u64 {
    let mut hasher = KeyHasher::new();
    key.feed(&mut hasher);
    hasher.finish()
}

/// How many key groups a job has: the finest grain in which its keyed work can be spread.
///
/// Fixed for the life of a job's state; no keyed component can have more instances than this.
///
/// ```
/// use streamwork::{KeyGroups, key_hash};
///
/// let groups = KeyGroups::new(64).unwrap();
/// assert_eq!((groups.count(), KeyGroups::DEFAULT.count()), (64, 128));
/// assert_eq!(KeyGroups::new(0), None);
///
/// let group = groups.of_hash(key_hash("car"));
/// assert_eq!(group, groups.of_key("car"));
/// assert!(groups.instance(group, 4) < 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyGroups(u16);

/// A part of the key space: what moves when a job is rescaled. Neighbouring groups stay together:
///
/// ```
/// use streamwork::{KeyGroup, KeyGroups};
///
/// let groups = KeyGroups::new(4).unwrap();
/// let of_two: Vec<_> = (0..4).map(|g| groups.instance(KeyGroup(g), 2)).collect();
/// assert_eq!(of_two, [0, 0, 1, 1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyGroup(pub u16);

impl KeyGroups {
    /// 128 groups.
    pub const DEFAULT: Self = Self(128);

    /// One group: for what is never divided.
    pub(crate) const ONE: Self = Self(1);

    /// `count` groups, if that is between 1 and 32,768.
    #[must_use]
    pub const fn new(count: u16) -> Option<Self> {
        if count == 0 || count > 32_768 { None } else { Some(Self(count)) }
    }

    /// How many.
    #[must_use]
    pub const fn count(self) -> usize {
        self.0 as usize
    }

    /// The group of a key, from its hash.
    #[inline]
    #[must_use]
    pub const fn of_hash(self, hash: u64) -> KeyGroup {
        KeyGroup((((hash >> 32) * self.0 as u64) >> 32) as u16)
    }

    /// The group of a key.
    ///
    /// ```
    /// use streamwork::KeyGroups;
    /// let groups = KeyGroups::DEFAULT;
    /// assert!(usize::from(groups.of_key("polygenelubricants").0) < groups.count());
    /// ```
    #[inline]
    #[must_use]
    pub fn of_key<K: Key + ?Sized>(self, key: &K) -> KeyGroup {
        self.of_hash(key_hash(key))
    }

    /// The instance, of `instances` in all, that a group belongs to: an even share of neighbouring
    /// groups for each.
    ///
    /// # Panics
    /// If `instances` is 0 or exceeds the number of groups.
    #[must_use]
    pub const fn instance(self, group: KeyGroup, instances: usize) -> usize {
        assert!(instances > 0 && instances <= self.count(), "more instances than key groups");
        group.0 as usize * instances / self.count()
    }
}

impl Default for KeyGroups {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests;
