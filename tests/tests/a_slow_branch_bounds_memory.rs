//! B53: a slow branch next to a fast one, a million events of 1 KiB. What is in memory at once stays
//! below a bound that does not depend on their number, and nothing is dropped.
//!
//! The slow branch is slow by permits and not by time: it first stands still, and then goes on in steps,
//! each given when the fast branch has come to a stand.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use streamwork::prelude::*;
use streamwork_tests::{Census, Live, Permits, Waits, assert_adds_up, wait_until};

const EVENTS: u64 = 1_000_000;

/// Counts, and adds up the numbers: each must come once.
#[derive(Clone, Default)]
struct Sum {
    count: Arc<AtomicU64>,
    sum: Arc<AtomicU64>,
}

impl Sum {
    fn sink(&self) -> ForEach<Live, impl FnMut(Live) + Clone + use<>> {
        let this = self.clone();
        ForEach::new(move |event: Live| {
            this.count.fetch_add(1, Ordering::Relaxed);
            this.sum.fetch_add(event.number(), Ordering::Relaxed);
        })
    }

    fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    fn assert_complete(&self) {
        assert_eq!(self.count(), EVENTS);
        assert_eq!(self.sum.load(Ordering::Relaxed), EVENTS * (EVENTS - 1) / 2);
    }
}

#[test]
fn a_million_events_of_a_kibibyte() {
    let (census, permits) = (Census::default(), Permits::none());
    let (slow, fast) = (Sum::default(), Sum::default());
    let job = Job::new("branches");
    let born = census.clone();
    let source = job.source(Generator::indexed(move |n| Live::new(n, &born)).events(EVENTS));
    source.sink(Waits::new(slow.sink(), &permits)).named("slow");
    source.sink(fast.sink()).named("fast");
    let handle = Engine::new().arbiters(2).start(job).unwrap();
    // Held back by the slow one alone: a few frames ahead of it.
    wait_until("the slow branch waits", || permits.waiting() == 1);
    for step in 1..=5_u64 {
        permits.give(1_000);
        wait_until("the slow branch has gone on", || slow.count() == 1_000 * step);
        wait_until("the fast branch has all of that", || fast.count() >= 1_000 * step);
        assert!(fast.count() < 1_000 * (step + 1), "{} events ahead", fast.count());
    }
    permits.give(EVENTS);
    let outcome = handle.wait().unwrap();
    slow.assert_complete();
    fast.assert_complete();
    assert_eq!((outcome.dropped(), outcome.failed()), (0, 0));
    assert_adds_up(&outcome, "");
    // A mebibyte, of the gibibyte that went through.
    assert!(census.most() < 1_500, "{} events were alive at once", census.most());
    assert_eq!(census.alive(), 0);
}
