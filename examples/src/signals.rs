//! Ctrl-C and SIGTERM.

use std::io;
use std::time::Duration;
use streamwork::JobRemote;
use tokio::runtime::{Builder, Runtime};

/// The exit code of a program that was killed by a second signal.
pub(crate) const KILLED: u8 = 130;

/// How long a job that was killed has to end, before the program ends without it.
const PATIENCE: Duration = Duration::from_millis(500);

/// Listens for signals. From here on they no longer end the process by themselves.
pub(crate) struct Signals {
    runtime: Runtime,
    signals: Kinds,
}

impl Signals {
    pub(crate) fn listen() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let signals = {
            let _entered = runtime.enter();
            Kinds::listen()?
        };
        Ok(Self { runtime, signals })
    }

    /// Lets the first signal drain a job and the second kill it.
    ///
    /// The thread that does it never waits for anybody who may be stuck: a full pipe can block all
    /// that print and log.
    pub(crate) fn end(self, job: JobRemote) -> io::Result<()> {
        let Self { runtime, mut signals } = self;
        let watch = async move {
            signals.next().await;
            job.drain();
            runtime_log();
            signals.next().await;
            job.kill();
            tokio::time::sleep(PATIENCE).await;
            std::process::exit(KILLED.into());
        };
        let thread = std::thread::Builder::new().name("signals".into());
        thread.spawn(move || runtime.block_on(watch)).map(drop)
    }
}

fn runtime_log() {
    let log = || tracing::info!("draining: what was read is processed; a second signal kills");
    // Without it the job is drained in silence.
    drop(std::thread::Builder::new().name("signals log".into()).spawn(log));
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
