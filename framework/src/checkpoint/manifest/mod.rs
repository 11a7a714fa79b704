//! [`Manifest`]: of what a checkpoint consists, and how it is written.
//!
//! ```text
//! "SWMF" | format version (2) | length (8) | CRC-32 of version, length and bytes (4) | MessagePack
//! ```
//!
//! Numbers are big-endian; the MessagePack is that of [`Manifest`], its fields by name. A version changes
//! when an older program could misread it; what comes before the MessagePack never does.

use super::store::SegmentId;
use crate::id::CheckpointId;
use crate::state::Shape;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// Of what a checkpoint consists. It is published last: a checkpoint without one is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The job's name.
    pub job: String,
    /// The checkpoint's number.
    pub id: CheckpointId,
    /// Why it was taken.
    pub kind: ManifestKind,
    /// When the last instance gave its part, in milliseconds since the beginning of 1970.
    pub taken_at: i64,
    /// The run that took it.
    pub run: String,
    /// What was promised about each event.
    pub delivery: String,
    /// The job's key groups.
    pub key_groups: u16,
    /// Every component of the job, in the order of its graph.
    pub components: Vec<ComponentManifest>,
    /// What sinks have prepared and nobody has confirmed to be committed: by this checkpoint, and by
    /// earlier ones.
    pub commits: Vec<PendingCommit>,
}

const MAGIC: [u8; 4] = *b"SWMF";
const VERSION: u16 = 1;
const HEADER: usize = 18;

impl Manifest {
    /// What it holds of the component of this name.
    #[must_use]
    pub fn component(&self, name: &str) -> Option<&ComponentManifest> {
        self.components.iter().find(|component| component.name == name)
    }

    /// The manifest as bytes.
    ///
    /// ```
    /// use streamwork::{CheckpointId, Manifest, ManifestKind};
    ///
    /// let manifest = Manifest {
    ///     job: "vehicle-count".to_owned(),
    ///     id: CheckpointId(7),
    ///     kind: ManifestKind::Periodic,
    ///     taken_at: 1_700_000_000_000,
    ///     run: "a".to_owned(),
    ///     delivery: "exactly-once".to_owned(),
    ///     key_groups: 128,
    ///     components: Vec::new(),
    ///     commits: Vec::new(),
    /// };
    /// let bytes = manifest.encode()?;
    /// assert_eq!(Manifest::decode(&bytes)?, manifest);
    /// assert!(Manifest::decode(&bytes[1..]).is_err());
    /// # Ok::<(), streamwork::ManifestError>(())
    /// ```
    ///
    /// # Errors
    /// A shape in it cannot be encoded.
    pub fn encode(&self) -> Result<Vec<u8>, ManifestError> {
        let body =
            rmp_serde::to_vec_named(self).map_err(|e| ManifestError::Encode(e.to_string()))?;
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_be_bytes());
        bytes.extend((body.len() as u64).to_be_bytes());
        let checksum = checksum(&bytes[4..], &body);
        bytes.extend(checksum.to_be_bytes());
        bytes.extend(body);
        Ok(bytes)
    }

    /// The manifest that was encoded.
    ///
    /// # Errors
    /// The bytes are no manifest, or not all of one, or more than one; or a newer version has written it.
    pub fn decode(bytes: &[u8]) -> Result<Self, ManifestError> {
        let damaged = |problem: &str| ManifestError::Damaged(problem.to_owned());
        let (header, body) =
            bytes.split_at_checked(HEADER).ok_or_else(|| damaged("it is cut off"))?;
        let number = |bytes: &[u8]| bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
        if header[..4] != MAGIC {
            return Err(damaged("it does not begin as a manifest does"));
        }
        if number(&header[6..14]) != body.len() as u64 {
            return Err(damaged("it is not as long as it says"));
        }
        if number(&header[14..]) != u64::from(checksum(&header[4..14], body)) {
            return Err(damaged("its checksum is wrong"));
        }
        let version = number(&header[4..6]);
        if version != u64::from(VERSION) {
            return Err(ManifestError::Version { found: version, known: u64::from(VERSION) });
        }
        let mut rest = body;
        let manifest = Self::deserialize(&mut rmp_serde::Deserializer::new(&mut rest))
            .map_err(|e| damaged(&e.to_string()))?;
        if rest.is_empty() { Ok(manifest) } else { Err(damaged("something follows it")) }
    }

    /// The segments that it names, of all components; one that is named twice comes twice.
    pub fn segments(&self) -> impl Iterator<Item = SegmentRef> {
        let parts = self.components.iter().flat_map(|component| &component.parts);
        parts.flat_map(|part| part.chain.iter().copied())
    }
}

/// Why bytes are no manifest, or a manifest no bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// It cannot be encoded.
    #[error("the manifest cannot be encoded: {0}")]
    Encode(String),
    /// It is not what was written.
    #[error("the manifest is damaged: {0}")]
    Damaged(String),
    /// Another version of this crate has written it.
    #[error(
        "the manifest has format {found}, and this version knows format {known}: use a newer one"
    )]
    Version {
        /// Its format.
        found: u64,
        /// The format that is known here.
        known: u64,
    },
}

fn checksum(header: &[u8], body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(header);
    hasher.update(body);
    hasher.finalize()
}

impl ComponentManifest {
    /// Whether nothing is lost with it: it reads no source, and keeps nothing.
    pub(crate) fn is_stateless(&self) -> bool {
        let keeps = self.fields != Shape::Nothing || self.keyed.is_some();
        !keeps && self.role != "source"
    }
}

/// Why a checkpoint was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ManifestKind {
    /// It was time for one.
    Periodic,
    /// Somebody asked for it, under this name; it stays until it is deleted.
    Savepoint(String),
    /// The job was stopped: it goes on from here.
    Stopped,
    /// The job came to its end: there is nothing to go on with.
    Finished,
}

/// What a checkpoint holds of one component.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComponentManifest {
    /// Its name: what its state belongs to.
    pub name: String,
    /// "source", "operator" or "sink".
    pub role: String,
    /// How many instances it had.
    pub parallelism: u32,
    /// What the fields that it marks as state are made of.
    pub fields: Shape,
    /// What its keys and their state are made of, if it has any.
    pub keyed: Option<(Shape, Shape)>,
    /// Its parts, without those that are empty.
    pub parts: Vec<PartManifest>,
}

/// A part of a component's state that is written by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Part {
    /// What belongs to an instance: its `#[state]` fields, how far it is.
    Instance(u32),
    /// The position of a split of a source.
    Split(u32),
    /// The keys of a key group, with their state.
    Group(u16),
}

/// The segments that a part's state is read from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartManifest {
    /// Which part.
    pub part: Part,
    /// A base, and the deltas after it in the order in which they are applied.
    pub chain: Vec<SegmentRef>,
}

/// A segment as a manifest names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SegmentRef {
    /// Where it is.
    pub id: SegmentId,
    /// How long it is.
    pub bytes: u64,
    /// Its CRC-32.
    pub checksum: u32,
}

/// What an instance of a sink has prepared at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingCommit {
    /// The checkpoint at which it was prepared.
    pub checkpoint: CheckpointId,
    /// The sink.
    pub component: String,
    /// The instance that prepared it.
    pub instance: u32,
    /// How many events it had written since the checkpoint before.
    pub events: u64,
    /// By what it is committed: the sink's own.
    pub handle: ByteBuf,
}

#[cfg(test)]
impl Manifest {
    pub(crate) fn empty(
        id: CheckpointId,
        components: impl IntoIterator<Item = ComponentManifest>,
    ) -> Self {
        Self {
            job: "bench".to_owned(),
            id,
            kind: ManifestKind::Periodic,
            taken_at: 0,
            run: String::new(),
            delivery: String::new(),
            key_groups: 128,
            components: components.into_iter().collect(),
            commits: Vec::new(),
        }
    }
}

#[cfg(test)]
impl ComponentManifest {
    pub(crate) fn empty(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            role: "operator".to_owned(),
            parallelism: 1,
            fields: Shape::Nothing,
            keyed: None,
            parts: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
