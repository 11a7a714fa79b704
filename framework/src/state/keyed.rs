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
}

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
        Self { value: S::default(), mark: Mark::Absent }
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

    /// The state of a key that has one.
    #[inline]
    pub(super) fn kept(value: S) -> Self {
        Self { value, mark: Mark::Kept }
    }

    /// The state as it is now, and what has become of it.
    #[inline]
    pub(super) fn settle(self) -> (S, Settled) {
        let settled = match self.mark {
            Mark::Absent => Settled::Gone,
            Mark::Kept => Settled::Kept,
            Mark::Changed => Settled::Changed,
        };
        (self.value, settled)
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
        let new = Keyed::<u64>::new();
        assert_eq!(*new, 0);
        assert_eq!(new.settle(), (0, Settled::Gone));
        let mut state = Keyed::kept(3_u64);
        assert_eq!(*state, 3);
        *state += 1;
        assert_eq!(state.settle(), (4, Settled::Changed));
        assert_eq!(Keyed::kept(3_u64).settle(), (3, Settled::Kept));
    }

    #[test]
    fn a_state_that_was_taken_is_gone_unless_it_is_set_again() {
        let mut state = Keyed::kept(3_u64);
        assert_eq!(state.take(), 3);
        *state = 4;
        assert_eq!(state.settle(), (4, Settled::Changed));
        let mut state = Keyed::kept(3_u64);
        state.remove();
        assert_eq!(state.settle(), (0, Settled::Gone));
    }
}
