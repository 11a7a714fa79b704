//! `streamwork-checkpoints`: looks after the checkpoints in a job's data directory.
//!
//! ```sh
//! streamwork-checkpoints --data-dir data list
//! ```
//!
//! One line for each thing, or one JSON object with `--json`. Exit codes: 0, 1 if something is damaged,
//! missing or cannot be read, 2 for wrong usage. A directory that a job uses is not opened.

mod commands;
mod report;

use anyhow::Result;
use clap::{Parser, Subcommand};
use report::Report;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::process::ExitCode;
use streamwork::CheckpointId;

/// Looks after the checkpoints in a job's data directory.
#[derive(Parser)]
#[command(name = "streamwork-checkpoints", version)]
struct Arguments {
    /// The job's data directory.
    #[arg(long, value_name = "DIR", global = true)]
    data_dir: Option<PathBuf>,
    /// One JSON object a line.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists the checkpoints, each of which is read and verified.
    List,
    /// Says what a checkpoint consists of.
    Describe {
        /// The checkpoint's number.
        #[arg(value_name = "N")]
        id: u64,
    },
    /// Reads everything, and says what is damaged.
    Verify,
    /// Copies a checkpoint into a directory: its manifest, and a file for each segment.
    Export {
        /// The checkpoint's number.
        #[arg(value_name = "N")]
        id: u64,
        /// The directory; it must be empty, or missing.
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
    },
    /// Deletes a checkpoint. What only it needs goes when the job runs next.
    Delete {
        /// The checkpoint's number.
        #[arg(value_name = "N")]
        id: u64,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(data_dir) = arguments.data_dir else {
        eprintln!("error: --data-dir DIR is missing: say which directory is meant");
        return ExitCode::from(2);
    };
    let mut report = Report::new(io::stdout().lock(), arguments.json);
    let result: Result<bool> = match arguments.command {
        Command::List => commands::list(&data_dir, &mut report),
        Command::Describe { id } => commands::describe(&data_dir, CheckpointId(id), &mut report),
        Command::Verify => commands::verify(&data_dir, &mut report),
        Command::Export { id, to } => {
            commands::export(&data_dir, CheckpointId(id), &to, &mut report)
        }
        Command::Delete { id } => commands::delete(&data_dir, CheckpointId(id), &mut report),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether nobody reads what is printed any more.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
