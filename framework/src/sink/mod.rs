//! [`Sink`]: where events leave a job.

mod closure;
mod collect;
mod print;

pub use closure::{ForEach, TryForEach};
pub use collect::Collect;
pub use print::Print;

use crate::component::{Component, Context, Result};
use crate::event::Event;

/// Takes events out of the job.
///
/// ```
/// use streamwork::prelude::*;
///
/// /// Sums what it gets.
/// #[derive(Component, Clone, Default)]
/// struct Total {
///     sum: u64,
/// }
///
/// impl Sink for Total {
///     type In = u64;
///
///     fn write(&mut self, event: u64) -> Result<()> {
///         self.sum += event;
///         Ok(())
///     }
/// }
///
/// let mut total = Total::default();
/// total.write(2).unwrap();
/// total.write(3).unwrap();
/// assert_eq!(total.sum, 5);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no sink",
    note = "implement `Sink` for it; what emits events is an `Operator`: use `.apply(..)`; for a \
            closure there is `ForEach::new(..)`"
)]
pub trait Sink: Component {
    /// What it takes in.
    type In: Event;

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
    /// The event counts as failed; what follows depends on the job's delivery semantic.
    ///
    /// # Panics
    /// A panic is caught: the event has failed, and the instance is built anew.
    fn write(&mut self, event: Self::In) -> Result<()>;

    /// Called when there is nothing more to read for now, and before the end: the moment to write
    /// out what was gathered.
    ///
    /// # Errors
    /// The job fails with it: which of the gathered events were written is not known.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Called once after the last event, if the job comes to its end.
    ///
    /// # Errors
    /// The job fails with it.
    fn finish(&mut self) -> Result<()> {
        self.flush()
    }
}
