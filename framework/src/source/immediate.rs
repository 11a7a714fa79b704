//! [`Immediate`]: sources that never wait.

use super::{Progress, Source};
use crate::component::Result;

/// A source that makes its events itself and never waits for one. Closures right behind it
/// ([`Stream::map`](crate::Stream::map) and the like) then get each event straight from the source, and
/// what they leave out is never stored.
///
/// That is a matter of speed alone, and done wherever it can be: one chain of closures reads the source and
/// nobody else does, none of them is a `flat_map`, and the source is not held to a rate. Whoever looks at
/// a job sees no difference.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::{Generator, Immediate, Taker};
///
/// struct Sum(u64);
///
/// impl Taker<u64> for Sum {
///     fn take(&mut self, make: impl FnOnce() -> u64) {
///         self.0 += make();
///     }
/// }
///
/// let mut numbers = Generator::indexed(|n| n).events(4);
/// let (mut left, mut sum) = (3, Sum(0));
/// assert_eq!(numbers.produce(&mut left, &mut sum).unwrap(), Progress::More);
/// assert_eq!((left, sum.0), (0, 0 + 1 + 2));
/// left = 3;
/// numbers.produce(&mut left, &mut sum).unwrap();
/// assert_eq!((left, sum.0), (2, 0 + 1 + 2 + 3));
/// assert_eq!(numbers.produce(&mut left, &mut sum).unwrap(), Progress::End);
/// ```
pub trait Immediate: Source {
    /// Hands over at most `left` events, one by one, and counts `left` down.
    ///
    /// The position is behind an event, and `left` is counted down, when it is handed over: if that
    /// panics, the next call goes on behind it.
    ///
    /// # Errors
    /// As [`Source::next`].
    ///
    /// # Panics
    /// As [`Source::next`], and if `taker` does.
    fn produce(&mut self, left: &mut usize, taker: &mut impl Taker<Self::Out>) -> Result<Progress>;
}

/// Takes the events of an [`Immediate`] source, which has an example.
pub trait Taker<T> {
    /// Takes the event that `make` makes.
    fn take(&mut self, make: impl FnOnce() -> T);
}
