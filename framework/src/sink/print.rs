//! To standard output.

use super::Sink;
use crate::component::{Component, Fatal, Result};
use crate::event::Event;
use std::fmt::{self, Display, Write as _};
use std::io::Write as _;
use std::marker::PhantomData;

/// Prints each event and a line end. What arrives together is written together: lines of two
/// instances never mix within a line.
///
/// After a failure of a job that takes checkpoints, what was printed since the newest is printed again; under
/// exactly-once that needs [`SinkStage::may_repeat`](crate::SinkStage::may_repeat).
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("hello");
/// job.source(FromIter::new(["hello", "streams"])).sink(Print::stdout());
/// assert_eq!(Engine::new().run(job).unwrap().events_out(), 2);
/// ```
pub struct Print<T> {
    block: String,
    events: PhantomData<fn(T)>,
}

impl<T> Print<T> {
    const LARGE: usize = 64 << 10;

    /// A sink that prints to standard output.
    #[must_use]
    pub fn stdout() -> Self {
        Self { block: String::new(), events: PhantomData }
    }

    fn write_block(&mut self) -> Result<()> {
        let written = write_stdout(&self.block);
        self.block.clear();
        written
    }
}

/// Writes a block to standard output in one go.
///
/// # Errors
/// If it can't be written, which is [`Fatal`]: it would fail for every event.
fn write_stdout(block: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(block.as_bytes()).and_then(|()| stdout.flush()).map_err(Fatal::new)?;
    Ok(())
}

impl<T> Clone for Print<T> {
    fn clone(&self) -> Self {
        Self::stdout()
    }
}

impl<T: 'static> Component for Print<T> {
    type Saved = ();

    fn name(&self) -> &str {
        "print"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<T: Event + Display> Sink for Print<T> {
    type In = T;

    fn write(&mut self, event: T) -> Result<()> {
        writeln!(self.block, "{event}")?;
        if self.block.len() >= Self::LARGE { self.write_block() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.block.is_empty() { Ok(()) } else { self.write_block() }
    }
}

impl<T> fmt::Debug for Print<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Print")
    }
}
