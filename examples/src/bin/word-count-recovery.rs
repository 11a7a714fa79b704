//! A word count that kills one of its own instances: what a failure costs, and who repairs it.
//!
//! ```text
//! cargo run --release --bin word-count-recovery -- --log off
//! cargo run --release --bin word-count-recovery -- --chaos panic:word-counter:20 --rate 1e6
//! ```
//!
//! Instance 0 of the counter panics at its 6th word. Its supervisor builds it anew, and it goes on with
//! the next word; at-most-once means that the word at hand is lost, and what it had counted: of four rows
//! there is one. The words of instance 1 are not touched. At the end there are the supervision tree and
//! the counts:
//!
//! ```text
//! word-count: finished
//! ├── reader (source)
//! │   └── 0 ended       out 6
//! ├── word-counter (operator)
//! │   ├── 0 ended       in 21  out 9  failed 1  restarts 1  last failure: panic at framework/src/testing/fault.rs:158: a panic on cue at event 6
//! │   └── 1 ended       in 8  out 5
//! └── counts (sink)
//!     └── 0 ended       in 14
//!
//! a 2
//! and 1
//! boat 1
//! ...
//! ```
//!
//! Under exactly-once the job goes back to its last checkpoint instead, and every word is counted once.
//! The checkpoints are kept in memory, unless there is a `--data-dir`:
//!
//! ```text
//! cargo run --release --bin word-count-recovery -- --delivery exactly-once --log off
//! ```
//!
//! `--chaos` chooses another failure.

use anyhow::anyhow;
use clap::Parser;
use examples::jobs::{WORD_COUNT, WordCounter, word_count, word_lines};
use examples::{Common, Setting, instances, run_then, say};
use std::process::ExitCode;
use streamwork::prelude::*;
use streamwork::testing::Fault;

/// The words that are counted if nothing else is given.
const TEXT: [&str; 6] = [
    "row row row your boat",
    "gently down the stream",
    "merrily merrily merrily merrily",
    "life is but a dream",
    "row your boat down the stream",
    "and dream a merrily dream",
];

/// Counts words, and kills one of its own instances
#[derive(Parser)]
#[command(name = "word-count-recovery", version)]
struct Options {
    /// Instances of the counter; each counts some of the words
    #[arg(long, value_name = "N", default_value = "2", value_parser = instances, allow_negative_numbers = true)]
    parallelism: usize,

    #[command(flatten)]
    common: Common,
}

fn main() -> ExitCode {
    let Options { parallelism, common } = Options::parse();
    let common = common.keeping_in_memory();
    let counts = Collect::new();
    let job = |common: &Common| {
        let given = common.setting(&WORD_COUNT)?;
        let fault = given.fault.clone().unwrap_or_else(|| Fault::panic(WordCounter::NAME, 6));
        let setting = Setting { fault: Some(fault), ..given };
        Ok(match common.input().given_or_fixed(1)? {
            Some(lines) => word_count(lines, parallelism, &counts, &setting),
            None => {
                let text = FromIter::new(TEXT.map(String::from));
                word_count(text, parallelism, &counts, &setting)
            }
        })
    };
    run_then(&common, job, |outcome| {
        // Where there are checkpoints the last one has the counts, also if it was taken long ago.
        let counts = match outcome.saved_state()? {
            Some(state) => state.keyed(WordCounter::NAME).map_err(|error| anyhow!(error))?,
            None => counts.take(),
        };
        Ok(say(&format!("{}\n\n{}", outcome.tree(), word_lines(counts)))?)
    })
}
