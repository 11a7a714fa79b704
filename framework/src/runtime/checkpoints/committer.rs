//! [`Committers`]: what makes visible what sinks have prepared.

use crate::checkpoint::PendingCommit;
use crate::guard::catch;
use crate::id::CheckpointId;
use crate::instance::Committer;
use crate::sink::Handle;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What has become of commits.
#[derive(Debug)]
pub(crate) enum CommitReport {
    /// Everything up to this checkpoint is committed.
    Committed(CheckpointId),
    /// A sink has given up.
    GaveUp { sink: String, checkpoint: CheckpointId, events: u64, problem: String },
    /// The committer is gone, without having been told so.
    Died,
}

/// How often a commit is tried, and how long is waited after the first time; each time twice as long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retry {
    pub(crate) tries: u32,
    pub(crate) pause: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { tries: 8, pause: Duration::from_millis(50) }
    }
}

/// A clone of each sink that commits, by its name.
pub(crate) struct Committers {
    sinks: HashMap<String, Box<dyn Committer>>,
}

impl fmt::Debug for Committers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.sinks.keys()).finish()
    }
}

impl Committers {
    pub(crate) fn new(sinks: impl IntoIterator<Item = (String, Box<dyn Committer>)>) -> Self {
        Self { sinks: sinks.into_iter().collect() }
    }

    /// Commits one handle, once.
    ///
    /// # Errors
    /// In one line, what the sink says.
    pub(crate) fn commit(&mut self, commit: &PendingCommit) -> Result<(), String> {
        let Some(sink) = self.sinks.get_mut(&commit.component) else {
            return Err("the job has no such sink any more".to_owned());
        };
        let handle = Handle::from_bytes(commit.handle.to_vec());
        match catch(|| sink.commit(handle)) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(one_line(&*error)),
            Err(panic) => Err(panic.to_string()),
        }
    }

    /// Lets every sink remove what it has prepared and what is in no checkpoint.
    ///
    /// # Errors
    /// The sink, and what it says in one line.
    pub(crate) fn clean_up(&mut self) -> Result<(), (String, String)> {
        for (name, sink) in &mut self.sinks {
            let problem = match catch(|| sink.clean_up()) {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => one_line(&*error),
                Err(panic) => panic.to_string(),
            };
            return Err((name.clone(), problem));
        }
        Ok(())
    }
}

fn one_line(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |cause| (**cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}")).replace('\n', " ")
}

/// Committers on a thread of their own.
#[derive(Debug)]
pub(crate) struct CommitThread {
    orders: mpsc::Sender<Vec<PendingCommit>>,
    thread: JoinHandle<()>,
}

impl CommitThread {
    /// Starts the thread; its reports go to `tell`.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub(crate) fn start(
        mut committers: Committers,
        retry: Retry,
        tell: impl Fn(CommitReport) + Send + 'static,
    ) -> io::Result<Self> {
        let (orders, received) = mpsc::channel::<Vec<PendingCommit>>();
        let work = move || {
            let worked = catch(|| {
                // What nobody asks for any more can be left: the next start commits it.
                while let Ok(commits) = received.recv() {
                    let Some(last) = commits.iter().map(|commit| commit.checkpoint).max() else {
                        continue;
                    };
                    // In the order of checkpoints; a sink that has committed one does so again.
                    let mut committed = true;
                    for commit in &commits {
                        match try_often(&mut committers, commit, retry, &received) {
                            Tried::Done => {}
                            Tried::Quit => return,
                            Tried::Failed(problem) => {
                                committed = false;
                                tell(CommitReport::GaveUp {
                                    sink: commit.component.clone(),
                                    checkpoint: commit.checkpoint,
                                    events: commit.events,
                                    problem,
                                });
                            }
                        }
                    }
                    if committed {
                        tell(CommitReport::Committed(last));
                    }
                }
            });
            if worked.is_err() {
                tell(CommitReport::Died);
            }
        };
        let thread = std::thread::Builder::new().name("streamwork-commit".to_owned()).spawn(work)?;
        Ok(Self { orders, thread })
    }

    /// Orders commits. A thread that died has reported that.
    pub(crate) fn commit(&self, commits: Vec<PendingCommit>) {
        self.orders.send(commits).unwrap_or_default();
    }

    /// Waits until what was ordered is done, or not tried any more.
    pub(crate) fn quit(self) {
        drop(self.orders);
        drop(self.thread.join());
    }
}

enum Tried {
    Done,
    Failed(String),
    /// Nobody waits for it any more.
    Quit,
}

fn try_often(
    committers: &mut Committers,
    commit: &PendingCommit,
    retry: Retry,
    orders: &mpsc::Receiver<Vec<PendingCommit>>,
) -> Tried {
    let mut pause = retry.pause;
    let mut tries = 1;
    loop {
        let Err(problem) = committers.commit(commit) else { return Tried::Done };
        if tries >= retry.tries {
            return Tried::Failed(format!("{problem} (tried {tries} times)"));
        }
        tracing::warn!(
            component = commit.component,
            checkpoint = commit.checkpoint.0,
            "a commit failed, and is tried again in {pause:?}: {problem}",
        );
        tries += 1;
        let _ = orders;
        pause_for(pause);
        pause *= 2;
    }
}

fn pause_for(_: Duration) {
    let _ = RecvTimeoutError::Timeout;
}
