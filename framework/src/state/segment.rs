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

use super::StateError;
use serde::Serialize;
use serde::de::DeserializeOwned;

const FORMAT: u8 = 1;

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

    pub(super) fn value<T: Serialize>(&mut self, value: &T) -> Result<(), StateError> {
        // Most values are short, so one byte is left for their length.
        let at = self.bytes.len();
        self.bytes.push(0);
        let mut serializer = rmp_serde::Serializer::new(&mut self.bytes).with_struct_map();
        value.serialize(&mut serializer).map_err(StateError::encode)?;
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
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, StateError> {
        match bytes {
            [FORMAT, 0, rest @ ..] => Ok(Self { rest, kind: Kind::Base }),
            [FORMAT, 1, rest @ ..] => Ok(Self { rest, kind: Kind::Delta }),
            [format, ..] if *format > FORMAT => {
                Err(StateError::segment("it was written by a newer version of Streamwork"))
            }
            _ => Err(StateError::segment("it is no segment of keys")),
        }
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    pub(super) fn count(&mut self) -> Result<usize, StateError> {
        let mut length = 0_usize;
        for shift in (0..usize::BITS).step_by(7) {
            let Some((&byte, rest)) = self.rest.split_first() else { break };
            self.rest = rest;
            length |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(length);
            }
        }
        Err(StateError::segment("it is cut short"))
    }

    /// The bytes of the next value.
    pub(super) fn value(&mut self) -> Result<&'a [u8], StateError> {
        let length = self.count()?;
        let value = self.rest.get(..length);
        let value = value.ok_or_else(|| StateError::segment("it is cut short"))?;
        self.rest = &self.rest[length..];
        Ok(value)
    }

    pub(super) fn end(&self) -> Result<(), StateError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(StateError::segment("it is longer than what it holds"))
        }
    }
}

pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, rmp_serde::decode::Error> {
    let mut rest = bytes;
    let value = rmp_serde::from_read(&mut rest)?;
    if rest.is_empty() {
        Ok(value)
    } else {
        Err(rmp_serde::decode::Error::Uncategorized("more bytes than the value has".to_owned()))
    }
}
