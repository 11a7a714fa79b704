//! [`Snapshot`]: one instance's part of a checkpoint, and [`RestoredComponent`]: what a component gets back.

use super::manifest::{Part, PendingCommit};
use super::recovery::Restored;
use crate::id::CheckpointId;
use crate::state::Shape;
use serde_bytes::ByteBuf;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What has become of a part since the last completed checkpoint.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// All of it.
    Base(Vec<u8>),
    /// What has changed.
    Delta(Vec<u8>),
    /// It is empty.
    Cleared,
}

impl std::fmt::Debug for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Base(bytes) => write!(f, "Base({} bytes)", bytes.len()),
            Self::Delta(bytes) => write!(f, "Delta({} bytes)", bytes.len()),
            Self::Cleared => f.write_str("Cleared"),
        }
    }
}

/// What an instance holds at a barrier.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) id: CheckpointId,
    pub(crate) parts: Vec<(Part, Change)>,
    /// By what a sink commits what it has prepared, and how many events that are.
    pub(crate) handle: Option<(Vec<u8>, u64)>,
    /// How long the instance held links for it.
    pub(crate) aligned: Duration,
    /// How long it took.
    pub(crate) took: Duration,
}

impl Snapshot {
    /// What a sink has prepared.
    pub(crate) fn commit(&mut self, component: &str, instance: usize) -> Option<PendingCommit> {
        let (handle, events) = self.handle.take()?;
        Some(PendingCommit {
            checkpoint: self.id,
            component: component.to_owned(),
            instance: u32::try_from(instance).unwrap_or(u32::MAX),
            events,
            handle: ByteBuf::from(handle),
        })
    }
}

/// What a checkpoint holds of one component.
#[derive(Debug)]
pub(crate) struct RestoredComponent {
    pub(crate) checkpoint: CheckpointId,
    /// How many instances it had.
    pub(crate) parallelism: usize,
    /// What its fields were made of.
    pub(crate) fields: Shape,
    /// What the state of its keys was made of, if it had any.
    pub(crate) keyed: Option<Shape>,
    pub(crate) parts: BTreeMap<Part, Vec<Arc<[u8]>>>,
}

impl RestoredComponent {
    /// What a checkpoint holds of the component of this name.
    pub(crate) fn of(restored: &Restored, name: &str) -> Option<Self> {
        let component = restored.manifest.component(name)?;
        let parts = restored.parts(name).map(|(part, chain)| (part, chain.to_vec()));
        Some(Self {
            checkpoint: restored.manifest.id,
            parallelism: component.parallelism as usize,
            fields: component.fields.clone(),
            keyed: component.keyed.as_ref().map(|(_, state)| state.clone()),
            parts: parts.collect(),
        })
    }

    /// The segments of a part, base first.
    pub(crate) fn chain(&self, part: Part) -> impl Iterator<Item = &[u8]> {
        self.parts.get(&part).into_iter().flatten().map(|bytes| &**bytes)
    }

    /// What a part that is always written whole holds.
    pub(crate) fn whole(&self, part: Part) -> Option<&[u8]> {
        self.chain(part).last()
    }
}
