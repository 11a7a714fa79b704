//! [`TwoInput`]: logic that reads two streams of different events.

use crate::component::{Component, Context, Result};
use crate::emitter::Emitter;
use crate::event::{Event, Storable};
use crate::key::Key;
use crate::state::{Keyed, State};
use crate::time::EventTime;

/// An operator with two inputs. Between the two there is no order; each for itself keeps its own.
///
/// With one input grouped to [`All`](crate::All) instances it is the form for rules that every instance
/// must know, while the events on the other side are spread:
///
/// ```
/// use streamwork::prelude::*;
///
/// /// Passes on what is heavier than the last limit that it heard of.
/// #[derive(Component, Clone, Default)]
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
/// let heavy = Collect::new();
/// let job = Job::new("heavy");
/// let weights = job.source(FromIter::new([3_u64, 9])).named("weights");
/// let limits = job.source(FromIter::new([0_u64])).named("limits");
/// weights.connect(limits.group(All)).apply(Limit::default()).parallelism(2).sink(heavy.clone());
/// Engine::new().run(job).unwrap();
/// let mut heavy = heavy.take();
/// heavy.sort();
/// assert_eq!(heavy, [3, 9]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has not two inputs",
    note = "implement `TwoInput` for it; two keyed streams take a `KeyedTwoInput`; streams of the same \
            type go together in `Streams::of(..)`"
)]
pub trait TwoInput: Component {
    /// What it takes in from the stream that `connect` was called on.
    type Left: Event;
    /// What it takes in from the stream that was connected.
    type Right: Event;
    /// What it emits.
    type Out: Event;

    /// Called once before the first event, and again after a restart.
    ///
    /// # Errors
    /// At the first start an error ends the job; after a restart it uses up one more try.
    ///
    /// # Panics
    /// A panic is caught, and counts as an error.
    fn setup(&mut self, ctx: &Context) -> Result<()> {
        let _ = ctx;
        Ok(())
    }

    /// Called once for each event from the left.
    ///
    /// # Errors
    /// As [`Operator::apply`](crate::Operator::apply).
    ///
    /// # Panics
    /// As `Operator::apply`.
    fn apply_left(&mut self, event: Self::Left, out: &mut Emitter<Self::Out>) -> Result<()>;

    /// Called once for each event from the right.
    ///
    /// # Errors
    /// As [`Operator::apply`](crate::Operator::apply).
    ///
    /// # Panics
    /// As `Operator::apply`.
    fn apply_right(&mut self, event: Self::Right, out: &mut Emitter<Self::Out>) -> Result<()>;

    /// Called once after the last event of both sides; as
    /// [`Operator::finish`](crate::Operator::finish).
    ///
    /// # Errors
    /// The job fails with it.
    ///
    /// # Panics
    /// A panic is caught; the job fails with it.
    fn finish(&mut self, out: &mut Emitter<Self::Out>) -> Result<()> {
        let _ = out;
        Ok(())
    }
}

/// An operator with two keyed inputs: whichever side an event comes from, it gets the state of its key.
///
/// ```
/// use streamwork::prelude::*;
///
/// /// Joins vehicles with the last temperature of their zone.
/// #[derive(Component, Clone)]
/// struct WithTemperature;
///
/// impl KeyedTwoInput for WithTemperature {
///     type Key = u32;
///     type Left = (u32, String);
///     type Right = (u32, i64);
///     type Out = (String, Option<i64>);
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
/// let got = Collect::new();
/// let job = Job::new("join");
/// let vehicles = job.source(FromIter::new([(7_u32, "car".to_owned())])).named("vehicles");
/// let temperatures = job.source(FromIter::new([(8_u32, 21_i64)])).named("temperatures");
/// vehicles
///     .key_by(|v: &(u32, String)| &v.0)
///     .connect(temperatures.key_by(|t: &(u32, i64)| &t.0))
///     .apply(WithTemperature)
///     .sink(got.clone());
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.take(), [("car".to_owned(), None)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has not two keyed inputs",
    note = "implement `KeyedTwoInput` for it; streams that are grouped and not keyed take a `TwoInput`"
)]
pub trait KeyedTwoInput: Component {
    /// What the events of both sides are keyed by.
    type Key: Key + Storable + Clone + Send + 'static;
    /// What it takes in from the stream that `connect` was called on.
    type Left: Event;
    /// What it takes in from the stream that was connected.
    type Right: Event;
    /// What it emits.
    type Out: Event;
    /// What it remembers of a key; a key begins with the default.
    type State: Default + State;

    /// Called once before the first event, and again after a restart.
    ///
    /// # Errors
    /// At the first start an error ends the job; after a restart it uses up one more try.
    ///
    /// # Panics
    /// A panic is caught, and counts as an error.
    fn setup(&mut self, ctx: &Context) -> Result<()> {
        let _ = ctx;
        Ok(())
    }

    /// Called once for each event from the left, with the state of its key.
    ///
    /// # Errors
    /// As [`KeyedOperator::apply`](crate::KeyedOperator::apply).
    ///
    /// # Panics
    /// As `KeyedOperator::apply`.
    fn apply_left(
        &mut self,
        key: &Self::Key,
        event: Self::Left,
        state: &mut Keyed<Self::State>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()>;

    /// Called once for each event from the right, with the state of its key.
    ///
    /// # Errors
    /// As [`KeyedOperator::apply`](crate::KeyedOperator::apply).
    ///
    /// # Panics
    /// As `KeyedOperator::apply`.
    fn apply_right(
        &mut self,
        key: &Self::Key,
        event: Self::Right,
        state: &mut Keyed<Self::State>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()>;

    /// Called when a [timer](Keyed::set_timer) of a key is due; as
    /// [`KeyedOperator::on_timer`](crate::KeyedOperator::on_timer), which has an example.
    ///
    /// # Errors
    /// As [`KeyedOperator::on_timer`](crate::KeyedOperator::on_timer).
    ///
    /// # Panics
    /// As `KeyedOperator::on_timer`.
    fn on_timer(
        &mut self,
        key: &Self::Key,
        at: EventTime,
        state: &mut Keyed<Self::State>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        let _ = (key, at, state, out);
        Ok(())
    }

    /// Called once for each key that has state, after the last event of both sides; as
    /// [`KeyedOperator::finish`](crate::KeyedOperator::finish).
    ///
    /// # Errors
    /// The job fails with it.
    ///
    /// # Panics
    /// A panic is caught; the job fails with it.
    fn finish(
        &mut self,
        key: &Self::Key,
        state: &mut Keyed<Self::State>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()> {
        let _ = (key, state, out);
        Ok(())
    }
}
