//! A JSON value on each line.

use super::cutter::Cutter;
use super::intake::{self, Intake, STATE, Saved};
use super::malformed::{fail, message};
use super::{Progress, Source, Splits};
use crate::component::{Component, Context, Malformed, Result, StateField};
use crate::emitter::Emitter;
use crate::event::Event;
use crate::state::{FieldReader, FieldWriter, StateError};
use serde::de::DeserializeOwned;
use serde_path_to_error::{Path, Segment};
use std::fmt;
use std::marker::PhantomData;

/// Emits what is read from JSON, one value on each line (*newline-delimited JSON*, `.ndjson` or
/// `.jsonl`), of a file, of each file of a directory, or of standard input.
///
/// Empty lines, and those of blanks only, are skipped and not counted; a byte order mark at the
/// beginning is, too. Everything else is up to serde: `#[serde(deny_unknown_fields)]` makes it refuse
/// what it otherwise ignores.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::prelude::*;
///
/// #[derive(Event, Clone, Debug, PartialEq, Serialize, Deserialize)]
/// struct Vehicle {
///     kind: String,
///     axles: u8,
/// }
///
/// let path = std::env::temp_dir().join(format!("vehicles-{}.ndjson", std::process::id()));
/// let text = r#"
/// {"kind":"car","axles":2}
/// {"kind":"van","axles":-1}
/// {"kind":"truck","axles":3}
/// "#;
/// std::fs::write(&path, text)?;
///
/// let got = Collect::new();
/// let job = Job::new("vehicles");
/// job.source(Ndjson::<Vehicle>::open(&path)).sink(got.clone());
/// let outcome = Engine::new().run(job)?;
/// let kinds: Vec<String> = got.take().into_iter().map(|vehicle: Vehicle| vehicle.kind).collect();
/// assert_eq!((&*kinds, outcome.failed()), (&["car".into(), "truck".into()][..], 1));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Splits, position and what happens after a panic are those of [`Lines`](super::Lines).
///
/// # Errors
/// A line that is no such value is skipped, counted as failed and logged, unless
/// [`on_error`](crate::SourceStage::on_error) says otherwise. The error names the input, the line, counted
/// from 1, the byte in it, and the field, as in ``line 3 of "vehicles.ndjson", column 24, axles: invalid
/// value: integer `-1`, expected u8``. A line that is too long
/// ([`max_line_bytes`](Self::max_line_bytes)) fails the job, and so do an input that can't be opened and
/// reading that fails.
///
/// # Panics
/// A panic while a value is read is one of the source: it is built anew at the same line and meets it
/// again, as often as the [`RestartStrategy`](crate::RestartStrategy) allows.
///
/// # Cancel safety
/// As [`Lines`](super::Lines).
pub struct Ndjson<T> {
    intake: Intake,
    events: PhantomData<fn() -> T>,
}

#[derive(Debug, thiserror::Error)]
#[error("line {line} of {input}, column {column}{}: {message}", Field(path))]
struct BadValue {
    input: String,
    line: u64,
    column: usize,
    /// As `axles` or `wheels[2].size`; empty if it is the whole value.
    path: String,
    message: String,
}

struct Field<'a>(&'a str);

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, ", {}", self.0) }
    }
}

impl BadValue {
    /// Why the line can't be read as a `T`.
    fn of<T: DeserializeOwned>(line: &[u8], cutter: &Cutter, error: &serde_json::Error) -> Self {
        // Read once more, with an eye on the path: it costs too much to do so always.
        let mut again = serde_json::Deserializer::from_slice(line);
        let path = match serde_path_to_error::deserialize::<_, T>(&mut again) {
            Err(error) => path_text(error.path()),
            Ok(_) => String::new(),
        };
        let text = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        Self {
            input: cutter.input().to_owned(),
            line: cutter.number(),
            column: error.column(),
            path,
            message: message(text.strip_suffix(&place).unwrap_or(&text)),
        }
    }
}

/// The path, as far as it is known.
fn path_text(path: &Path) -> String {
    let text = path.to_string();
    match path.iter().next_back() {
        None => String::new(),
        Some(Segment::Unknown) => text.trim_end_matches('?').trim_end_matches('.').to_owned(),
        Some(_) => text,
    }
}

impl<T> Ndjson<T> {
    /// A source of the values in a file, which may also be a pipe or a device; as
    /// [`Lines::open`](super::Lines::open).
    #[must_use]
    pub fn open(path: impl AsRef<std::path::Path>) -> Self {
        Self::new(Intake::file(path.as_ref()))
    }

    /// A source of the values in every file of a directory; as [`Lines::in_dir`](super::Lines::in_dir).
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let directory = std::env::temp_dir().join(format!("counts-{}", std::process::id()));
    /// std::fs::create_dir(&directory)?;
    /// std::fs::write(directory.join("monday.ndjson"), "1\n2\n")?;
    /// std::fs::write(directory.join("tuesday.ndjson"), "4\n")?;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("counts");
    /// job.source(Ndjson::<u64>::in_dir(&directory)).parallelism(2).sink(got.clone());
    /// Engine::new().run(job)?;
    /// assert_eq!(got.take().into_iter().sum::<u64>(), 7);
    /// # std::fs::remove_dir_all(&directory)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_dir(path: impl AsRef<std::path::Path>) -> Self {
        Self::new(Intake::directory(path.as_ref()))
    }

    /// A source of the values on standard input; as [`Lines::stdin`](super::Lines::stdin).
    ///
    /// ```
    /// use streamwork::Ndjson;
    ///
    /// let counts = Ndjson::<u64>::stdin();
    /// assert!(format!("{counts:?}").contains("Stdin"));
    /// ```
    #[must_use]
    pub fn stdin() -> Self {
        Self::new(Intake::stdin())
    }

    fn new(intake: Intake) -> Self {
        Self { intake, events: PhantomData }
    }

    /// Sets how long a line may be, in bytes without its end; 1 MiB if it is not set. A longer one
    /// fails the job, before more than this is in memory.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let path = std::env::temp_dir().join(format!("long-{}.ndjson", std::process::id()));
    /// std::fs::write(&path, "1\n123456\n")?;
    ///
    /// let job = Job::new("long");
    /// job.source(Ndjson::<u64>::open(&path).max_line_bytes(5)).sink(Collect::new());
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

/// Emits values until the emitter is full, no whole line is left, or a line is bad.
fn emit_values<T: DeserializeOwned>(cutter: &mut Cutter, out: &mut Emitter<T>) -> Result<()> {
    let before = out.len();
    while !out.is_full() {
        let (length, whole) = match cutter.find_line() {
            Ok(Some(found)) => found,
            Ok(None) => break,
            Err(bad) => return fail(bad, out.len() > before),
        };
        let mut line = &cutter.rest()[..length];
        if cutter.position().offset == 0 {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if !line.trim_ascii().is_empty() {
            match serde_json::from_slice(line) {
                Ok(event) => out.emit(event),
                Err(error) => {
                    let bad = BadValue::of::<T>(line, cutter, &error);
                    cutter.take(whole, 1);
                    return Err(Malformed::new(bad).into());
                }
            }
        }
        cutter.take(whole, 1);
    }
    Ok(())
}

impl<T: Event> Component for Ndjson<T> {
    type Saved = Saved;

    const STATE: &'static [StateField] = STATE;

    const BY_FIELD: bool = true;

    fn name(&self) -> &str {
        "ndjson"
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

impl<T: Event + DeserializeOwned> Source for Ndjson<T> {
    type Out = T;

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
    async fn next(&mut self, out: &mut Emitter<T>) -> Result<Progress> {
        self.intake.next(out, |feed, out| emit_values(&mut feed.cutter, out)).await
    }
}

/// A clone has the same input, settings and position, and is not open.
impl<T> Clone for Ndjson<T> {
    fn clone(&self) -> Self {
        Self { intake: self.intake.clone(), events: PhantomData }
    }
}

impl<T> fmt::Debug for Ndjson<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ndjson").field("intake", &self.intake).finish()
    }
}
