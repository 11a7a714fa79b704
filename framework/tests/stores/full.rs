//! A disk that is full. (Where none can be made that is small, the tests of `store/database` are left.)

use super::temp::TempDir;
use super::{bytes, id, segment};
use std::fs;
use std::path::Path;
use std::process::Command;
use streamwork::{CheckpointStore, Generation, StoreError};

/// A small file system in memory; `None` where this user may not mount one.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn new() -> Option<Self> {
        let directory = TempDir::new("full");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=24m", "tmpfs"]).arg(directory.path());
        let is_mounted = mount.output().is_ok_and(|output| output.status.success());
        is_mounted.then(|| Self(directory))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").args(["-l".as_ref(), self.0.path()]).output());
    }
}

fn publish(
    store: &mut dyn CheckpointStore,
    generation: Generation,
    checkpoint: u64,
    length: usize,
) -> Result<(), StoreError> {
    store.put(segment(checkpoint, 0), &bytes(length, checkpoint))?;
    store.publish(generation, id(checkpoint), b"m")
}

/// What a full disk costs: the checkpoints that it was full for.
fn a_full_disk_fails_its_checkpoint(
    disk: &Path,
    open: impl Fn(&Path) -> Result<Box<dyn CheckpointStore>, StoreError>,
) {
    let mut store = open(disk).unwrap();
    let generation = store.begin().unwrap();
    publish(&mut *store, generation, 1, 100_000).unwrap();
    fs::write(disk.join("ballast"), bytes(8 << 20, 7)).unwrap();

    let failed = (2..40).find(|n| publish(&mut *store, generation, *n, 1 << 20).is_err());
    let failed = failed.expect("40 MiB do not fit into 24");
    // Whatever is tried while it is full, nothing panics.
    for _ in 0..3 {
        if store.reopen().is_ok() {
            drop(publish(&mut *store, generation, 100, 8 << 20));
        }
    }
    fs::remove_file(disk.join("ballast")).unwrap();
    store.reopen().unwrap();
    publish(&mut *store, generation, 101, 100_000).unwrap();
    for round in 0..2 {
        let published = store.manifests().unwrap();
        for checkpoint in (1..failed).chain([101]) {
            assert!(published.contains(&id(checkpoint)), "{round}: {checkpoint}");
            let length = if [1, 101].contains(&checkpoint) { 100_000 } else { 1 << 20 };
            let expected = bytes(length, checkpoint);
            assert!(store.segment(segment(checkpoint, 0)).unwrap() == expected, "{checkpoint}");
        }
        drop(store);
        store = open(disk).unwrap();
    }
}

#[cfg(feature = "sled")]
#[test]
fn sled_goes_on_when_there_is_space_again() {
    let Some(disk) = SmallDisk::new() else { return };
    a_full_disk_fails_its_checkpoint(disk.0.path(), |disk| {
        Ok(Box::new(streamwork::SledStore::open(disk.join("s"))?))
    });
}

#[cfg(feature = "redb")]
#[test]
fn redb_goes_on_when_there_is_space_again() {
    let Some(disk) = SmallDisk::new() else { return };
    a_full_disk_fails_its_checkpoint(disk.0.path(), |disk| {
        Ok(Box::new(streamwork::RedbStore::open(disk.join("r"))?))
    });
}
