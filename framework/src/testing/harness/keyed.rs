//! A keyed operator without a job.

use super::bench::Bench;
use super::{common, states, timed};
use crate::component::Result;
use crate::instance::KeyedLogic;
use crate::key::{Key, KeyBy, KeyOn, KeySelector};
use crate::operator::KeyedOperator;
use std::borrow::Borrow;

/// A [`KeyedOperator`] under test; as [`Harness`](super::Harness), with the states of the keys to look
/// into.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing::KeyedHarness;
///
/// /// Emits every third event of a key.
/// #[derive(Component)]
/// struct Thirds;
///
/// impl KeyedOperator for Thirds {
///     type Key = String;
///     type In = (String, u64);
///     type Out = u64;
///     type State = u64;
///
///     fn apply(
///         &mut self,
///         _: &String,
///         (_, n): Self::In,
///         seen: &mut Keyed<u64>,
///         out: &mut Emitter<u64>,
///     ) -> Result<()> {
///         **seen += 1;
///         if **seen == 3 {
///             seen.remove();
///             out.emit(n);
///         }
///         Ok(())
///     }
/// }
///
/// let mut harness = KeyedHarness::key_by(Thirds, |event: &(String, u64)| &event.0);
/// for (key, n) in [("a", 1), ("b", 2), ("a", 3)] {
///     harness.apply((key.into(), n))?;
/// }
/// assert_eq!((harness.state("a"), harness.state("b")), (Some(&2), Some(&1)));
/// harness.apply(("a".into(), 4))?;
/// assert_eq!(harness.take(), [4]);
/// // the state was removed, so the key is forgotten
/// assert_eq!((harness.state("a"), harness.keys()), (None, 1));
/// # Ok::<(), streamwork::BoxError>(())
/// ```
#[derive(Debug)]
pub struct KeyedHarness<O: KeyedOperator, S> {
    bench: Bench<KeyedLogic<O, S>, O::Out>,
}

impl<O, K, F> KeyedHarness<O, KeyOn<K, F>>
where
    O: KeyedOperator<Key: Borrow<K>>,
    K: Key + ToOwned<Owned = O::Key> + ?Sized + 'static,
    F: for<'a> Fn(&'a O::In) -> &'a K + Clone + Send + 'static,
{
    /// Puts an operator in; the key is a part of each event, as with
    /// [`Stream::key_by`](crate::Stream::key_by).
    #[must_use]
    pub fn key_by(operator: O, key: F) -> Self {
        Self { bench: Bench::new(operator, |o| KeyedLogic::new(o, KeyOn::new(key), None)) }
    }
}

impl<O, K, F> KeyedHarness<O, KeyBy<K, F>>
where
    O: KeyedOperator<Key: Borrow<K>>,
    K: Key + ToOwned<Owned = O::Key> + 'static,
    F: Fn(&O::In) -> K + Clone + Send + 'static,
{
    /// Puts an operator in; the key is made from each event, as with
    /// [`Stream::key_by_value`](crate::Stream::key_by_value).
    #[must_use]
    pub fn key_by_value(operator: O, key: F) -> Self {
        Self { bench: Bench::new(operator, |o| KeyedLogic::new(o, KeyBy::new(key), None)) }
    }
}

impl<O, S> KeyedHarness<O, S>
where
    O: KeyedOperator<Key: Borrow<S::Key>>,
    S: KeySelector<O::In, Key: ToOwned<Owned = O::Key>>,
{
    /// Applies one event, with the state of its key.
    ///
    /// # Errors
    /// As the operator's `apply`, or its `setup` at the first event. Nothing of what it emitted is kept.
    ///
    /// # Panics
    /// As the operator, or after [`finish`](Self::finish).
    pub fn apply(&mut self, event: O::In) -> Result<()> {
        self.bench.apply(event)
    }

    common!(O::Out);
    timed!();
}

impl<O: KeyedOperator, S> KeyedHarness<O, S> {
    states!(O);
}
