//! Closures right behind a source that never waits get its events before they are stored. Whoever looks
//! at a job sees no difference to the same closures behind any other stream.

#![expect(clippy::unwrap_used, reason = "also the functions that tests call are of a test")]

use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use streamwork::prelude::*;
use streamwork::testing::Scheduler;
use streamwork::{Counts, IntoStream};

/// What happens to a number in the closures.
fn fate(n: u64, salt: u64) -> u64 {
    (n ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60
}

/// What can be seen of a job that has ended.
#[derive(Debug, PartialEq)]
struct Seen {
    got: Vec<String>,
    source: Counts,
    sink: Counts,
    steps: Vec<u64>,
    status: JobStatus,
}

/// Runs the same closures behind `events`: right behind the source, or behind its stream.
fn run<E: Event + ToString>(
    events: Vec<E>,
    salt: u64,
    seed: u64,
    parallelism: usize,
    fused: bool,
) -> Seen {
    let got = Collect::new();
    let job = Job::new("closures");
    let source = job.source(FromIter::new(events)).named("source").parallelism(parallelism);
    let double = |event: &E| (event.to_string(), event.to_string().len() as u64);
    let parse = move |(text, _): &(String, u64)| -> Result<u64> {
        let n: u64 = text.parse()?;
        match fate(n, salt) {
            0 => Err("an error".into()),
            1 => panic!("a panic"),
            _ => Ok(n),
        }
    };
    let keep = move |n: &u64| {
        assert!(fate(*n, !salt) != 0, "a panic in the filter");
        !n.is_multiple_of(3)
    };
    let last = if fused {
        source.map(double).try_map(parse).filter(keep).boxed()
    } else {
        source.into_stream().map(double).try_map(parse).filter(keep).boxed()
    };
    last.map(u64::to_string).sink(got.clone()).named("sink");
    let outcome = Scheduler::seeded(seed).run(job).unwrap();
    let step = |name: &str| outcome.step(&format!("{name} after source")).unwrap().failed;
    let mut got = got.take();
    got.sort();
    Seen {
        got,
        source: outcome.component("source").unwrap(),
        sink: outcome.component("sink").unwrap(),
        steps: ["map#1", "try_map#2", "filter#3", "map#4"].map(step).to_vec(),
        status: outcome.status(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For events without a destructor, and for those with one.
    #[test]
    fn they_do_what_they_do_elsewhere(
        count in 0..3_000_u64,
        salt: u64,
        seed: u64,
        parallelism in 1..4_usize,
    ) {
        let numbers: Vec<u64> = (0..count).collect();
        let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
        let plain = run(numbers.clone(), salt, seed, parallelism, true);
        prop_assert_eq!(&plain, &run(numbers, salt, seed, parallelism, false));
        prop_assert_eq!(&plain.got, &run(texts.clone(), salt, seed, parallelism, true).got);
        let fused = run(texts.clone(), salt, seed, parallelism, true);
        prop_assert_eq!(fused, run(texts, salt, seed, parallelism, false));
        prop_assert_eq!(plain.source.emitted, count);
        let lost: u64 = plain.steps.iter().sum();
        prop_assert_eq!(plain.source.lost_in_steps, lost);
    }
}

/// A panic of the source is one of the source: nothing of that call is left, and it goes on where it was.
#[test]
fn a_panic_of_the_source_is_not_one_of_a_closure() {
    for fused in [true, false] {
        let armed = Arc::new(AtomicU64::new(1));
        let arm = Arc::clone(&armed);
        let items = (0..3_000_u64).inspect(move |n| {
            let strikes = *n == 2_500 && arm.swap(0, Ordering::SeqCst) == 1;
            assert!(!strikes, "the iterator panics");
        });
        let got = Collect::new();
        let job = Job::new("panics");
        let source = job.source(FromIter::new(items));
        let even = |n: &u64| n.is_multiple_of(2);
        match fused {
            true => source.filter(even).sink(got.clone()),
            false => source.into_stream().filter(even).sink(got.clone()),
        };
        let outcome = Scheduler::seeded(3).run(job).unwrap();
        let source = outcome.component("from-iter").unwrap();
        assert_eq!((source.restarts, source.emitted, source.filtered), (1, 3_000, 1_500));
        assert_eq!(got.take(), (0..3_000).filter(even).collect::<Vec<u64>>());
    }
}
