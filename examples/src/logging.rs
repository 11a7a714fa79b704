//! Logs, on standard error.

use crate::args::LogArgs;
use crate::console;
use std::io::{self, IsTerminal};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::MakeWriterExt;

/// Starts logging. Once nobody reads standard output any more, the program ends quietly: nothing is
/// logged from then on.
pub(crate) fn start(args: LogArgs) {
    let filter = match args.level {
        Some(level) => EnvFilter::new(level.to_string()),
        None => {
            EnvFilter::builder().with_default_directive(LevelFilter::INFO.into()).from_env_lossy()
        }
    };
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr.with_filter(|_| !console::is_abandoned()))
        .with_ansi(io::stderr().is_terminal())
        // Standard error may be closed too; then there is no place left to say so.
        .log_internal_errors(false);
    if args.json { logs.json().init() } else { logs.init() }
}
