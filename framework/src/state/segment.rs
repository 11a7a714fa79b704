//! The state of the keys of one key group as bytes: what a segment of a checkpoint holds.
//!
//! ```text
//! segment  = format (1 byte, 1) kind (1 byte: 0 base, 1 delta)
//!            removed (count) key*            keys that are there no more; none in a base
//!            entries (count) (key state)*    keys with their state
//! key      = length, MessagePack
//! state    = length, MessagePack with the names of fields
//! count, length = LEB128, without sign
//! ```
//!
//! A base holds all keys of the group. A delta is applied to what the segments before it give: first the
//! keys that it removes are removed, then its entries are set.

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Base = 0,
    Delta = 1,
}

/// Writes a segment.
#[derive(Debug)]
pub(super) struct SegmentWriter {
    bytes: Vec<u8>,
}

impl SegmentWriter {
    pub(super) fn new(kind: Kind, capacity: usize) -> Self {
        let mut bytes = Vec::with_capacity(capacity + 8);
        bytes.extend([FORMAT, kind as u8]);
        Self { bytes }
    }

    pub(super) fn count(&mut self, count: usize) {
        put_length(&mut self.bytes, count);
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
    kind: Kind,
}

impl<'a> SegmentReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, SegmentError> {
        match bytes {
            [FORMAT, 0, rest @ ..] => Ok(Self { rest, kind: Kind::Base }),
            [FORMAT, 1, rest @ ..] => Ok(Self { rest, kind: Kind::Delta }),
            [format, ..] if *format > FORMAT => {
                Err(SegmentError::Segment("it was written by a newer version of Streamwork"))
            }
            _ => Err(SegmentError::Segment("it is no segment of keys")),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
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
