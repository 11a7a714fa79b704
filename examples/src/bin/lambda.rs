//! The lambda architecture (10.19): a batch layer over a stored log, a stream layer over what came later,
//! and a query that merges their views.
//!
//! ```text
//! cargo run --release --bin lambda -- --log off
//! cargo run --release --bin lambda -- --log off --events 1000000 --until 900000
//! ```
//!
//! Vehicle n passes at time n. All of them go into the log; those after T are also counted as they come,
//! by the stream layer. Then the batch layer counts the log up to T, as it would every night. The merged
//! query equals the full count, wherever T is:
//!
//! ```text
//! batch up to 600: bus 62, car 321, motorcycle 26, truck 117, van 75
//! stream after 600: bus 35, car 231, motorcycle 18, truck 81, van 34
//! merged query: bus 97, car 552, motorcycle 44, truck 198, van 109
//! full count: bus 97, car 552, motorcycle 44, truck 198, van 109
//! ```

use anyhow::Context as _;
use clap::Parser;
use examples::jobs::random_vehicle;
use examples::{LogArgs, exit, say};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, process};
use streamwork::key_hash;
use streamwork::prelude::*;

/// A vehicle passes.
#[derive(Event, Clone, Debug, Serialize, Deserialize)]
struct Passage {
    time: u64,
    kind: String,
}

impl Passage {
    /// Passage number `time`.
    fn nth(time: u64) -> Self {
        Self { time, kind: random_vehicle(key_hash(&time)) }
    }
}

/// How many vehicles of each kind.
type View = BTreeMap<String, u64>;

/// Counts those passages that are `wanted`, by kind. What is collected are the running counts; the last one of a kind is its count.
fn count_by_kind(
    passages: &Stream<Passage>,
    wanted: impl Fn(u64) -> bool + Clone + Send + 'static,
    counts: &Collect<(String, u64)>,
) {
    passages
        .filter(move |passage| wanted(passage.time))
        .key_by(|passage: &Passage| &passage.kind)
        .fold(0_u64, |n, _| *n += 1)
        .sink(counts.clone())
        .named("view");
}

/// What counts have come to.
fn view(counts: &Collect<(String, u64)>) -> View {
    counts.take().into_iter().collect()
}

/// The stream layer: everything goes into the log, and what comes after `until` is counted as it comes.
fn stream_layer(log: &Path, events: u64, until: u64) -> anyhow::Result<View> {
    let counts = Collect::new();
    let job = Job::new("stream-layer");
    let passages = job.source(Generator::indexed(Passage::nth).events(events));
    passages.sink(NdjsonFiles::in_dir(log)).named("log");
    count_by_kind(&passages, move |time| time > until, &counts);
    Engine::new().run(job)?;
    Ok(view(&counts))
}

/// The batch layer: counts the log up to `until`.
fn batch_layer(log: &Path, until: u64) -> anyhow::Result<View> {
    let counts = Collect::new();
    let job = Job::new("batch-layer");
    let passages = job.source(Ndjson::<Passage>::in_dir(log));
    count_by_kind(&passages, move |time| time <= until, &counts);
    Engine::new().run(job)?;
    Ok(view(&counts))
}

/// The query: both views as one.
fn merge(mut batch: View, stream: &View) -> View {
    stream.iter().for_each(|(kind, n)| *batch.entry(kind.clone()).or_default() += n);
    batch
}

/// Counts vehicles by a batch layer and a stream layer, and merges what they have
#[derive(Parser)]
#[command(name = "lambda", version)]
struct Args {
    /// How many vehicles pass
    #[arg(long, value_name = "N", default_value = "1000", value_parser = examples::count)]
    events: u64,

    /// Up to this time the batch layer counts, and after it the stream layer
    #[arg(long, value_name = "T", default_value = "600", value_parser = examples::count)]
    until: u64,

    #[command(flatten)]
    log: LogArgs,
}

fn main() -> ExitCode {
    exit(run())
}

fn run() -> anyhow::Result<()> {
    let Args { events, until, log } = Args::parse();
    log.start();
    let directory = env::temp_dir().join(format!("streamwork-lambda-{}", process::id()));
    fs::create_dir_all(&directory).with_context(|| format!("cannot make {directory:?}"))?;
    let layers = stream_layer(&directory, events, until)
        .and_then(|stream| Ok((batch_layer(&directory, until)?, stream)));
    fs::remove_dir_all(&directory).with_context(|| format!("cannot remove {directory:?}"))?;
    let (batch, stream) = layers?;

    let mut full = View::new();
    (0..events).for_each(|time| *full.entry(Passage::nth(time).kind).or_default() += 1);
    let line = |name: &str, view: &View| {
        let counts: Vec<String> = view.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
        format!("{name}: {}\n", counts.join(", "))
    };
    let layers = line(&format!("batch up to {until}"), &batch)
        + &line(&format!("stream after {until}"), &stream);
    let merged = merge(batch, &stream);
    Ok(say(&(layers + &line("merged query", &merged) + &line("full count", &full)))?)
}
