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
//! | workload | what it does |
//! |---|---|
//! | W1 | vehicles of 1,000 kinds go to the counter of their kind, which emits the running count |

mod by_hand;
mod w1;

use clap::Parser;
use examples::{count, fail, instances};
use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

/// Measures the engine: runs a workload and prints one line: workload, peer, parallelism, events,
/// seconds, events per second, checksum:outputs, peak resident memory in MiB
#[derive(Parser)]
#[command(name = "workload", version)]
struct Options {
    /// W1: count vehicles of 1,000 kinds
    #[arg(value_parser = workload)]
    workload: Workload,

    /// Instances of each component, and threads
    #[arg(value_parser = instances, allow_negative_numbers = true)]
    parallelism: usize,

    /// How many events, such as 2e8
    #[arg(value_parser = count, allow_negative_numbers = true)]
    events: u64,

    /// Run the same by a hand-written loop, without the framework
    #[arg(long)]
    by_hand: bool,
}

#[derive(Clone, Copy)]
enum Workload {
    W1,
}

fn workload(text: &str) -> Result<Workload, &'static str> {
    match text {
        "W1" => Ok(Workload::W1),
        _ => Err("no such workload in this version; there is W1"),
    }
}

/// Outputs, summed up so that their order does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    checksum: u64,
    outputs: u64,
}

impl Sum {
    #[inline]
    fn add(&mut self, output: u64) {
        self.checksum = self.checksum.wrapping_add(output);
        self.outputs += 1;
    }

    fn merge(&mut self, other: Self) {
        self.checksum = self.checksum.wrapping_add(other.checksum);
        self.outputs += other.outputs;
    }
}

fn main() -> ExitCode {
    let Options { workload: Workload::W1, parallelism, events, by_hand } = Options::parse();
    let start = now();
    let (peer, sum) = match by_hand {
        true => ("by-hand", Ok(by_hand::run(parallelism, events))),
        false => ("streamwork", w1::run(parallelism, events)),
    };
    let seconds = start.elapsed().as_secs_f64();
    match sum {
        Ok(Sum { checksum, outputs }) => {
            let rate = events as f64 / seconds;
            let memory = peak_memory();
            let written = writeln!(
                io::stdout(),
                "W1 {peer} {parallelism} {events} {seconds:.3} {rate:.0} {checksum:016x}:{outputs} {memory}",
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
