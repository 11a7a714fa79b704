//! Files of CSV.

use super::publication::Publication;
use super::{Effect, Handle, Sink};
use crate::component::{Component, Context, Result};
use crate::event::Event;
use crate::id::CheckpointId;
use serde::Serialize;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Writes each event as a record of CSV, into files that appear when they are finished. Each file begins
/// with a header of the names of the event's fields; a tuple has none. What it writes,
/// [`Csv`](crate::Csv) reads.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::prelude::*;
///
/// #[derive(Event, Clone, Serialize, Deserialize)]
/// struct Vehicle {
///     kind: String,
///     axles: u8,
/// }
///
/// let directory = std::env::temp_dir().join(format!("toll-tables-{}", std::process::id()));
/// let job = Job::new("tolls");
/// let car = Vehicle { kind: "car".into(), axles: 2 };
/// let truck = Vehicle { kind: "truck, old".into(), axles: 3 };
/// job.source(FromIter::new([car, truck]))
///     .sink(CsvFiles::in_dir(&directory))
///     .named("vehicles");
/// Engine::new().run(job)?;
/// let text = std::fs::read_to_string(directory.join("vehicles-0-0.csv"))?;
/// assert_eq!(text, "kind,axles\ncar,2\n\"truck, old\",3\n");
/// # std::fs::remove_dir_all(&directory)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// How files are named, and when they appear, is as with [`NdjsonFiles`](super::NdjsonFiles), also in a job
/// that takes checkpoints; they end in `.csv`.
///
/// # Errors
/// An event that can't be written as a record (with a map or a list of unknown length in it, or with
/// another number of fields than the first) is lost alone, with nothing of it in the file. All else is as
/// with [`NdjsonFiles`](super::NdjsonFiles).
pub struct CsvFiles<T> {
    files: Publication,
    records: Records,
    events: PhantomData<fn(T)>,
}

impl<T> CsvFiles<T> {
    /// A sink that writes files into a directory, which is made if it is missing.
    #[must_use]
    pub fn in_dir(path: impl AsRef<Path>) -> Self {
        let files = Publication::in_dir(path.as_ref(), "csv");
        Self { files, records: Records::new(), events: PhantomData }
    }
}

/// Where a writer puts its bytes, to be looked at while it goes on. There is one thread; the lock is for
/// the compiler.
#[derive(Clone, Debug, Default)]
struct Scratch(Arc<Mutex<Vec<u8>>>);

impl Scratch {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl io::Write for Scratch {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Makes the records of one file.
#[derive(Debug)]
struct Records {
    scratch: Scratch,
    /// `None` while it makes a record, and after a failure.
    writer: Option<csv::Writer<Scratch>>,
    /// The header, or the first record if there is none.
    first: Vec<u8>,
}

impl Records {
    fn new() -> Self {
        Self { scratch: Scratch::default(), writer: None, first: Vec::new() }
    }

    /// The bytes of the record of `event`, after those of the header if it is the first. After an error the
    /// next is made as if this one had not been.
    fn record<T: Serialize>(&mut self, event: &T) -> Result<Vec<u8>, csv::Error> {
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.writer()?,
        };
        self.scratch.lock().clear();
        writer.serialize(event)?;
        writer.flush()?;
        self.writer = Some(writer);
        let record = mem::take(&mut *self.scratch.lock());
        if self.first.is_empty() {
            let mut records = csv::ReaderBuilder::new().has_headers(false).from_reader(&*record);
            let mut first = csv::ByteRecord::new();
            records.read_byte_record(&mut first)?;
            let end = usize::try_from(records.position().byte()).unwrap_or(record.len());
            self.first = record[..end].to_vec();
        }
        Ok(record)
    }

    /// Gives the memory of a record back.
    fn recycle(&self, record: Vec<u8>) {
        *self.scratch.lock() = record;
    }

    /// A writer that goes on after the first line, if there is one: its length is then that of all.
    fn writer(&self) -> Result<csv::Writer<Scratch>, csv::Error> {
        let begun = !self.first.is_empty();
        let mut writer =
            csv::WriterBuilder::new().has_headers(!begun).from_writer(self.scratch.clone());
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&*self.first);
        let mut first = csv::ByteRecord::new();
        if reader.read_byte_record(&mut first)? {
            writer.write_byte_record(&first)?;
            writer.flush()?;
        }
        Ok(writer)
    }
}

impl<T: 'static> Component for CsvFiles<T> {
    type Saved = ();

    fn name(&self) -> &str {
        "csv-files"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<T: Event + Serialize> Sink for CsvFiles<T> {
    type In = T;

    const EFFECT: Effect = Effect::Committing;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.files.setup(ctx)
    }

    fn write(&mut self, event: T) -> Result<()> {
        if self.files.is_at_start() {
            self.records = Records::new();
        }
        // Only what is whole goes to the file.
        let record = self.records.record(&event)?;
        self.files.write(&record)?;
        self.records.recycle(record);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.files.flush()
    }

    fn finish(&mut self) -> Result<()> {
        self.files.finish()
    }

    fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Handle>> {
        let prepared = self.files.prepare(checkpoint)?;
        prepared.as_ref().map(Handle::new).transpose()
    }

    fn commit(&mut self, handle: Handle) -> Result<()> {
        self.files.commit(&handle.get()?)
    }

    fn discard(&mut self, handle: Handle) -> Result<()> {
        self.files.discard(&handle.get()?)
    }

    fn clean_up(&mut self, owner: &str, component: &str) -> Result<()> {
        self.files.clean_up(owner, component)
    }
}

/// A clone has the same directory and no file.
impl<T> Clone for CsvFiles<T> {
    fn clone(&self) -> Self {
        Self { files: self.files.clone(), records: Records::new(), events: PhantomData }
    }
}

impl<T> fmt::Debug for CsvFiles<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CsvFiles").field("files", &self.files).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(Serialize)]
    struct Row {
        a: u8,
        #[serde(skip_serializing_if = "Option::is_none")]
        b: Option<&'static str>,
    }

    fn text(record: Result<Vec<u8>, csv::Error>) -> String {
        String::from_utf8(record.unwrap()).unwrap()
    }

    #[test]
    fn a_failure_leaves_no_trace() {
        let mut records = Records::new();
        // A header begins before the value is met that can't be written.
        assert!(records.record(&BTreeMap::from([("x", 1)])).is_err());
        assert_eq!(text(records.record(&Row { a: 1, b: Some("x") })), "a,b\n1,x\n");
        assert!(records.record(&Row { a: 2, b: None }).is_err());
        assert!(records.record(&Row { a: 3, b: None }).is_err(), "the length is not forgotten");
        assert_eq!(text(records.record(&Row { a: 4, b: Some(",\n\"") })), "4,\",\n\"\"\"\n");
    }

    #[test]
    fn a_tuple_has_no_header() {
        let mut records = Records::new();
        assert_eq!(text(records.record(&(1, "x"))), "1,x\n");
        assert!(records.record(&(1, "x", 2)).is_err());
        assert_eq!(text(records.record(&(2, "\r"))), "2,\"\r\"\n");
    }
}
