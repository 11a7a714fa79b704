//! A job within an asynchronous program: the program listens to it, ends it, and waits for its end
//! without blocking a thread.
//!
//! ```text
//! cargo run --release --bin inside-tokio -- --log off
//! ```
//!
//! The program has one thread, on which a second task goes on all the time:
//!
//! ```text
//! 20 readings have come
//! the job has ended: Drained
//! the other task was never held up: true
//! ```

use clap::Parser;
use examples::LogArgs;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use streamwork::prelude::*;
use tokio::sync::watch;

/// Waits for a job within an asynchronous program
#[derive(Parser)]
#[command(name = "inside-tokio", version)]
struct Args {
    #[command(flatten)]
    log: LogArgs,
}

/// Counts how often it gets its turn.
async fn other_task(turns: Arc<AtomicU64>) {
    loop {
        turns.fetch_add(1, Ordering::Relaxed);
        tokio::task::yield_now().await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    examples::exit(run().await)
}

async fn run() -> anyhow::Result<()> {
    let Args { log } = Args::parse();
    log.start();
    let turns = Arc::new(AtomicU64::new(0));
    let other = tokio::spawn(other_task(Arc::clone(&turns)));

    // The job runs on threads of the engine. What it has to tell goes over one of tokio's channels.
    let (tell, mut told) = watch::channel(0);
    let job = Job::new("inside-tokio");
    job.source(Generator::indexed(|n| n + 1)).rate(1_000.0).sink(ForEach::new(move |n| {
        tell.send_replace(n);
    }));
    let handle = Engine::new().start(job)?;

    told.wait_for(|n| *n >= 20).await?;
    examples::say("20 readings have come\n")?;
    let before = turns.load(Ordering::Relaxed);
    handle.drain();
    let outcome = handle.finished().await?;
    let after = turns.load(Ordering::Relaxed);

    other.abort();
    let (status, went_on) = (outcome.status(), after > before && before > 0);
    examples::say(&format!(
        "the job has ended: {status:?}\nthe other task was never held up: {went_on}\n"
    ))?;
    Ok(())
}
