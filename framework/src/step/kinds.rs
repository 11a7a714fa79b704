//! The kinds of steps.

use super::sealed::Sealed;
use super::{Failures, Held, Made, Steps};
use crate::component::Result;
use crate::event::Event;
use std::fmt;
use std::marker::PhantomData;

/// No step: where a chain begins.
#[derive(Clone, Copy, Debug, Default)]
pub struct Here;

impl Sealed for Here {}

impl<S: Event> Steps<S> for Here {
    type Out = S;
    type Item<'a> = &'a S;

    const EXPANDS: bool = false;
    const FAILS: bool = false;

    #[inline(always)]
    fn lead<'a>(&'a self, event: &'a S, _: &Failures, push: &mut impl FnMut(&'a S)) {
        push(event);
    }
}

macro_rules! step {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name<C, T, F> {
            before: C,
            call: F,
            index: usize,
            events: PhantomData<fn() -> T>,
        }

        impl<C, T, F> $name<C, T, F> {
            /// The step after `before`, which has `index` steps.
            pub(crate) fn after(before: C, index: usize, call: F) -> Self {
                Self { before, call, index, events: PhantomData }
            }
        }

        impl<C, T, F> Sealed for $name<C, T, F> {}

        impl<C: Clone, T, F: Clone> Clone for $name<C, T, F> {
            fn clone(&self) -> Self {
                Self::after(self.before.clone(), self.index, self.call.clone())
            }
        }

        impl<C, T, F> fmt::Debug for $name<C, T, F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "#{}"), self.index)
            }
        }
    };
}

step!(
    /// The step that [`Stream::map`](crate::Stream::map) adds; `T` is what it takes.
    Map
);
step!(
    /// The step that [`Stream::try_map`](crate::Stream::try_map) adds.
    TryMap
);
step!(
    /// The step that [`Stream::filter`](crate::Stream::filter) adds.
    Filter
);
step!(
    /// The step that [`Stream::flat_map`](crate::Stream::flat_map) adds.
    FlatMap
);
step!(
    /// The step that [`Stream::inspect`](crate::Stream::inspect) adds.
    Inspect
);

impl<S, C, U, F> Steps<S> for Map<C, U, F>
where
    S: 'static,
    C: Steps<S>,
    U: Event,
    F: Fn(&C::Out) -> U + Clone + Send + 'static,
{
    type Out = U;
    type Item<'a> = Made<U>;

    const EXPANDS: bool = C::EXPANDS;
    const FAILS: bool = C::FAILS;

    #[inline(always)]
    fn lead<'a>(
        &'a self,
        event: &'a S,
        failures: &Failures,
        push: &mut impl FnMut(Self::Item<'a>),
    ) {
        self.before.lead(event, failures, &mut |item| {
            push(Made(failures.watch(self.index, || (self.call)(item.get()))));
        });
    }
}

impl<S, C, U, F> Steps<S> for TryMap<C, U, F>
where
    S: 'static,
    C: Steps<S>,
    U: Event,
    F: Fn(&C::Out) -> Result<U> + Clone + Send + 'static,
{
    type Out = U;
    type Item<'a> = Made<U>;

    const EXPANDS: bool = C::EXPANDS;
    const FAILS: bool = true;

    #[inline(always)]
    fn lead<'a>(
        &'a self,
        event: &'a S,
        failures: &Failures,
        push: &mut impl FnMut(Self::Item<'a>),
    ) {
        self.before.lead(event, failures, &mut |item| match failures
            .watch(self.index, || (self.call)(item.get()))
        {
            Ok(made) => push(Made(made)),
            Err(error) => failures.note(self.index, error),
        });
    }
}

impl<S, C, F> Steps<S> for Filter<C, C::Out, F>
where
    S: 'static,
    C: Steps<S>,
    F: Fn(&C::Out) -> bool + Clone + Send + 'static,
{
    type Out = C::Out;
    type Item<'a> = C::Item<'a>;

    const EXPANDS: bool = C::EXPANDS;
    const FAILS: bool = C::FAILS;

    #[inline(always)]
    fn lead<'a>(
        &'a self,
        event: &'a S,
        failures: &Failures,
        push: &mut impl FnMut(Self::Item<'a>),
    ) {
        self.before.lead(event, failures, &mut |item| {
            if failures.watch(self.index, || (self.call)(item.get())) {
                push(item);
            }
        });
    }
}

impl<S, C, U, I, F> Steps<S> for FlatMap<C, (U, I), F>
where
    S: 'static,
    C: Steps<S>,
    U: Event,
    I: IntoIterator<Item = U> + 'static,
    F: Fn(&C::Out) -> I + Clone + Send + 'static,
{
    type Out = U;
    type Item<'a> = Made<U>;

    const EXPANDS: bool = true;
    const FAILS: bool = C::FAILS;

    #[inline(always)]
    fn lead<'a>(
        &'a self,
        event: &'a S,
        failures: &Failures,
        push: &mut impl FnMut(Self::Item<'a>),
    ) {
        self.before.lead(event, failures, &mut |item| {
            let mut made = failures.watch(self.index, || (self.call)(item.get()).into_iter());
            while let Some(made) = failures.watch(self.index, || made.next()) {
                push(Made(made));
            }
        });
    }
}

impl<S, C, F> Steps<S> for Inspect<C, C::Out, F>
where
    S: 'static,
    C: Steps<S>,
    F: Fn(&C::Out) + Clone + Send + 'static,
{
    type Out = C::Out;
    type Item<'a> = C::Item<'a>;

    const EXPANDS: bool = C::EXPANDS;
    const FAILS: bool = C::FAILS;

    #[inline(always)]
    fn lead<'a>(
        &'a self,
        event: &'a S,
        failures: &Failures,
        push: &mut impl FnMut(Self::Item<'a>),
    ) {
        self.before.lead(event, failures, &mut |item| {
            failures.watch(self.index, || (self.call)(item.get()));
            push(item);
        });
    }
}
