//! [`Keyed`]: the guard over the state of one key.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// The state of the key of the event at hand, handed to a
/// [`KeyedOperator`](crate::KeyedOperator).
///
/// A key without state begins with the default. Reading changes nothing: a key whose state was only
/// read is not remembered. The first change by `DerefMut` marks the state as changed.
///
/// ```
/// use streamwork::Keyed;
///
/// let mut count = Keyed::<u64>::new();
/// assert!(count.is_new());
/// *count += 1;
/// assert_eq!((*count, count.is_new()), (1, false));
/// assert_eq!(count.take(), 1);
/// assert!(count.is_new());
/// ```
pub struct Keyed<S> {
    value: S,
    mark: Mark,
    /// Whether a checkpoint may hold the key.
    saved: bool,
    /// The epoch in which it was last changed.
    changed: Epoch,
}

/// The last barrier that an instance has let through: what happens after it is of this epoch.
pub(crate) type Epoch = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// There is none: what is here is the default.
    Absent,
    /// As it was before the event at hand.
    Kept,
    Changed,
}

impl<S: Default> Keyed<S> {
    /// The state of a key that has none.
    #[must_use]
    pub fn new() -> Self {
        Self { value: S::default(), mark: Mark::Absent, saved: false, changed: 0 }
    }

    /// Takes the state out: the key has none any more, and is forgotten unless a new one is set.
    pub fn take(&mut self) -> S {
        self.mark = Mark::Absent;
        std::mem::take(&mut self.value)
    }

    /// Forgets the key, unless a new state is set for it.
    ///
    /// ```
    /// use streamwork::Keyed;
    ///
    /// let mut names = Keyed::<Vec<String>>::new();
    /// names.push("car".into());
    /// names.remove();
    /// assert!(names.is_new() && names.is_empty());
    /// ```
    pub fn remove(&mut self) {
        drop(self.take());
    }
}

impl<S> Keyed<S> {
    /// Whether the key has no state: it is new, or its state was taken.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.mark == Mark::Absent
    }

    /// A state as a checkpoint holds it.
    pub(super) fn restored(value: S) -> Self {
        Self { value, mark: Mark::Kept, saved: true, changed: 0 }
    }

    /// The next event begins: says what is to be remembered until then.
    #[inline]
    pub(super) fn settle(&mut self, epoch: Epoch) -> Settled {
        match self.mark {
            Mark::Absent => Settled::Gone,
            Mark::Kept => Settled::Kept,
            Mark::Changed => {
                self.mark = Mark::Kept;
                self.changed = epoch;
                Settled::Changed
            }
        }
    }

    /// Whether it was changed in this epoch, or in a later one.
    pub(super) fn is_changed_since(&self, epoch: Epoch) -> bool {
        self.changed >= epoch
    }

    /// Whether a checkpoint may hold the key.
    pub(super) fn is_saved(&self) -> bool {
        self.saved
    }

    /// From now on a checkpoint may hold it.
    pub(super) fn set_saved(&mut self) {
        self.saved = true;
    }
}

/// What has become of a key's state while an event was applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// There is none any more, or still none.
    Gone,
    /// It was only read.
    Kept,
    Changed,
}

impl<S: Default> Default for Keyed<S> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Deref for Keyed<S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        &self.value
    }
}

impl<S> DerefMut for Keyed<S> {
    #[inline]
    fn deref_mut(&mut self) -> &mut S {
        self.mark = Mark::Changed;
        &mut self.value
    }
}

impl<S: fmt::Debug> fmt::Debug for Keyed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Keyed").field(&self.value).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_leaves_no_mark() {
        let mut state = Keyed::<u64>::new();
        assert_eq!(*state, 0);
        assert_eq!(state.settle(1), Settled::Gone);
        *state = 3;
        assert_eq!(state.settle(2), Settled::Changed);
        assert_eq!(*state, 3);
        assert_eq!(state.settle(3), Settled::Kept);
        assert!(state.is_changed_since(2) && !state.is_changed_since(3));
    }

    #[test]
    fn a_state_that_was_taken_is_gone_unless_it_is_set_again() {
        let mut state = Keyed::<u64>::new();
        *state = 3;
        assert_eq!(state.settle(1), Settled::Changed);
        assert_eq!(state.take(), 3);
        assert_eq!(state.settle(1), Settled::Gone);
        *state = 4;
        assert_eq!(state.settle(1), Settled::Changed);
    }
}
