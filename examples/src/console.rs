//! Where jobs print.

use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use streamwork::{Fatal, Result};

/// Whether somebody read standard output and does not any more.
static ABANDONED: AtomicBool = AtomicBool::new(false);

/// Whether standard output has lost its reader.
pub(crate) fn is_abandoned() -> bool {
    ABANDONED.load(Ordering::Relaxed)
}

/// Where a job prints: standard output, or memory in tests. Its clones are one.
///
/// ```
/// use examples::Console;
///
/// let console = Console::memory();
/// console.print("one\nblock\n").unwrap();
/// assert_eq!(console.text(), "one\nblock\n");
/// ```
#[derive(Clone)]
pub struct Console(Place);

#[derive(Clone)]
enum Place {
    Stdout,
    Memory(Arc<Mutex<String>>),
}

/// Keeps the cause in sight: a broken pipe ends a program quietly.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to standard output")]
struct StdoutError(#[from] io::Error);

impl Console {
    /// Prints to standard output.
    #[must_use]
    pub fn stdout() -> Self {
        Self(Place::Stdout)
    }

    /// Keeps what is printed.
    #[must_use]
    pub fn memory() -> Self {
        Self(Place::Memory(Arc::default()))
    }

    /// Prints a block of whole lines in one write, so that nothing gets between them.
    ///
    /// # Errors
    /// It cannot be written: then nothing that follows can be, and the error is fatal.
    pub fn print(&self, block: &str) -> Result<()> {
        match &self.0 {
            Place::Stdout => write_out(block).map_err(|error| {
                if error.kind() == io::ErrorKind::BrokenPipe {
                    ABANDONED.store(true, Ordering::Relaxed);
                }
                Fatal::new(StdoutError(error)).into()
            }),
            Place::Memory(text) => {
                text.lock().unwrap_or_else(PoisonError::into_inner).push_str(block);
                Ok(())
            }
        }
    }

    /// What was printed to memory; nothing of what went to standard output.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.0 {
            Place::Stdout => String::new(),
            Place::Memory(text) => text.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }
}

/// Prints whole lines to standard output, for a program that prints what it found in the end. If nobody
/// reads any more, somebody has seen enough: that is no error.
///
/// ```
/// examples::say("three events\n").unwrap();
/// ```
///
/// # Errors
/// They cannot be written.
pub fn say(lines: &str) -> io::Result<()> {
    match write_out(lines) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.map_err(|error| {
            io::Error::new(error.kind(), format!("cannot write to standard output: {error}"))
        }),
    }
}

fn write_out(block: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(block.as_bytes())?;
    stdout.flush()
}

impl fmt::Debug for Console {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Place::Stdout => "Console::stdout",
            Place::Memory(_) => "Console::memory",
        })
    }
}
