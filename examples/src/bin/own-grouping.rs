//! A grouping of one's own: the last instance is kept for what is large.
//!
//! ```text
//! cargo run --release --bin own-grouping -- --log off
//! ```
//!
//! Orders of 1,000 and more go to the last packer, who has the forklift; the other packers take turns
//! with the rest:
//!
//! ```text
//! packer 0: 5 7 9
//! packer 1: 6 8
//! packer 2: 1200 4000
//! ```

use clap::Parser;
use examples::LogArgs;
use std::process::ExitCode;
use streamwork::grouping::{Target, Targets};
use streamwork::prelude::*;

/// What is large to the last instance, the rest to the others in turn.
///
/// Each sender has a clone of it, so whose turn it is belongs to the sender.
#[derive(Clone, Default)]
struct Forklift {
    turn: usize,
}

impl Grouping<u64> for Forklift {
    fn target(&mut self, weight: &u64, targets: Targets) -> Target {
        let last = targets.instances() - 1;
        if *weight >= 1_000 || last == 0 {
            return Target::Instance(last);
        }
        let packer = self.turn % last;
        self.turn = packer + 1;
        Target::Instance(packer)
    }
}

/// Spreads orders by a grouping that keeps one instance for what is large
#[derive(Parser)]
#[command(name = "own-grouping", version)]
struct Args {
    /// How many packers there are
    #[arg(default_value = "3", value_parser = examples::instances)]
    packers: usize,

    #[command(flatten)]
    log: LogArgs,
}

fn main() -> ExitCode {
    examples::exit(run())
}

fn run() -> anyhow::Result<()> {
    let Args { packers, log } = Args::parse();
    log.start();
    let packed = Collect::new();
    let job = Job::new("own-grouping");
    job.source(FromIter::new([5, 1_200, 6, 7, 4_000, 8, 9]))
        .group(Forklift::default())
        .sink(packed.clone())
        .named("packer")
        .parallelism(packers);
    Engine::new().run(job)?;

    let mut lines = String::new();
    for packer in 0..packers {
        let orders: Vec<String> = packed.of_instance(packer).iter().map(u64::to_string).collect();
        lines += &format!("packer {packer}: {}\n", orders.join(" "));
    }
    Ok(examples::say(&lines)?)
}
