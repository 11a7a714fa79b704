//! [`KeyedStream`]: streams whose events belong to keys.

use super::blueprint::LogicBlueprint;
use super::fan_in::Streams;
use super::piped::{Begin, Piped};
use super::stage::{NewEdge, NewNode, Stage};
use super::stream::Stream;
use crate::component::Context;
use crate::event::{Event, Storable};
use crate::grouping::FieldsBy;
use crate::instance::KeyedLogic;
use crate::key::{Key, KeyBy, KeyOn, KeySelector};
use crate::operator::{Fold, KeyedOperator};
use crate::state::State;
use crate::step::Steps;
use std::borrow::Borrow;
use std::fmt;
use std::time::Duration;

/// A stream, or several, whose events belong to keys; made by [`Stream::key_by`]. A
/// [`KeyedOperator`](crate::KeyedOperator) applied to it gets with each event the state of its key.
///
/// ```compile_fail
/// use streamwork::prelude::*;
///
/// let job = Job::new("loose");
/// // windows, states and folds need a key: this does not compile
/// job.source(FromIter::new(1..=3_u64)).fold(0_u64, |sum, n| *sum += n);
/// ```
pub struct KeyedStream<T, S> {
    pub(super) streams: Vec<Stream<T>>,
    pub(super) selector: S,
    /// How long the state of a key lives after its last change, if not for ever.
    pub(super) ttl: Option<Duration>,
}

impl<T: Event, S: KeySelector<T>> KeyedStream<T, S> {
    /// Applies a keyed operator; each instance is a clone of `operator`.
    /// [`KeyedOperator`](crate::KeyedOperator) has an example.
    pub fn apply<O>(self, operator: O) -> Stage<O::Out>
    where
        O: KeyedOperator<In = T, Key: Borrow<S::Key>> + Clone,
        S::Key: ToOwned<Owned = O::Key>,
    {
        let (selector, ttl) = (self.selector.clone(), self.ttl);
        let node = NewNode::of_operator(operator, |operator| {
            LogicBlueprint::of_prototype(operator, move |operator| {
                KeyedLogic::new(operator, selector.clone(), ttl)
            })
        });
        node.read(self.subscribe()).into()
    }

    /// Applies a keyed operator whose instances are made by a function.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// #[derive(Component)]
    /// struct CountBy(u64);
    ///
    /// impl KeyedOperator for CountBy {
    ///     type Key = u64;
    ///     type In = u64;
    ///     type Out = u64;
    ///     type State = u64;
    ///
    ///     fn apply(
    ///         &mut self,
    ///         _: &u64,
    ///         _: u64,
    ///         n: &mut Keyed<u64>,
    ///         out: &mut Emitter<u64>,
    ///     ) -> Result<()> {
    ///         **n += self.0;
    ///         out.emit(**n);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let got = Collect::new();
    /// let job = Job::new("by-tens");
    /// job.source(FromIter::new([7_u64, 7]))
    ///     .key_by(|n: &u64| n)
    ///     .apply_with("tens", |_| CountBy(10))
    ///     .sink(got.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.take(), [10, 20]);
    /// ```
    pub fn apply_with<O, F>(self, name: &str, make: F) -> Stage<O::Out>
    where
        O: KeyedOperator<In = T, Key: Borrow<S::Key>>,
        S::Key: ToOwned<Owned = O::Key>,
        F: FnMut(&Context) -> O + Clone + Send + 'static,
    {
        let (selector, ttl) = (self.selector.clone(), self.ttl);
        let node = NewNode::of_function::<O>(
            name,
            LogicBlueprint::of_function(make, move |operator| {
                KeyedLogic::new(operator, selector.clone(), ttl)
            }),
        );
        node.read(self.subscribe()).into()
    }

    /// Folds the events of each key into one value, and emits key and value with each event.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let sums = Collect::new();
    /// let job = Job::new("sums");
    /// job.source(FromIter::new(1..=4_u64))
    ///     .key_by_value(|n: &u64| n % 2)
    ///     .fold(0_u64, |sum, n| *sum += n)
    ///     .sink(sums.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(sums.take(), [(1, 1), (0, 2), (1, 4), (0, 6)]);
    /// ```
    ///
    /// # Panics
    /// A panic of the closure is caught. The event is lost, and the instance is built anew without its
    /// keys.
    pub fn fold<K, A, F>(self, initial: A, step: F) -> Stage<(K, A)>
    where
        S::Key: ToOwned<Owned = K>,
        K: Key + Event + Storable + Borrow<S::Key>,
        A: Event + State,
        F: Fn(&mut A, &T) + Clone + Send + 'static,
    {
        self.apply(Fold::new(initial, step))
    }

    /// Gives the states of the operator that follows a time to live: the state of a key that was not changed
    /// for so long is forgotten, as if it had [removed](crate::Keyed::remove) it itself. Nothing is called and
    /// nothing is emitted for it. The next event of the key begins anew.
    ///
    /// Reading prolongs no life, and setting a timer doesn't either; [timers](crate::Keyed::set_timer) of the
    /// key stay. The state is never seen again once its time is over; its memory, and its place in
    /// checkpoints, are given back within half of that time more. Times are counted to the millisecond, one
    /// at least, by the time of day: they go on while a job with checkpoints is down.
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::prelude::*;
    ///
    /// let sums = Collect::new();
    /// let job = Job::new("sums");
    /// // an event each 100 ms; the time between the second and the fourth of key 1 is too long
    /// job.source(FromIter::new([0_u64, 1, 0, 0, 0, 0, 1]).splits(1))
    ///     .rate(10.0)
    ///     .key_by_value(|n: &u64| *n)
    ///     .ttl(Duration::from_millis(250))
    ///     .fold(0_u64, |count, _| *count += 1)
    ///     .sink(sums.clone());
    /// # #[cfg(feature = "test-util")] {
    /// streamwork::testing::run(job)?;
    /// assert_eq!(sums.take(), [(0, 1), (1, 1), (0, 2), (0, 3), (0, 4), (0, 5), (1, 1)]);
    /// # }
    /// # Ok::<(), streamwork::Error>(())
    /// ```
    #[must_use]
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    fn subscribe(self) -> Vec<NewEdge> {
        let grouping = FieldsBy::new(self.selector);
        let edges = self.streams.iter().map(|stream| stream.group(grouping.clone()).subscribe());
        edges.collect()
    }
}

impl<T, S> fmt::Debug for KeyedStream<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyedStream").field(&self.streams).finish()
    }
}

impl<T: Event> Stream<T> {
    /// Keys the stream by a part of each event, for a [`KeyedOperator`](crate::KeyedOperator), which has an
    /// example.
    ///
    /// # Panics
    /// A panic of the closure is caught: the event is lost and counted, and no state is touched.
    pub fn key_by<K, F>(&self, key: F) -> KeyedStream<T, KeyOn<K, F>>
    where
        K: Key + ?Sized + 'static,
        F: for<'a> Fn(&'a T) -> &'a K + Clone + Send + 'static,
    {
        KeyedStream { streams: vec![self.clone()], selector: KeyOn::new(key), ttl: None }
    }

    /// Keys the stream by a key that is made from each event; as [`key_by`](Self::key_by).
    /// [`KeyedStream::fold`] has an example.
    pub fn key_by_value<K, F>(&self, key: F) -> KeyedStream<T, KeyBy<K, F>>
    where
        K: Key + 'static,
        F: Fn(&T) -> K + Clone + Send + 'static,
    {
        KeyedStream { streams: vec![self.clone()], selector: KeyBy::new(key), ttl: None }
    }
}

impl<S: Event, C: Steps<S>, B: Begin<S>> Piped<S, C, B> {
    /// As [`Stream::key_by`].
    pub fn key_by<K, F>(self, key: F) -> KeyedStream<C::Out, KeyOn<K, F>>
    where
        K: Key + ?Sized + 'static,
        F: for<'a> Fn(&'a C::Out) -> &'a K + Clone + Send + 'static,
    {
        self.boxed().key_by(key)
    }

    /// As [`Stream::key_by_value`].
    pub fn key_by_value<K, F>(self, key: F) -> KeyedStream<C::Out, KeyBy<K, F>>
    where
        K: Key + 'static,
        F: Fn(&C::Out) -> K + Clone + Send + 'static,
    {
        self.boxed().key_by_value(key)
    }
}

impl<T: Event> Streams<T> {
    /// As [`Stream::key_by`]. All streams are keyed alike, whatever grouping they had.
    pub fn key_by<K, F>(self, key: F) -> KeyedStream<T, KeyOn<K, F>>
    where
        K: Key + ?Sized + 'static,
        F: for<'a> Fn(&'a T) -> &'a K + Clone + Send + 'static,
    {
        KeyedStream { streams: self.into_vec(), selector: KeyOn::new(key), ttl: None }
    }

    /// As [`Stream::key_by_value`]. All streams are keyed alike, whatever grouping they had.
    pub fn key_by_value<K, F>(self, key: F) -> KeyedStream<T, KeyBy<K, F>>
    where
        K: Key + 'static,
        F: Fn(&T) -> K + Clone + Send + 'static,
    {
        KeyedStream { streams: self.into_vec(), selector: KeyBy::new(key), ttl: None }
    }
}
