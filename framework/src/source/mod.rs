//! [`Source`]: where events enter a job.

mod address;
mod backoff;
mod csv;
mod cutter;
mod directory;
mod feed;
mod gate;
mod generator;
mod handover;
mod immediate;
mod intake;
mod iter;
mod lines;
mod malformed;
mod ndjson;
mod not_set_up;
mod reader;
mod record;
mod row;
mod stream;
mod tcp;
#[cfg(test)]
mod tests;
mod thread;

pub use self::csv::Csv;
pub use generator::Generator;
pub use handover::Closed;
pub use immediate::{Immediate, Taker};
pub use iter::FromIter;
pub use lines::Lines;
pub use ndjson::Ndjson;
pub use stream::{FromStream, TryFromStream};
pub use tcp::TcpLines;
pub use thread::{FromThread, ThreadEmitter};

use crate::component::{Component, Context, Result};
use crate::emitter::Emitter;
use crate::event::Event;
use std::future::Future;

/// Reads events from outside.
///
/// A source is a set of *splits*, each read by a copy of the struct with a position of its own. The
/// simple case is one split per instance. Fields marked `#[state]` are that position: the engine
/// copies them after each `next` that completes, so they should be small, and a source that is
/// built anew goes on from there, also by a new run of the program if the job checkpoints.
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
/// assert!(Countdown::RESUMES);
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

    /// Whether the source comes to its end by itself when the job is drained. By default it is not asked
    /// any more, and what it has read and not yet emitted is left where it is. One that has accepted
    /// events which nobody could give it again emits these first: its `next` is polled on, sees
    /// [`Context::is_draining`], and says [`Progress::End`].
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// /// Has accepted three orders, and takes more only until the job is drained.
    /// #[derive(Component, Clone)]
    /// struct Orders {
    ///     accepted: Vec<u64>,
    ///     ctx: Option<Context>,
    /// }
    ///
    /// impl Source for Orders {
    ///     type Out = u64;
    ///
    ///     const DRAINS: bool = true;
    ///
    ///     async fn setup(&mut self, ctx: &Context) -> Result<()> {
    ///         self.ctx = Some(ctx.clone());
    ///         Ok(())
    ///     }
    ///
    ///     async fn next(&mut self, out: &mut Emitter<u64>) -> Result<Progress> {
    ///         std::future::poll_fn(|_| match &self.ctx {
    ///             Some(ctx) if !ctx.is_draining() => std::task::Poll::Pending,
    ///             _ => std::task::Poll::Ready(()),
    ///         })
    ///         .await;
    ///         out.extend(self.accepted.drain(..));
    ///         Ok(Progress::End)
    ///     }
    /// }
    ///
    /// let got = Collect::new();
    /// let job = Job::new("orders");
    /// job.source(Orders { accepted: vec![1, 2, 3], ctx: None }).sink(got.clone());
    /// let handle = Engine::new().start(job).unwrap();
    /// while handle.status() != JobStatus::Running {
    ///     std::thread::yield_now();
    /// }
    /// handle.drain();
    /// handle.wait().unwrap();
    /// assert_eq!(got.take(), [1, 2, 3]);
    /// ```
    const DRAINS: bool = false;

    /// Whether a new run of the program can go on from a position that was saved, and gets the same events
    /// from there. By default it does if there is a position: a field marked `#[state]`. A source that was
    /// given its events once, by a socket or a thread, has none; a job that checkpoints is refused with it.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// assert!(FromIter::new([1_u64]).replays());
    /// assert!(Lines::open("orders.txt").replays());
    /// assert!(!Lines::stdin().replays(), "what was read from a pipe is gone");
    /// ```
    fn replays(&self) -> bool {
        size_of::<Self::Saved>() > 0
    }

    /// Into how many splits the input falls. The default is one per instance. Asked once, of the
    /// prototype, when the job starts; it may look at the input and may block.
    ///
    /// # Errors
    /// The job does not start: [`Error::Assembly`](crate::Error::Assembly).
    fn splits(&self) -> Result<Splits> {
        Ok(Splits::PerInstance)
    }

    /// Called once before the first `next`, and again after a restart, then with the position that
    /// was reached. Connections are opened here. [`Splits`] has an example.
    ///
    /// # Errors
    /// At the first start an error ends the job. After a restart it uses up one more try, and a
    /// [`Fatal`](crate::Fatal) one ends the job.
    ///
    /// # Panics
    /// A panic is caught, and counts as an error.
    ///
    /// # Cancel safety
    /// The future is dropped if the job ends while it waits; `setup` is not called again then.
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
    /// again. After the first of several errors in a row, without an event between, that is done at
    /// once; after the second there is a pause of 10 ms, which doubles with each up to 640 ms. The
    /// tenth in a row ends the job, and so does a [`Fatal`](crate::Fatal) one at once. One that is
    /// [`Malformed`](crate::Malformed) is about a piece of the input alone and is in no such row.
    ///
    /// # Panics
    /// A panic is caught: what the call emitted is taken back and the source is built anew. With a
    /// position (fields marked `#[state]`) it goes on after the last `next` that completed. Without
    /// one it begins again: the panic counts as one failure, and what was emitted before is repeated.
    /// See [`RESUMES`](Self::RESUMES).
    ///
    /// # Cancel safety
    /// The future is dropped only when the job ends: when it is drained, stopped or killed, or fails.
    /// What the call has emitted by then is lost with it and not counted: wait first, then emit.
    fn next(
        &mut self,
        out: &mut Emitter<Self::Out>,
    ) -> impl Future<Output = Result<Progress>> + Send;
}

/// Whether a source has more.
///
/// ```
/// use futures::executor::block_on;
/// use streamwork::prelude::*;
///
/// let mut source = FromIter::new(["car"]);
/// let mut out = Emitter::with_room(1);
/// assert_eq!(block_on(source.next(&mut out)).unwrap(), Progress::More);
/// assert_eq!(out.as_slice(), ["car"]);
/// assert_eq!(block_on(source.next(&mut Emitter::new())).unwrap(), Progress::End);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Call again.
    More,
    /// The input is at its end.
    End,
}

/// Into how many splits the input of a source falls.
///
/// ```
/// use streamwork::prelude::*;
///
/// /// Emits the number of each of its three parts.
/// #[derive(Component, Clone, Default)]
/// struct Parts {
///     part: usize,
/// }
///
/// impl Source for Parts {
///     type Out = usize;
///
///     fn splits(&self) -> Result<Splits> {
///         Ok(Splits::Fixed(3))
///     }
///
///     async fn setup(&mut self, ctx: &Context) -> Result<()> {
///         self.part = ctx.split().index;
///         Ok(())
///     }
///
///     async fn next(&mut self, out: &mut Emitter<usize>) -> Result<Progress> {
///         out.emit(self.part);
///         Ok(Progress::End)
///     }
/// }
///
/// let got = Collect::new();
/// let job = Job::new("parts");
/// job.source(Parts::default()).parallelism(2).group(Forward).sink(got.clone()).parallelism(2);
/// Engine::new().run(job).unwrap();
/// let mut of_first = got.of_instance(0);
/// of_first.sort();
/// assert_eq!((of_first, got.of_instance(1)), (vec![0, 2], vec![1]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Splits {
    /// One for each instance.
    #[default]
    PerInstance,
    /// This many, whatever the parallelism; instance i of p reads the splits i, i + p, i + 2p, ...
    /// An instance without a split ends at once.
    Fixed(usize),
}
