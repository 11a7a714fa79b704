//! The lines of a file, or of standard input.

use super::cutter::{Cutter, Position};
use super::reader::{self, Chunks};
use super::{Progress, Source, Splits};
use crate::component::{Component, Context, Fatal, Rescale, Result, StateField};
use crate::emitter::Emitter;
use std::fmt;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Emits the lines of a file, or of standard input, as `String`s.
///
/// A line ends with `\n`, the last one also with the input; a `\r` before the end is no part of the
/// line. Everything else stays as it is, empty lines included.
///
/// ```
/// use streamwork::prelude::*;
///
/// let path = std::env::temp_dir().join(format!("vehicles-{}.txt", std::process::id()));
/// std::fs::write(&path, "car\nvan\r\n\ntruck")?;
///
/// let got = Collect::new();
/// let job = Job::new("vehicles");
/// job.source(Lines::open(&path)).sink(got.clone());
/// Engine::new().run(job)?;
/// assert_eq!(got.take(), ["car", "van", "", "truck"]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The input is one split: with more instances, all but the first end at once. It is read by a
/// thread of its own, a few chunks ahead.
///
/// The position is the byte after the last emitted line, and the line's number. A source that is
/// built anew opens the file there. What can be read only once (standard input, a pipe) stays open
/// meanwhile, and nothing that was read is lost: clones of one `Lines` share it, and one of them at a
/// time reads it.
///
/// # Errors
/// The job fails at its start if the input can't be opened. It fails after the line before if a line
/// is too long ([`max_line_bytes`](Self::max_line_bytes)) or is not UTF-8, and if reading fails. The
/// error names the input and the line.
///
/// # Cancel safety
/// Dropping the future of `setup` before the input is open leaves nothing open; a thread that waits
/// for a named pipe goes on waiting. Dropping that of `next` loses nothing: it emits only when it is
/// about to return.
pub struct Lines {
    input: Input,
    max_line_bytes: usize,
    position: Position,
    feed: Option<Lease>,
    shelf: SharedShelf,
}

#[derive(Clone, Debug)]
enum Input {
    File(PathBuf),
    Stdin,
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{path:?}"),
            Self::Stdin => f.write_str("standard input"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum LinesError {
    #[error("cannot read {input}")]
    Open { input: Input, source: io::Error },
    #[error("cannot read {input}: it is a directory, and a file is wanted")]
    Directory { input: Input },
    #[error("cannot go on at byte {offset} of {input}: it has only {length}")]
    Shrunk { input: Input, offset: u64, length: u64 },
    #[error("cannot read {input} beyond line {line}")]
    Read { input: Input, line: u64, source: io::Error },
    #[error("{input} is being read by another source")]
    InUse { input: Input },
}

impl Lines {
    const MAX_LINE_BYTES: usize = 1024 * 1024;

    /// A source of the lines of a file, which may also be a pipe or a device. It is opened when the
    /// job starts; a named pipe is waited for until it has a writer.
    #[must_use]
    pub fn open(path: impl AsRef<Path>) -> Self {
        Self::new(Input::File(path.as_ref().to_owned()), SharedShelf::default())
    }

    /// A source of the lines of standard input. Waiting for a line does not keep the process from
    /// ending.
    ///
    /// ```
    /// use streamwork::Lines;
    ///
    /// let lines = Lines::stdin();
    /// assert!(format!("{lines:?}").contains("Stdin"));
    /// ```
    #[must_use]
    pub fn stdin() -> Self {
        // A process has one, whoever reads it.
        static SHELF: LazyLock<SharedShelf> = LazyLock::new(SharedShelf::default);
        Self::new(Input::Stdin, Arc::clone(&SHELF))
    }

    fn new(input: Input, shelf: SharedShelf) -> Self {
        Self {
            input,
            max_line_bytes: Self::MAX_LINE_BYTES,
            position: Position::default(),
            feed: None,
            shelf,
        }
    }

    /// Sets how long a line may be, without its end; 1 MiB if it is not set. A longer one is an
    /// error, found before more than this is in memory.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let path = std::env::temp_dir().join(format!("long-{}.txt", std::process::id()));
    /// std::fs::write(&path, "motorcycle\n")?;
    ///
    /// let job = Job::new("long");
    /// job.source(Lines::open(&path).max_line_bytes(5)).sink(Collect::new());
    /// let error = Engine::new().run(job).unwrap_err().to_string();
    /// assert!(error.contains("is longer than 5 bytes"), "{error}");
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn max_line_bytes(mut self, bytes: usize) -> Self {
        self.max_line_bytes = bytes;
        self
    }

    /// The feed that a source before this one has left, if it can go on with it.
    fn inherit(&self) -> Result<Option<Lease>> {
        let mut shelf = lock(&self.shelf);
        match std::mem::take(&mut *shelf) {
            Shelf::Empty => Ok(None),
            Shelf::Lent => {
                *shelf = Shelf::Lent;
                Err(self.in_use())
            }
            Shelf::Left(feed) => {
                *shelf = Shelf::Lent;
                Ok(Some(Lease { feed: Some(feed), shelf: Some(Arc::clone(&self.shelf)) }))
            }
        }
    }

    fn in_use(&self) -> crate::BoxError {
        Fatal::new(LinesError::InUse { input: self.input.clone() }).into()
    }

    /// Opens the input, at the position.
    async fn open_feed(&self) -> Result<Lease> {
        let cutter = Cutter::new(self.input.to_string(), self.max_line_bytes);
        let cannot = |source| LinesError::Open { input: self.input.clone(), source };
        let opened = match &self.input {
            Input::Stdin => reader::start(|| Ok((io::stdin(), false))).await,
            Input::File(path) => {
                let (path, offset) = (path.clone(), self.position.offset);
                reader::start(move || open_file(&path, offset)).await
            }
        };
        let (chunks, regular) =
            opened.map_err(cannot).and_then(|opened| opened).map_err(Fatal::new)?;
        if regular {
            let feed = Feed { chunks, cutter: cutter.at(self.position) };
            return Ok(Lease { feed: Some(feed), shelf: None });
        }
        let mut shelf = lock(&self.shelf);
        if !matches!(*shelf, Shelf::Empty) {
            return Err(self.in_use());
        }
        *shelf = Shelf::Lent;
        Ok(Lease { feed: Some(Feed { chunks, cutter }), shelf: Some(Arc::clone(&self.shelf)) })
    }
}

/// The file, read from `offset` if it has places; and whether it has.
fn open_file(path: &Path, offset: u64) -> Result<(File, bool), LinesError> {
    let input = || Input::File(path.to_owned());
    let cannot = |source| LinesError::Open { input: input(), source };
    let mut file = File::open(path).map_err(cannot)?;
    let about = file.metadata().map_err(cannot)?;
    if about.is_dir() {
        return Err(LinesError::Directory { input: input() });
    }
    if about.is_file() {
        let length = about.len();
        if length < offset {
            return Err(LinesError::Shrunk { input: input(), offset, length });
        }
        file.seek(SeekFrom::Start(offset)).map_err(cannot)?;
    }
    Ok((file, about.is_file()))
}

/// An input that is open: what comes from the thread that reads it, and what was not emitted yet.
struct Feed {
    chunks: Chunks,
    cutter: Cutter,
}

/// Where the feed of an input that can be read only once lies between one source and the next.
#[derive(Default)]
enum Shelf {
    #[default]
    Empty,
    /// A source has it.
    Lent,
    Left(Feed),
}

type SharedShelf = Arc<Mutex<Shelf>>;

fn lock(shelf: &SharedShelf) -> MutexGuard<'_, Shelf> {
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A feed in the hands of a source. It goes back to its shelf, if it has one.
struct Lease {
    feed: Option<Feed>,
    shelf: Option<SharedShelf>,
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

impl Component for Lines {
    type Saved = (u64, u64);

    const STATE: &'static [StateField] = &[
        StateField { name: "offset", type_name: "u64", rescale: Rescale::Refuse },
        StateField { name: "lines", type_name: "u64", rescale: Rescale::Refuse },
    ];

    fn name(&self) -> &str {
        "lines"
    }

    fn save(&self) -> (u64, u64) {
        (self.position.offset, self.position.lines)
    }

    fn load(&mut self, (offset, lines): (u64, u64)) {
        self.position = Position { offset, lines };
    }
}

impl Source for Lines {
    type Out = String;

    fn splits(&self) -> Result<Splits> {
        Ok(Splits::Fixed(1))
    }

    async fn setup(&mut self, _: &Context) -> Result<()> {
        self.feed = None;
        let mut lease = match self.inherit()? {
            Some(lease) => lease,
            None => self.open_feed().await?,
        };
        if let Some(feed) = &mut lease.feed {
            feed.cutter.set_limit(self.max_line_bytes);
            self.position = feed.cutter.position();
        }
        self.feed = Some(lease);
        Ok(())
    }

    /// # Cancel safety
    /// Nothing is lost when the future is dropped: what was emitted stays emitted, and the next call
    /// goes on after it.
    async fn next(&mut self, out: &mut Emitter<String>) -> Result<Progress> {
        let Some(feed) = self.feed.as_mut().and_then(|lease| lease.feed.as_mut()) else {
            return Err(Fatal::new("`next` was called before `setup`").into());
        };
        feed.cutter.settle();
        let before = out.len();
        loop {
            let cut = feed.cutter.emit_lines(out);
            self.position = feed.cutter.position();
            cut.map_err(Fatal::new)?;
            if feed.cutter.is_done() {
                return Ok(Progress::End);
            }
            if out.len() > before || out.is_full() {
                return Ok(Progress::More);
            }
            match feed.chunks.recv().await {
                Some(Ok(chunk)) if chunk.is_empty() => feed.cutter.finish(),
                Some(Ok(chunk)) => feed.cutter.feed(&chunk),
                failed => {
                    let source = match failed {
                        Some(Err(error)) => error,
                        _ => io::Error::other("the thread that reads it is gone"),
                    };
                    let (input, line) = (self.input.clone(), self.position.lines);
                    return Err(Fatal::new(LinesError::Read { input, line, source }).into());
                }
            }
        }
    }
}

/// A clone has the same input, settings and position, and is not open.
impl Clone for Lines {
    fn clone(&self) -> Self {
        Self {
            input: self.input.clone(),
            max_line_bytes: self.max_line_bytes,
            position: self.position,
            feed: None,
            shelf: Arc::clone(&self.shelf),
        }
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("input", &self.input)
            .field("max_line_bytes", &self.max_line_bytes)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::Split;
    use crate::id::InstanceId;
    use crate::time::ManualClock;
    use futures::executor::block_on;

    fn context() -> Context {
        Context {
            job: "job".into(),
            instance: InstanceId::new("lines", 0),
            parallelism: 1,
            split: Split { index: 0, count: 1 },
            clock: Arc::new(ManualClock::new()),
        }
    }

    /// A file that is removed in the end.
    struct TempFile(PathBuf);

    impl TempFile {
        fn new(name: &str, text: &str) -> Self {
            let name = format!("streamwork-lines-{name}-{}.txt", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, text).unwrap();
            Self(path)
        }
    }

    impl Drop for TempFile {
        fn drop(&mut self) {
            drop(std::fs::remove_file(&self.0));
        }
    }

    /// All that is left, called with an emitter of this room.
    fn rest_of(lines: &mut Lines, room: usize) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            let mut out = Emitter::with_room(room);
            let progress = block_on(lines.next(&mut out)).unwrap();
            assert!(out.len() <= room);
            all.extend(out.as_slice().iter().cloned());
            if progress == Progress::End {
                return all;
            }
        }
    }

    #[test]
    fn reads_without_a_runtime() {
        let file = TempFile::new("plain", "a\nb\nc");
        let mut lines = Lines::open(&file.0);
        block_on(lines.setup(&context())).unwrap();
        assert_eq!(rest_of(&mut lines, 2), ["a", "b", "c"]);
        assert_eq!(lines.save(), (5, 3));
        assert_eq!(rest_of(&mut lines, 2), [""; 0]);
    }

    #[test]
    fn goes_on_at_the_position_that_was_loaded() {
        let file = TempFile::new("position", "one\r\ntwo\nthree\nf\u{fc}nf\n");
        let mut lines = Lines::open(&file.0);
        block_on(lines.setup(&context())).unwrap();
        let mut out = Emitter::with_room(2);
        assert_eq!(block_on(lines.next(&mut out)).unwrap(), Progress::More);
        assert_eq!(lines.save(), (9, 2));

        let mut second = lines.clone().max_line_bytes(4);
        second.load(lines.save());
        block_on(second.setup(&context())).unwrap();
        let error = block_on(second.next(&mut Emitter::new())).unwrap_err();
        assert!(Fatal::is(&*error));
        let text = error.to_string();
        assert!(text.contains("line 3 of") && text.contains("longer than 4 bytes"), "{text}");

        let mut third = Lines::open(&file.0);
        third.load((15, 3));
        block_on(third.setup(&context())).unwrap();
        assert_eq!(rest_of(&mut third, 9), ["f\u{fc}nf"]);
        assert_eq!(third.save(), (21, 4));
    }

    #[test]
    fn a_file_that_was_cut_since_is_refused() {
        let file = TempFile::new("cut", "one\n");
        let mut lines = Lines::open(&file.0);
        lines.load((5, 2));
        let error = block_on(lines.setup(&context())).unwrap_err();
        assert!(Fatal::is(&*error));
        let text = error.to_string();
        assert!(
            text.starts_with("cannot go on at byte 5 of") && text.ends_with("only 4"),
            "{text}"
        );
    }

    #[test]
    fn next_before_setup_is_an_error() {
        let error = block_on(Lines::stdin().next(&mut Emitter::new())).unwrap_err();
        assert_eq!(error.to_string(), "`next` was called before `setup`");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_can_be_read_once_has_one_reader_and_is_handed_on() {
        // It has no end, and its places mean nothing.
        let lines = Lines::open("/dev/zero").max_line_bytes(9);
        let mut first = lines.clone();
        block_on(first.setup(&context())).unwrap();
        let error = block_on(lines.clone().setup(&context())).unwrap_err();
        assert_eq!(error.to_string(), "\"/dev/zero\" is being read by another source");
        drop(first);
        let mut second = lines.clone();
        block_on(second.setup(&context())).unwrap();
        let error = block_on(second.next(&mut Emitter::new())).unwrap_err();
        assert!(error.to_string().contains("longer than 9 bytes"), "{error}");
    }
}
