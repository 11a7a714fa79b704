//! Measures the engine: runs a workload and prints one line.
//!
//! ```text
//! cargo run --release --bin workload -- W1 2 2e8
//! cargo run --release --bin workload -- W1 2 2e8 --by-hand
//! ```
//!
//! The line:
//!
//! ```text
//! workload peer parallelism events seconds events_per_s checksum:outputs peak_rss_MiB
//! ```
//!
//! The peer is `streamwork`, or `by-hand` for a hand-written loop that does the same without a
//! framework: what the machine can do. Both must come to the same checksum, whatever the parallelism.
//! The seconds are those of the whole run, from before the first thread starts to after the last
//! has ended.
//!
//! With `--checkpoint 1s` the job runs under exactly-once, with its state in a temporary directory, and
//! says on standard error what that cost. The times are in milliseconds: from the beginning of the first
//! checkpoint to its end, the longest of these, the longest time that an instance stood still to save its
//! state, and the longest that one held back some of its input until the rest had come as far:
//!
//! ```text
//! checkpoints=12 first_ms=41.2 worst_ms=63.0 stall_ms=9.8 align_ms=3.1
//! ```
//!
//! | workload | what it does |
//! |---|---|
//! | W1 | vehicles of 1,000 kinds go to the counter of their kind, which emits the running count |
//! | W2 | bids are turned into euros, and one auction in 123 is kept: two closures, no exchange |
//! | W7 | as W1 with 1,000,000 kinds, counted in keyed state |
//! | W8 | as W7; 50,000 of the kinds have 95 in 100 vehicles |

mod count;
mod sum;
mod task;
mod w2;

use clap::Parser;
use count::{Vehicle, by_hand, w1, w7};
use examples::{Usage, duration, fail, instances, refuse};
use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use streamwork::Error;
use sum::Sum;
use task::Task;

/// Measures the engine: runs a workload and prints one line: workload, peer, parallelism, events,
/// seconds, events per second, checksum:outputs, peak resident memory in MiB
#[derive(Parser)]
#[command(name = "workload", version)]
struct Options {
    /// W1: count vehicles of 1,000 kinds; W2: turn bids into euros and keep one auction in 123; W7:
    /// count vehicles of 1,000,000 kinds in keyed state; W8: the same with 50,000 hot ones
    #[arg(value_parser = workload)]
    workload: Workload,

    /// Instances of each component, and threads
    #[arg(value_parser = instances, allow_negative_numbers = true)]
    parallelism: usize,

    /// How many events, such as 2e8
    #[arg(value_parser = examples::count, allow_negative_numbers = true)]
    events: u64,

    /// Run the same by a hand-written loop, without the framework
    #[arg(long)]
    by_hand: bool,

    /// Take a checkpoint each time that D has passed, such as 1s, in a temporary directory, and say on
    /// standard error what they cost
    #[arg(long, value_name = "D", value_parser = duration, allow_hyphen_values = true)]
    checkpoint: Option<Duration>,
}

#[derive(Clone, Copy, Debug)]
enum Workload {
    W1,
    W2,
    W7,
    W8,
}

fn workload(text: &str) -> Result<Workload, &'static str> {
    match text {
        "W1" => Ok(Workload::W1),
        "W2" => Ok(Workload::W2),
        "W7" => Ok(Workload::W7),
        "W8" => Ok(Workload::W8),
        _ => Err("no such workload in this version; there are W1, W2, W7 and W8"),
    }
}

/// `SplitMix64` of `i`: where the events of all workloads come from.
#[inline(always)]
fn mix(i: u64) -> u64 {
    let mut z = i.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x1234_5678_9ABC_DEF1);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

fn main() -> ExitCode {
    let Options { workload, parallelism, events, by_hand, checkpoint } = Options::parse();
    if by_hand && checkpoint.is_some() {
        return refuse(Usage::new("--checkpoint can't go with --by-hand: that loop takes none"));
    }
    let start = now();
    let (peer, sum) = if by_hand {
        ("by-hand", Ok(run_by_hand(workload, parallelism, events)))
    } else {
        ("streamwork", run(workload, Task { parallelism, events, checkpoint }))
    };
    let seconds = start.elapsed().as_secs_f64();
    match sum {
        Ok(Sum { checksum, outputs }) => {
            let rate = events as f64 / seconds;
            let memory = peak_memory();
            let written = writeln!(
                io::stdout(),
                "{workload:?} {peer} {parallelism} {events} {seconds:.3} {rate:.0} {checksum:016x}:{outputs} {memory}",
            );
            match written {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                    drop(writeln!(io::stderr(), "error: cannot write to standard output: {error}"));
                    ExitCode::FAILURE
                }
                _ => ExitCode::SUCCESS,
            }
        }
        Err(error) => fail(error),
    }
}

fn run(workload: Workload, task: Task) -> Result<Sum, Error> {
    task.run(|parallelism, events, total| match workload {
        Workload::W1 => w1::job(parallelism, events, total),
        Workload::W2 => w2::job(parallelism, events, total),
        Workload::W7 => w7::job(parallelism, events, total, Vehicle::of_many),
        Workload::W8 => w7::job(parallelism, events, total, Vehicle::of_hot),
    })
}

fn run_by_hand(workload: Workload, threads: usize, events: u64) -> Sum {
    match workload {
        Workload::W1 => by_hand::run(threads, events, Vehicle::of_few),
        Workload::W2 => w2::by_hand::run(threads, events),
        Workload::W7 => by_hand::run(threads, events, Vehicle::of_many),
        Workload::W8 => by_hand::run(threads, events, Vehicle::of_hot),
    }
}

#[expect(clippy::disallowed_methods, reason = "what is measured here is the time of day")]
fn now() -> Instant {
    Instant::now()
}

/// The most memory that was resident, in MiB; 0 where the system does not tell.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) / 1_024
}
