//! From an event to its key.

use super::Key;
use std::fmt;
use std::marker::PhantomData;

mod sealed {
    pub trait Sealed {}
}

/// Finds the key of an event of type `T`: a closure that hands out a reference into it, or one that
/// makes a key. It is a part of the type of a keyed stream, and spelled where that is handed on:
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::{KeySelector, KeyedStream};
///
/// fn count<S>(keyed: KeyedStream<u64, S>, into: Collect<(u64, u64)>)
/// where
///     S: KeySelector<u64, Key = u64>,
/// {
///     keyed.fold(0_u64, |n, _| *n += 1).sink(into);
/// }
///
/// let got = Collect::new();
/// let job = Job::new("counts");
/// count(job.source(FromIter::new([4_u64, 4])).key_by(|n| n), got.clone());
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.take(), [(4, 1), (4, 2)]);
/// ```
pub trait KeySelector<T>: sealed::Sealed + Clone + Send + 'static {
    /// The key as it is found in the event.
    type Key: Key + ?Sized;

    /// Calls `use_it` with the key of `event`.
    fn with_key<R>(&self, event: &T, use_it: impl FnOnce(&Self::Key) -> R) -> R;
}

macro_rules! selector {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name<K: ?Sized, F> {
            key: F,
            keys: PhantomData<fn(&K)>,
        }

        impl<K: ?Sized, F> $name<K, F> {
            pub(crate) fn new(key: F) -> Self {
                Self { key, keys: PhantomData }
            }
        }

        impl<K: ?Sized, F> sealed::Sealed for $name<K, F> {}

        impl<K: ?Sized, F: Clone> Clone for $name<K, F> {
            fn clone(&self) -> Self {
                Self::new(self.key.clone())
            }
        }

        impl<K: ?Sized, F> fmt::Debug for $name<K, F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}

selector!(
    /// A key that is a part of the event.
    KeyOn
);
selector!(
    /// A key that is made from the event.
    KeyBy
);

impl<T, K, F> KeySelector<T> for KeyOn<K, F>
where
    F: for<'a> Fn(&'a T) -> &'a K + Clone + Send + 'static,
    K: Key + ?Sized + 'static,
{
    type Key = K;

    #[inline]
    fn with_key<R>(&self, event: &T, use_it: impl FnOnce(&K) -> R) -> R {
        use_it((self.key)(event))
    }
}

impl<T, K, F> KeySelector<T> for KeyBy<K, F>
where
    F: Fn(&T) -> K + Clone + Send + 'static,
    K: Key + 'static,
{
    type Key = K;

    #[inline]
    fn with_key<R>(&self, event: &T, use_it: impl FnOnce(&K) -> R) -> R {
        use_it(&(self.key)(event))
    }
}
