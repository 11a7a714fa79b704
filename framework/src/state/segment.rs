//! The state of the keys of one key group as bytes: what a segment of a checkpoint holds.
//!
//! ```text
//! segment  = format (1 byte, 1) contents (1 byte: 1 it is a delta and no base, plus 2 there are times of
//!            change, plus 4 there are timers)
//!            removed (count) key*               keys that are there no more; none in a base
//!            entries (count) (key state change?)*    keys with their state
//!            timers?
//! timers   = removed (count) key*               keys that have no timers any more; none in a base
//!            entries (count) (key count time*)*      keys with all of their timers, in order
//! key      = length, MessagePack
//! state    = length, MessagePack with the names of fields
//! change   = time: when the state was last changed
//! time     = 8 bytes, big-endian, with sign: milliseconds since 1970-01-01T00:00Z
//! count, length = LEB128, without sign
//! ```
//!
//! A base holds all keys of the group. A delta is applied to what the segments before it give: first the
//! keys that it removes are removed, then its entries are set; and the same with timers. Times of change are
//! there if the states have a time to live.

use crate::time::EventTime;
use serde::Serialize;

const FORMAT: u8 = 1;

/// Why the state of keys could not be written or read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SegmentError {
    #[error("a key or its state cannot be encoded")]
    Encode(#[source] rmp_serde::encode::Error),
    #[error("the state of the key {key} cannot be decoded")]
    Key {
        /// The key, or its bytes where it is the key itself.
        key: String,
        source: BoxError,
    },
    #[error("a segment cannot be read: {0}")]
    Segment(&'static str),
    #[error("the key {key} lies in key group {found}, but belongs into {right}")]
    Misplaced { key: String, found: u16, right: u16 },
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What a segment holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    /// It is no base.
    pub(super) delta: bool,
    /// With each state there is the time of its last change.
    pub(super) changes: bool,
    /// There are timers.
    pub(super) timers: bool,
}

impl Contents {
    fn byte(self) -> u8 {
        u8::from(self.delta) | u8::from(self.changes) << 1 | u8::from(self.timers) << 2
    }

    fn of_byte(byte: u8) -> Option<Self> {
        let has = |bit: u8| byte >> bit & 1 == 1;
        (byte < 8).then(|| Self { delta: has(0), changes: has(1), timers: has(2) })
    }
}

/// Writes a segment.
#[derive(Debug)]
pub(super) struct SegmentWriter {
    bytes: Vec<u8>,
}

impl SegmentWriter {
    pub(super) fn new(contents: Contents, capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(capacity + 8);
        bytes.extend([FORMAT, contents.byte()]);
        Self { bytes }
    }

    pub(super) fn count(&mut self, count: usize) {
        put_length(&mut self.bytes, count);
    }

    pub(super) fn time(&mut self, time: EventTime) {
        self.bytes.extend(time.as_millis().to_be_bytes());
    }

    pub(super) fn value<T: Serialize>(&mut self, value: &T) -> Result<(), SegmentError> {
        // Most values are short, so one byte is left for their length.
        let at = self.bytes.len();
        self.bytes.push(0);
        let mut serializer = rmp_serde::Serializer::new(&mut self.bytes).with_struct_map();
        value.serialize(&mut serializer).map_err(SegmentError::Encode)?;
        let length = self.bytes.len() - at - 1;
        if length < 0x80 {
            self.bytes[at] = length as u8;
        } else {
            let mut prefix = Vec::with_capacity(10);
            put_length(&mut prefix, length);
            self.bytes.splice(at..=at, prefix);
        }
        Ok(())
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

fn put_length(bytes: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
}

/// Reads a segment.
#[derive(Debug)]
pub(super) struct SegmentReader<'a> {
    rest: &'a [u8],
    contents: Contents,
}

impl<'a> SegmentReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, SegmentError> {
        let [format, contents, rest @ ..] = bytes else {
            return Err(SegmentError::Segment("it is no segment of keys"));
        };
        match (*format, Contents::of_byte(*contents)) {
            (FORMAT, Some(contents)) => Ok(Self { rest, contents }),
            (FORMAT, None) | (..FORMAT, _) => {
                Err(SegmentError::Segment("it is no segment of keys"))
            }
            _ => Err(SegmentError::Segment("it was written by a newer version of Streamwork")),
        }
    }

    pub(super) fn contents(&self) -> Contents {
        self.contents
    }

    /// How many bytes are left.
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn time(&mut self) -> Result<EventTime, SegmentError> {
        let (time, rest) = self
            .rest
            .split_first_chunk()
            .ok_or_else(|| SegmentError::Segment("it is cut short"))?;
        self.rest = rest;
        Ok(EventTime::from_millis(i64::from_be_bytes(*time)))
    }

    pub(super) fn count(&mut self) -> Result<usize, SegmentError> {
        let mut length = 0_usize;
        for shift in (0..usize::BITS).step_by(7) {
            let Some((&byte, rest)) = self.rest.split_first() else { break };
            self.rest = rest;
            length |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(length);
            }
        }
        Err(SegmentError::Segment("it is cut short"))
    }

    /// The bytes of the next value.
    pub(super) fn value(&mut self) -> Result<&'a [u8], SegmentError> {
        let length = self.count()?;
        let value = self.rest.get(..length);
        let value = value.ok_or_else(|| SegmentError::Segment("it is cut short"))?;
        self.rest = &self.rest[length..];
        Ok(value)
    }

    pub(super) fn end(&self) -> Result<(), SegmentError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(SegmentError::Segment("it is longer than what it holds"))
        }
    }
}
