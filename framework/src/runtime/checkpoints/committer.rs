//! [`Committers`]: what makes visible what sinks have prepared.

use crate::checkpoint::PendingCommit;
use crate::component::Fatal;
use crate::guard::catch;
use crate::id::CheckpointId;
use crate::instance::UserError;
use crate::job::Committer;
use crate::sink::Handle;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// What has become of commits.
#[derive(Debug)]
pub(crate) enum CommitReport {
    /// Everything up to this checkpoint is committed.
    Committed(CheckpointId),
    /// A sink has given up.
    GaveUp { commit: PendingCommit, problem: String, tries: u32 },
    /// The committer is gone, without having been told so.
    Died,
}

/// A commit that a sink could not make.
#[derive(Debug)]
pub(crate) struct Refused {
    /// What it says, in one line.
    pub(crate) problem: String,
    /// It would say so another time, too.
    pub(crate) for_good: bool,
}

/// How often a commit is tried, and how long is waited after the first time; each time twice as long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retry {
    pub(crate) tries: u32,
    pub(crate) pause: Duration,
    pub(crate) longest: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        let (pause, longest) = (Duration::from_millis(50), Duration::from_secs(2));
        Self { tries: 8, pause, longest }
    }
}

/// A clone of each sink that commits, by its name.
pub(crate) struct Committers {
    owner: String,
    sinks: HashMap<String, Box<dyn Committer>>,
}

impl fmt::Debug for Committers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.sinks.keys()).finish()
    }
}

impl Committers {
    pub(crate) fn new(
        owner: &str,
        sinks: impl IntoIterator<Item = (String, Box<dyn Committer>)>,
    ) -> Self {
        Self { owner: owner.to_owned(), sinks: sinks.into_iter().collect() }
    }

    /// Whether the job has a sink of this name that commits.
    pub(crate) fn has(&self, sink: &str) -> bool {
        self.sinks.contains_key(sink)
    }

    /// Commits one handle, once.
    ///
    /// # Errors
    /// What the sink says.
    pub(crate) fn commit(&mut self, commit: &PendingCommit) -> Result<(), Refused> {
        let Some(sink) = self.sinks.get_mut(&commit.component) else {
            let problem = "the job has no such sink any more".to_owned();
            return Err(Refused { problem, for_good: true });
        };
        let handle = Handle::from_bytes(commit.handle.to_vec());
        match catch(|| sink.commit(handle)) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                let for_good = Fatal::is(&*error);
                Err(Refused { problem: UserError::new(error).to_string(), for_good })
            }
            Err(panic) => Err(Refused { problem: panic.to_string(), for_good: false }),
        }
    }

    /// Commits one handle, with as many tries and pauses as that takes.
    ///
    /// # Errors
    /// What the sink says, and how often it was asked.
    pub(crate) fn commit_at_last(
        &mut self,
        commit: &PendingCommit,
        retry: Retry,
        wait: &dyn Fn(Duration),
    ) -> Result<(), String> {
        let mut pause = retry.pause;
        let mut tries = 1;
        while let Err(Refused { problem, for_good }) = self.commit(commit) {
            if for_good || tries >= retry.tries {
                return Err(format!("{problem} (tried {tries} times)"));
            }
            wait(pause);
            pause = (pause * 2).min(retry.longest);
            tries += 1;
        }
        Ok(())
    }

    /// Lets a sink remove what it has prepared and will never commit.
    pub(crate) fn discard(&mut self, commit: &PendingCommit) {
        let Some(sink) = self.sinks.get_mut(&commit.component) else { return };
        let handle = Handle::from_bytes(commit.handle.to_vec());
        let problem = match catch(|| sink.discard(handle)) {
            Ok(Ok(())) => return,
            Ok(Err(error)) => UserError::new(error).to_string(),
            Err(panic) => panic.to_string(),
        };
        tracing::warn!(
            component = commit.component,
            instance = commit.instance,
            checkpoint = commit.checkpoint.0,
            "what was prepared, and comes again, was not removed: {problem}",
        );
    }

    /// Lets every sink remove what it has prepared and what is in no checkpoint.
    ///
    /// # Errors
    /// The sink, and what it says in one line.
    pub(crate) fn clean_up(&mut self) -> Result<(), (String, String)> {
        for (name, sink) in &mut self.sinks {
            let problem = match catch(|| sink.clean_up(&self.owner, name)) {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => UserError::new(error).to_string(),
                Err(panic) => panic.to_string(),
            };
            return Err((name.clone(), problem));
        }
        Ok(())
    }
}

/// What committers are to do.
enum CommitOrder {
    Commit(Vec<PendingCommit>),
    Discard(Vec<PendingCommit>),
}

/// Committers on a thread of their own.
#[derive(Debug)]
pub(crate) struct CommitThread {
    orders: mpsc::Sender<CommitOrder>,
    /// Nobody waits for more than the commit that is being made.
    closed: Arc<AtomicBool>,
    /// Closed when the thread is over.
    over: mpsc::Receiver<()>,
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
        let (orders, received) = mpsc::channel();
        let (ending, over) = mpsc::channel::<()>();
        let closed = Arc::new(AtomicBool::new(false));
        let is_closed = Arc::clone(&closed);
        let work = move || {
            let _ending = ending;
            if catch(|| work(&mut committers, retry, &received, &is_closed, &tell)).is_err() {
                tell(CommitReport::Died);
            }
        };
        std::thread::Builder::new().name("streamwork-commit".to_owned()).spawn(work)?;
        Ok(Self { orders, closed, over })
    }

    /// Orders commits: all that are not confirmed, in the order of their checkpoints. A thread that died
    /// has reported that.
    pub(crate) fn commit(&self, commits: Vec<PendingCommit>) {
        self.orders.send(CommitOrder::Commit(commits)).unwrap_or_default();
    }

    /// Orders to remove what is never to be committed.
    pub(crate) fn discard(&self, commits: Vec<PendingCommit>) {
        self.orders.send(CommitOrder::Discard(commits)).unwrap_or_default();
    }

    /// Waits until what is being committed is, at most so long, and leaves the rest to the next start. Says
    /// whether the thread is over.
    pub(crate) fn quit(self, patience: Duration) -> bool {
        self.closed.store(true, Ordering::Relaxed);
        drop(self.orders);
        self.over.recv_timeout(patience) != Err(RecvTimeoutError::Timeout)
    }
}

/// Commits what is ordered until nobody orders any more.
fn work(
    committers: &mut Committers,
    retry: Retry,
    orders: &mpsc::Receiver<CommitOrder>,
    closed: &AtomicBool,
    tell: &impl Fn(CommitReport),
) {
    let mut done: Vec<PendingCommit> = Vec::new();
    let mut pause = retry.pause;
    let mut tries = 0;
    let mut commits = Vec::new();
    let mut received = orders.recv().map_err(RecvTimeoutError::from);
    loop {
        // A later order has in it what of this one is not confirmed.
        loop {
            match received {
                Ok(CommitOrder::Commit(later)) => {
                    (commits, tries, pause) = (later, 0, retry.pause);
                }
                Ok(CommitOrder::Discard(gone)) => {
                    gone.iter().for_each(|commit| committers.discard(commit));
                }
                // A pause is over: once more.
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            match orders.try_recv() {
                Ok(later) => received = Ok(later),
                Err(_) => break,
            }
        }
        done.retain(|commit| commits.contains(commit));
        let failed = commit_open(committers, &commits, &mut done, closed);
        if closed.load(Ordering::Relaxed) {
            return;
        }
        received = match failed {
            None => {
                if let Some(last) = commits.iter().map(|commit| commit.checkpoint).max() {
                    tell(CommitReport::Committed(last));
                }
                commits.clear();
                orders.recv().map_err(RecvTimeoutError::from)
            }
            Some((commit, Refused { problem, for_good }))
                if for_good || tries + 1 >= retry.tries =>
            {
                tell(CommitReport::GaveUp { commit, problem, tries: tries + 1 });
                commits.clear();
                orders.recv().map_err(RecvTimeoutError::from)
            }
            Some((commit, Refused { problem, .. })) => {
                tracing::warn!(
                    component = commit.component,
                    checkpoint = commit.checkpoint.0,
                    "a commit failed, and is tried again in {pause:?}: {problem}",
                );
                tries += 1;
                let waited = orders.recv_timeout(pause);
                pause = (pause * 2).min(retry.longest);
                waited
            }
        };
    }
}

/// Commits what is not `done`, in order, until one is refused or nobody waits any more; gives that one.
fn commit_open(
    committers: &mut Committers,
    commits: &[PendingCommit],
    done: &mut Vec<PendingCommit>,
    closed: &AtomicBool,
) -> Option<(PendingCommit, Refused)> {
    for commit in commits {
        // What is committed may be taken away, and is not looked for again.
        if closed.load(Ordering::Relaxed) || done.contains(commit) {
            continue;
        }
        match committers.commit(commit) {
            Ok(()) => done.push(commit.clone()),
            Err(refused) => return Some((commit.clone(), refused)),
        }
    }
    None
}
