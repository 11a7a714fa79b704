//! [`KeyedOperator`]: logic with state that belongs to keys.

use crate::component::{Component, Context, Result};
use crate::emitter::Emitter;
use crate::event::{Event, Storable};
use crate::key::Key;
use crate::state::{Keyed, State};
use crate::time::EventTime;

/// An operator of a keyed stream: with each event it gets the state of the event's key.
///
/// The engine owns the states. A key is always at home in one instance, whatever sends to it, so the
/// state of a key can't be in two places. What the struct itself holds belongs to the instance, and is
/// for what is not by key: a table that `setup` loads, a connection.
///
/// ```
/// use streamwork::prelude::*;
///
/// /// Counts vehicles by kind.
/// #[derive(Component, Clone)]
/// #[component(name = "vehicle-counter")]
/// struct VehicleCounter;
///
/// impl KeyedOperator for VehicleCounter {
///     type Key = String;
///     type In = String;
///     type Out = (String, u64);
///     type State = u64;
///
///     fn apply(
///         &mut self,
///         kind: &String,
///         _: String,
///         count: &mut Keyed<u64>,
///         out: &mut Emitter<Self::Out>,
///     ) -> Result<()> {
///         **count += 1;
///         out.emit((kind.clone(), **count));
///         Ok(())
///     }
/// }
///
/// let counts = Collect::new();
/// let job = Job::new("vehicles");
/// job.source(FromIter::new(["car", "van", "car"].map(String::from)))
///     .key_by(|kind: &String| kind)
///     .apply(VehicleCounter)
///     .sink(counts.clone());
/// Engine::new().run(job).unwrap();
/// assert_eq!(counts.take(), [("car".into(), 1), ("van".into(), 1), ("car".into(), 2)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no keyed operator",
    note = "implement `KeyedOperator` for it; an `Operator` goes on a stream that is grouped and not \
            keyed: use `.group(Fields::on(..)).apply(..)`"
)]
pub trait KeyedOperator: Component {
    /// What its events are keyed by.
    type Key: Key + Storable + Clone + Send + 'static;
    /// What it takes in.
    type In: Event;
    /// What it emits; [`Nothing`](crate::Nothing) if it never does.
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

    /// Called once for each event, with the state of its key. A key whose state was never changed, or
    /// was [taken](Keyed::take), is forgotten after the call.
    ///
    /// # Errors
    /// As [`Operator::apply`](crate::Operator::apply): the event is lost, what was emitted for it is
    /// taken back, and the state is kept as it was left, or as it was before if
    /// [`on_error`](crate::OnError) asks for it.
    ///
    /// # Panics
    /// As `Operator::apply`. The instance is built anew **without its keys**; in a job with checkpoints, with those of
    /// the last one.
    fn apply(
        &mut self,
        key: &Self::Key,
        event: Self::In,
        state: &mut Keyed<Self::State>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()>;

    /// Called when a [timer](Keyed::set_timer) of a key is due, with the time that it was set for and the
    /// state of the key, which is the default if it has none. The timer is gone by then; it may be set again.
    ///
    /// Timers fire in the order of their times, between events. They follow the time of day, to the
    /// millisecond, and may be late: while those after it hold the instance back, while it waits for the
    /// barriers of a checkpoint, or when events take long. Where the clock is set back they go on as if it
    /// had not been. With checkpoints a timer is saved with the state, and its effect counts once, as that of
    /// an event does; what fell due while the job was down fires before the first event. Elsewhere timers
    /// are as lasting as the state.
    ///
    /// Once the data has come to its end no timer fires any more: [`finish`](Self::finish) is the end.
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::prelude::*;
    ///
    /// /// Emits the number of events of a key, nearly a second after the first of them.
    /// #[derive(Component, Clone)]
    /// struct PerSecond;
    ///
    /// impl KeyedOperator for PerSecond {
    ///     type Key = u64;
    ///     type In = u64;
    ///     type Out = (u64, u64);
    ///     type State = u64;
    ///
    ///     fn apply(
    ///         &mut self,
    ///         _: &u64,
    ///         _: u64,
    ///         n: &mut Keyed<u64>,
    ///         _: &mut Emitter<Self::Out>,
    ///     ) -> Result<()> {
    ///         if n.is_new() {
    ///             n.set_timer_after(Duration::from_millis(950));
    ///         }
    ///         **n += 1;
    ///         Ok(())
    ///     }
    ///
    ///     fn on_timer(
    ///         &mut self,
    ///         key: &u64,
    ///         _: EventTime,
    ///         n: &mut Keyed<u64>,
    ///         out: &mut Emitter<Self::Out>,
    ///     ) -> Result<()> {
    ///         out.emit((*key, n.take()));
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let counts = Collect::new();
    /// let job = Job::new("counts");
    /// // ten events a second, of two keys
    /// job.source(FromIter::new(0..24_u64).splits(1))
    ///     .rate(10.0)
    ///     .key_by_value(|n: &u64| n % 2)
    ///     .apply(PerSecond)
    ///     .sink(counts.clone());
    /// # #[cfg(feature = "test-util")] {
    /// let outcome = streamwork::testing::run(job)?;
    /// assert_eq!(counts.take(), [(0, 5), (1, 5), (0, 5), (1, 5)]);
    /// assert_eq!(outcome.component("per-second").unwrap().timers, 4);
    /// # }
    /// # Ok::<(), streamwork::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`apply`](Self::apply): the timer is lost, and what was emitted for it is taken back.
    ///
    /// # Panics
    /// As `apply`.
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

    /// Called once for each key that has state, in no particular order, after the last event, if the
    /// job comes to its end or is drained: the moment to emit what was gathered. A state that is not taken
    /// stays, and can be read in the last checkpoint.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// /// The number of events of each key, at the end.
    /// #[derive(Component, Clone)]
    /// struct Totals;
    ///
    /// impl KeyedOperator for Totals {
    ///     type Key = u64;
    ///     type In = u64;
    ///     type Out = (u64, u64);
    ///     type State = u64;
    ///
    ///     fn apply(
    ///         &mut self,
    ///         _: &u64,
    ///         _: u64,
    ///         n: &mut Keyed<u64>,
    ///         _: &mut Emitter<Self::Out>,
    ///     ) -> Result<()> {
    ///         **n += 1;
    ///         Ok(())
    ///     }
    ///
    ///     fn finish(
    ///         &mut self,
    ///         key: &u64,
    ///         n: &mut Keyed<u64>,
    ///         out: &mut Emitter<Self::Out>,
    ///     ) -> Result<()> {
    ///         out.emit((*key, **n));
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let totals = Collect::new();
    /// let job = Job::new("totals");
    /// job.source(FromIter::new(0..10_u64))
    ///     .key_by_value(|n: &u64| n % 3)
    ///     .apply(Totals)
    ///     .sink(totals.clone());
    /// Engine::new().run(job).unwrap();
    /// let mut totals = totals.take();
    /// totals.sort();
    /// assert_eq!(totals, [(0, 4), (1, 3), (2, 3)]);
    /// ```
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
