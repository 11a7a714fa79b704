//! How an instance is saved at a barrier, and built from what a checkpoint holds.

use crate::checkpoint::{Barrier, Change, Part, RestoredComponent, Snapshot};
use crate::component::{BoxError, Component};
use crate::id::{CheckpointId, ComponentName};
use crate::key::{Key, KeyGroup, KeyGroups};
use crate::sink::Handle;
use crate::state::{
    Epoch, FieldReader, FieldWriter, Reading, Rescaling, Shape, State, StateError, Table,
};
use crate::time::{EventTime, Watermark};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What an instance of a job with checkpoints is given.
#[derive(Clone)]
pub(crate) struct Saving {
    /// Whether links are held at their barriers.
    pub(crate) aligned: bool,
    pub(crate) key_groups: KeyGroups,
    pub(crate) snapshots: Arc<dyn Snapshots>,
    /// The checkpoint that the instance goes on from; `None` if it begins anew.
    pub(crate) from: Option<CheckpointId>,
    /// What that holds of the component, until the instance has taken its share.
    pub(crate) restored: Option<Arc<RestoredComponent>>,
    /// Whether what it goes on from was written with state of another shape.
    pub(crate) rebase: bool,
}

/// Where snapshots go.
pub(crate) trait Snapshots: Send + Sync {
    fn put(&self, snapshot: Snapshot);
}

impl fmt::Debug for Saving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Saving").field("aligned", &self.aligned).finish_non_exhaustive()
    }
}

/// Which instance of how many.
#[derive(Clone, Debug)]
pub(crate) struct Seating {
    pub(crate) component: ComponentName,
    pub(crate) index: usize,
    pub(crate) parallelism: usize,
}

/// What belongs to an instance of an operator or a sink, as it is written.
#[derive(Serialize, Deserialize)]
struct InstanceState {
    /// Its end hook has run.
    finished: bool,
    watermark: Option<i64>,
    fields: ByteBuf,
}

/// How far a split of a source is, as it is written.
#[derive(Serialize, Deserialize)]
struct SplitState {
    ended: bool,
    /// `None` if nothing was read of it.
    position: Option<ByteBuf>,
}

type Result<T, E = BoxError> = std::result::Result<T, E>;

fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    Ok(rmp_serde::to_vec_named(value)?)
}

fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    Ok(rmp_serde::from_slice(bytes)?)
}

/// Gathers what an instance holds.
#[derive(Debug)]
pub(crate) struct Saver {
    barrier: Barrier,
    /// The checkpoint that deltas are written against.
    since: Option<CheckpointId>,
    key_groups: KeyGroups,
    seating: Seating,
    parts: Vec<(Part, Change)>,
    fields: Vec<u8>,
    handle: Option<(Vec<u8>, u64)>,
}

impl Saver {
    /// Of so many checkpoints one writes a key group whole.
    const BASE_EVERY: u64 = 20;

    pub(super) fn new(barrier: Barrier, saving: &Saving, seating: Seating) -> Self {
        let Saving { key_groups, from, rebase, .. } = saving;
        // What was written by another version of the types is not gone on with.
        let since = barrier.since.filter(|since| !(*rebase && Some(*since) == *from));
        let (parts, fields) = (Vec::new(), Vec::new());
        Self { barrier, since, key_groups: *key_groups, seating, parts, fields, handle: None }
    }

    pub(crate) fn checkpoint(&self) -> CheckpointId {
        self.barrier.id
    }

    /// The fields of a component that are marked `#[state]`.
    pub(crate) fn component<C: Component>(&mut self, component: &C) -> Result<()> {
        if size_of::<C::Saved>() == 0 {
            return Ok(());
        }
        self.fields = fields_of::<C>(&self.seating, &component.save())?;
        Ok(())
    }

    /// The keys of an instance.
    pub(crate) fn table<K, S>(&mut self, table: &mut Table<K, S>) -> Result<()>
    where
        K: Key + Serialize + DeserializeOwned,
        S: Default + State,
    {
        for group in groups_of(self.key_groups, &self.seating) {
            let part = Part::Group(group.0);
            let whole = (self.barrier.id.0 + u64::from(group.0)).is_multiple_of(Self::BASE_EVERY);
            let change = match self.since {
                Some(since) if !whole => table.delta(group, epoch(since))?.map(Change::Delta),
                _ => match table.base(group)? {
                    Some(base) => Some(Change::Base(base)),
                    // It may have been there before.
                    None => self.barrier.since.map(|_| Change::Cleared),
                },
            };
            self.parts.extend(change.map(|change| (part, change)));
        }
        table.enter(epoch(self.barrier.id));
        Ok(())
    }

    /// What a sink has prepared, and how many events that are.
    pub(crate) fn handle(&mut self, handle: Option<Handle>, events: u64) {
        self.handle = handle.map(|handle| (handle.into_bytes(), events));
    }

    /// A split of a source.
    pub(super) fn split<C: Component>(
        &mut self,
        index: usize,
        ended: bool,
        position: Option<&C::Saved>,
    ) -> Result<()> {
        let position = position.map(|saved| fields_of::<C>(&self.seating, saved)).transpose()?;
        let position = position.map(ByteBuf::from);
        let bytes = encode(&SplitState { ended, position })?;
        self.parts.push((Part::Split(number(index)), Change::Base(bytes)));
        Ok(())
    }

    /// The snapshot of a source.
    pub(super) fn finish_source(self, took: Duration) -> Snapshot {
        let Self { barrier, parts, handle, .. } = self;
        Snapshot { id: barrier.id, parts, handle, aligned: Duration::ZERO, took }
    }

    /// The snapshot of an operator or a sink.
    pub(super) fn finish(
        mut self,
        finished: bool,
        watermark: Option<Watermark>,
        aligned: Duration,
        took: Duration,
    ) -> Result<Snapshot> {
        let watermark = watermark.map(|watermark| watermark.0.as_millis());
        let fields = ByteBuf::from(std::mem::take(&mut self.fields));
        let bytes = encode(&InstanceState { finished, watermark, fields })?;
        let part = Part::Instance(number(self.seating.index));
        self.parts.push((part, Change::Base(bytes)));
        let Self { barrier, parts, handle, .. } = self;
        Ok(Snapshot { id: barrier.id, parts, handle, aligned, took })
    }
}

fn fields_of<C: Component>(at: &Seating, saved: &C::Saved) -> Result<Vec<u8>> {
    let mut fields = FieldWriter::new(at.component.as_str());
    C::encode(saved, &mut fields)?;
    Ok(fields.into_bytes())
}

fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

fn epoch(id: CheckpointId) -> Epoch {
    Epoch::try_from(id.0).unwrap_or(Epoch::MAX)
}

/// The key groups of an instance.
fn groups_of(key_groups: KeyGroups, at: &Seating) -> impl Iterator<Item = KeyGroup> {
    let (index, parallelism) = (at.index, at.parallelism);
    let all = (0..=u16::MAX).take(key_groups.count()).map(KeyGroup);
    all.filter(move |group| key_groups.instance(*group, parallelism) == index)
}

/// Gives an instance what a checkpoint holds for it.
#[derive(Debug)]
pub(crate) struct Restorer<'a> {
    saving: &'a Saving,
    seating: Seating,
}

impl<'a> Restorer<'a> {
    pub(super) fn new(saving: &'a Saving, seating: Seating) -> Self {
        Self { saving, seating }
    }

    /// The instances that a component had, each with what belonged to it.
    fn instances(&self) -> Result<Vec<InstanceState>> {
        let Some(restored) = &self.saving.restored else { return Ok(Vec::new()) };
        let parts =
            (0..restored.parallelism).filter_map(|i| restored.whole(Part::Instance(number(i))));
        parts.map(decode).collect()
    }

    /// The fields of a component that are marked `#[state]`.
    pub(crate) fn component<C: Component>(&self, component: &mut C) -> Result<()> {
        let instances = self.instances()?;
        let Some(restored) = &self.saving.restored else { return Ok(()) };
        if size_of::<C::Saved>() == 0 {
            return Ok(());
        }
        let fields: Vec<&[u8]> =
            instances.iter().map(|instance| instance.fields.as_slice()).collect();
        let Seating { component: name, index, parallelism } = &self.seating;
        let to = Rescaling {
            index: *index,
            parallelism: *parallelism,
            before: restored.parallelism,
            key_groups: self.saving.key_groups,
        };
        let fields = FieldReader::new(name.as_str(), &restored.fields, &fields, to)?;
        component.load(C::decode(&fields)?);
        Ok(())
    }

    /// The table of an instance, with the keys that belong to it.
    pub(crate) fn table<K, S>(&self, ttl: Option<Duration>) -> Result<Table<K, S>>
    where
        K: Key + Serialize + DeserializeOwned,
        S: Default + State,
    {
        let key_groups = self.saving.key_groups;
        match &self.saving.restored {
            None => {
                let mut table = Table::new(key_groups).with_ttl(ttl);
                // One that is new in a job that goes on: all that it keeps has come since.
                self.saving.from.into_iter().for_each(|from| table.enter(epoch(from)));
                Ok(table)
            }
            Some(restored) => {
                let groups = groups_of(key_groups, &self.seating);
                let table = Table::new(key_groups).with_ttl(ttl);
                read_table(table, self.seating.component.as_str(), restored, groups)
            }
        }
    }

    /// Whether the component had finished already, and its watermark.
    pub(super) fn progress(&self) -> Result<(bool, Option<Watermark>)> {
        let instances = self.instances()?;
        let own = match self.saving.restored.as_ref().map(|restored| restored.parallelism) {
            Some(before) if before == self.seating.parallelism => {
                instances.get(self.seating.index..=self.seating.index).unwrap_or_default()
            }
            _ => &instances[..],
        };
        let finished = !own.is_empty() && own.iter().all(|instance| instance.finished);
        let watermark = own.iter().map(|instance| instance.watermark).min().flatten();
        Ok((finished, watermark.map(|millis| Watermark(EventTime::from_millis(millis)))))
    }

    /// Whether a split of a source has come to its end, and its position.
    pub(super) fn split<C: Component>(&self, index: usize) -> Result<(bool, Option<C::Saved>)> {
        let restored = self.saving.restored.as_ref();
        let Some(bytes) = restored.and_then(|restored| restored.whole(Part::Split(number(index))))
        else {
            return Ok((false, None));
        };
        let SplitState { ended, position } = decode(bytes)?;
        let shape = restored.map_or(&Shape::Nothing, |restored| &restored.fields);
        let name = self.seating.component.as_str();
        let read = |position: ByteBuf| {
            C::decode(&FieldReader::new(name, shape, &[&position], Rescaling::WHOLE)?)
        };
        Ok((ended, position.map(read).transpose()?))
    }
}

/// The keys of some groups with their state.
fn read_table<K, S>(
    mut table: Table<K, S>,
    component: &str,
    restored: &RestoredComponent,
    groups: impl Iterator<Item = KeyGroup>,
) -> Result<Table<K, S>>
where
    K: Key + Serialize + DeserializeOwned,
    S: Default + State,
{
    if let Some(was) = &restored.keyed {
        let reading = Reading::of(was).map_err(|differences| StateError::Changed {
            component: component.to_owned(),
            differences,
        })?;
        for group in groups {
            table.restore(group, &reading, restored.chain(Part::Group(group.0)))?;
        }
    }
    table.enter(epoch(restored.checkpoint));
    Ok(table)
}

/// All keys of a component with their state, in no order.
pub(crate) fn read_keys<K, S>(
    component: &str,
    restored: &RestoredComponent,
    key_groups: KeyGroups,
) -> Result<Vec<(K, S)>>
where
    K: Key + Serialize + DeserializeOwned,
    S: Default + State,
{
    let all = Seating { component: component.into(), index: 0, parallelism: 1 };
    let groups = groups_of(key_groups, &all);
    let table = read_table(Table::new(key_groups), component, restored, groups)?;
    Ok(table.into_entries().collect())
}

/// The fields of an instance that are marked `#[state]`.
pub(crate) fn read_fields<C: Component>(
    component: &str,
    restored: &RestoredComponent,
    index: usize,
) -> Result<C::Saved> {
    let part = restored.whole(Part::Instance(number(index)));
    let part = part.ok_or_else(|| format!("{component:?} has no instance {index}"))?;
    let InstanceState { fields, .. } = decode(part)?;
    let fields = FieldReader::new(component, &restored.fields, &[&fields], Rescaling::WHOLE)?;
    Ok(C::decode(&fields)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::key_hash;

    struct Nobody;

    impl Snapshots for Nobody {
        fn put(&self, _: Snapshot) {}
    }

    /// The bytes of keys that a checkpoint holds.
    fn written(table: &mut Table<u64, u64>, id: u64, since: Option<u64>) -> usize {
        let saving = Saving {
            aligned: true,
            key_groups: KeyGroups::default(),
            snapshots: Arc::new(Nobody),
            from: None,
            restored: None,
            rebase: false,
        };
        let seating = Seating { component: "keys".into(), index: 0, parallelism: 1 };
        let barrier = Barrier { id: CheckpointId(id), since: since.map(CheckpointId) };
        let mut saver = Saver::new(barrier, &saving, seating);
        saver.table(table).unwrap();
        let bytes = saver.parts.iter().map(|(_, change)| match change {
            Change::Base(bytes) | Change::Delta(bytes) => bytes.len(),
            Change::Cleared => 0,
        });
        bytes.sum()
    }

    #[test]
    fn what_has_not_changed_is_written_bit_by_bit() {
        let mut table = Table::new(KeyGroups::default());
        for key in 0..20_000_u64 {
            table.place(key_hash(&key), &key).with(|_, state| **state = key);
        }
        let all = written(&mut table, 1, None);
        let later: Vec<usize> = (2..42).map(|id| written(&mut table, id, Some(id - 1))).collect();
        // Of 128 groups 7 at most, which are not of quite the same size.
        assert!(later.iter().all(|bytes| *bytes < all * 7 / 128 * 11 / 10), "{later:?} of {all}");
        // And each of them once in twenty.
        for twenty in later.windows(20) {
            assert_eq!(twenty.iter().sum::<usize>(), all);
        }
    }
}
