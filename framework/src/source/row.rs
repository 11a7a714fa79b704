//! From a CSV record to an event.

use super::cutter::Cutter;
use super::malformed::{fail, message, shorten};
use super::record::{Found, Records, TooLong};
use crate::component::{Malformed, Result};
use crate::emitter::Emitter;
use csv::{DeserializeErrorKind, ErrorKind, StringRecord};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_path_to_error::Track;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

/// What a file begins with: the names of its columns, or only how many there are.
#[derive(Clone, Debug)]
struct Head {
    names: Option<StringRecord>,
    columns: usize,
    line: u64,
}

/// A column: its name, or its number from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    Named(String),
    Number(usize),
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(f, "{name:?}"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

/// Why a record is no event.
#[derive(Debug, thiserror::Error)]
#[error("line {line} of {input}: {problem}")]
struct BadRecord {
    input: String,
    /// Where the record begins, from 1; of the header if the problem is there.
    line: u64,
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(
        "the record that begins here is longer than {limit} bytes (`max_record_bytes` sets the limit); \
         a quote that is not closed makes one of all that follows"
    )]
    TooLong { limit: usize },
    #[error("a quote is not closed before the end of the input")]
    Unclosed,
    #[error("the number of columns is {got}, but {wanted} in the {}", if *.header { "header" } else { "first record" })]
    Columns { got: usize, wanted: usize, header: bool },
    #[error("column {column} is not UTF-8")]
    NotUtf8 { column: Column },
    #[error("column {column} is {value:?}: {message}")]
    Value { column: Column, value: String, message: String },
    #[error("{message}")]
    Other { message: String },
    #[error("the header has no column {field:?}; its columns are {columns:?}")]
    Missing { field: String, columns: Vec<String> },
    #[error("the header does not fit: {message}; its columns are {columns:?}")]
    Header { message: String, columns: Vec<String> },
}

impl Problem {
    /// Whether every record has it.
    fn is_of_header(&self) -> bool {
        matches!(self, Self::Missing { .. } | Self::Header { .. })
    }
}

/// Makes events of the records in a cutter.
#[derive(Debug)]
pub(super) struct Rows {
    records: Records,
    headers: bool,
    head: Option<Head>,
    /// The fields of one record, kept for their memory.
    row: StringRecord,
}

impl Rows {
    pub(super) fn new(delimiter: u8, headers: bool) -> Self {
        Self { records: Records::new(delimiter), headers, head: None, row: StringRecord::new() }
    }

    /// Reads the head, if all of it is there, and gives its bytes. A header is taken, a first record
    /// that is none stays.
    pub(super) fn read_head(&mut self, cutter: &mut Cutter) -> Result<Option<Vec<u8>>> {
        let found = match self.records.find(cutter) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(None),
            Err(TooLong) => return fail(too_long(cutter), false).map(|()| None),
        };
        let bad = |problem| fail(bad(cutter, problem), false).map(|()| None);
        if self.headers {
            if !found.closed {
                return bad(Problem::Unclosed);
            }
            if let Err(problem) = self.fill_row() {
                return bad(problem);
            }
        }
        let names = self.headers.then(|| self.row.clone());
        self.head =
            Some(Head { names, columns: self.records.fields().len(), line: cutter.number() });
        let bytes = cutter.rest()[..found.bytes].to_vec();
        if self.headers {
            cutter.take(found.bytes, found.lines);
        }
        Ok(Some(bytes))
    }

    /// Whether the head was read.
    pub(super) fn has_head(&self) -> bool {
        self.head.is_some()
    }

    /// Emits events until the emitter is full, no whole record is left, or one is bad.
    pub(super) fn emit<T: DeserializeOwned>(
        &mut self,
        cutter: &mut Cutter,
        out: &mut Emitter<T>,
    ) -> Result<()> {
        let before = out.len();
        while !out.is_full() {
            let found = match self.records.find(cutter) {
                Ok(Some(found)) => found,
                Ok(None) => break,
                Err(TooLong) => return fail(too_long(cutter), out.len() > before),
            };
            match self.read(found) {
                Ok(event) => out.emit(event),
                Err(problem) => {
                    let emitted = out.len() > before;
                    if let Some(head) = &self.head
                        && problem.is_of_header()
                    {
                        let input = cutter.input().to_owned();
                        return fail(BadRecord { input, line: head.line, problem }, emitted);
                    }
                    let bad = bad(cutter, problem);
                    cutter.take(found.bytes, found.lines);
                    return Err(Malformed::new(bad).into());
                }
            }
            cutter.take(found.bytes, found.lines);
        }
        Ok(())
    }

    /// The event of the record that was found last.
    fn read<T: DeserializeOwned>(&mut self, found: Found) -> Result<T, Problem> {
        if !found.closed {
            return Err(Problem::Unclosed);
        }
        let got = self.records.fields().len();
        if let Some(head) = &self.head
            && head.columns != got
        {
            let (wanted, header) = (head.columns, head.names.is_some());
            return Err(Problem::Columns { got, wanted, header });
        }
        self.fill_row()?;
        self.row.deserialize(self.names()).map_err(|error| self.problem::<T>(&error))
    }

    fn names(&self) -> Option<&StringRecord> {
        self.head.as_ref().and_then(|head| head.names.as_ref())
    }

    /// Fills the row with the fields that were found.
    fn fill_row(&mut self) -> Result<(), Problem> {
        self.row.clear();
        for (i, field) in self.records.fields().enumerate() {
            match std::str::from_utf8(field) {
                Ok(text) => self.row.push_field(text),
                Err(_) => return Err(Problem::NotUtf8 { column: self.column(i) }),
            }
        }
        Ok(())
    }

    fn column(&self, index: usize) -> Column {
        match self.names().and_then(|names| names.get(index)) {
            Some(name) => Column::Named(name.to_owned()),
            None => Column::Number(index + 1),
        }
    }

    /// What serde has against the row.
    fn problem<T: DeserializeOwned>(&self, error: &csv::Error) -> Problem {
        let ErrorKind::Deserialize { err, .. } = error.kind() else {
            return Problem::Other { message: message(&error.to_string()) };
        };
        let message = message(&err.kind().to_string());
        let plain = matches!(err.kind(), DeserializeErrorKind::Message(_));
        if plain
            && let Some(names) = self.names()
            && let Some(problem) = header_problem(names, &message)
            && !self.fails_inside_a_value::<T>()
        {
            return problem;
        }
        let index = err.field().and_then(|i| usize::try_from(i).ok());
        let index = index.or_else(|| self.find_column::<T>(err.kind()));
        match index.and_then(|i| Some((i, self.row.get(i)?))) {
            Some((i, value)) => {
                let (column, value) = (self.column(i), shorten(value, LONGEST_VALUE));
                Problem::Value { column, value, message }
            }
            None => Problem::Other { message },
        }
    }

    /// Whether reading the row fails inside of a value, which may be a text with fields of its own: read
    /// once more, with an eye on the place.
    fn fails_inside_a_value<T: DeserializeOwned>(&self) -> bool {
        INSIDE.set(false);
        drop(self.row.deserialize::<Watched<T>>(self.names()));
        INSIDE.get()
    }

    /// Which column is to blame for what serde says without naming one: columns are read from the first
    /// on, so it says the same of the first columns alone, if that one is among them.
    fn find_column<T: DeserializeOwned>(&self, kind: &DeserializeErrorKind) -> Option<usize> {
        let says_so = |count: usize| {
            let names = self.names().map(|names| names.iter().take(count).collect());
            let row: StringRecord = self.row.iter().take(count).collect();
            let error = row.deserialize::<T>(names.as_ref()).err();
            error.is_some_and(|error| match error.kind() {
                ErrorKind::Deserialize { err, .. } => err.kind() == kind,
                _ => false,
            })
        };
        let counts: Vec<usize> = (0..=self.row.len()).collect();
        counts.partition_point(|&count| !says_so(count)).checked_sub(1)
    }
}

const LONGEST_VALUE: usize = 40;

thread_local! {
    /// Whether a [`Watched`] value failed inside of one of its fields.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// A value that notes where reading it fails.
struct Watched<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Watched<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let mut track = Track::new();
        let watched = serde_path_to_error::Deserializer::new(deserializer, &mut track);
        let watched = T::deserialize(watched);
        INSIDE.set(watched.is_err() && track.path().iter().next().is_some());
        watched.map(|_| Self(PhantomData))
    }
}

fn bad(cutter: &Cutter, problem: Problem) -> BadRecord {
    BadRecord { input: cutter.input().to_owned(), line: cutter.number(), problem }
}

fn too_long(cutter: &Cutter) -> BadRecord {
    bad(cutter, Problem::TooLong { limit: cutter.limit() })
}

/// What is wrong with the header, if that is what serde says: then it would say so of every record.
fn header_problem(names: &StringRecord, message: &str) -> Option<Problem> {
    let (what, rest) = message.split_once(" field `")?;
    let (field, _) = rest.split_once('`')?;
    let columns = || names.iter().map(str::to_owned).collect();
    let times = names.iter().filter(|name| *name == field).count();
    match (what, times) {
        ("missing", 0) => Some(Problem::Missing { field: field.to_owned(), columns: columns() }),
        ("unknown", 1..) | ("duplicate", 2..) => {
            Some(Problem::Header { message: message.to_owned(), columns: columns() })
        }
        _ => None,
    }
}
