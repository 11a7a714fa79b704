//! Operators with two inputs without a job.

use super::bench::Bench;
use super::{common, states, timed};
use crate::component::Result;
use crate::instance::{KeyedTwoInputLogic, Side, TwoInputLogic};
use crate::key::{Key, KeyBy, KeyOn, KeySelector};
use crate::operator::{KeyedTwoInput, TwoInput};
use std::borrow::Borrow;

/// The two ways in.
macro_rules! sides {
    ($operator:ident) => {
        /// Applies one event from the left.
        ///
        /// # Errors
        /// As the operator's `apply_left`, or its `setup` at the first event. Nothing of what it emitted
        /// is kept.
        ///
        /// # Panics
        /// As the operator, or after [`finish`](Self::finish).
        pub fn apply_left(&mut self, event: $operator::Left) -> Result<()> {
            self.bench.apply(Side::Left(event))
        }

        /// Applies one event from the right.
        ///
        /// # Errors
        /// As the operator's `apply_right`, or its `setup` at the first event. Nothing of what it emitted
        /// is kept.
        ///
        /// # Panics
        /// As the operator, or after [`finish`](Self::finish).
        pub fn apply_right(&mut self, event: $operator::Right) -> Result<()> {
            self.bench.apply(Side::Right(event))
        }
    };
}

/// A [`TwoInput`] operator under test; as [`Harness`](super::Harness).
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing::TwoInputHarness;
///
/// /// Passes on what is heavier than the last limit.
/// #[derive(Component, Default)]
/// struct Limit {
///     most: u64,
/// }
///
/// impl TwoInput for Limit {
///     type Left = u64;
///     type Right = u64;
///     type Out = u64;
///
///     fn apply_left(&mut self, weight: u64, out: &mut Emitter<u64>) -> Result<()> {
///         if weight > self.most {
///             out.emit(weight);
///         }
///         Ok(())
///     }
///
///     fn apply_right(&mut self, most: u64, _: &mut Emitter<u64>) -> Result<()> {
///         self.most = most;
///         Ok(())
///     }
/// }
///
/// let mut harness = TwoInputHarness::new(Limit::default());
/// harness.apply_left(3)?;
/// harness.apply_right(5)?;
/// harness.apply_left(4)?;
/// assert_eq!(harness.take(), [3]);
/// assert_eq!(harness.operator().most, 5);
/// # Ok::<(), streamwork::BoxError>(())
/// ```
#[derive(Debug)]
pub struct TwoInputHarness<O: TwoInput> {
    bench: Bench<TwoInputLogic<O>, O::Out>,
}

impl<O: TwoInput> TwoInputHarness<O> {
    /// Puts an operator in.
    #[must_use]
    pub fn new(operator: O) -> Self {
        Self { bench: Bench::new(operator, TwoInputLogic) }
    }

    /// The operator, to look into.
    #[must_use]
    pub fn operator(&self) -> &O {
        &self.bench.logic.0
    }

    sides!(O);
    common!(O::Out);
}

/// A [`KeyedTwoInput`] operator under test; as [`KeyedHarness`](super::KeyedHarness).
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::testing::KeyedTwoInputHarness;
///
/// /// Joins vehicles with the last temperature of their zone.
/// #[derive(Component)]
/// struct WithTemperature;
///
/// impl KeyedTwoInput for WithTemperature {
///     type Key = u32;
///     type Left = (u32, &'static str);
///     type Right = (u32, i64);
///     type Out = (&'static str, Option<i64>);
///     type State = Option<i64>;
///
///     fn apply_left(
///         &mut self,
///         _: &u32,
///         (_, kind): Self::Left,
///         temperature: &mut Keyed<Option<i64>>,
///         out: &mut Emitter<Self::Out>,
///     ) -> Result<()> {
///         out.emit((kind, **temperature));
///         Ok(())
///     }
///
///     fn apply_right(
///         &mut self,
///         _: &u32,
///         (_, degrees): Self::Right,
///         temperature: &mut Keyed<Option<i64>>,
///         _: &mut Emitter<Self::Out>,
///     ) -> Result<()> {
///         **temperature = Some(degrees);
///         Ok(())
///     }
/// }
///
/// let mut harness = KeyedTwoInputHarness::key_by_value(WithTemperature, |v| v.0, |t| t.0);
/// harness.apply_left((7, "car"))?;
/// harness.apply_right((7, 21))?;
/// harness.apply_left((7, "van"))?;
/// assert_eq!(harness.take(), [("car", None), ("van", Some(21))]);
/// assert_eq!((harness.state(&7_u32), harness.keys()), (Some(&Some(21)), 1));
/// # Ok::<(), streamwork::BoxError>(())
/// ```
#[derive(Debug)]
pub struct KeyedTwoInputHarness<O: KeyedTwoInput, L, R> {
    bench: Bench<KeyedTwoInputLogic<O, L, R>, O::Out>,
}

impl<O, K, Q, F, G> KeyedTwoInputHarness<O, KeyOn<K, F>, KeyOn<Q, G>>
where
    O: KeyedTwoInput<Key: Borrow<K> + Borrow<Q>>,
    K: Key + ToOwned<Owned = O::Key> + ?Sized + 'static,
    Q: Key + ToOwned<Owned = O::Key> + ?Sized + 'static,
    F: for<'a> Fn(&'a O::Left) -> &'a K + Clone + Send + 'static,
    G: for<'a> Fn(&'a O::Right) -> &'a Q + Clone + Send + 'static,
{
    /// Puts an operator in; the key is a part of each event, as with
    /// [`Stream::key_by`](crate::Stream::key_by).
    #[must_use]
    pub fn key_by(operator: O, left: F, right: G) -> Self {
        let (left, right) = (KeyOn::new(left), KeyOn::new(right));
        Self { bench: Bench::new(operator, |o| KeyedTwoInputLogic::new(o, left, right, None)) }
    }
}

impl<O, K, Q, F, G> KeyedTwoInputHarness<O, KeyBy<K, F>, KeyBy<Q, G>>
where
    O: KeyedTwoInput<Key: Borrow<K> + Borrow<Q>>,
    K: Key + ToOwned<Owned = O::Key> + 'static,
    Q: Key + ToOwned<Owned = O::Key> + 'static,
    F: Fn(&O::Left) -> K + Clone + Send + 'static,
    G: Fn(&O::Right) -> Q + Clone + Send + 'static,
{
    /// Puts an operator in; the key is made from each event, as with
    /// [`Stream::key_by_value`](crate::Stream::key_by_value).
    #[must_use]
    pub fn key_by_value(operator: O, left: F, right: G) -> Self {
        let (left, right) = (KeyBy::new(left), KeyBy::new(right));
        Self { bench: Bench::new(operator, |o| KeyedTwoInputLogic::new(o, left, right, None)) }
    }
}

impl<O, L, R> KeyedTwoInputHarness<O, L, R>
where
    O: KeyedTwoInput<Key: Borrow<L::Key> + Borrow<R::Key>>,
    L: KeySelector<O::Left, Key: ToOwned<Owned = O::Key>>,
    R: KeySelector<O::Right, Key: ToOwned<Owned = O::Key>>,
{
    sides!(O);
    common!(O::Out);
    timed!();
}

impl<O: KeyedTwoInput, L, R> KeyedTwoInputHarness<O, L, R> {
    states!(O);
}
