//! [`Keyed`]: the guard over the state of one key.

use super::State;
use crate::time::EventTime;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

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
    /// What the call at hand wants of the key's timers, in order. It is hardly ever there, and has to cost
    /// nothing then.
    orders: Option<Box<TimerOrders>>,
}

/// What is wanted of the timers of a key, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TimerOrders(pub(super) Vec<TimerOrder>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimerOrder {
    At(EventTime),
    After(Duration),
    Cancel(EventTime),
    CancelAll,
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
        Self { value: S::default(), mark: Mark::Absent, orders: None }
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

    /// Sets a timer of the key: the component's `on_timer` is called with the key once the time of day has
    /// reached `at`, or soon after; at once if it has already. A key can have several timers, and one for
    /// the same time only once. They are apart from the state: a key without state can have timers, and
    /// forgetting the state keeps them. [`KeyedOperator::on_timer`](crate::KeyedOperator::on_timer) has an
    /// example, and says more.
    pub fn set_timer(&mut self, at: EventTime) {
        self.order(TimerOrder::At(at));
    }

    /// Sets a timer of the key for when `delay` has passed, to the millisecond; as
    /// [`set_timer`](Self::set_timer).
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::prelude::*;
    ///
    /// /// Says when a sensor has been silent for a minute.
    /// #[derive(Component, Clone)]
    /// struct Silence;
    ///
    /// impl KeyedOperator for Silence {
    ///     type Key = u32;
    ///     type In = u32;
    ///     type Out = u32;
    ///     type State = ();
    ///
    ///     fn apply(
    ///         &mut self,
    ///         _: &u32,
    ///         _: u32,
    ///         sensor: &mut Keyed<()>,
    ///         _: &mut Emitter<u32>,
    ///     ) -> Result<()> {
    ///         sensor.cancel_timers();
    ///         sensor.set_timer_after(Duration::from_secs(60));
    ///         Ok(())
    ///     }
    ///
    ///     fn on_timer(
    ///         &mut self,
    ///         sensor: &u32,
    ///         _: EventTime,
    ///         _: &mut Keyed<()>,
    ///         out: &mut Emitter<u32>,
    ///     ) -> Result<()> {
    ///         out.emit(*sensor);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # #[cfg(feature = "test-util")] {
    /// use streamwork::testing::KeyedHarness;
    ///
    /// let mut harness = KeyedHarness::key_by(Silence, |sensor: &u32| sensor);
    /// harness.apply(7)?;
    /// harness.advance(Duration::from_secs(40))?;
    /// harness.apply(7)?;
    /// harness.advance(Duration::from_secs(59))?;
    /// assert!(harness.take().is_empty());
    /// harness.advance(Duration::from_secs(1))?;
    /// assert_eq!(harness.take(), [7]);
    /// # }
    /// # Ok::<(), streamwork::BoxError>(())
    /// ```
    pub fn set_timer_after(&mut self, delay: Duration) {
        self.order(TimerOrder::After(delay));
    }

    /// Takes back the timer of the key for this time; nothing happens if there is none.
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::prelude::*;
    ///
    /// /// Passes an order on at the time that it names, if it is not taken back before.
    /// #[derive(Component, Clone)]
    /// struct Orders;
    ///
    /// impl KeyedOperator for Orders {
    ///     type Key = u32;
    ///     type In = (u32, i64, bool);
    ///     type Out = (u32, i64);
    ///     type State = ();
    ///
    ///     fn apply(
    ///         &mut self,
    ///         _: &u32,
    ///         (_, at, is_valid): Self::In,
    ///         customer: &mut Keyed<()>,
    ///         _: &mut Emitter<Self::Out>,
    ///     ) -> Result<()> {
    ///         let at = EventTime::from_millis(at);
    ///         if is_valid { customer.set_timer(at) } else { customer.cancel_timer(at) }
    ///         Ok(())
    ///     }
    ///
    ///     fn on_timer(
    ///         &mut self,
    ///         customer: &u32,
    ///         at: EventTime,
    ///         _: &mut Keyed<()>,
    ///         out: &mut Emitter<Self::Out>,
    ///     ) -> Result<()> {
    ///         out.emit((*customer, at.as_millis()));
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # #[cfg(feature = "test-util")] {
    /// use streamwork::testing::KeyedHarness;
    ///
    /// let mut harness = KeyedHarness::key_by(Orders, |order: &(u32, i64, bool)| &order.0);
    /// for order in [(7, 20, true), (7, 10, true), (8, 15, true), (7, 20, false), (7, 10, true)] {
    ///     harness.apply(order)?;
    /// }
    /// harness.advance(Duration::from_millis(30))?;
    /// assert_eq!(harness.take(), [(7, 10), (8, 15)]);
    /// # }
    /// # Ok::<(), streamwork::BoxError>(())
    /// ```
    pub fn cancel_timer(&mut self, at: EventTime) {
        self.order(TimerOrder::Cancel(at));
    }

    /// Takes back all timers of the key. [`set_timer_after`](Self::set_timer_after) has an example.
    pub fn cancel_timers(&mut self) {
        self.order(TimerOrder::CancelAll);
    }

    fn order(&mut self, order: TimerOrder) {
        self.orders.get_or_insert_default().0.push(order);
    }

    /// The state of a key that has one.
    #[inline]
    pub(super) fn kept(value: S) -> Self {
        Self { value, mark: Mark::Kept, orders: None }
    }

    /// The state as it is now, and what has become of it.
    #[inline]
    pub(super) fn settle(self) -> (S, Settled, Option<Box<TimerOrders>>) {
        let settled = match self.mark {
            Mark::Absent => Settled::Gone,
            Mark::Kept => Settled::Kept,
            Mark::Changed => Settled::Changed,
        };
        (self.value, settled, self.orders)
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

impl<S: Default + State> Keyed<S> {
    /// The state encoded as for a checkpoint, if there is one: with it the call that follows can be undone.
    pub(crate) fn copy(&self) -> Result<Option<Vec<u8>>, rmp_serde::encode::Error> {
        (!self.is_new()).then(|| rmp_serde::to_vec_named(&self.value)).transpose()
    }

    /// Undoes what was done to the state and to the timers since the copy was made.
    pub(crate) fn put_back(
        &mut self,
        copy: Option<Vec<u8>>,
    ) -> Result<(), rmp_serde::decode::Error> {
        *self = match copy {
            None => Self::new(),
            Some(copy) => Self::kept(rmp_serde::from_slice(&copy)?),
        };
        Ok(())
    }
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
        assert_eq!(new.settle(), (0, Settled::Gone, None));
        let mut state = Keyed::kept(3_u64);
        assert_eq!(*state, 3);
        *state += 1;
        assert_eq!(state.settle(), (4, Settled::Changed, None));
        assert_eq!(Keyed::kept(3_u64).settle(), (3, Settled::Kept, None));
    }

    #[test]
    fn what_is_put_back_leaves_no_trace() {
        for (mut state, was) in [
            (Keyed::kept(3_u64), (3, Settled::Kept, None)),
            (Keyed::new(), (0, Settled::Gone, None)),
        ] {
            let copy = state.copy().unwrap();
            state.set_timer(EventTime::from_millis(1));
            state.take();
            *state += 7;
            state.put_back(copy).unwrap();
            assert_eq!(state.settle(), was);
        }
    }

    #[test]
    fn a_state_that_was_taken_is_gone_unless_it_is_set_again() {
        let mut state = Keyed::kept(3_u64);
        assert_eq!(state.take(), 3);
        *state = 4;
        assert_eq!(state.settle(), (4, Settled::Changed, None));
        let mut state = Keyed::kept(3_u64);
        state.remove();
        assert_eq!(state.settle(), (0, Settled::Gone, None));
    }
}
