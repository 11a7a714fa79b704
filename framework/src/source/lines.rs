//! The lines of a file, of all files of a directory, or of standard input.

use super::cutter::BadLine;
use super::intake::{self, Intake, STATE, Saved};
use super::{Progress, Source, Splits};
use crate::component::{Component, Context, Result, StateField};
use crate::emitter::Emitter;
use crate::state::{FieldReader, FieldWriter, StateError};
use std::path::Path;

/// Emits the lines of a file, of each file of a directory, or of standard input, as `String`s.
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
/// Each input is one split: of one, all instances but the first end at once. It is read by a thread of
/// its own, a few chunks ahead (256 KiB at most).
///
/// The position is the byte after the last emitted line, and the line's number; in a directory also the
/// name of the file. A source that is built anew opens the file there. What can be read only once (standard
/// input, a pipe) stays open meanwhile, and nothing that was read is lost: clones of one `Lines` share it,
/// and one of them at a time reads it.
///
/// # Errors
/// A line that is not UTF-8 is skipped, counted as failed and logged, unless
/// [`on_error`](crate::SourceStage::on_error) says otherwise:
///
/// ```
/// use streamwork::prelude::*;
///
/// let path = std::env::temp_dir().join(format!("old-{}.txt", std::process::id()));
/// std::fs::write(&path, b"car\nv\xe4n\ntruck\n")?;
///
/// let got = Collect::new();
/// let job = Job::new("old");
/// job.source(Lines::open(&path)).sink(got.clone());
/// let outcome = Engine::new().run(job)?;
/// assert_eq!((got.take(), outcome.failed()), (vec!["car".to_owned(), "truck".into()], 1));
///
/// let job = Job::new("strict");
/// job.source(Lines::open(&path)).on_error(OnError::Fail).sink(Collect::new());
/// let error = Engine::new().run(job).unwrap_err().to_string();
/// assert!(error.contains("line 2 of") && error.contains("is not UTF-8"), "{error}");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The job fails at its start if the input can't be opened (one of a directory: when its turn has come). It fails after the line before if a line
/// is too long ([`max_line_bytes`](Self::max_line_bytes)), and if reading fails. The error names the input
/// and the line.
///
/// # Cancel safety
/// Dropping the future of `setup` before the input is open leaves nothing open; a thread that waits
/// for a named pipe goes on waiting. Dropping that of `next` loses nothing: it emits only when it is
/// about to return.
#[derive(Clone, Debug)]
pub struct Lines {
    intake: Intake,
}

impl Lines {
    /// A source of the lines of a file, which may also be a pipe or a device. It is opened when the
    /// job starts; a named pipe is waited for until it has a writer.
    #[must_use]
    pub fn open(path: impl AsRef<Path>) -> Self {
        Self { intake: Intake::file(path.as_ref()) }
    }

    /// A source of the lines of every file in a directory: one split for each file, in the order of
    /// their names. Instance i of p reads the files i, i + p, i + 2p, ..., 16 of its files by turns.
    ///
    /// The directory is listed once, when the first job with this source or a clone of it starts; what
    /// is added later is not seen, and a directory without files ends at once. Sub-folders, names that
    /// begin with a dot, and what is neither a file nor a link to one are left out. Each instance has 16
    /// files open at once; the next is opened when one of them is at its end.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let directory = std::env::temp_dir().join(format!("days-{}", std::process::id()));
    /// std::fs::create_dir(&directory)?;
    /// std::fs::write(directory.join("monday.txt"), "car\nvan\n")?;
    /// std::fs::write(directory.join("tuesday.txt"), "truck\n")?;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("vehicles");
    /// let days = job.source(Lines::in_dir(&directory)).parallelism(2);
    /// days.group(Forward).sink(got.clone()).parallelism(2);
    /// Engine::new().run(job)?;
    /// assert_eq!(got.of_instance(0), ["car", "van"]);
    /// assert_eq!(got.of_instance(1), ["truck"]);
    /// # std::fs::remove_dir_all(&directory)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The job does not start if the directory is missing or is none ([`Error::Assembly`](crate::Error)).
    /// It fails when a file's turn has come that can't be opened, and names it.
    #[must_use]
    pub fn in_dir(path: impl AsRef<Path>) -> Self {
        Self { intake: Intake::directory(path.as_ref()) }
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
        Self { intake: Intake::stdin() }
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
        self.intake.set_limit(bytes);
        self
    }
}

impl Component for Lines {
    type Saved = Saved;

    const STATE: &'static [StateField] = STATE;

    const BY_FIELD: bool = true;

    fn name(&self) -> &str {
        "lines"
    }

    fn save(&self) -> Saved {
        self.intake.save()
    }

    fn load(&mut self, saved: Saved) {
        self.intake.load(saved);
    }

    fn encode(saved: &Saved, fields: &mut FieldWriter) -> Result<(), StateError> {
        intake::encode(saved, fields)
    }

    fn decode(fields: &FieldReader<'_>) -> Result<Saved, StateError> {
        intake::decode(fields)
    }
}

impl Source for Lines {
    type Out = String;

    fn replays(&self) -> bool {
        self.intake.replays()
    }

    fn splits(&self) -> Result<Splits> {
        self.intake.splits()
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.intake.setup(ctx).await
    }

    /// # Cancel safety
    /// Nothing is lost when the future is dropped: what was emitted stays emitted, and the next call
    /// goes on after it.
    async fn next(&mut self, out: &mut Emitter<String>) -> Result<Progress> {
        let cut =
            self.intake.next(out, |feed, out| feed.cutter.emit_lines(out).map_err(BadLine::mark));
        cut.await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::{Fatal, Split};
    use crate::id::InstanceId;
    use crate::time::ManualClock;
    use futures::executor::block_on;
    use std::path::PathBuf;
    use std::sync::Arc;

    fn context() -> Context {
        Context {
            job: "job".into(),
            instance: InstanceId::new("lines", 0),
            parallelism: 1,
            split: Split { index: 0, count: 1 },
            clock: Arc::new(ManualClock::new()),
            draining: Arc::default(),
            checkpointed: false,
            owner: "job".into(),
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
        assert_eq!(lines.save(), (None, 5, 3));
        assert_eq!(rest_of(&mut lines, 2), [""; 0]);
    }

    #[test]
    fn goes_on_at_the_position_that_was_loaded() {
        let file = TempFile::new("position", "one\r\ntwo\nthree\nf\u{fc}nf\n");
        let mut lines = Lines::open(&file.0);
        block_on(lines.setup(&context())).unwrap();
        let mut out = Emitter::with_room(2);
        assert_eq!(block_on(lines.next(&mut out)).unwrap(), Progress::More);
        assert_eq!(lines.save(), (None, 9, 2));

        let mut second = lines.clone().max_line_bytes(4);
        second.load(lines.save());
        block_on(second.setup(&context())).unwrap();
        let error = block_on(second.next(&mut Emitter::new())).unwrap_err();
        assert!(Fatal::is(&*error));
        let text = error.to_string();
        assert!(text.contains("line 3 of") && text.contains("longer than 4 bytes"), "{text}");

        let mut third = Lines::open(&file.0);
        third.load((None, 15, 3));
        block_on(third.setup(&context())).unwrap();
        assert_eq!(rest_of(&mut third, 9), ["f\u{fc}nf"]);
        assert_eq!(third.save(), (None, 21, 4));
    }

    #[test]
    fn a_file_that_is_not_that_of_before_is_refused() {
        let file = TempFile::new("cut", "one\ntwo");
        let set_up = |offset| {
            let mut lines = Lines::open(&file.0);
            lines.load((None, offset, 1));
            block_on(lines.setup(&context()))
        };
        for offset in [0, 4, 7] {
            set_up(offset).unwrap();
        }
        for (offset, why) in [(8, "it has only 7; "), (5, "no line begins there; ")] {
            let error = set_up(offset).unwrap_err();
            assert!(Fatal::is(&*error));
            let text = error.to_string();
            let start = format!("cannot go on at byte {offset} of");
            assert!(text.starts_with(&start) && text.contains(why), "{text}");
        }
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
