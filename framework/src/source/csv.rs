//! The records of CSV files.

use super::cutter::Cutter;
use super::feed::Head;
use super::intake::{self, Intake, STATE, Saved};
use super::row::Rows;
use super::{Progress, Source, Splits};
use crate::component::{Component, Context, Result, StateField};
use crate::emitter::Emitter;
use crate::event::Event;
use crate::state::{FieldReader, FieldWriter, StateError};
use serde::de::DeserializeOwned;
use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

/// Emits the records of a CSV file, of each file of a directory, or of standard input, as events that
/// serde makes of them.
///
/// The first record is the header: its columns go to the fields of the same name, in any order, and a
/// column without a field is ignored. [`headers(false)`](Self::headers) is for files without one. A field
/// in quotes may hold delimiters, line ends, and quotes written twice; lines end with `\n` or `\r\n`;
/// empty lines and a byte order mark at the beginning are skipped. Blanks are part of a field.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::prelude::*;
///
/// #[derive(Event, Clone, Debug, PartialEq, Serialize, Deserialize)]
/// struct Vehicle {
///     kind: String,
///     axles: u8,
///     /// Empty means `None`.
///     speed: Option<f64>,
/// }
///
/// let path = std::env::temp_dir().join(format!("vehicles-{}.csv", std::process::id()));
/// std::fs::write(&path, "axles,kind,speed\n2,car,48.5\nmany,van,50\n3,\"truck, \"\"old\"\"\",\n")?;
///
/// let got = Collect::new();
/// let job = Job::new("vehicles");
/// job.source(Csv::<Vehicle>::open(&path)).sink(got.clone());
/// let outcome = Engine::new().run(job)?;
/// let car = Vehicle { kind: "car".into(), axles: 2, speed: Some(48.5) };
/// let truck = Vehicle { kind: "truck, \"old\"".into(), axles: 3, speed: None };
/// assert_eq!((got.take(), outcome.failed()), (vec![car, truck], 1));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Splits and what happens after a panic are as with [`Lines`](super::Lines). The position is the byte and
/// the line after the last emitted record; a source that is built anew reads the header once more.
///
/// What a value may be is up to the event's types: for a float Rust takes `NaN` and `inf` as well as
/// `1e3`, for an integer none of them, and only `true` and `false` are a `bool`.
///
/// # Errors
/// A bad record is skipped, counted as failed and logged, unless
/// [`on_error`](crate::SourceStage::on_error) says otherwise: one with too few or too many columns, with a
/// value that its field does not take, one that is not UTF-8, and one with a quote that is open at the
/// end of the input. The error names the input, the line where the record begins, counted from 1, and
/// the column: `line 3 of "vehicles.csv": column "axles" is "many": invalid digit found in string`.
///
/// The job fails after the record before if the header does not fit (it lacks a column that the event
/// needs, or is not UTF-8), and if a record is too long
/// ([`max_record_bytes`](Self::max_record_bytes)). It fails, too, if an input can't be opened or read.
///
/// # Panics
/// A panic while a record is read is one of the source: it is built anew at the same record and meets it
/// again, as often as the [`RestartStrategy`](crate::RestartStrategy) allows.
///
/// # Cancel safety
/// As [`Lines`](super::Lines).
pub struct Csv<T> {
    intake: Intake,
    headers: bool,
    delimiter: u8,
    rows: Option<Box<Rows>>,
    events: PhantomData<fn() -> T>,
}

#[derive(Debug, thiserror::Error)]
#[error("{:?} can't separate the columns of a CSV file", char::from(*delimiter))]
struct BadDelimiter {
    delimiter: u8,
}

impl<T> Csv<T> {
    /// A source of the records in a file, which may also be a pipe or a device; as
    /// [`Lines::open`](super::Lines::open).
    #[must_use]
    pub fn open(path: impl AsRef<Path>) -> Self {
        Self::new(Intake::file(path.as_ref()))
    }

    /// A source of the records in every file of a directory, each with a header of its own; as
    /// [`Lines::in_dir`](super::Lines::in_dir).
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let directory = std::env::temp_dir().join(format!("tables-{}", std::process::id()));
    /// std::fs::create_dir(&directory)?;
    /// std::fs::write(directory.join("monday.csv"), "count\n1\n2\n")?;
    /// std::fs::write(directory.join("tuesday.csv"), "count\n4\n")?;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("counts");
    /// job.source(Csv::<u64>::in_dir(&directory)).parallelism(2).sink(got.clone());
    /// Engine::new().run(job)?;
    /// assert_eq!(got.take().into_iter().sum::<u64>(), 7);
    /// # std::fs::remove_dir_all(&directory)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_dir(path: impl AsRef<Path>) -> Self {
        Self::new(Intake::directory(path.as_ref()))
    }

    /// A source of the records on standard input; as [`Lines::stdin`](super::Lines::stdin).
    ///
    /// ```
    /// use streamwork::Csv;
    ///
    /// let counts = Csv::<u64>::stdin();
    /// assert!(format!("{counts:?}").contains("Stdin"));
    /// ```
    #[must_use]
    pub fn stdin() -> Self {
        Self::new(Intake::stdin())
    }

    fn new(intake: Intake) -> Self {
        Self { intake, headers: true, delimiter: b',', rows: None, events: PhantomData }
    }

    /// Sets whether the first record is a header; it is if this is not set. Without one, the columns go
    /// to the fields by their order, and all records have as many columns as the first.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let path = std::env::temp_dir().join(format!("plain-{}.csv", std::process::id()));
    /// std::fs::write(&path, "car;2\nvan;2\n")?;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("plain");
    /// job.source(Csv::<(String, u8)>::open(&path).headers(false).delimiter(b';')).sink(got.clone());
    /// Engine::new().run(job)?;
    /// assert_eq!(got.take(), [("car".into(), 2), ("van".into(), 2)]);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn headers(mut self, headers: bool) -> Self {
        self.headers = headers;
        self
    }

    /// Sets the byte between two columns; a comma if it is not set. [`headers`](Self::headers) has an
    /// example. A quote, a line end, or what is not ASCII is refused when the job starts.
    #[must_use]
    pub fn delimiter(mut self, delimiter: u8) -> Self {
        self.delimiter = delimiter;
        self
    }

    /// Sets how long a record may be, in bytes without its end; 1 MiB if it is not set. A longer one
    /// fails the job, before more than this and what was read ahead is in memory.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let path = std::env::temp_dir().join(format!("open-{}.csv", std::process::id()));
    /// std::fs::write(&path, "kind\ncar\n\"van\ntruck\nbus\n")?;
    ///
    /// let job = Job::new("open");
    /// job.source(Csv::<String>::open(&path).max_record_bytes(9)).sink(Collect::new());
    /// let error = Engine::new().run(job).unwrap_err().to_string();
    /// assert!(error.contains("line 3 of") && error.contains("is longer than 9 bytes"), "{error}");
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[must_use]
    pub fn max_record_bytes(mut self, bytes: usize) -> Self {
        self.intake.set_limit(bytes);
        self
    }
}

impl<T> Csv<T> {
    /// Opens the input, and reads the head if the position is behind it.
    async fn begin(&mut self) -> Result<Rows> {
        self.intake.open().await?;
        let mut rows = Rows::new(self.delimiter, self.headers);
        let again = self.intake.is_seekable();
        let feed = self.intake.feed()?;
        let position = feed.cutter.position().offset;
        match &feed.head {
            Some(head) if head.end <= position => {
                let mut cutter = Cutter::new(feed.cutter.input().to_owned(), feed.cutter.limit());
                cutter.feed(&head.bytes);
                cutter.finish();
                rows.read_head(&mut cutter)?;
            }
            _ if again && position > 0 => {
                let mut beginning = self.intake.beginning().await?;
                while rows.read_head(&mut beginning.cutter)?.is_none()
                    && !beginning.cutter.is_done()
                {
                    beginning.fill().await?;
                }
            }
            // It comes with what is read next.
            _ => {}
        }
        Ok(rows)
    }
}

impl<T: Event> Component for Csv<T> {
    type Saved = Saved;

    const STATE: &'static [StateField] = STATE;

    const BY_FIELD: bool = true;

    fn name(&self) -> &str {
        "csv"
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

impl<T: Event + DeserializeOwned> Source for Csv<T> {
    type Out = T;

    fn replays(&self) -> bool {
        self.intake.replays()
    }

    fn splits(&self) -> Result<Splits> {
        let delimiter = self.delimiter;
        if !delimiter.is_ascii() || matches!(delimiter, b'"' | b'\r' | b'\n') {
            return Err(BadDelimiter { delimiter }.into());
        }
        self.intake.splits()
    }

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.rows = None;
        self.intake.setup(ctx).await
    }

    /// # Cancel safety
    /// Nothing is lost when the future is dropped: what was emitted stays emitted, and the next call
    /// goes on after it.
    async fn next(&mut self, out: &mut Emitter<T>) -> Result<Progress> {
        if self.rows.is_none() {
            self.rows = Some(Box::new(self.begin().await?));
        }
        let Some(rows) = &mut self.rows else { return Ok(Progress::More) };
        let cut = self.intake.next(out, |feed, out| {
            if !rows.has_head() {
                let Some(bytes) = rows.read_head(&mut feed.cutter)? else { return Ok(()) };
                feed.head = Some(Head { bytes, end: feed.cutter.position().offset });
            }
            rows.emit(&mut feed.cutter, out)
        });
        cut.await
    }
}

/// A clone has the same input, settings and position, and is not open.
impl<T> Clone for Csv<T> {
    fn clone(&self) -> Self {
        Self {
            intake: self.intake.clone(),
            headers: self.headers,
            delimiter: self.delimiter,
            rows: None,
            events: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Csv<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Csv")
            .field("intake", &self.intake)
            .field("headers", &self.headers)
            .field("delimiter", &char::from(self.delimiter))
            .finish_non_exhaustive()
    }
}
