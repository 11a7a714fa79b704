//! What every store of checkpoints promises, whatever it keeps them in.

#![expect(clippy::unwrap_used, reason = "a test may")]

mod conformance;
mod damage;
mod full;
mod model;
#[path = "../temp/mod.rs"]
mod temp;

use streamwork::{CheckpointId, CheckpointStore, MemoryStore, SegmentId};
use temp::TempDir;

/// Opens one and the same store, again and again.
struct Place {
    kind: Kind,
    memory: MemoryStore,
    directory: TempDir,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Memory,
    #[cfg(feature = "sled")]
    Sled,
    #[cfg(feature = "redb")]
    Redb,
}

impl Kind {
    const ALL: &[Self] = &[
        Self::Memory,
        #[cfg(feature = "sled")]
        Self::Sled,
        #[cfg(feature = "redb")]
        Self::Redb,
    ];
}

impl Place {
    fn new(kind: Kind) -> Self {
        Self { kind, memory: MemoryStore::new(), directory: TempDir::new("stores") }
    }

    fn open(&self) -> Box<dyn CheckpointStore> {
        match self.kind {
            Kind::Memory => Box::new(self.memory.clone()),
            #[cfg(feature = "sled")]
            Kind::Sled => Box::new(streamwork::SledStore::open(self.directory.file("s")).unwrap()),
            #[cfg(feature = "redb")]
            Kind::Redb => Box::new(streamwork::RedbStore::open(self.directory.file("r")).unwrap()),
        }
    }
}

/// Runs a test with a store of every kind.
fn with_each(test: impl Fn(&Place)) {
    for kind in Kind::ALL {
        eprintln!("{kind:?}");
        test(&Place::new(*kind));
    }
}

fn id(checkpoint: u64) -> CheckpointId {
    CheckpointId(checkpoint)
}

fn segment(checkpoint: u64, number: u32) -> SegmentId {
    SegmentId { checkpoint: id(checkpoint), number }
}

/// Bytes of some length that look like nothing else.
fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).collect()
}
