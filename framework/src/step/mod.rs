//! Closures on edges: small steps that need no component, no mailbox and no thread of their own.
//!
//! `map`, `filter`, `flat_map` and `inspect` on a stream are *steps*. Those that follow one another are
//! fused by type into one loop over the events of a batch, which runs in the emitting instance before
//! the events are routed: what a filter drops is never sent. Steps see events by reference, so that
//! several edges can look at one batch and a loop can go on after a failing event.
//!
//! The types are only spelled where a chain is handed on:
//!
//! ```
//! use streamwork::prelude::*;
//! use streamwork::step::Steps;
//! use streamwork::{Begin, Piped};
//!
//! fn positive<S, C, B>(numbers: Piped<S, C, B>) -> Stream<i64>
//! where
//!     S: Event,
//!     C: Steps<S, Out = i64>,
//!     B: Begin<S>,
//! {
//!     numbers.filter(|n| *n > 0).boxed()
//! }
//!
//! let got = Collect::new();
//! let job = Job::new("positive");
//! positive(job.source(FromIter::new([1_i64, 2])).map(|n| 3 - 2 * n)).sink(got.clone());
//! Engine::new().run(job).unwrap();
//! assert_eq!(got.take(), [1]);
//! ```
//!
//! A step loses at most the event at hand. Its outputs are cut back, it is counted and logged under the
//! step's name, and neither its neighbours nor the component that emitted it notice.

mod failures;
mod kinds;

pub use failures::Failures;
pub(crate) use failures::StepInfo;
pub use kinds::{Filter, FlatMap, Here, Inspect, Map, TryMap};

use crate::event::Event;
use crate::guard::drop_each;
use std::slice;

mod sealed {
    /// Only the steps of this module are steps.
    pub trait Sealed {}
}

/// Steps that follow one another, as one type. Nothing else can be one.
pub trait Steps<S>: sealed::Sealed + Clone + Send + 'static {
    /// What they turn events of type `S` into.
    type Out: Event;

    /// An event between two steps: the one that came in, or one that a step has made.
    type Item<'a>: Held<Self::Out>
    where
        Self: 'a,
        S: 'a;

    /// Whether an event can become several.
    const EXPANDS: bool;

    /// Whether a step may return an error.
    const FAILS: bool;

    /// Leads one event through all steps, and hands over what comes out in the end.
    fn lead<'a>(&'a self, event: &'a S, failures: &Failures, push: &mut impl FnMut(Self::Item<'a>));
}

/// An event that is borrowed or owned.
pub trait Held<T> {
    /// A look at it.
    fn get(&self) -> &T;

    /// The event itself: a clone if it was borrowed.
    fn take(self) -> T;
}

/// A borrowed event.
impl<T: Clone> Held<T> for &T {
    #[inline]
    fn get(&self) -> &T {
        self
    }

    #[inline]
    fn take(self) -> T {
        self.clone()
    }
}

/// An event that a step has made.
#[derive(Debug)]
pub struct Made<T>(T);

impl<T> Held<T> for Made<T> {
    #[inline]
    fn get(&self) -> &T {
        &self.0
    }

    #[inline]
    fn take(self) -> T {
        self.0
    }
}

/// How a run through events came to its end.
pub(crate) enum Pass {
    /// There are no more.
    Done,
    /// Enough was made for a batch.
    Full,
    /// The last event taken was lost to an error.
    Failed,
}

/// What became of the events of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Led to nothing.
    pub(crate) filtered: u64,
    /// Made beyond the first of each event.
    pub(crate) expanded: u64,
}

/// Cuts off what a lost event has made so far, by whatever path it was lost.
struct Cut<'a, T> {
    made: &'a mut Vec<T>,
    mark: usize,
}

impl<T> Drop for Cut<'_, T> {
    fn drop(&mut self) {
        // Perhaps a panic unwinds already: a second one must end here.
        drop_each(self.made.drain(self.mark..));
    }
}

/// Leads events through the steps until one fails or `most` are made; for these `made` has room.
///
/// Kept apart from its caller, and small, for the compiler's sake. For the same reason room is looked
/// for before an event is taken: the compiler then sees that there is some, and works out what a filter
/// leaves out only as far as the filter needs it.
#[inline(never)]
pub(crate) fn pass<S, C: Steps<S>>(
    steps: &C,
    events: &mut slice::Iter<'_, S>,
    failures: &Failures,
    made: &mut Vec<C::Out>,
    most: usize,
    tally: &mut Tally,
) -> Pass {
    loop {
        let mark = made.len();
        if mark == made.capacity() || C::EXPANDS && mark >= most {
            return Pass::Full;
        }
        let Some(event) = events.next() else { return Pass::Done };
        let cut = Cut { mark, made: &mut *made };
        steps.lead(event, failures, &mut |item| cut.made.push(item.take()));
        if C::FAILS && failures.failed() {
            return Pass::Failed;
        }
        std::mem::forget(cut);
        if C::EXPANDS {
            let outputs = (made.len() - mark) as u64;
            tally.filtered += u64::from(outputs == 0);
            tally.expanded += outputs.saturating_sub(1);
        }
    }
}
