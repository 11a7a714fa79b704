//! [`KeyedOperator`]: logic with state that belongs to keys.

use crate::component::{Component, Context, Result};
use crate::emitter::Emitter;
use crate::event::{Event, Storable};
use crate::key::Key;
use crate::state::{Keyed, State};

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
    type Key: Key + Storable + Send + 'static;
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
    /// taken back, and the state is kept as it was left.
    ///
    /// # Panics
    /// As `Operator::apply`. The instance is built anew **without its keys**.
    fn apply(
        &mut self,
        key: &Self::Key,
        event: Self::In,
        state: &mut Keyed<Self::State>,
        out: &mut Emitter<Self::Out>,
    ) -> Result<()>;

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
