//! [`Sink`]: where events leave a job.

mod closure;
mod collect;
mod csv;
mod effect;
mod into_sink;
mod ndjson;
mod not_set_up;
mod print;
mod publication;
#[cfg(test)]
mod test_support;
mod two_phase;

pub use self::csv::CsvFiles;
pub use closure::{ForEach, TryForEach};
pub use collect::Collect;
pub use effect::{Effect, Handle};
pub use into_sink::IntoSink;
pub use ndjson::NdjsonFiles;
pub use print::Print;
pub use two_phase::TwoPhaseSink;

use crate::component::{Component, Context, Result};
use crate::event::Event;
use crate::id::CheckpointId;
use std::task::{self, Poll};

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

    /// What becomes of what it writes when events come again after a failure.
    const EFFECT: Effect = Effect::Repeating;

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

    /// Whether the next event may be written; asked before each [`write`](Self::write). A sink that has
    /// to wait for what is outside says `Pending` and arranges to be woken: the instance then reads no
    /// further, and those before it are held back. By default there is always room.
    ///
    /// # Errors
    /// The job fails with it.
    ///
    /// # Panics
    /// A panic is caught; the job fails with it.
    fn poll_ready(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        let _ = cx;
        Poll::Ready(Ok(()))
    }

    /// Called once for each event that is delivered here.
    ///
    /// # Errors
    /// The event is lost, logged and counted as failed. The instance keeps its state and goes on with
    /// the next event. A [`Fatal`](crate::Fatal) error fails the job.
    ///
    /// # Panics
    /// A panic is caught. The event is lost and counted. The instance is built anew from its prototype,
    /// **without its state**, and goes on with the next event, as often as the job's
    /// [`RestartStrategy`](crate::RestartStrategy) allows. What it had gathered and not yet flushed is
    /// lost with it, and is not counted.
    fn write(&mut self, event: Self::In) -> Result<()>;

    /// Called when there is nothing more to read for now, and before the end: the moment to write
    /// out what is left of what was gathered. Under a steady load there is always more to read, so a sink
    /// that gathers calls it from [`write`](Self::write) too, when it has enough. An error is then marked
    /// [`Fatal`](crate::Fatal): it is about all that was gathered, not about one event.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use streamwork::prelude::*;
    ///
    /// /// Writes several events at once, a thousand at most.
    /// #[derive(Component, Clone, Default)]
    /// struct Blocks {
    ///     block: Vec<u64>,
    ///     written: Arc<Mutex<Vec<u64>>>,
    /// }
    ///
    /// impl Sink for Blocks {
    ///     type In = u64;
    ///
    ///     fn write(&mut self, n: u64) -> Result<()> {
    ///         self.block.push(n);
    ///         if self.block.len() >= 1_000 {
    ///             self.flush().map_err(Fatal::new)?;
    ///         }
    ///         Ok(())
    ///     }
    ///
    ///     fn flush(&mut self) -> Result<()> {
    ///         self.written.lock().unwrap().append(&mut self.block);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let blocks = Blocks::default();
    /// let job = Job::new("blocks");
    /// job.source(FromIter::new(1..=3_u64)).sink(blocks.clone());
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(*blocks.written.lock().unwrap(), [1, 2, 3]);
    /// ```
    ///
    /// # Errors
    /// The job fails with it: which of the gathered events were written is not known.
    ///
    /// # Panics
    /// A panic is caught; the job fails with it.
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }

    /// Called once after the last event, if the job comes to its end or is drained. By default it
    /// flushes. A job that is stopped, is killed or fails calls it no more.
    ///
    /// # Errors
    /// The job fails with it.
    ///
    /// # Panics
    /// A panic is caught; the job fails with it.
    fn finish(&mut self) -> Result<()> {
        self.flush()
    }

    /// Called at each checkpoint, after [`poll_flush`](Self::poll_flush): makes durable what was written
    /// since the last one, so that it can be committed when the checkpoint is published. `None` if there is
    /// nothing to commit.
    ///
    /// A sink that is [`Committing`](Effect::Committing) implements [`TwoPhaseSink`] rather than this; the
    /// moments of this call, and of the two after it, are told there. In a job without checkpoints it is
    /// called once, after [`poll_finish`](Self::poll_finish), with [`CheckpointId::END`]; what it returns
    /// is committed at once. Of other sinks it is never called.
    ///
    /// # Errors
    /// The checkpoint fails, and the job goes back to the one before.
    fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Handle>> {
        let _ = checkpoint;
        Ok(None)
    }

    /// Makes visible what an instance has prepared. Called of a clone of the prototype, on a thread of its
    /// own, when the checkpoint is published; again if it is not known whether that was done.
    ///
    /// # Errors
    /// Tried again, with growing pauses; not if it is marked [`Fatal`](crate::Fatal).
    fn commit(&mut self, handle: Handle) -> Result<()> {
        let _ = handle;
        Ok(())
    }

    /// Removes what was prepared and will never be committed, since the events come again. Called of a clone of
    /// the prototype, as [`commit`](Self::commit); not if the process dies before, which is what
    /// [`clean_up`](Self::clean_up) is for.
    ///
    /// # Errors
    /// It is logged, and nothing else is done about it.
    fn discard(&mut self, handle: Handle) -> Result<()> {
        let _ = handle;
        Ok(())
    }

    /// Removes what was prepared and is in no checkpoint. Called of a clone of the prototype, before any
    /// instance is set up, when what the checkpoint holds is committed. `owner` is what
    /// [`Context::owner`] says, and `component` the component's name: a clone that is not set up does not
    /// know them.
    ///
    /// # Errors
    /// The job does not start.
    fn clean_up(&mut self, owner: &str, component: &str) -> Result<()> {
        let _ = (owner, component);
        Ok(())
    }

    /// [`flush`](Self::flush) for a sink that has to wait: called again whenever it is woken, until it is
    /// `Ready`, or until there is something to write again. By default it calls `flush`.
    ///
    /// # Errors
    /// As `flush`.
    ///
    /// # Panics
    /// As `flush`.
    fn poll_flush(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        let _ = cx;
        Poll::Ready(self.flush())
    }

    /// [`finish`](Self::finish) for a sink that has to wait: called again whenever it is woken, until it
    /// is `Ready`. By default it flushes by [`poll_flush`](Self::poll_flush), and then calls `finish`.
    ///
    /// # Errors
    /// As `finish`.
    ///
    /// # Panics
    /// As `finish`.
    fn poll_finish(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        match self.poll_flush(cx) {
            Poll::Ready(Ok(())) => Poll::Ready(self.finish()),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests;
