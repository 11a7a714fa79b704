//! [`Source`]: where events enter a job.

mod address;
mod backoff;
mod cutter;
mod generator;
mod iter;
mod lines;
mod reader;
mod tcp;

pub use generator::Generator;
pub use iter::FromIter;
pub use lines::Lines;
pub use tcp::TcpLines;

use crate::component::{Component, Context, Result};
use crate::emitter::Emitter;
use crate::event::Event;
use std::future::Future;

/// Reads events from outside.
///
/// A source is a set of *splits*, each read by a copy of the struct with a position of its own. The
/// simple case is one split per instance. Fields marked `#[state]` are that position: the engine
/// copies them after each `next` that completes, so they should be small, and a source that is
/// built anew goes on from there.
///
/// ```
/// use streamwork::prelude::*;
///
/// /// Counts down to one.
/// #[derive(Component, Clone)]
/// struct Countdown {
///     #[state]
///     left: u32,
/// }
///
/// impl Source for Countdown {
///     type Out = u32;
///
///     async fn next(&mut self, out: &mut Emitter<u32>) -> Result<Progress> {
///         while self.left > 0 && !out.is_full() {
///             out.emit(self.left);
///             self.left -= 1;
///         }
///         Ok(if self.left == 0 { Progress::End } else { Progress::More })
///     }
/// }
///
/// let got = Collect::new();
/// let job = Job::new("countdown");
/// job.source(Countdown { left: 3 }).sink(got.clone());
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.take(), [3, 2, 1]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no source",
    note = "implement `Source` for it"
)]
pub trait Source: Component {
    /// What it emits.
    type Out: Event;

    /// Whether a source that is built anew after a panic goes on where it was, so that nothing is
    /// lost or repeated. By default it does if it has a position: a field marked `#[state]`.
    const RESUMES: bool = size_of::<Self::Saved>() > 0;

    /// Into how many splits the input falls. The default is one per instance.
    fn splits(&self) -> Splits {
        Splits::PerInstance
    }

    /// Called once before the first `next`, and again after a restart, then with the position that
    /// was reached. Connections are opened here.
    ///
    /// # Errors
    /// At the first start an error ends the job; after a restart it uses up one more try.
    fn setup(&mut self, ctx: &Context) -> impl Future<Output = Result<()>> + Send {
        let _ = ctx;
        async { Ok(()) }
    }

    /// Emits what there is, up to [`Emitter::is_full`], and returns; waits only while there is
    /// nothing. Called again and again until it returns [`Progress::End`]. What it emits goes on
    /// its way when it returns.
    ///
    /// # Errors
    /// Counts as one failure and is logged; what was emitted before it stays, and `next` is called
    /// again. Ten errors in a row without an event between, or a [`Fatal`](crate::Fatal) one, end
    /// the job.
    ///
    /// # Panics
    /// A panic is caught: what the call emitted is taken back and the source is built anew, at the
    /// position after the last `next` that completed.
    ///
    /// # Cancel safety
    /// The future is dropped only when the job is drained, stopped or killed.
    fn next(
        &mut self,
        out: &mut Emitter<Self::Out>,
    ) -> impl Future<Output = Result<Progress>> + Send;
}

/// Whether a source has more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Call again.
    More,
    /// The input is at its end.
    End,
}

/// Into how many splits the input of a source falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Splits {
    /// One for each instance.
    #[default]
    PerInstance,
    /// This many, whatever the parallelism; instance i of p reads the splits i, i + p, i + 2p, ...
    /// An instance without a split ends at once.
    Fixed(usize),
}
