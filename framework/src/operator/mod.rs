//! [`Operator`]: logic between streams, and its forms for keyed streams and for two inputs.

mod fold;
mod keyed;
mod two_input;

pub use fold::Fold;
pub use keyed::KeyedOperator;
pub use two_input::{KeyedTwoInput, TwoInput};

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

    /// Called once before the first event, and again after a restart. [`Context`] has an example.
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

    /// Called once for each event that is delivered here.
    ///
    /// # Errors
    /// The event is lost, logged and counted as failed, and what was emitted for it is taken back. The
    /// instance keeps its state and goes on with the next event. In a job with checkpoints the event is tried
    /// again, with the state of the last one, before [`OnError`](crate::OnError) decides. A
    /// [`Fatal`](crate::Fatal) error fails the job.
    ///
    /// # Panics
    /// A panic is caught. The event is lost and counted, and what was emitted for it is taken back. The
    /// instance is built anew from its prototype, **without its state**, and goes on with the next
    /// event, as often as the job's [`RestartStrategy`](crate::RestartStrategy) allows.
    fn apply(&mut self, event: Self::In, out: &mut Emitter<Self::Out>) -> Result<()>;

    /// Called once after the last event, if the job comes to its end or is drained: the moment to emit
    /// what was gathered. A job that is stopped, is killed or fails calls it no more.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// #[derive(Component, Clone, Default)]
    /// struct Sum(u64);
    ///
    /// impl Operator for Sum {
    ///     type In = u64;
    ///     type Out = u64;
    ///
    ///     fn apply(&mut self, n: u64, _: &mut Emitter<u64>) -> Result<()> {
    ///         self.0 += n;
    ///         Ok(())
    ///     }
    ///
    ///     fn finish(&mut self, out: &mut Emitter<u64>) -> Result<()> {
    ///         out.emit(self.0);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let got = Collect::new();
    /// let job = Job::new("sum");
    /// job.source(FromIter::new(1..=4_u64)).apply(Sum::default()).sink(got.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.take(), [10]);
    /// ```
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
