//! Two streams for an operator with two inputs.

use super::blueprint::{LogicBlueprint, SideGroupedEdge};
use super::fan_in::Subscription;
use super::grouped::Grouped;
use super::keyed::KeyedStream;
use super::piped::{Begin, Piped};
use super::stage::{NewEdge, NewNode, Stage};
use super::stream::Stream;
use crate::component::Context;
use crate::event::Event;
use crate::grouping::{FieldsBy, Grouping, Shuffle};
use crate::instance::{KeyedTwoInputLogic, LeftOf, RightOf, Side, TwoInputLogic};
use crate::key::KeySelector;
use crate::operator::{KeyedTwoInput, TwoInput};
use crate::step::Steps;
use std::borrow::Borrow;
use std::time::Duration;

/// Two streams, each with its grouping; made by [`Stream::connect`]. [`TwoInput`] has an example.
#[derive(Debug)]
#[must_use = "streams do nothing until an operator is applied"]
pub struct Pair<L, R> {
    pub(super) left: L,
    pub(super) right: R,
}

impl<L: Subscription, R: Subscription> Pair<L, R> {
    /// Applies an operator; each instance is a clone of `operator`. [`TwoInput`] has an example.
    pub fn apply<O>(self, operator: O) -> Stage<O::Out>
    where
        O: TwoInput<Left = L::Event, Right = R::Event> + Clone,
    {
        let node = NewNode::of_operator(operator, |operator| {
            LogicBlueprint::of_prototype(operator, TwoInputLogic)
        });
        node.read(self.subscribe()).into()
    }

    /// Applies an operator whose instances are made by a function, under the given name; as
    /// [`Stream::apply_with`].
    pub fn apply_with<O, F>(self, name: &str, make: F) -> Stage<O::Out>
    where
        O: TwoInput<Left = L::Event, Right = R::Event>,
        F: FnMut(&Context) -> O + Clone + Send + 'static,
    {
        let blueprint = LogicBlueprint::of_function(make, TwoInputLogic);
        NewNode::of_function::<O>(name, blueprint).read(self.subscribe()).into()
    }

    fn subscribe(self) -> Vec<NewEdge> {
        let (left, right) = (self.left.into_grouped(), self.right.into_grouped());
        vec![
            left_edge::<_, R::Event, _>(&left.stream, left.grouping),
            right_edge::<L::Event, _, _>(&right.stream, right.grouping),
        ]
    }
}

/// Two keyed streams; made by [`KeyedStream::connect`]. [`KeyedTwoInput`] has an example.
#[derive(Debug)]
#[must_use = "streams do nothing until an operator is applied"]
pub struct KeyedPair<T, S, U, R> {
    pub(super) left: KeyedStream<T, S>,
    pub(super) right: KeyedStream<U, R>,
}

impl<T, S, U, R> KeyedPair<T, S, U, R>
where
    T: Event,
    S: KeySelector<T>,
    U: Event,
    R: KeySelector<U>,
{
    /// Applies an operator; each instance is a clone of `operator`. [`KeyedTwoInput`] has an example.
    pub fn apply<O>(self, operator: O) -> Stage<O::Out>
    where
        O: KeyedTwoInput<Left = T, Right = U, Key: Borrow<S::Key> + Borrow<R::Key>> + Clone,
        S::Key: ToOwned<Owned = O::Key>,
        R::Key: ToOwned<Owned = O::Key>,
    {
        let (left, right) = (self.left.selector.clone(), self.right.selector.clone());
        let ttl = self.shorter_ttl();
        let node = NewNode::of_operator(operator, |operator| {
            LogicBlueprint::of_prototype(operator, move |operator| {
                KeyedTwoInputLogic::new(operator, left.clone(), right.clone(), ttl)
            })
        });
        node.read(self.subscribe()).into()
    }

    /// Applies an operator whose instances are made by a function, under the given name; as
    /// [`Stream::apply_with`].
    pub fn apply_with<O, F>(self, name: &str, make: F) -> Stage<O::Out>
    where
        O: KeyedTwoInput<Left = T, Right = U, Key: Borrow<S::Key> + Borrow<R::Key>>,
        S::Key: ToOwned<Owned = O::Key>,
        R::Key: ToOwned<Owned = O::Key>,
        F: FnMut(&Context) -> O + Clone + Send + 'static,
    {
        let (left, right) = (self.left.selector.clone(), self.right.selector.clone());
        let ttl = self.shorter_ttl();
        let blueprint = LogicBlueprint::of_function(make, move |operator| {
            KeyedTwoInputLogic::new(operator, left.clone(), right.clone(), ttl)
        });
        NewNode::of_function::<O>(name, blueprint).read(self.subscribe()).into()
    }

    /// Forgets the state of a key that was not changed for so long; as [`KeyedStream::ttl`]. Without it, what
    /// was said of one of the streams holds; of two times, the shorter.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        (self.left.ttl, self.right.ttl) = (Some(ttl), None);
        self
    }

    fn shorter_ttl(&self) -> Option<Duration> {
        [self.left.ttl, self.right.ttl].into_iter().flatten().min()
    }

    fn subscribe(self) -> Vec<NewEdge> {
        let left = FieldsBy::new(self.left.selector);
        let right = FieldsBy::new(self.right.selector);
        let lefts = self.left.streams.iter().map(|s| left_edge::<_, U, _>(s, left.clone()));
        let rights = self.right.streams.iter().map(|s| right_edge::<T, _, _>(s, right.clone()));
        lefts.chain(rights).collect()
    }
}

fn left_edge<L: Event, R: Event, G: Grouping<L>>(stream: &Stream<L>, grouping: G) -> NewEdge {
    let by_key = grouping.by_key();
    let wrap: fn(L) -> Side<L, R> = Side::Left;
    NewEdge::of(stream, by_key, SideGroupedEdge::new(wrap, LeftOf(grouping)))
}

fn right_edge<L: Event, R: Event, G: Grouping<R>>(stream: &Stream<R>, grouping: G) -> NewEdge {
    let by_key = grouping.by_key();
    let wrap: fn(R) -> Side<L, R> = Side::Right;
    NewEdge::of(stream, by_key, SideGroupedEdge::new(wrap, RightOf(grouping))).on_the_right()
}

impl<T: Event> Stream<T> {
    /// Puts another stream beside this one, for an operator with [two inputs](crate::TwoInput), which
    /// has an example. Either may be grouped before.
    pub fn connect<R: Subscription>(&self, right: R) -> Pair<Grouped<T, Shuffle>, R> {
        Pair { left: self.group(Shuffle::new()), right }
    }
}

impl<S: Event, C: Steps<S>, B: Begin<S>> Piped<S, C, B> {
    /// As [`Stream::connect`].
    pub fn connect<R: Subscription>(self, right: R) -> Pair<Grouped<C::Out, Shuffle>, R> {
        self.boxed().connect(right)
    }
}

impl<T: Event, G: Grouping<T>> Grouped<T, G> {
    /// As [`Stream::connect`].
    pub fn connect<R: Subscription>(self, right: R) -> Pair<Self, R> {
        Pair { left: self, right }
    }
}

impl<T: Event, S: KeySelector<T>> KeyedStream<T, S> {
    /// Puts another keyed stream beside this one, for an operator with [two keyed
    /// inputs](crate::KeyedTwoInput), which has an example.
    pub fn connect<U, R>(self, right: KeyedStream<U, R>) -> KeyedPair<T, S, U, R>
    where
        U: Event,
        R: KeySelector<U>,
    {
        KeyedPair { left: self, right }
    }
}
