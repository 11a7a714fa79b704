//! [`Operator`]: logic between two streams.

use crate::component::{Component, Context, Result};
use crate::emitter::Emitter;
use crate::event::Event;

/// Turns each event of one stream into any number of events of another.
///
/// ```
/// use std::collections::BTreeMap;
/// use streamwork::prelude::*;
///
/// #[derive(Component, Clone, Default)]
/// #[component(name = "vehicle-counter")]
/// struct VehicleCounter {
///     counts: BTreeMap<String, u64>,
/// }
///
/// impl Operator for VehicleCounter {
///     type In = String;
///     type Out = (String, u64);
///
///     fn apply(&mut self, kind: String, out: &mut Emitter<Self::Out>) -> Result<()> {
///         let count = self.counts.entry(kind.clone()).or_default();
///         *count += 1;
///         out.emit((kind, *count));
///         Ok(())
///     }
/// }
///
/// let mut out = Emitter::new();
/// VehicleCounter::default().apply("car".into(), &mut out).unwrap();
/// assert_eq!(out.as_slice(), [("car".into(), 1)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operator",
    note = "implement `Operator` for it; what only takes events in is a `Sink`: use `.sink(..)`; a \
            closure is no operator: write a struct"
)]
pub trait Operator: Component {
    /// What it takes in.
    type In: Event;
    /// What it emits; [`Nothing`](crate::Nothing) if it never does.
    type Out: Event;

    /// Called once before the first event, and again after a restart.
    ///
    /// # Errors
    /// At the first start an error ends the job; after a restart it uses up one more try.
    fn setup(&mut self, ctx: &Context) -> Result<()> {
        let _ = ctx;
        Ok(())
    }

    /// Called once for each event that is delivered here.
    ///
    /// # Errors
    /// The event counts as failed and what was emitted for it is taken back; what follows depends
    /// on the job's delivery semantic.
    ///
    /// # Panics
    /// A panic is caught: the event has failed, and the instance is built anew.
    fn apply(&mut self, event: Self::In, out: &mut Emitter<Self::Out>) -> Result<()>;

    /// Called once after the last event, if the job comes to its end.
    ///
    /// # Errors
    /// The job fails with it.
    fn finish(&mut self, out: &mut Emitter<Self::Out>) -> Result<()> {
        let _ = out;
        Ok(())
    }
}
