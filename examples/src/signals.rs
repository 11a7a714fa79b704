//! Ctrl-C and SIGTERM.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;
use streamwork::JobRemote;
use tokio::runtime::Builder;

/// The exit code of a program that was killed by a second signal.
pub(crate) const KILLED: u8 = 130;

/// How long a job that was killed has to end, before the program ends without it.
const PATIENCE: Duration = Duration::from_millis(500);

/// What the first signal asks of the job.
#[derive(Clone, Copy, Debug)]
pub(crate) enum First {
    /// To process what was read, and finish.
    Drain,
    /// To stop at a checkpoint, from which it can go on.
    Stop,
}

/// Listens for signals, which from then on no longer end the process by themselves: the first one
/// drains or stops the job, the second kills it.
pub(crate) struct Signals(Arc<Asked>);

impl Signals {
    /// The thread that listens never waits for anybody who may be stuck: a full pipe can block all
    /// that print and log.
    pub(crate) fn listen(first: First) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let mut signals = {
            let _entered = runtime.enter();
            Kinds::listen()?
        };
        let asked = Arc::new(Asked { first, job: OnceLock::new(), times: AtomicUsize::new(0) });
        let this = Self(Arc::clone(&asked));
        let watch = async move {
            signals.next().await;
            asked.once_more();
            log(first);
            signals.next().await;
            asked.once_more();
            tokio::time::sleep(PATIENCE).await;
            std::process::exit(KILLED.into());
        };
        thread::Builder::new().name("signals".into()).spawn(move || runtime.block_on(watch))?;
        Ok(this)
    }

    /// Names the job that is to end. It may have been asked to already.
    pub(crate) fn end(&self, job: JobRemote) {
        // There is one job in a program.
        drop(self.0.job.set(job));
        self.0.pass_on();
    }
}

/// What was asked of the job, which may not have been started yet.
struct Asked {
    first: First,
    job: OnceLock<JobRemote>,
    times: AtomicUsize,
}

impl Asked {
    fn once_more(&self) {
        self.times.fetch_add(1, Ordering::SeqCst);
        self.pass_on();
    }

    fn pass_on(&self) {
        let Some(job) = self.job.get() else { return };
        match self.times.load(Ordering::SeqCst) {
            0 => {}
            1 => match self.first {
                First::Drain => job.drain(),
                First::Stop => job.stop(),
            },
            _ => job.kill(),
        }
    }
}

fn log(first: First) {
    let log = move || match first {
        First::Drain => {
            tracing::info!("draining: what was read is processed; a second signal kills");
        }
        First::Stop => {
            tracing::info!("stopping: the next start goes on from here; a second signal kills");
        }
    };
    // Without it the job ends in silence.
    drop(thread::Builder::new().name("signals log".into()).spawn(log));
}

#[cfg(unix)]
struct Kinds {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Kinds {
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(windows)]
struct Kinds(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Kinds {
    fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    async fn next(&mut self) {
        self.0.recv().await;
    }
}
