//! Recovery: which checkpoint a job goes on from, and reading it.
//!
//! The newest one, as long as it is whole and nothing says that there was a newer one. Never quietly an
//! older one: the error says which ones are good, and one of these is taken when it is asked for.

use super::data_dir::Latest;
use super::manifest::{Manifest, Part, SegmentRef};
use super::store::{CheckpointStore, SegmentId, StoreError};
use crate::id::CheckpointId;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Of each component's parts the segments.
type Parts = HashMap<String, BTreeMap<Part, Vec<Arc<[u8]>>>>;

/// A checkpoint that was read, and found to be whole. Clones share its bytes, and each part can be decoded
/// on another thread.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Restored {
    /// Its manifest.
    pub manifest: Manifest,
    parts: Parts,
}

impl Restored {
    /// Reads the checkpoint that a job goes on from: the one that is `wanted`, else the newest. `None`: there
    /// is none, it begins anew.
    ///
    /// ```
    /// use streamwork::{CheckpointId, Latest, MemoryStore, RecoveryError, Restored};
    ///
    /// let store = MemoryStore::new();
    /// assert!(Restored::read(&store, &Latest::None, None)?.is_none());
    /// let error = Restored::read(&store, &Latest::None, Some(CheckpointId(7))).unwrap_err();
    /// assert_eq!(error.to_string(), "there is no checkpoint 7; no checkpoint is good");
    /// # Ok::<(), RecoveryError>(())
    /// ```
    ///
    /// # Errors
    /// That one may not be taken, or the checkpoint is damaged; or the store cannot be read.
    pub fn read(
        store: &dyn CheckpointStore,
        latest: &Latest,
        wanted: Option<CheckpointId>,
    ) -> Result<Option<Self>, RecoveryError> {
        let refusal = match choose(&store.manifests()?, latest, wanted) {
            Ok(None) => return Ok(None),
            Ok(Some(id)) => match tolerate(read(store, id, latest))? {
                Ok(restored) => return Ok(Some(restored)),
                Err(problem) => Refusal::Damaged { id, problem },
            },
            Err(refusal) => refusal,
        };
        let found = Found::all(store)?;
        let good = found.into_iter().filter(|found| found.health == Health::Good);
        Err(RecoveryError::Refused { refusal, good: good.map(|found| found.id).collect() })
    }

    /// The segments of a part, a base and the deltas after it; none if it is empty.
    #[must_use]
    pub fn chain(&self, component: &str, part: Part) -> &[Arc<[u8]>] {
        let parts = self.parts.get(component);
        parts.and_then(|parts| parts.get(&part)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The parts of a component, in order.
    pub fn parts(&self, component: &str) -> impl Iterator<Item = (Part, &[Arc<[u8]>])> {
        let parts = self.parts.get(component).into_iter().flatten();
        parts.map(|(part, chain)| (*part, chain.as_slice()))
    }
}

/// What was found of a checkpoint.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Found {
    /// Its number.
    pub id: CheckpointId,
    /// Its manifest, if that can be read.
    pub manifest: Option<Manifest>,
    /// Whether it can be restored.
    pub health: Health,
}

impl Found {
    /// Reads every checkpoint of a store, with all of its segments, in order. A segment that several need is
    /// read once.
    ///
    /// ```
    /// use streamwork::{CheckpointStore, Found, Health, MemoryStore};
    ///
    /// let mut store = MemoryStore::new();
    /// let generation = store.begin()?;
    /// let id = store.reserve(1)?;
    /// store.publish(generation, id, b"no manifest")?;
    /// let found = Found::all(&store)?;
    /// assert_eq!(found[0].id, id);
    /// assert!(matches!(found[0].health, Health::Damaged(_)));
    /// # Ok::<(), streamwork::StoreError>(())
    /// ```
    ///
    /// # Errors
    /// The store cannot be read. That something in it is damaged is no error but [`Health::Damaged`].
    pub fn all(store: &dyn CheckpointStore) -> Result<Vec<Self>, StoreError> {
        let mut checked = HashMap::new();
        let mut found = Vec::new();
        for id in store.manifests()? {
            let manifest = tolerate(read_manifest(store, id))?;
            let health = match &manifest {
                Err(problem) => Health::Damaged(problem.clone()),
                Ok(manifest) => check_segments(store, manifest, &mut checked)?,
            };
            found.push(Self { id, manifest: manifest.ok(), health });
        }
        Ok(found)
    }
}

/// Whether a checkpoint can be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// It is whole.
    Good,
    /// It is not: why.
    Damaged(String),
}

/// Which checkpoint a job goes on from: the one that is `wanted`, else the newest. `None`: it begins
/// anew.
fn choose(
    published: &[CheckpointId],
    latest: &Latest,
    wanted: Option<CheckpointId>,
) -> Result<Option<CheckpointId>, Refusal> {
    if let Some(wanted) = wanted {
        let is_there = published.contains(&wanted);
        return if is_there { Ok(Some(wanted)) } else { Err(Refusal::NotThere { wanted }) };
    }
    let newest = published.iter().max().copied();
    match latest {
        Latest::Unknown(problem) => Err(Refusal::Unknown { problem: problem.clone() }),
        Latest::Checkpoint { id, .. } if newest < Some(*id) => {
            Err(Refusal::Older { latest: *id, newest })
        }
        Latest::Checkpoint { .. } | Latest::None => Ok(newest),
    }
}

/// Why no checkpoint is restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There may have been a newer one.
    #[error("which checkpoint was published last is not known: {problem}")]
    Unknown {
        /// Why.
        problem: String,
    },
    /// There was a newer one.
    #[error("checkpoint {latest} was published, and the newest that is there is {}", or_none(*newest))]
    Older {
        /// The one that was published last.
        latest: CheckpointId,
        /// The newest that is there.
        newest: Option<CheckpointId>,
    },
    /// It is damaged.
    #[error("checkpoint {id} is damaged: {problem}")]
    Damaged {
        /// The checkpoint.
        id: CheckpointId,
        /// What is wrong.
        problem: String,
    },
    /// There is no such checkpoint.
    #[error("there is no checkpoint {wanted}")]
    NotThere {
        /// The one that was asked for.
        wanted: CheckpointId,
    },
}

/// Why a job cannot be restored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoveryError {
    /// No checkpoint may be taken.
    #[error("{refusal}; {}", good_ones(good))]
    Refused {
        /// Why.
        refusal: Refusal,
        /// The checkpoints that could be, if they are asked for.
        good: Vec<CheckpointId>,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What can be wrong with one checkpoint: damage, which is told, or the store, which is an error.
enum Fault {
    Damage(String),
    Store(StoreError),
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Corrupt { .. } => Self::Damage(error.to_string()),
            error => Self::Store(error),
        }
    }
}

fn tolerate<T>(result: Result<T, Fault>) -> Result<Result<T, String>, StoreError> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Fault::Damage(problem)) => Ok(Err(problem)),
        Err(Fault::Store(error)) => Err(error),
    }
}

fn read(store: &dyn CheckpointStore, id: CheckpointId, latest: &Latest) -> Result<Restored, Fault> {
    let bytes = store.manifest(id)?;
    match latest {
        Latest::Checkpoint { id: named, checksum }
            if *named == id && crc32fast::hash(&bytes) != *checksum =>
        {
            return Err(Fault::Damage("its manifest is not the one that was published".to_owned()));
        }
        _ => {}
    }
    let manifest = decode(id, &bytes)?;
    let mut segments: HashMap<SegmentId, Arc<[u8]>> = HashMap::new();
    let mut parts = Parts::new();
    for component in &manifest.components {
        let of_component = parts.entry(component.name.clone()).or_default();
        for part in &component.parts {
            let mut chain = Vec::with_capacity(part.chain.len());
            for segment in &part.chain {
                let bytes = match segments.get(&segment.id) {
                    Some(bytes) => Arc::clone(bytes),
                    None => read_segment(store, *segment)?.into(),
                };
                segments.insert(segment.id, Arc::clone(&bytes));
                chain.push(bytes);
            }
            if of_component.insert(part.part, chain).is_some() {
                let problem = format!("{} has {:?} twice", component.name, part.part);
                return Err(Fault::Damage(problem));
            }
        }
    }
    Ok(Restored { manifest, parts })
}

fn read_manifest(store: &dyn CheckpointStore, id: CheckpointId) -> Result<Manifest, Fault> {
    decode(id, &store.manifest(id)?)
}

fn decode(id: CheckpointId, bytes: &[u8]) -> Result<Manifest, Fault> {
    let manifest = Manifest::decode(bytes).map_err(|e| Fault::Damage(e.to_string()))?;
    if manifest.id == id {
        Ok(manifest)
    } else {
        Err(Fault::Damage(format!("its manifest is that of checkpoint {}", manifest.id)))
    }
}

fn read_segment(store: &dyn CheckpointStore, segment: SegmentRef) -> Result<Vec<u8>, Fault> {
    let bytes = store.segment(segment.id)?;
    if bytes.len() as u64 == segment.bytes && crc32fast::hash(&bytes) == segment.checksum {
        return Ok(bytes);
    }
    let SegmentId { checkpoint, number } = segment.id;
    let problem = "is not the one that the manifest names";
    Err(Fault::Damage(format!("segment {number} of checkpoint {checkpoint} {problem}")))
}

fn check_segments(
    store: &dyn CheckpointStore,
    manifest: &Manifest,
    checked: &mut HashMap<SegmentRef, Result<(), String>>,
) -> Result<Health, StoreError> {
    for segment in manifest.segments() {
        let result = match checked.get(&segment) {
            Some(result) => result.clone(),
            None => tolerate(read_segment(store, segment).map(drop))?,
        };
        checked.insert(segment, result.clone());
        if let Err(problem) = result {
            return Ok(Health::Damaged(problem));
        }
    }
    Ok(Health::Good)
}

fn or_none(id: Option<CheckpointId>) -> String {
    id.map_or_else(|| "none".to_owned(), |id| id.to_string())
}

fn good_ones(good: &[CheckpointId]) -> String {
    match good {
        [] => "no checkpoint is good".to_owned(),
        [one] => format!("good is checkpoint {one}: it is restored if it is asked for"),
        more => {
            let list: Vec<String> = more.iter().map(CheckpointId::to_string).collect();
            let list = list.join(", ");
            format!("good are the checkpoints {list}: one of them is restored if it is asked for")
        }
    }
}

#[cfg(test)]
mod tests;
