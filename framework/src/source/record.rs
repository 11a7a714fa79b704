//! Finds the records of a CSV file in its bytes.

use super::cutter::Cutter;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};
use memchr::memchr_iter;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A record that is longer than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// Where a record is that was found, and whether it is whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// With the line end.
    pub(super) bytes: usize,
    /// Line ends, also of those inside of quotes.
    pub(super) lines: u64,
    /// Whether all quotes are closed: they may not be at the end of the input.
    pub(super) closed: bool,
}

/// Finds records in what a cutter holds. A record that has begun is not read again from its start when
/// more bytes come.
#[derive(Debug)]
pub(super) struct Records {
    delimiter: u8,
    reader: Reader,
    /// The fields without quotes, one after the other, and where each ends.
    text: Vec<u8>,
    text_length: usize,
    ends: Vec<usize>,
    count: usize,
    /// How much of the record at the start of the cutter was read; 0 if it is to be begun.
    read: usize,
}

impl Records {
    /// For records with this delimiter.
    pub(super) fn new(delimiter: u8) -> Self {
        Self {
            delimiter,
            reader: at_start(delimiter),
            text: vec![0; 1_024],
            text_length: 0,
            ends: vec![0; 32],
            count: 0,
            read: 0,
        }
    }

    /// Finds the next record, if all of it is there. It stays in the cutter until it is taken, and is
    /// found again if it is not. What stands before it (a byte order mark, empty lines) is taken.
    pub(super) fn find(&mut self, cutter: &mut Cutter) -> Result<Option<Found>, TooLong> {
        if self.read == 0 {
            if !skip_to_record(cutter) {
                return Ok(None);
            }
            (self.text_length, self.count) = (0, 0);
        }
        let ended = self.read_on(&cutter.rest()[self.read..]);
        let rest = cutter.rest();
        if self.read > cutter.limit().saturating_add(2) {
            return Err(TooLong);
        }
        if ended {
            if rest[self.read - 1] == b'\r' && rest.get(self.read) == Some(&b'\n') {
                self.read += 1;
            }
            let bytes = std::mem::take(&mut self.read);
            let lines = memchr_iter(b'\n', &rest[..bytes]).count() as u64;
            return Ok(Some(Found { bytes, lines, closed: true }));
        }
        if !cutter.is_complete() {
            return Ok(None);
        }
        // The end of the input ends a record as a line end does, but for one that stands in quotes.
        let closed = self.read_on(b"\n");
        if !closed {
            self.reader = at_start(self.delimiter);
        }
        self.read = 0;
        let lines = memchr_iter(b'\n', rest).count() as u64 + 1;
        Ok(Some(Found { bytes: rest.len(), lines, closed }))
    }

    /// The fields of the record that was found last.
    pub(super) fn fields(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.count).map(|i| {
            let start = if i == 0 { 0 } else { self.ends[i - 1] };
            &self.text[start..self.ends[i]]
        })
    }

    /// Reads all of `input`, or up to the end of the record. Says whether it has ended.
    fn read_on(&mut self, mut input: &[u8]) -> bool {
        // An empty input would be the end.
        while !input.is_empty() {
            let (result, read, wrote, ended) = self.reader.read_record(
                input,
                &mut self.text[self.text_length..],
                &mut self.ends[self.count..],
            );
            input = &input[read..];
            self.read += read;
            self.text_length += wrote;
            self.count += ended;
            match result {
                ReadRecordResult::OutputFull => self.text.resize(self.text.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::Record => return true,
                ReadRecordResult::InputEmpty | ReadRecordResult::End => {}
            }
        }
        false
    }
}

/// A reader at the start of a record. A clone of one (csv-core 0.1.13) would have lost its tables.
fn at_start(delimiter: u8) -> Reader {
    let mut reader = ReaderBuilder::new().delimiter(delimiter).build();
    // It takes a byte order mark off the first bytes that it sees, even in the middle of a file. An
    // empty line before them changes nothing else.
    reader.read_record(b"\n", &mut [0], &mut [0]);
    reader
}

/// Takes what stands before a record. Says whether one begins then.
fn skip_to_record(cutter: &mut Cutter) -> bool {
    if cutter.position().offset == 0 {
        let rest = cutter.rest();
        if rest.starts_with(BYTE_ORDER_MARK) {
            cutter.take(BYTE_ORDER_MARK.len(), 0);
        } else if BYTE_ORDER_MARK.starts_with(rest) && !cutter.is_complete() {
            return false;
        }
    }
    let rest = cutter.rest();
    let bytes = rest.iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
    let lines = memchr_iter(b'\n', &rest[..bytes]).count() as u64;
    cutter.take(bytes, lines);
    !cutter.rest().is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::cutter::Position;
    use super::*;
    use proptest::prelude::*;

    /// The records in `chunks`: the line where each begins, and its fields; or that it is not closed.
    fn records(chunks: &[&[u8]]) -> Vec<(u64, Option<Vec<Vec<u8>>>)> {
        let mut cutter = Cutter::new("input".into(), 1_000);
        let mut records = Records::new(b',');
        let mut all = Vec::new();
        for i in 0..=chunks.len() {
            match chunks.get(i) {
                Some(chunk) => cutter.feed(chunk),
                None => cutter.finish(),
            }
            while let Some(found) = records.find(&mut cutter).unwrap() {
                let fields = records.fields().map(<[u8]>::to_vec).collect();
                all.push((cutter.number(), found.closed.then_some(fields)));
                cutter.take(found.bytes, found.lines);
                cutter.settle();
            }
        }
        assert!(cutter.is_done());
        all
    }

    #[track_caller]
    fn check(input: &str, expected: &[(u64, &[&str])]) {
        let own = |fields: &[&str]| fields.iter().map(|f| f.as_bytes().to_vec()).collect();
        let expected: Vec<_> = expected.iter().map(|(n, f)| (*n, Some(own(f)))).collect();
        let bytes: Vec<&[u8]> = input.as_bytes().chunks(1).collect();
        assert_eq!(records(&bytes), expected, "byte by byte");
        assert_eq!(records(&[input.as_bytes()]), expected, "in one piece");
    }

    #[test]
    fn a_record_begins_at_its_first_line() {
        check("", &[]);
        check("\n\r\n\n", &[]);
        check("\u{feff}a,b\nc,d", &[(1, &["a", "b"]), (2, &["c", "d"])]);
        check("a\r\n\r\nb\r\n", &[(1, &["a"]), (3, &["b"])]);
        check("\"a\n\n\",\"b,\"\"\"\nc,\n", &[(1, &["a\n\n", "b,\""]), (4, &["c", ""])]);
        check("a\n\u{feff}b\n", &[(1, &["a"]), (2, &["\u{feff}b"])]);
    }

    #[test]
    fn a_quote_that_is_open_at_the_end_is_told() {
        assert_eq!(records(&[b"a\n\"b\n"]), [(1, Some(vec![b"a".to_vec()])), (2, None)]);
        assert_eq!(records(&[b"\"a\""]), [(1, Some(vec![b"a".to_vec()]))]);
    }

    #[test]
    fn a_record_that_is_too_long_is_refused_before_its_end_is_there() {
        let mut cutter = Cutter::new("input".into(), 5);
        let mut records = Records::new(b',');
        cutter.feed(b"ab,cd\r\n\"abcdefg");
        let found = records.find(&mut cutter).unwrap().unwrap();
        assert_eq!(found, Found { bytes: 7, lines: 1, closed: true });
        cutter.take(found.bytes, found.lines);
        assert_eq!(records.find(&mut cutter), Err(TooLong));
        assert_eq!(records.find(&mut cutter), Err(TooLong));
    }

    #[test]
    fn a_byte_order_mark_in_the_middle_is_text() {
        let position = Position { offset: 2, lines: 1 };
        let mut cutter = Cutter::new("input".into(), 9).at(position);
        let mut records = Records::new(b',');
        cutter.feed("\u{feff}b\n".as_bytes());
        assert!(records.find(&mut cutter).unwrap().is_some());
        assert!(records.fields().eq(["\u{feff}b".as_bytes()]));
    }

    #[test]
    fn what_is_not_taken_is_found_again() {
        let mut cutter = Cutter::new("input".into(), 9);
        let mut records = Records::new(b';');
        cutter.feed(b"a;b\nc;d\n");
        for _ in 0..2 {
            assert!(records.find(&mut cutter).unwrap().is_some());
            assert!(records.fields().eq([b"a", b"b"]));
        }
    }

    fn input() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            6 => "[ab ]{0,3}".prop_map(String::into_bytes),
            4 => Just(b",".to_vec()),
            3 => Just(b"\"".to_vec()),
            3 => Just(b"\n".to_vec()),
            2 => Just(b"\r\n".to_vec()),
            1 => Just(b"\r".to_vec()),
            1 => Just("\u{feff}".as_bytes().to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..3),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn chunks_change_nothing(input in input(), sizes in proptest::collection::vec(1..9_usize, 1..9)) {
            let mut chunks = Vec::new();
            let (mut rest, mut sizes) = (&input[..], sizes.iter().cycle());
            while !rest.is_empty() {
                let (chunk, after) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
                chunks.push(chunk);
                rest = after;
            }
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(&input[..]);
            let model: Vec<Vec<Vec<u8>>> = reader
                .byte_records()
                .map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect())
                .collect();
            let records = records(&chunks);
            prop_assert_eq!(records.len(), model.len());
            let last = records.len();
            for (i, ((_, fields), model)) in records.into_iter().zip(model).enumerate() {
                match fields {
                    Some(fields) => prop_assert_eq!(fields, model),
                    None => prop_assert_eq!(i + 1, last, "only the last may be open"),
                }
            }
        }
    }
}
