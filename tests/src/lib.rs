//! What the tests of whole jobs share, and the pages of the book as doc tests.

#[cfg(doctest)]
pub mod book;

mod census;
mod graphs;
mod permits;
mod sums;

pub use census::{Census, Live};
pub use graphs::{ExactGraph, RandomGraph};
pub use permits::{Permits, Waits};
pub use sums::assert_adds_up;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use streamwork::prelude::*;

/// An event of 4 KiB, so that eight of them fill a batch and few events make many frames.
#[derive(Event, Clone, Debug, PartialEq)]
#[event(local)]
pub struct Heavy {
    /// Which event it is.
    pub number: u64,
    padding: [u64; 511],
}

impl Heavy {
    /// Event `number`.
    #[must_use]
    pub fn new(number: u64) -> Self {
        Self { number, padding: [number; 511] }
    }
}

/// Emits `factor` events for each one: `number * factor`, and the numbers after it.
#[derive(Component, Clone, Debug)]
pub struct Multiply {
    /// Outputs for each input.
    pub factor: u64,
}

impl Operator for Multiply {
    type In = Heavy;
    type Out = Heavy;

    fn apply(&mut self, event: Heavy, out: &mut Emitter<Heavy>) -> Result<()> {
        out.extend((0..self.factor).map(|k| Heavy::new(event.number * self.factor + k)));
        Ok(())
    }
}

/// Counts events by key, and emits key and count.
#[derive(Component, Clone, Debug)]
pub struct CountBy {
    keys: u64,
    counts: BTreeMap<u64, u64>,
}

impl CountBy {
    /// The key is the number modulo `keys`.
    #[must_use]
    pub fn modulo(keys: u64) -> Self {
        Self { keys, counts: BTreeMap::new() }
    }
}

impl Operator for CountBy {
    type In = Heavy;
    type Out = (u64, u64, u64);

    fn apply(&mut self, event: Heavy, out: &mut Emitter<Self::Out>) -> Result<()> {
        let key = event.number % self.keys;
        let count = self.counts.entry(key).or_default();
        *count += 1;
        out.emit((key, *count, event.number));
        Ok(())
    }
}

/// Small links: frames of eight heavy events, two under way.
#[must_use]
pub fn small_links() -> LinkLimits {
    LinkLimits { frames: 2, bytes: 64 << 10, delay: Duration::from_millis(200) }
}

/// A gate that user code can be held at.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<AtomicBool>);

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn closed() -> Self {
        Self::default()
    }

    /// Lets everybody through.
    pub fn open(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Blocks the thread until the gate is open.
    pub fn pass(&self) {
        while !self.0.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }
}

/// Waits until `ready` says so.
///
/// # Panics
/// If it has not within a minute.
pub fn wait_until(what: &str, ready: impl Fn() -> bool) {
    let clock = streamwork::SystemClock::new();
    let deadline = streamwork::Moment::START + Duration::from_secs(60);
    while !ready() {
        assert!(streamwork::Clock::now(&clock) < deadline, "waited for a minute: {what}");
        std::thread::yield_now();
    }
}
