//! [`Manifest`]: of what a checkpoint consists.

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
    /// When it was published, in milliseconds since the epoch.
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

impl Manifest {
    /// What it holds of the component of this name.
    #[must_use]
    pub fn component(&self, name: &str) -> Option<&ComponentManifest> {
        self.components.iter().find(|component| component.name == name)
    }

    #[cfg(test)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
