//! [`Pending`]: a checkpoint that is on its way: who has given its part, and what comes of it. Pure.

use super::manifest::{ComponentManifest, Manifest, Part, PartManifest, PendingCommit, SegmentRef};
use super::snapshot::{Change, Snapshot};
use super::store::SegmentId;
use crate::id::CheckpointId;
use std::collections::BTreeMap;
use std::time::Duration;

/// Segments on their way to the store.
pub(crate) type Segments = Vec<(SegmentId, Vec<u8>)>;

/// What is written of a part at this checkpoint.
#[derive(Clone, Copy, Debug)]
enum Written {
    Base(SegmentRef),
    Delta(SegmentRef),
    Nothing,
}

#[derive(Debug)]
struct Component {
    missing: Vec<bool>,
    written: BTreeMap<Part, Written>,
}

/// A checkpoint that is on its way.
#[derive(Debug)]
pub(crate) struct Pending {
    id: CheckpointId,
    components: Vec<Component>,
    commits: Vec<PendingCommit>,
    segments: u32,
    /// The longest of all instances.
    pub(crate) aligned: Duration,
    pub(crate) took: Duration,
}

impl Pending {
    /// A checkpoint of components with so many instances.
    pub(crate) fn new(id: CheckpointId, instances: impl IntoIterator<Item = usize>) -> Self {
        let component =
            |count| Component { missing: vec![true; count], written: BTreeMap::default() };
        Self {
            id,
            components: instances.into_iter().map(component).collect(),
            commits: Vec::new(),
            segments: 0,
            aligned: Duration::ZERO,
            took: Duration::ZERO,
        }
    }

    pub(crate) fn id(&self) -> CheckpointId {
        self.id
    }

    /// Whether every instance has given its part.
    pub(crate) fn is_complete(&self) -> bool {
        self.missing().next().is_none()
    }

    /// The instances that have not given their part yet, by the number of their component and their own.
    pub(crate) fn missing(&self) -> impl Iterator<Item = (usize, usize)> {
        self.components.iter().enumerate().flat_map(|(c, component)| {
            let missing = component.missing.iter().enumerate().filter(|(_, missing)| **missing);
            missing.map(move |(i, _)| (c, i))
        })
    }

    /// Takes in what an instance gives, and says what is to be written. A part that was given already, or
    /// belongs to another checkpoint, is left out.
    pub(crate) fn add(
        &mut self,
        (component, index): (usize, usize),
        name: &str,
        mut snapshot: Snapshot,
    ) -> Segments {
        let at = &mut self.components[component];
        if snapshot.id != self.id || !std::mem::take(&mut at.missing[index]) {
            return Vec::new();
        }
        self.aligned = self.aligned.max(snapshot.aligned);
        self.took = self.took.max(snapshot.took);
        self.commits.extend(snapshot.commit(name, index));
        let mut segments = Vec::new();
        for (part, change) in snapshot.parts {
            let mut put = |bytes: Vec<u8>| {
                let id = SegmentId { checkpoint: self.id, number: self.segments };
                self.segments += 1;
                let checksum = crc32fast::hash(&bytes);
                let segment = SegmentRef { id, bytes: bytes.len() as u64, checksum };
                segments.push((id, bytes));
                segment
            };
            let written = match change {
                Change::Base(bytes) => Written::Base(put(bytes)),
                Change::Delta(bytes) => Written::Delta(put(bytes)),
                Change::Cleared => Written::Nothing,
            };
            at.written.insert(part, written);
        }
        segments
    }

    /// What sinks have prepared for it so far.
    pub(crate) fn into_commits(self) -> Vec<PendingCommit> {
        self.commits
    }

    /// Completes a manifest that has everything but the parts of its components and its commits. `since` is
    /// the last completed checkpoint: key groups of which nothing was written are as they were in it.
    pub(crate) fn complete(self, manifest: &mut Manifest, since: Option<&Manifest>) {
        for (component, now) in manifest.components.iter_mut().zip(self.components) {
            let before = since.and_then(|since| since.component(&component.name));
            component.parts = chains(now.written, before);
        }
        manifest.commits.extend(self.commits);
    }
}

/// The parts of a component, each with its segments.
fn chains(
    written: BTreeMap<Part, Written>,
    before: Option<&ComponentManifest>,
) -> Vec<PartManifest> {
    let mut chains: BTreeMap<Part, Vec<SegmentRef>> = BTreeMap::new();
    // Of instances and splits there is always everything.
    let groups = before.into_iter().flat_map(|before| &before.parts);
    for PartManifest { part, chain } in groups.filter(|p| matches!(p.part, Part::Group(_))) {
        chains.insert(*part, chain.clone());
    }
    for (part, written) in written {
        let chain = chains.entry(part).or_default();
        match written {
            Written::Delta(segment) => chain.push(segment),
            Written::Base(segment) => *chain = vec![segment],
            Written::Nothing => chain.clear(),
        }
    }
    chains.retain(|_, chain| !chain.is_empty());
    chains.into_iter().map(|(part, chain)| PartManifest { part, chain }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(id: u64, parts: Vec<(Part, Change)>) -> Snapshot {
        let (handle, aligned, took) = (None, Duration::ZERO, Duration::ZERO);
        Snapshot { id: CheckpointId(id), parts, handle, aligned, took }
    }

    fn manifest(names: &[&str]) -> Manifest {
        Manifest::empty(CheckpointId(0), names.iter().map(|name| ComponentManifest::empty(name)))
    }

    #[test]
    fn it_is_complete_when_every_instance_has_given_its_part_once() {
        let mut pending = Pending::new(CheckpointId(3), [1, 2]);
        assert!(!pending.is_complete());
        let part = || snapshot(3, vec![(Part::Instance(0), Change::Base(vec![1]))]);
        assert_eq!(pending.add((0, 0), "a", part()).len(), 1);
        assert!(pending.add((1, 0), "b", snapshot(2, Vec::new())).is_empty());
        assert_eq!(pending.missing().collect::<Vec<_>>(), [(1, 0), (1, 1)]);
        pending.add((1, 0), "b", part());
        assert!(pending.add((1, 0), "b", part()).is_empty(), "given twice");
        assert!(!pending.is_complete());
        pending.add((1, 1), "b", part());
        assert!(pending.is_complete());
    }

    #[test]
    fn what_was_not_written_is_as_in_the_checkpoint_before() {
        let mut first = Pending::new(CheckpointId(1), [1]);
        let base = |n| Change::Base(vec![n]);
        let parts = vec![
            (Part::Instance(0), base(0)),
            (Part::Group(0), base(1)),
            (Part::Group(1), base(2)),
            (Part::Group(2), base(3)),
            (Part::Group(3), base(4)),
        ];
        first.add((0, 0), "counter", snapshot(1, parts));
        let mut before = manifest(&["counter"]);
        first.complete(&mut before, None);

        let mut second = Pending::new(CheckpointId(2), [1]);
        let parts = vec![
            (Part::Instance(0), base(0)),
            (Part::Group(1), Change::Delta(vec![5])),
            (Part::Group(2), base(6)),
            (Part::Group(3), Change::Cleared),
            (Part::Group(4), Change::Delta(vec![7])),
        ];
        second.add((0, 0), "counter", snapshot(2, parts));
        let mut after = manifest(&["counter"]);
        second.complete(&mut after, Some(&before));
        let written_at = |chain: &[SegmentRef]| -> Vec<u64> {
            chain.iter().map(|segment| segment.id.checkpoint.0).collect()
        };
        let parts = after.components[0].parts.iter();
        let chains: Vec<_> = parts.map(|p| (p.part, written_at(&p.chain))).collect();
        assert_eq!(
            chains,
            [
                (Part::Instance(0), vec![2]),
                (Part::Group(0), vec![1]),
                (Part::Group(1), vec![1, 2]),
                (Part::Group(2), vec![2]),
                (Part::Group(4), vec![2]),
            ]
        );
    }

    #[test]
    fn what_sinks_have_prepared_is_added_to_what_is_not_confirmed() {
        let mut pending = Pending::new(CheckpointId(2), [2]);
        for index in 0..2 {
            let handle = (index == 1).then(|| (vec![7], 5));
            let parts = Vec::new();
            let (aligned, took) = (Duration::ZERO, Duration::ZERO);
            let id = CheckpointId(2);
            pending.add((0, index), "files", Snapshot { id, parts, handle, aligned, took });
        }
        let mut manifest = manifest(&["files"]);
        pending.complete(&mut manifest, None);
        let [commit] = &manifest.commits[..] else { panic!("{:?}", manifest.commits) };
        assert_eq!((commit.checkpoint.0, commit.instance, commit.events), (2, 1, 5));
    }
}
