//! How a segment or a manifest lies under keys: an *entry* that says how long it is, and its bytes in
//! *chunks* of at most 6 KiB. Every one of them has a checksum over its key and its value, so that
//! nothing that was changed, cut, left out or put elsewhere is ever taken for what was written.
//!
//! ```text
//! key of an entry   kind (1) | checkpoint (8) | number (4)               big-endian, so in order
//! entry             length (8) | CRC-32 of all bytes (4) | CRC-32 of key and what is before (4)
//! key of a chunk    key of the entry | number of the chunk (4)
//! chunk             length (4) | CRC-32 of key, length and bytes (4) | bytes
//! ```

use super::{SegmentId, StoreError};
use crate::id::CheckpointId;
use std::fmt;

const HEADER: usize = 8;

/// How many bytes a chunk holds at most: with its header 6 KiB. (sled has a word in that.)
pub(super) const CHUNK: usize = (6 << 10) - HEADER;

/// What is kept as a blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlobId {
    Segment(SegmentId),
    Manifest(CheckpointId),
}

const SEGMENT: u8 = 1;
const MANIFEST: u8 = 2;

/// With what the keys of all segments begin.
pub(super) const SEGMENTS: [u8; 1] = [SEGMENT];
/// With what the keys of all manifests begin.
pub(super) const MANIFESTS: [u8; 1] = [MANIFEST];

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Segment(id) => write!(f, "segment {} of checkpoint {}", id.number, id.checkpoint),
            Self::Manifest(id) => write!(f, "the manifest of checkpoint {id}"),
        }
    }
}

impl BlobId {
    pub(super) fn key(self) -> [u8; 13] {
        let (kind, checkpoint, number) = match self {
            Self::Segment(id) => (SEGMENT, id.checkpoint, id.number),
            Self::Manifest(id) => (MANIFEST, id, 0),
        };
        let mut key = [0; 13];
        key[0] = kind;
        key[1..9].copy_from_slice(&checkpoint.0.to_be_bytes());
        key[9..].copy_from_slice(&number.to_be_bytes());
        key
    }

    pub(super) fn chunk_key(self, chunk: u32) -> [u8; 17] {
        let mut key = [0; 17];
        key[..13].copy_from_slice(&self.key());
        key[13..].copy_from_slice(&chunk.to_be_bytes());
        key
    }

    /// Whose key this is, of its entry or of one of its chunks.
    pub(super) fn from_key(key: &[u8]) -> Result<Self, StoreError> {
        if key.len() >= 13 {
            let checkpoint = CheckpointId(number(&key[1..9]));
            match (key[0], key[9..13].iter().fold(0, |n, byte| n << 8 | u32::from(*byte))) {
                (SEGMENT, number) => return Ok(Self::Segment(SegmentId { checkpoint, number })),
                (MANIFEST, 0) => return Ok(Self::Manifest(checkpoint)),
                _ => {}
            }
        }
        let problem = format!("the key {key:?} is nothing's");
        Err(StoreError::Corrupt { what: "the store".to_owned(), problem })
    }

    /// The checkpoint that it was written for.
    pub(super) fn checkpoint(self) -> CheckpointId {
        match self {
            Self::Segment(id) => id.checkpoint,
            Self::Manifest(id) => id,
        }
    }

    /// The segment that it is, if it is one.
    pub(super) fn segment(self) -> Option<SegmentId> {
        match self {
            Self::Segment(id) => Some(id),
            Self::Manifest(_) => None,
        }
    }

    fn corrupt(self, problem: impl Into<String>) -> StoreError {
        StoreError::Corrupt { what: self.to_string(), problem: problem.into() }
    }

    /// The value of its entry.
    pub(super) fn entry(self, bytes: &[u8]) -> [u8; 16] {
        let mut entry = [0; 16];
        entry[..8].copy_from_slice(&(bytes.len() as u64).to_be_bytes());
        entry[8..12].copy_from_slice(&crc32fast::hash(bytes).to_be_bytes());
        let checksum = checksum(&[&self.key(), &entry[..12]]);
        entry[12..].copy_from_slice(&checksum.to_be_bytes());
        entry
    }

    /// Its chunks: key and value.
    pub(super) fn chunks(self, bytes: &[u8]) -> impl Iterator<Item = ([u8; 17], Vec<u8>)> {
        (0_u32..).zip(bytes.chunks(CHUNK)).map(move |(number, bytes)| {
            let key = self.chunk_key(number);
            // No chunk is that long.
            let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes();
            let checksum = checksum(&[&key, &length, bytes]).to_be_bytes();
            (key, [&length, &checksum, bytes].concat())
        })
    }

    /// The number of chunks that an entry speaks of.
    pub(super) fn count(self, entry: &[u8]) -> Result<u32, StoreError> {
        let (length, _) = self.read_entry(entry)?;
        u32::try_from(length.div_ceil(CHUNK as u64))
            .map_err(|_| self.corrupt(format!("it cannot be {length} bytes long")))
    }

    /// How long it is, and its checksum.
    fn read_entry(self, entry: &[u8]) -> Result<(u64, u64), StoreError> {
        let Ok(entry) = <[u8; 16]>::try_from(entry) else {
            return Err(self.corrupt(format!("its entry has {} bytes, not 16", entry.len())));
        };
        let (length, rest) = entry.split_at(8);
        if u64::from(checksum(&[&self.key(), &entry[..12]])) != number(&rest[4..]) {
            return Err(self.corrupt("the checksum of its entry is wrong"));
        }
        Ok((number(length), number(&rest[..4])))
    }

    /// Its bytes, from its entry and its chunks, each of which is checked.
    pub(super) fn read<V: AsRef<[u8]>, E: From<StoreError>>(
        self,
        entry: Option<V>,
        mut chunk: impl FnMut(&[u8]) -> Result<Option<V>, E>,
    ) -> Result<Vec<u8>, E> {
        let entry = entry.ok_or_else(|| self.corrupt("it is missing"))?;
        let (length, expected) = self.read_entry(entry.as_ref())?;
        let mut bytes = Vec::new();
        for number in 0..self.count(entry.as_ref())? {
            let key = self.chunk_key(number);
            let value = chunk(&key)?
                .ok_or_else(|| self.corrupt(format!("its chunk {number} is missing")))?;
            let wanted = (length - bytes.len() as u64).min(CHUNK as u64);
            bytes.extend_from_slice(self.check(&key, number, value.as_ref(), wanted)?);
        }
        if u64::from(crc32fast::hash(&bytes)) == expected {
            Ok(bytes)
        } else {
            Err(self.corrupt("its checksum is wrong").into())
        }
    }

    fn check<'a>(
        self,
        key: &[u8],
        chunk: u32,
        value: &'a [u8],
        wanted: u64,
    ) -> Result<&'a [u8], StoreError> {
        let Some((header, bytes)) = value.split_at_checked(HEADER) else {
            return Err(self.corrupt(format!("its chunk {chunk} is cut off")));
        };
        if bytes.len() as u64 != wanted || number(&header[..4]) != wanted {
            let problem = format!("its chunk {chunk} has {} bytes, not {wanted}", bytes.len());
            return Err(self.corrupt(problem));
        }
        if u64::from(checksum(&[key, &header[..4], bytes])) != number(&header[4..]) {
            return Err(self.corrupt(format!("the checksum of its chunk {chunk} is wrong")));
        }
        Ok(bytes)
    }
}

/// A number with a checksum, for a key.
pub(super) fn sealed(key: &str, number: u64) -> [u8; 12] {
    let mut value = [0; 12];
    value[..8].copy_from_slice(&number.to_be_bytes());
    let checksum = checksum(&[key.as_bytes(), &value[..8]]);
    value[8..].copy_from_slice(&checksum.to_be_bytes());
    value
}

/// The number in what [`sealed`] made; 0 if there is nothing.
pub(super) fn unsealed<V: AsRef<[u8]>>(key: &str, value: Option<V>) -> Result<u64, StoreError> {
    let Some(value) = value else { return Ok(0) };
    let value = value.as_ref();
    let found = number(value.get(..8).unwrap_or_default());
    if value == sealed(key, found) {
        return Ok(found);
    }
    Err(StoreError::Corrupt {
        what: format!("the store's {key}"),
        problem: "wrong checksum".into(),
    })
}

/// At most eight bytes, big-endian.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte))
}

fn checksum(parts: &[&[u8]]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Chunks = BTreeMap<Vec<u8>, Vec<u8>>;

    fn written(id: BlobId, bytes: &[u8]) -> (Vec<u8>, Chunks) {
        let chunks = id.chunks(bytes).map(|(key, value)| (key.to_vec(), value)).collect();
        (id.entry(bytes).to_vec(), chunks)
    }

    fn read(id: BlobId, entry: &[u8], chunks: &Chunks) -> Result<Vec<u8>, StoreError> {
        id.read(Some(entry.to_vec()), |key| Ok::<_, StoreError>(chunks.get(key).cloned()))
    }

    fn segment(checkpoint: u64, number: u32) -> BlobId {
        BlobId::Segment(SegmentId { checkpoint: CheckpointId(checkpoint), number })
    }

    #[test]
    fn any_length_is_read_as_it_was_written() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let bytes: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
            let (entry, chunks) = written(segment(7, 3), &bytes);
            assert_eq!(chunks.len(), length.div_ceil(CHUNK));
            assert!(chunks.values().all(|value| value.len() <= 6 << 10));
            assert_eq!(read(segment(7, 3), &entry, &chunks).unwrap(), bytes);
        }
    }

    #[test]
    fn keys_are_in_order_and_say_whose_they_are() {
        let ids =
            [segment(1, 2), segment(1, 300), segment(256, 0), BlobId::Manifest(CheckpointId(1))];
        assert!(ids.map(BlobId::key).is_sorted());
        for id in ids {
            assert_eq!(BlobId::from_key(&id.key()).unwrap(), id);
            assert_eq!(BlobId::from_key(&id.chunk_key(9)).unwrap(), id);
        }
        assert!(BlobId::from_key(b"short").is_err());
    }

    #[test]
    fn what_is_missing_is_named() {
        let (entry, mut chunks) = written(segment(7, 3), &[1; CHUNK + 1]);
        chunks.pop_last();
        let error = read(segment(7, 3), &entry, &chunks).unwrap_err().to_string();
        assert_eq!(error, "segment 3 of checkpoint 7 is damaged: its chunk 1 is missing");
    }

    #[test]
    fn nothing_is_taken_for_something_else() {
        let bytes = vec![1; 2 * CHUNK];
        let (entry, chunks) = written(segment(7, 3), &bytes);
        let moved: Chunks = chunks
            .iter()
            .map(|(key, value)| ([&segment(7, 4).key(), &key[13..]].concat(), value.clone()))
            .collect();
        assert!(read(segment(7, 4), &segment(7, 4).entry(&bytes), &moved).is_err());
        assert!(read(segment(7, 4), &entry, &moved).is_err());
        assert!(unsealed("b", Some(sealed("a", 7))).is_err());
        assert_eq!(unsealed("a", Some(sealed("a", 7))).unwrap(), 7);
    }

    proptest! {
        #[test]
        fn every_flip_is_noticed(
            length in 1..3 * CHUNK,
            place in any::<prop::sample::Index>(),
            bit in 0..8_u8,
        ) {
            let bytes: Vec<u8> = (0..length).map(|i| (i % 253) as u8).collect();
            let (mut entry, mut chunks) = written(segment(7, 3), &bytes);
            let mut all: Vec<&mut u8> =
                chunks.values_mut().flatten().chain(entry.iter_mut()).collect();
            let place = place.index(all.len());
            *all[place] ^= 1 << bit;
            prop_assert!(read(segment(7, 3), &entry, &chunks).is_err());
        }
    }
}
