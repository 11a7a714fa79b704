//! Cuts bytes into lines. Pure.

use crate::component::{BoxError, Fatal, Malformed};
use crate::emitter::Emitter;
use memchr::memchr;
use std::str::Utf8Error;

/// How far an input has been emitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Position {
    /// Bytes, line ends included.
    pub(super) offset: u64,
    /// Lines.
    pub(super) lines: u64,
}

/// A line that can't be emitted. The text names the input and the line, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadLine {
    #[error(
        "line {line} of {input} is longer than {limit} bytes (`max_line_bytes` sets the limit)"
    )]
    TooLong { input: String, line: u64, limit: usize },
    #[error("line {line} of {input} is not UTF-8")]
    NotUtf8 { input: String, line: u64, source: Utf8Error },
}

impl BadLine {
    /// As an error of a source: the job can't go on behind a line that has no end, and skips one that is
    /// no text.
    pub(super) fn mark(self) -> BoxError {
        match self {
            Self::TooLong { .. } => Fatal::new(self).into(),
            Self::NotUtf8 { .. } => Malformed::new(self).into(),
        }
    }
}

/// Takes bytes as they come and gives the lines that are in them.
///
/// A line ends with `\n`, or with the input; one `\r` at its end is not a part of it. Lines are to
/// be taken until there is none before more bytes are fed: then no more is kept than the start of
/// one line, which the limit bounds, and what was fed last.
#[derive(Debug)]
pub(super) struct Cutter {
    input: String,
    limit: usize,
    buffer: Vec<u8>,
    /// Where in the buffer the next line begins, and where in the input.
    start: usize,
    position: Position,
    /// The same, as it was at the last [`settle`](Self::settle).
    settled: (usize, Position),
    /// Up to where no line end was found.
    searched: usize,
    /// No more bytes will come.
    complete: bool,
}

impl Cutter {
    /// One for lines of up to `limit` bytes. `input` is named in errors.
    pub(super) fn new(input: String, limit: usize) -> Self {
        Self {
            input,
            limit,
            buffer: Vec::new(),
            start: 0,
            position: Position::default(),
            settled: (0, Position::default()),
            searched: 0,
            complete: false,
        }
    }

    /// Counts on from `position`, where the input is to be read from.
    pub(super) fn at(mut self, position: Position) -> Self {
        self.position = position;
        self.settled.1 = position;
        self
    }

    pub(super) fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// How far lines have been taken.
    pub(super) fn position(&self) -> Position {
        self.position
    }

    /// Takes the next bytes of the input.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let gone = self.settled.0;
        self.buffer.drain(..gone);
        self.start -= gone;
        self.searched -= gone;
        self.settled.0 = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// Marks the end of the input: what is left is the last line.
    pub(super) fn finish(&mut self) {
        self.complete = true;
    }

    /// Whether the input has ended and every line was taken.
    pub(super) fn is_done(&self) -> bool {
        self.complete && self.start == self.buffer.len()
    }

    /// Forgets the lines that were taken: [`rewind`](Self::rewind) comes back to here.
    pub(super) fn settle(&mut self) {
        self.settled = (self.start, self.position);
    }

    /// Takes back all lines since the last [`settle`](Self::settle), to give them once more.
    pub(super) fn rewind(&mut self) {
        (self.start, self.position) = self.settled;
        self.searched = self.start;
    }

    /// Drops what is there of a line that has not ended, and says how many bytes that was.
    pub(super) fn drop_partial(&mut self) -> usize {
        let dropped = self.buffer.len() - self.start;
        self.buffer.clear();
        self.start = 0;
        self.searched = 0;
        self.settle();
        dropped
    }

    /// The number of the next line, from 1.
    pub(super) fn number(&self) -> u64 {
        self.position.lines + 1
    }

    /// The name of the input.
    pub(super) fn input(&self) -> &str {
        &self.input
    }

    /// All that is there and was not taken.
    pub(super) fn rest(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Whether no more bytes will come.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// How long a line may be.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Takes so many bytes, with so many line ends in them.
    pub(super) fn take(&mut self, bytes: usize, lines: u64) {
        self.start += bytes;
        self.searched = self.searched.max(self.start);
        self.position.offset += bytes as u64;
        self.position.lines += lines;
    }

    /// Where the next line is, if all of it is there: how long it is without its end, and with it. It
    /// stays where it is until it is [taken](Self::take).
    pub(super) fn find_line(&mut self) -> Result<Option<(usize, usize)>, BadLine> {
        let found = memchr(b'\n', &self.buffer[self.searched..]);
        let (end, next) = match found {
            Some(i) => (self.searched + i, self.searched + i + 1),
            None => (self.buffer.len(), self.buffer.len()),
        };
        let line = &self.buffer[self.start..end];
        // While the line end is missing, a `\r` may still turn out to belong to it.
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.len() > self.limit {
            let (input, limit) = (self.input.clone(), self.limit);
            return Err(BadLine::TooLong { input, line: self.number(), limit });
        }
        if found.is_none() && (!self.complete || self.start == end) {
            self.searched = end;
            return Ok(None);
        }
        Ok(Some((line.len(), next - self.start)))
    }

    /// The next line, if all of it is there. One that is not UTF-8 is taken, too; one that is too long stays
    /// where it is, so it is met again.
    pub(super) fn next_line(&mut self) -> Result<Option<String>, BadLine> {
        let Some((length, whole)) = self.find_line()? else { return Ok(None) };
        let text = match std::str::from_utf8(&self.rest()[..length]) {
            Ok(text) => Ok(Some(text.to_owned())),
            Err(source) => {
                let input = self.input.clone();
                Err(BadLine::NotUtf8 { input, line: self.number(), source })
            }
        };
        self.take(whole, 1);
        text
    }

    /// Emits lines until the emitter is full, no whole line is left, or one is bad. One that is too long is
    /// an error only if no line came before it, since it ends all: what is good goes first.
    pub(super) fn emit_lines(&mut self, out: &mut Emitter<String>) -> Result<(), BadLine> {
        let before = out.len();
        while !out.is_full() {
            match self.next_line() {
                Ok(Some(line)) => out.emit(line),
                Ok(None) => break,
                Err(BadLine::TooLong { .. }) if out.len() > before => break,
                Err(bad) => return Err(bad),
            }
        }
        Ok(())
    }

    /// How many bytes are held.
    #[cfg(test)]
    fn held(&self) -> usize {
        self.buffer.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What the cutter gives for `chunks`, in order, and the error that ended it.
    fn cut(chunks: &[&[u8]], limit: usize) -> (Vec<String>, Option<BadLine>) {
        let mut cutter = Cutter::new("input".into(), limit);
        let mut lines = Vec::new();
        for i in 0..=chunks.len() {
            match chunks.get(i) {
                Some(chunk) => cutter.feed(chunk),
                None => cutter.finish(),
            }
            loop {
                match cutter.next_line() {
                    Ok(Some(line)) => lines.push(line),
                    Ok(None) => break,
                    Err(bad) => return (lines, Some(bad)),
                }
            }
        }
        assert!(cutter.is_done());
        (lines, None)
    }

    #[track_caller]
    fn check(input: &str, expected: &[&str]) {
        let bytes: Vec<&[u8]> = input.as_bytes().chunks(1).collect();
        let expected = (expected.iter().map(ToString::to_string).collect(), None);
        assert_eq!(cut(&bytes, 100), expected, "byte by byte");
        assert_eq!(cut(&[input.as_bytes()], 100), expected, "in one piece");
    }

    #[test]
    fn only_the_line_end_is_removed() {
        check("", &[]);
        check("\n", &[""]);
        check("\r\n", &[""]);
        check("\r", &[""]);
        check("a\nb\n", &["a", "b"]);
        check("a\nb", &["a", "b"]);
        check("a\r\nb\r", &["a", "b"]);
        check("a\r\r\n", &["a\r"]);
        check("a\rb\n", &["a\rb"]);
        check("\n\n  A b \n\n", &["", "", "  A b ", ""]);
        check("grün\n\u{feff}ß", &["grün", "\u{feff}ß"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_named_and_met_again() {
        let mut cutter = Cutter::new("\"x.csv\"".into(), 3);
        cutter.feed(b"abc\r\nabcd");
        assert_eq!(cutter.next_line(), Ok(Some("abc".into())));
        let text = "line 2 of \"x.csv\" is longer than 3 bytes (`max_line_bytes` sets the limit)";
        assert_eq!(cutter.next_line().unwrap_err().to_string(), text);
        assert_eq!(cutter.next_line().unwrap_err().to_string(), text);
        assert!(Fatal::is(&*cutter.next_line().unwrap_err().mark()));

        let mut cutter = Cutter::new("input".into(), 3);
        cutter.feed(b"a\nabcd\n");
        let mut out = Emitter::new();
        assert_eq!(cutter.emit_lines(&mut out), Ok(()), "what is good goes first");
        assert_eq!(out.as_slice(), ["a"]);
        assert!(cutter.emit_lines(&mut out).is_err());
    }

    #[test]
    fn a_line_that_is_not_utf_8_is_named_and_taken() {
        let mut cutter = Cutter::new("h:1".into(), 3);
        cutter.feed(b"a\n\xff\nb\n");
        let mut out = Emitter::new();
        let bad = cutter.emit_lines(&mut out).unwrap_err();
        assert_eq!(bad.to_string(), "line 2 of h:1 is not UTF-8");
        assert!(Malformed::is(&*bad.mark()));
        assert_eq!(cutter.position(), Position { offset: 4, lines: 2 });
        assert_eq!(cutter.emit_lines(&mut out), Ok(()));
        assert_eq!(out.as_slice(), ["a", "b"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_before_its_end_is_there() {
        let mut cutter = Cutter::new("input".into(), 3);
        cutter.feed(b"abc");
        assert_eq!(cutter.next_line(), Ok(None));
        // This may yet be a line of three bytes and its end, the next may not.
        cutter.feed(b"\r");
        assert_eq!(cutter.next_line(), Ok(None));
        cutter.feed(b"d");
        assert!(cutter.next_line().is_err());
    }

    #[test]
    fn emits_until_full() {
        let mut cutter = Cutter::new("input".into(), 3);
        cutter.feed(b"a\nb\nc\n");
        let mut out = Emitter::with_room(2);
        assert_eq!(cutter.emit_lines(&mut out), Ok(()));
        assert_eq!(out.as_slice(), ["a", "b"]);
        assert_eq!(cutter.position(), Position { offset: 4, lines: 2 });
    }

    #[test]
    fn what_has_begun_can_be_dropped() {
        let mut cutter = Cutter::new("input".into(), 9);
        cutter.feed(b"a\nbcd");
        assert_eq!(cutter.next_line(), Ok(Some("a".into())));
        assert_eq!(cutter.next_line(), Ok(None));
        assert_eq!(cutter.drop_partial(), 3);
        cutter.feed(b"e\n");
        assert_eq!(cutter.next_line(), Ok(Some("e".into())));
        assert_eq!(cutter.position().lines, 2);
    }

    /// The same by hand: split the whole, then look at each line. It ends with one that is too long.
    fn naive(input: &[u8], limit: usize) -> Vec<Result<String, BadLine>> {
        let mut pieces: Vec<&[u8]> = input.split(|b| *b == b'\n').collect();
        if pieces.last().is_some_and(|last| last.is_empty()) {
            pieces.pop();
        }
        let mut lines = Vec::new();
        for piece in pieces {
            let piece = piece.strip_suffix(b"\r").unwrap_or(piece);
            let (input, line) = ("input".to_owned(), lines.len() as u64 + 1);
            if piece.len() > limit {
                lines.push(Err(BadLine::TooLong { input, line, limit }));
                return lines;
            }
            let text = std::str::from_utf8(piece).map(str::to_owned);
            lines.push(text.map_err(|source| BadLine::NotUtf8 { input, line, source }));
        }
        lines
    }

    fn input() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            8 => "[ab ]{0,4}".prop_map(String::into_bytes),
            6 => Just(b"\n".to_vec()),
            4 => Just(b"\r\n".to_vec()),
            2 => Just(b"\r".to_vec()),
            4 => "[äß\u{20ac}\u{1f697}]{1,2}".prop_map(String::into_bytes),
            1 => proptest::collection::vec(any::<u8>(), 0..4),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    /// How long the chunks are, by turns, and how many lines are taken, given back and taken again
    /// after each.
    fn steps() -> impl Strategy<Value = Vec<(usize, usize)>> {
        proptest::collection::vec((1..12_usize, 0..3_usize), 1..12)
    }

    proptest! {
        #[test]
        fn chunks_and_rewinding_change_nothing(input in input(), limit in 0..14_usize, steps in steps()) {
            let mut cutter = Cutter::new("input".into(), limit);
            let mut lines = Vec::new();
            let mut rest = &input[..];
            let mut too_long = false;
            let mut turn = steps.iter().cycle();
            while !too_long && !cutter.is_done() {
                let (size, again) = *turn.next().unwrap();
                if rest.is_empty() {
                    cutter.finish();
                } else {
                    let (chunk, after) = rest.split_at(size.min(rest.len()));
                    // The start of a line, perhaps with a `\r`, the chunk, and what was taken before
                    // the last settling.
                    cutter.feed(chunk);
                    prop_assert!(cutter.held() <= limit + 1 + chunk.len(), "held {}", cutter.held());
                    rest = after;
                }
                let before = cutter.position();
                for _ in 0..again {
                    drop(cutter.next_line());
                }
                cutter.rewind();
                prop_assert_eq!(cutter.position(), before);
                loop {
                    match cutter.next_line() {
                        Ok(Some(line)) => lines.push(Ok(line)),
                        Ok(None) => break,
                        Err(bad) => {
                            too_long = matches!(bad, BadLine::TooLong { .. });
                            lines.push(Err(bad));
                            if too_long {
                                break;
                            }
                        }
                    }
                }
                cutter.settle();
            }
            if !too_long {
                prop_assert_eq!(cutter.position().offset, input.len() as u64);
            }
            prop_assert_eq!(lines, naive(&input, limit));
        }
    }
}
