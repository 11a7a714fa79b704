//! How long one event takes through three stages, and how soon a full job ends when it is told to.
//!
//! ```text
//! cargo run --release --bin latency
//! ```
//!
//! Prints three lines, times in microseconds:
//!
//! ```text
//! latency events=10000 p50=51 p99=114 max=2065
//! stop took=529
//! kill took=416
//! ```

use anyhow::Context as _;
use clap::Parser;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use streamwork::prelude::*;
use streamwork::{Clock, Moment, SystemClock};
use tokio::sync::mpsc;

const EVENTS: usize = 10_000;

/// Emits the next event when the one before has come out at the other end.
#[derive(Component, Clone)]
struct OneByOne {
    clock: Arc<SystemClock>,
    arrived: Arc<tokio::sync::Mutex<mpsc::Receiver<()>>>,
    left: usize,
}

impl Source for OneByOne {
    type Out = Moment;

    async fn next(&mut self, out: &mut Emitter<Moment>) -> Result<Progress> {
        if self.left == 0 {
            return Ok(Progress::End);
        }
        if self.left < EVENTS {
            self.arrived.lock().await.recv().await;
        }
        self.left -= 1;
        out.emit(self.clock.now());
        Ok(Progress::More)
    }
}

/// Hands every event on.
#[derive(Component, Clone)]
struct Pass;

impl Operator for Pass {
    type In = Moment;
    type Out = Moment;

    fn apply(&mut self, event: Moment, out: &mut Emitter<Moment>) -> Result<()> {
        out.emit(event);
        Ok(())
    }
}

/// The times that events took, sorted.
fn one_by_one() -> anyhow::Result<Vec<Duration>> {
    let clock = Arc::new(SystemClock::new());
    let (arrive, arrived) = mpsc::channel(1);
    let times = Arc::new(std::sync::Mutex::new(Vec::with_capacity(EVENTS)));
    let arrived = Arc::new(tokio::sync::Mutex::new(arrived));
    let source = OneByOne { clock: Arc::clone(&clock), arrived, left: EVENTS };
    let taken = Arc::clone(&times);
    let job = Job::new("latency");
    job.source(source).apply(Pass).sink(TryForEach::new(move |sent: Moment| {
        let took = clock.now().since(sent);
        taken.lock().map_err(|_| "another thread panicked")?.push(took);
        arrive.try_send(())?;
        Ok(())
    }));
    Engine::new().arbiters(2).run(job)?;
    let mut times = std::mem::take(&mut *times.lock().ok().context("the sink panicked")?);
    times.sort_unstable();
    Ok(times)
}

/// The time from the order to the end of a job whose links are all full.
fn end_when_full(end: fn(&JobHandle)) -> anyhow::Result<Duration> {
    let written = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&written);
    let clock = SystemClock::new();
    let slow = clock.clone();
    let job = Job::new("full");
    job.source(Generator::indexed(|_| Moment::START)).apply(Pass).sink(ForEach::new(move |_| {
        // A slow sink: a hundred microseconds of work for each event.
        let until = slow.now() + Duration::from_micros(100);
        while slow.now() < until {
            std::hint::spin_loop();
        }
        count.fetch_add(1, Ordering::Relaxed);
    }));
    let handle = Engine::new().arbiters(2).start(job)?;
    // Three thousand events later each link has long been full.
    while written.load(Ordering::Relaxed) < 3_000 {
        std::thread::yield_now();
    }
    let told = clock.now();
    end(&handle);
    handle.wait()?;
    Ok(clock.now().since(told))
}

/// Measures how long one event takes through three stages, and how soon a full job ends when it is
/// told to
#[derive(Parser)]
#[command(name = "latency", version)]
struct Args {}

fn main() -> anyhow::Result<()> {
    let Args {} = Args::parse();
    let times = one_by_one()?;
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_micros();
    let (p50, p99, max) = (at(0.5), at(0.99), at(1.0));
    let stop = end_when_full(JobHandle::stop)?.as_micros();
    let kill = end_when_full(JobHandle::kill)?.as_micros();
    let lines = format!(
        "latency events={} p50={p50} p99={p99} max={max}\nstop took={stop}\nkill took={kill}\n",
        times.len()
    );
    Ok(examples::say(&lines)?)
}
