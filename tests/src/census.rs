//! Events that are counted for as long as they live.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use streamwork::Event;

/// How many events are alive, and how many were at once at most.
#[derive(Clone, Debug, Default)]
pub struct Census(Arc<Numbers>);

#[derive(Debug, Default)]
struct Numbers {
    alive: AtomicUsize,
    most: AtomicUsize,
}

impl Census {
    /// How many are alive now.
    #[must_use]
    pub fn alive(&self) -> usize {
        self.0.alive.load(Ordering::SeqCst)
    }

    /// How many were alive at once at most.
    #[must_use]
    pub fn most(&self) -> usize {
        self.0.most.load(Ordering::SeqCst)
    }
}

/// An event with a payload of 1 KiB on the heap, that a census counts.
#[derive(Debug)]
pub struct Live {
    number: u64,
    payload: Box<[u64; 128]>,
    census: Census,
}

impl Live {
    /// Event `number`.
    #[must_use]
    pub fn new(number: u64, census: &Census) -> Self {
        let alive = census.0.alive.fetch_add(1, Ordering::SeqCst) + 1;
        census.0.most.fetch_max(alive, Ordering::SeqCst);
        Self { number, payload: Box::new([number; 128]), census: census.clone() }
    }

    /// Which event it is.
    ///
    /// # Panics
    /// If its payload is another's.
    #[must_use]
    pub fn number(&self) -> u64 {
        assert_eq!((self.payload[0], self.payload[127]), (self.number, self.number));
        self.number
    }
}

impl Clone for Live {
    fn clone(&self) -> Self {
        Self::new(self.number, &self.census)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.census.0.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Event for Live {
    fn weight(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.payload)
    }
}
