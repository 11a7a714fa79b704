//! A store in a database that fails on cue: it returns an error, it panics, it goes back.

use super::*;
use std::cell::RefCell;
use std::collections::BTreeMap;

thread_local! {
    static DISK: RefCell<Disk> = RefCell::default();
}

/// What all databases of a test's thread share.
#[derive(Default)]
struct Disk {
    tables: BTreeMap<(&'static str, Vec<u8>), Vec<u8>>,
    calls: Vec<&'static str>,
    fails_at: Option<(&'static str, Fault)>,
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    Full,
    Internal,
    Panic,
}

fn disk<R>(f: impl FnOnce(&mut Disk) -> R) -> R {
    DISK.with_borrow_mut(f)
}

/// Notes a call, and lets it fail if it is to.
fn call(name: &'static str) -> Result<(), Trouble> {
    let fault = disk(|disk| {
        disk.calls.push(name);
        disk.fails_at.filter(|(at, _)| *at == name).map(|(_, fault)| fault)
    });
    match fault {
        None => Ok(()),
        Some(Fault::Full) => Err(io::Error::from(io::ErrorKind::StorageFull).into()),
        Some(Fault::Internal) => Err(Trouble::Database("a page is nowhere".to_owned())),
        Some(Fault::Panic) => panic!("index out of bounds"),
    }
}

#[derive(Debug)]
struct Shaky {
    broken: RefCell<bool>,
}

impl Shaky {
    /// Once it has failed it fails always, as sled does.
    fn call(&self, name: &'static str) -> Result<(), Trouble> {
        assert!(!*self.broken.borrow(), "it was used after it had failed");
        *self.broken.borrow_mut() = true;
        call(name)?;
        *self.broken.borrow_mut() = false;
        Ok(())
    }
}

impl Database for Shaky {
    type Value = Vec<u8>;

    fn open(_: PathBuf) -> Result<Self, Trouble> {
        call("open")?;
        Ok(Self { broken: RefCell::new(false) })
    }

    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, Trouble> {
        self.call("get")?;
        Ok(disk(|disk| disk.tables.get(&(table.name(), key.to_vec())).cloned()))
    }

    fn keys(&self, table: Table, prefix: &[u8]) -> Result<Vec<Vec<u8>>, Trouble> {
        self.call("keys")?;
        let is_wanted =
            |(of, key): &&(&str, Vec<u8>)| *of == table.name() && key.starts_with(prefix);
        Ok(disk(|disk| disk.tables.keys().filter(is_wanted).map(|(_, key)| key.clone()).collect()))
    }

    fn apply(&self, changes: impl Iterator<Item = Change>) -> Result<(), Trouble> {
        for change in changes {
            let name = match &change {
                Change::Put(Table::Entries, ..) => "put entry",
                Change::Put(Table::Chunks, ..) => "put chunk",
                Change::Put(Table::Numbers, ..) => "put number",
                Change::Remove(Table::Entries, _) => "remove entry",
                Change::Remove(..) => "remove chunk",
            };
            self.call(name)?;
            disk(|disk| match change {
                Change::Put(table, key, value) => disk.tables.insert((table.name(), key), value),
                Change::Remove(table, key) => disk.tables.remove(&(table.name(), key)),
            });
        }
        Ok(())
    }

    fn separate(&self) -> Result<(), Trouble> {
        self.call("separate")
    }

    fn sync(&self) -> Result<(), Trouble> {
        self.call("sync")
    }
}

fn open() -> DatabaseStore<Shaky> {
    DatabaseStore::open(PathBuf::from("place")).unwrap()
}

fn segment(checkpoint: u64) -> SegmentId {
    SegmentId { checkpoint: CheckpointId(checkpoint), number: 0 }
}

/// The calls that change something, made by `f`.
fn calls(f: impl FnOnce()) -> Vec<&'static str> {
    disk(|disk| disk.calls.clear());
    f();
    disk(|disk| {
        disk.calls.retain(|name| !["get", "keys", "open"].contains(name));
        std::mem::take(&mut disk.calls)
    })
}

#[test]
fn what_makes_a_checkpoint_is_written_last_and_waited_for() {
    let mut store = open();
    let generation = store.begin().unwrap();
    assert_eq!(calls(|| store.put(segment(1), b"state").unwrap()), ["put entry", "put chunk"]);
    let published = calls(|| store.publish(generation, CheckpointId(1), b"manifest").unwrap());
    assert_eq!(published, ["put chunk", "separate", "put entry", "sync"]);
}

#[test]
fn what_makes_a_checkpoint_is_removed_first_and_waited_for() {
    let mut store = open();
    let generation = store.begin().unwrap();
    store.put(segment(1), b"state").unwrap();
    store.publish(generation, CheckpointId(1), b"manifest").unwrap();
    let removed = calls(|| store.remove_manifest(CheckpointId(1)).unwrap());
    assert_eq!(removed, ["remove entry", "sync", "remove chunk"]);
    // Of a segment the entry says that there is something to remove.
    let removed = calls(|| store.remove_segment(segment(1)).unwrap());
    assert_eq!(removed, ["remove chunk", "remove entry"]);
    assert!(calls(|| store.remove_segment(segment(1)).unwrap()).is_empty());
}

#[test]
fn numbers_are_durable_before_they_are_given_out() {
    let mut store = open();
    assert_eq!(calls(|| assert!(store.reserve(1).is_ok())), ["put number", "sync"]);
    assert_eq!(calls(|| assert!(store.begin().is_ok())), ["put number", "sync"]);
}

#[test]
fn an_error_at_any_point_fails_what_was_tried_and_the_next_checkpoint_succeeds() {
    for fault in [Fault::Full, Fault::Internal, Fault::Panic] {
        for at in ["put entry", "put chunk", "separate", "sync", "get"] {
            disk(|disk| *disk = Disk::default());
            let mut store = open();
            let generation = store.begin().unwrap();
            store.put(segment(1), b"one").unwrap();
            store.publish(generation, CheckpointId(1), b"m1").unwrap();

            disk(|disk| disk.fails_at = Some((at, fault)));
            let publish = |store: &mut DatabaseStore<Shaky>, id| {
                store.put(segment(id), b"more")?;
                store.publish(generation, CheckpointId(id), b"m")
            };
            let error = publish(&mut store, 2).unwrap_err();
            match fault {
                Fault::Full => assert!(matches!(error, StoreError::Io { .. }), "{error:?}"),
                _ => assert!(matches!(error, StoreError::Corrupt { .. }), "{error:?}"),
            }
            disk(|disk| disk.fails_at = None);
            // It says so until it is opened anew, and touches nothing.
            for _ in 0..2 {
                let error = publish(&mut store, 3).unwrap_err();
                assert!(matches!(error, StoreError::Failed { .. }), "{error:?}");
                assert!(matches!(store.manifests(), Err(StoreError::Failed { .. })));
            }
            store.reopen().unwrap();
            publish(&mut store, 4).unwrap();
            assert_eq!(store.segment(segment(1)).unwrap(), b"one", "{fault:?} at {at}");
            let published = store.manifests().unwrap();
            assert!(published.contains(&CheckpointId(1)) && published.contains(&CheckpointId(4)));
        }
    }
}

#[test]
fn an_opening_that_fails_may_be_tried_again() {
    let mut store = open();
    let generation = store.begin().unwrap();
    for fault in [Fault::Full, Fault::Internal, Fault::Panic] {
        for at in ["open", "keys", "get"] {
            disk(|disk| disk.fails_at = Some((at, fault)));
            assert!(store.reopen().is_err());
            assert!(DatabaseStore::<Shaky>::open(PathBuf::from("place")).is_err());
            assert!(
                matches!(store.manifests(), Err(StoreError::Failed { .. })),
                "{fault:?} at {at}"
            );
            disk(|disk| disk.fails_at = None);
            store.reopen().unwrap();
        }
    }
    store.publish(generation, CheckpointId(1), b"m").unwrap();
}

#[test]
fn the_error_says_what_panicked_where() {
    let mut store = open();
    disk(|disk| disk.fails_at = Some(("put chunk", Fault::Panic)));
    let text = store.put(segment(1), b"state").unwrap_err().to_string();
    let expected = "the store in \"place\" is damaged: writing a segment: panic at ";
    assert!(text.starts_with(expected) && text.ends_with(": index out of bounds"), "{text}");
}

#[test]
fn damage_that_is_read_breaks_nothing_else() {
    let mut store = open();
    let generation = store.begin().unwrap();
    for id in 1..=2 {
        store.put(segment(id), b"state").unwrap();
        store.publish(generation, CheckpointId(id), b"m").unwrap();
    }
    let key = BlobId::Segment(segment(1)).chunk_key(0).to_vec();
    disk(|disk| disk.tables.get_mut(&(Table::Chunks.name(), key)).unwrap()[9] ^= 1);
    let text = store.segment(segment(1)).unwrap_err().to_string();
    assert_eq!(text, "segment 0 of checkpoint 1 is damaged: the checksum of its chunk 0 is wrong");
    assert_eq!(store.segment(segment(2)).unwrap(), b"state");
    // It can be removed, too.
    let entry = BlobId::Segment(segment(1)).key().to_vec();
    disk(|disk| disk.tables.get_mut(&(Table::Entries.name(), entry)).unwrap()[0] ^= 1);
    store.remove_segment(segment(1)).unwrap();
    let left = BlobId::Segment(segment(1)).key();
    assert!(disk(|disk| disk.tables.keys().all(|(_, key)| !key.starts_with(&left))));
}

#[test]
fn a_database_that_went_back_or_on_is_not_opened_anew() {
    let mut store = open();
    store.begin().unwrap();
    let before = disk(|disk| disk.tables.clone());
    let generation = store.begin().unwrap();
    let after = disk(|disk| std::mem::replace(&mut disk.tables, before));
    let text = store.reopen().unwrap_err().to_string();
    assert!(text.ends_with("its generation went from 2 back to 1"), "{text}");

    disk(|disk| disk.tables = after);
    store.reopen().unwrap();
    open().begin().unwrap();
    let error = store.reopen().unwrap_err();
    assert!(matches!(error, StoreError::Fenced { ours: 2, newest: 3 }), "{error:?}");
    assert!(store.publish(generation, CheckpointId(1), b"m").is_err());
}

#[test]
fn numbers_go_on_behind_whatever_is_there() {
    let mut store = open();
    let generation = store.begin().unwrap();
    store.reserve(20).unwrap();
    store.publish(generation, CheckpointId(7), b"m").unwrap();
    store.put(segment(9), b"state").unwrap();
    // The number of those that are reserved is lost.
    disk(|disk| disk.tables.retain(|(_, key), _| key != RESERVED.as_bytes()));
    assert_eq!(open().reserve(1).unwrap(), CheckpointId(10));
    // Who has the store open knows better.
    store.reopen().unwrap();
    assert_eq!(store.reserve(1).unwrap(), CheckpointId(21));
}

#[test]
fn what_an_interrupted_publication_left_is_removed() {
    let mut store = open();
    let generation = store.begin().unwrap();
    store.publish(generation, CheckpointId(1), b"m").unwrap();
    disk(|disk| disk.fails_at = Some(("separate", Fault::Full)));
    store.publish(generation, CheckpointId(2), b"m").unwrap_err();
    disk(|disk| disk.fails_at = None);
    let chunks = || disk(|disk| disk.tables.keys().filter(|(table, _)| *table == "chunks").count());
    assert_eq!(chunks(), 2);
    let mut store = open();
    store.begin().unwrap();
    assert_eq!(chunks(), 1);
    assert_eq!(store.manifest(CheckpointId(1)).unwrap(), b"m");
}
