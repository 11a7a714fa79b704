//! What is drawn from the seed: choices, and time.

use crate::time::{Clock, ManualClock, Moment};
use futures::future::BoxFuture;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// `SplitMix64`.
#[derive(Debug)]
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// A manual clock that moves on a little each time that somebody looks at it: so slices end and
/// events take time, differently for each seed.
#[derive(Clone, Debug)]
pub(super) struct SeededClock {
    pub(super) clock: ManualClock,
    random: Arc<AtomicU64>,
}

impl SeededClock {
    pub(super) fn new(seed: u64) -> Self {
        Self { clock: ManualClock::new(), random: Arc::new(AtomicU64::new(!seed)) }
    }
}

impl Clock for SeededClock {
    fn now(&self) -> Moment {
        let drawn = Random(self.random.fetch_add(1, Ordering::Relaxed)).next();
        // Mostly microseconds, now and then more than a slice.
        let micros = if drawn.is_multiple_of(16) { drawn >> 53 } else { (drawn >> 58) + 1 };
        self.clock.advance(Duration::from_micros(micros));
        self.clock.now()
    }

    fn sleep_until(&self, moment: Moment) -> BoxFuture<'static, ()> {
        self.clock.sleep_until(moment)
    }
}
