//! A program from its options to its exit code.

use crate::args::Common;
use crate::logging;
use crate::signals::{self, First, Signals};
use std::error::Error as StdError;
use std::io::{self, Write};
use std::iter;
use std::process::ExitCode;
use streamwork::{Error, Job, JobStatus, Outcome};

const FAILED: u8 = 1;
const WRONG_USAGE: u8 = 2;

/// Options that do not go together, or do not suit the job.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(String);

impl Usage {
    /// `problem` says what is wrong in one line.
    pub fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }
}

/// Why a program ends with another code than 0.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    Usage(#[from] Usage),
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    #[error(transparent)]
    Job(#[from] Error),
    #[error(transparent)]
    Result(anyhow::Error),
}

impl Failure {
    fn code(&self) -> u8 {
        match self {
            // The engine refuses what the options made of the job.
            Self::Usage(_) | Self::Job(Error::Refused { .. }) => WRONG_USAGE,
            Self::Signals(_) | Self::Job(_) | Self::Result(_) => FAILED,
        }
    }

    /// Whether the reader of standard output went away: not a failure, but the usual end of a job
    /// whose output somebody has seen enough of.
    fn is_broken_pipe(&self) -> bool {
        let Self::Job(error) = self else { return false };
        let cause = error.failure().and_then(|failure| failure.cause.user_error());
        let cause = cause.map(|error| error as &(dyn StdError + 'static));
        iter::successors(cause, |error| (**error).source())
            .filter_map(|error| error.downcast_ref::<io::Error>())
            .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Says what happened, and gives the exit code.
    fn report(&self) -> ExitCode {
        if self.is_broken_pipe() {
            return ExitCode::SUCCESS;
        }
        // Nobody can be told that standard error is closed.
        drop(writeln!(io::stderr(), "error: {}", self.line()));
        self.code().into()
    }

    /// With all causes, on one line.
    fn line(&self) -> String {
        let errors = iter::successors(Some(self as &(dyn StdError + 'static)), |e| (**e).source());
        let parts: Vec<String> = errors.map(ToString::to_string).collect();
        parts.join(": ").replace(['\r', '\n'], " ")
    }
}

/// Runs the job that `build` makes, until it ends or is ended by a signal.
///
/// The first Ctrl-C or SIGTERM stops a job that takes checkpoints, so that it can go on from the last
/// one, and drains any other; the second kills it. The crate's documentation lists the exit codes.
pub fn run(common: &Common, build: impl FnOnce(&Common) -> Result<Job, Usage>) -> ExitCode {
    run_then(common, build, |_| Ok(()))
}

/// As [`run`], and calls `then` when the job has come to an end, unless it failed or was killed: for a
/// program that prints what the job came to.
pub fn run_then(
    common: &Common,
    build: impl FnOnce(&Common) -> Result<Job, Usage>,
    then: impl FnOnce(&Outcome) -> anyhow::Result<()>,
) -> ExitCode {
    logging::start(common.log());
    let end = build(common).map_err(Failure::from).and_then(|job| run_job(common, job));
    let end = end.and_then(|outcome| {
        if outcome.status() == JobStatus::Killed {
            return Ok(signals::KILLED.into());
        }
        then(&outcome).map_err(Failure::Result)?;
        Ok(ExitCode::SUCCESS)
    });
    end.unwrap_or_else(|failure| failure.report())
}

/// What a program does that reads its options by itself and can't take them: one line on standard
/// error, and the exit code.
#[must_use]
pub fn refuse(usage: Usage) -> ExitCode {
    Failure::Usage(usage).report()
}

/// What a program does that runs a job by itself and gets an error: one line on standard error, and
/// the exit code.
#[must_use]
pub fn fail(error: Error) -> ExitCode {
    Failure::Job(error).report()
}

/// The end of a program's `main`: an error becomes one line on standard error, with its causes.
#[must_use]
pub fn exit(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let line = format!("error: {error:#}").replace(['\r', '\n'], " ");
            // Nobody can be told that standard error is closed.
            drop(writeln!(io::stderr(), "{line}"));
            FAILED.into()
        }
    }
}

fn run_job(common: &Common, job: Job) -> Result<Outcome, Failure> {
    let delivery = common.delivery().delivery()?;
    let first = if delivery.checkpoints().is_some() { First::Stop } else { First::Drain };
    let signals = Signals::listen(first).map_err(Failure::Signals)?;
    let handle = common.delivery().engine().start(job)?;
    signals.end(handle.remote());
    Ok(handle.wait()?)
}
