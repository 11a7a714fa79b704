//! How soon a job is back, and what its checkpoints take on the disk.
//!
//! ```text
//! cargo run --release --bin recovery-times
//! ```
//!
//! Prints three lines:
//!
//! ```text
//! restart keys=1000000 took_ms=412.0 459.1 483.7
//! failure keys=1000 took_ms=12.6 13.0 13.4
//! disk checkpoints=1000 keys=100000 live_MiB=28.5 largest_MiB=88.0
//! ```
//!
//! * From the start of a job that was stopped with so many keys to the first event that comes out of it: the
//!   times of three starts, sorted.
//! * From an error in a job with few keys to the first event behind the instance that was built anew: the same of
//!   three.
//! * While so many checkpoints were taken of keys that all change: the largest size of the data directory, and
//!   what the checkpoints that are kept in the end consist of.

use clap::Parser;
use examples::TempDir;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::{Clock, DataDir, Manifest, Moment, SystemClock};

const MANY: u64 = 1_000_000;
const SOME: u64 = 100_000;
const FEW: u64 = 1_000;
const CHECKPOINTS: u64 = 1_000;
const RUNS: usize = 3;

/// Counts by key, and breaks once when it is told to.
#[derive(Component, Clone)]
#[component(name = "counter")]
struct Counter {
    shared: Arc<Shared>,
    /// How often it was built before.
    life: u64,
}

#[derive(Default)]
struct Shared {
    clock: SystemClock,
    lives: AtomicU64,
    breaks: AtomicBool,
    broken: OnceLock<Moment>,
    /// When the first event came out of the last life, and what it counted.
    out: OnceLock<(Moment, u64)>,
}

impl KeyedOperator for Counter {
    type Key = u64;
    type In = u64;
    type Out = (u64, u64);
    type State = u64;

    fn setup(&mut self, _: &Context) -> Result<()> {
        self.life = self.shared.lives.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn apply(
        &mut self,
        _: &u64,
        _: u64,
        count: &mut Keyed<u64>,
        out: &mut Emitter<(u64, u64)>,
    ) -> Result<()> {
        **count += 1;
        if self.shared.breaks.swap(false, Ordering::Relaxed) {
            self.shared.broken.get_or_init(|| self.shared.clock.now());
            return Err("as it was told".into());
        }
        out.emit((self.life, **count));
        Ok(())
    }
}

/// A job that counts `keys` keys without an end, and notes the first event out of life `life`.
fn job(keys: u64, life: u64, interval: Duration, shared: &Arc<Shared>) -> Job {
    let noted = Arc::clone(shared);
    let job = Job::new("recovery-times").delivery(Delivery::exactly_once(interval));
    job.source(Generator::indexed(move |n| n % keys))
        .key_by_value(|key: &u64| *key)
        .apply(Counter { shared: Arc::clone(shared), life: 0 })
        .sink(ForEach::new(move |(from, count): (u64, u64)| {
            if from == life {
                noted.out.get_or_init(|| (noted.clock.now(), count));
            }
        }))
        .may_repeat();
    job
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        std::thread::yield_now();
    }
}

fn counted(handle: &JobHandle) -> u64 {
    handle.component("counter").map_or(0, |counts| counts.applied)
}

/// The times from a start to the first event, sorted.
fn restarts() -> Result<Vec<Duration>, Error> {
    let kept = TempDir::new("restart");
    let engine = Engine::new().data_dir(kept.path());
    let hour = Duration::from_secs(3_600);
    let handle = engine.start(job(MANY, 0, hour, &Arc::default()))?;
    wait_until(|| counted(&handle) >= MANY);
    handle.stop();
    handle.wait()?;
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let shared = Arc::<Shared>::default();
        let started = shared.clock.now();
        let handle = engine.start(job(MANY, 0, hour, &shared))?;
        let (out, count) = *shared.out.wait();
        assert!(count > 1, "each key was counted before");
        times.push(out.since(started));
        handle.stop();
        handle.wait()?;
    }
    times.sort_unstable();
    Ok(times)
}

/// The times from an error to the first event behind it, sorted.
fn failures() -> Result<Vec<Duration>, Error> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let kept = TempDir::new("failure");
        let shared = Arc::<Shared>::default();
        let job = job(FEW, 1, Duration::from_millis(100), &shared);
        let handle = Engine::new().data_dir(kept.path()).start(job)?;
        wait_until(|| handle.checkpoints().completed >= 3);
        shared.breaks.store(true, Ordering::Relaxed);
        let broken = *shared.broken.wait();
        times.push(shared.out.wait().0.since(broken));
        handle.stop();
        handle.wait()?;
    }
    times.sort_unstable();
    Ok(times)
}

/// The bytes that the checkpoints in a data directory consist of, and the largest size that it had.
fn disk() -> anyhow::Result<(u64, u64)> {
    let kept = TempDir::new("disk");
    let job = job(SOME, 0, Duration::from_millis(1), &Arc::default());
    let handle = Engine::new().data_dir(kept.path()).start(job)?;
    let (mut seen, mut largest) = (0, 0);
    while seen < CHECKPOINTS {
        wait_until(|| handle.checkpoints().completed > seen);
        seen = handle.checkpoints().completed;
        largest = largest.max(size(kept.path())?);
    }
    handle.stop();
    handle.wait()?;
    largest = largest.max(size(kept.path())?);
    let directory = DataDir::existing(kept.path())?;
    let store = directory.store()?;
    let mut live = BTreeMap::new();
    for id in store.manifests()? {
        let manifest = Manifest::decode(&store.manifest(id)?)?;
        live.extend(manifest.segments().map(|segment| (segment.id, segment.bytes)));
    }
    Ok((live.values().sum(), largest))
}

/// The bytes of all files below a directory. What goes away meanwhile counts as nothing.
fn size(directory: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        bytes += match entry.metadata() {
            Ok(data) if data.is_dir() => size(&entry.path())?,
            Ok(data) => data.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
    }
    Ok(bytes)
}

fn millis(times: &[Duration]) -> String {
    let millis = times.iter().map(|time| format!("{:.1}", time.as_secs_f64() * 1e3));
    millis.collect::<Vec<_>>().join(" ")
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Measures how soon a job is back after a start and after a failure, and what its checkpoints take on
/// the disk
#[derive(Parser)]
#[command(name = "recovery-times", version)]
struct Args {}

fn main() -> anyhow::Result<()> {
    let Args {} = Args::parse();
    let restarts = millis(&restarts()?);
    let failures = millis(&failures()?);
    let (live, largest) = disk()?;
    Ok(examples::say(&format!(
        "restart keys={MANY} took_ms={restarts}\n\
         failure keys={FEW} took_ms={failures}\n\
         disk checkpoints={CHECKPOINTS} keys={SOME} live_MiB={:.1} largest_MiB={:.1}\n",
        mebibytes(live),
        mebibytes(largest),
    ))?)
}
