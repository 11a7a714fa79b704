//! A component that keeps its state by itself, in a store of its own outside of the engine (10.18).
//!
//! ```text
//! cargo run --release --bin manual-state -- --log off
//! cargo run --release --bin manual-state -- --log off --store counts
//! ```
//!
//! Each of the two counters has a file, named for its instance. It writes its counts there after each
//! vehicle, and reads them when it is set up. So a counter that breaks, here at its third vehicle, goes on
//! with what it had; only the vehicle at hand is lost. What is printed is what the files hold at the end:
//!
//! ```text
//! counter 0: car 2, van 3
//! counter 1: bus 1, truck 3
//! restarts 1, lost 1
//! ```
//!
//! Started again with the same `--store`, the counters go on from there. That is what the engine can not
//! know: it takes no part in it, and if a source repeats what came after a checkpoint, this store counts
//! it twice. And the files belong to instances: with another number of them a kind may find itself at a
//! file that is not its own.

use anyhow::Context as _;
use clap::Parser;
use examples::{LogArgs, exit, say};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io, process};
use streamwork::prelude::*;
use streamwork::testing::Faulty;

const COUNTERS: usize = 2;

type Counts = BTreeMap<String, u64>;

/// The file of one instance.
fn file_of(store: &Path, instance: usize) -> PathBuf {
    store.join(format!("counter-{instance}.json"))
}

/// What a file holds; nothing if it is not there yet.
fn load(file: &Path) -> anyhow::Result<Counts> {
    match fs::read(file) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).with_context(|| format!("{file:?} holds no counts"))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Counts::new()),
        Err(error) => Err(error).with_context(|| format!("cannot read {file:?}")),
    }
}

/// Puts counts in the place of those that a file holds, at once and whole.
fn store(file: &Path, counts: &Counts) -> anyhow::Result<()> {
    let next = file.with_extension("next");
    fs::write(&next, serde_json::to_vec(counts)?)
        .and_then(|()| fs::rename(&next, file))
        .with_context(|| format!("cannot write {file:?}"))
}

/// Counts vehicles by kind, in a file. It waits for the disk, so each instance has a thread of its own.
#[derive(Component, Clone)]
#[component(name = "vehicle-counter", blocking)]
struct VehicleCounter {
    store: PathBuf,
    file: PathBuf,
    counts: Counts,
}

impl Operator for VehicleCounter {
    type In = String;
    type Out = Nothing;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.file = file_of(&self.store, ctx.index());
        self.counts = load(&self.file)?;
        Ok(())
    }

    fn apply(&mut self, kind: String, _: &mut Emitter<Nothing>) -> Result<()> {
        *self.counts.entry(kind).or_default() += 1;
        Ok(store(&self.file, &self.counts)?)
    }
}

/// Counts vehicles, with counts that each counter keeps in a file of its own
#[derive(Parser)]
#[command(name = "manual-state", version)]
struct Args {
    /// Where the files are, and stay; without it, for this run alone
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,

    #[command(flatten)]
    log: LogArgs,
}

fn main() -> ExitCode {
    exit(run())
}

fn run() -> anyhow::Result<()> {
    let Args { store, log } = Args::parse();
    log.start();
    let temporary = env::temp_dir().join(format!("streamwork-manual-state-{}", process::id()));
    let directory = store.as_deref().unwrap_or(&temporary);
    fs::create_dir_all(directory).with_context(|| format!("cannot make {directory:?}"))?;
    let result = count(directory);
    if store.is_none() {
        fs::remove_dir_all(directory).with_context(|| format!("cannot remove {directory:?}"))?;
    }
    Ok(say(&result?)?)
}

/// Runs the job, and gives what the files hold then.
fn count(store: &Path) -> anyhow::Result<String> {
    let kinds = ["car", "truck", "van", "truck", "car", "bus", "van", "truck", "car", "van"];
    let counter =
        VehicleCounter { store: store.to_owned(), file: PathBuf::new(), counts: Counts::new() };
    let job = Job::new("manual-state");
    job.source(FromIter::new(kinds.map(String::from)))
        .group(Fields::whole())
        .apply(Faulty::panic_at(counter, 3))
        .parallelism(COUNTERS);
    let outcome = Engine::new().run(job)?;

    let mut lines = String::new();
    for instance in 0..COUNTERS {
        let counts = load(&file_of(store, instance))?;
        let counts: Vec<String> = counts.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
        lines += &format!("counter {instance}: {}\n", counts.join(", "));
    }
    Ok(lines + &format!("restarts {}, lost {}\n", outcome.restarts(), outcome.failed()))
}
