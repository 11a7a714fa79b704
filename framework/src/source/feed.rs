//! An input that is open, and who has it: what can be read only once goes from one source to the next.

use super::cutter::Cutter;
use super::reader::Chunks;
use crate::component::{Fatal, Result};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// An input that is open: what comes from the thread that reads it, and what was not emitted yet.
pub(super) struct Feed {
    chunks: Chunks,
    pub(super) cutter: Cutter,
    /// Lies on the shelf with the rest.
    pub(super) head: Option<Head>,
}

/// What whoever reads on has to know of the beginning.
pub(super) struct Head {
    pub(super) bytes: Vec<u8>,
    /// The offset after it.
    pub(super) end: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read {input} beyond line {line}")]
struct ReadError {
    input: String,
    line: u64,
    source: io::Error,
}

impl Feed {
    pub(super) fn new(chunks: Chunks, cutter: Cutter) -> Self {
        Self { chunks, cutter, head: None }
    }

    /// Waits for bytes, or for the end.
    ///
    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    pub(super) async fn fill(&mut self) -> Result<()> {
        match self.chunks.recv().await {
            Some(Ok(chunk)) if chunk.is_empty() => self.cutter.finish(),
            Some(Ok(chunk)) => self.cutter.feed(&chunk),
            failed => {
                let source = match failed {
                    Some(Err(error)) => error,
                    _ => io::Error::other("the thread that reads it is gone"),
                };
                let input = self.cutter.input().to_owned();
                let line = self.cutter.position().lines;
                return Err(Fatal::new(ReadError { input, line, source }).into());
            }
        }
        Ok(())
    }
}

/// Where the feed of an input that can be read only once lies between one source and the next.
#[derive(Default)]
pub(super) enum Shelf {
    #[default]
    Empty,
    /// A source has it.
    Lent,
    Left(Feed),
}

pub(super) type SharedShelf = Arc<Mutex<Shelf>>;

pub(super) fn lock(shelf: &SharedShelf) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A feed in the hands of a source. It goes back to its shelf, if it has one.
pub(super) struct Lease {
    pub(super) feed: Option<Feed>,
    pub(super) shelf: Option<SharedShelf>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let (Some(mut feed), Some(shelf)) = (self.feed.take(), &self.shelf) else { return };
        *lock(shelf) = if std::thread::panicking() {
            // The engine takes back what the call emitted that panics.
            feed.cutter.rewind();
            Shelf::Left(feed)
        } else if feed.cutter.is_done() {
            // Who comes next opens it anew: a pipe may have another writer.
            Shelf::Empty
        } else {
            Shelf::Left(feed)
        };
    }
}
