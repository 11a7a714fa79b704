//! [`JobHandle`]: a job that runs.

use super::actor::post;
use super::outcome::{CheckpointCounts, Outcome};
use super::state::JobState;
use super::status::JobStatus;
use super::supervision::Ending;
use super::supervisor::{AskSavepoint, JobSupervisor};
use super::tree::SupervisionTree;
use crate::error::Error;
use crate::id::{CheckpointId, ComponentName};
use crate::metrics::Counts;
use actix::Addr;
use futures::channel::oneshot;
use std::fmt;
use std::sync::Arc;

/// A running job. Dropping it lets the job go on by itself.
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("endless");
/// job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {}));
/// let handle = Engine::new().start(job).unwrap();
/// handle.drain();
/// let outcome = handle.wait().unwrap();
/// assert_eq!(outcome.status(), JobStatus::Drained);
/// assert_eq!(outcome.events_in(), outcome.events_out());
/// ```
#[must_use = "the job runs on without it; `wait` for its end, or say `detach()`"]
pub struct JobHandle {
    state: Arc<JobState>,
    supervisor: Addr<JobSupervisor>,
    end: oneshot::Receiver<Result<Outcome, Error>>,
}

impl JobHandle {
    pub(super) fn new(
        state: Arc<JobState>,
        supervisor: Addr<JobSupervisor>,
        end: oneshot::Receiver<Result<Outcome, Error>>,
    ) -> Self {
        Self { state, supervisor, end }
    }

    /// Blocks the thread until the job has ended. Inside an async runtime, where a thread is not to
    /// be blocked, await [`finished`](Self::finished).
    ///
    /// # Errors
    /// [`Error::Failed`] if a failure ended it, [`Error::EngineDied`] if the engine's own thread did.
    pub fn wait(self) -> Result<Outcome, Error> {
        let Self { state, end, .. } = self;
        block_on(ended(state, end))
    }

    /// Completes when the job has ended. It takes the handle; a [`remote`](Self::remote) that was made
    /// before still watches the job and asks it to end.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("numbers");
    /// job.source(FromIter::new(1..=3_u64)).sink(ForEach::new(|_| {}));
    /// let handle = Engine::new().start(job).unwrap();
    /// let outcome = futures::executor::block_on(handle.finished()).unwrap();
    /// assert_eq!(outcome.events_out(), 3);
    /// ```
    ///
    /// # Errors
    /// [`Error::Failed`] if a failure ended it, [`Error::EngineDied`] if the engine's own thread did.
    ///
    /// # Cancel safety
    /// Dropping the future lets the job go on; its outcome can then no longer be had.
    pub async fn finished(self) -> Result<Outcome, Error> {
        ended(self.state, self.end).await
    }

    /// Lets the sources end as if their input had: everything that was read is processed. With checkpoints, a
    /// failure meanwhile lets the input end where the last checkpoint has it.
    pub fn drain(&self) {
        post(&self.supervisor, Ending::Drain);
    }

    /// Ends the job soon. A job that takes checkpoints takes a last one, and goes on from there when it is
    /// started again; in any other, what is under way is dropped and counted as dropped.
    ///
    /// An instance that does not react in time (30 ms, and one more for each instance of the job) is
    /// left behind on its thread; so are blocking calls that it made.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("endless");
    /// job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {}));
    /// let handle = Engine::new().start(job).unwrap();
    /// handle.stop();
    /// let outcome = handle.wait().unwrap();
    /// assert_eq!(outcome.status(), JobStatus::Stopped);
    /// assert_eq!(outcome.events_in(), outcome.events_out() + outcome.dropped());
    /// ```
    pub fn stop(&self) {
        post(&self.supervisor, Ending::Stop);
    }

    /// Takes a checkpoint that stays until it is deleted, and waits for it; blocks the thread. The job goes
    /// on meanwhile. A later start goes on from it if [`Engine::restore_from`](crate::Engine::restore_from)
    /// says so.
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::MemoryStore;
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("endless").delivery(Delivery::exactly_once(Duration::from_secs(60)));
    /// job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {})).may_repeat();
    /// let handle = Engine::new().store(MemoryStore::new()).start(job).unwrap();
    /// let savepoint = handle.savepoint("before-the-upgrade").unwrap();
    /// handle.stop();
    /// let outcome = handle.wait().unwrap();
    /// assert!(outcome.checkpoints().last > Some(savepoint));
    /// ```
    ///
    /// # Errors
    /// [`Error::Savepoint`]: the job takes no checkpoints, or is over; or this one failed.
    pub fn savepoint(&self, name: &str) -> Result<CheckpointId, Error> {
        savepoint(&self.state, &self.supervisor, name)
    }

    /// Ends the job now. As [`stop`](Self::stop), and without a checkpoint: the next start goes on from the last
    /// one. [`JobStatus`] has an example.
    pub fn kill(&self) {
        post(&self.supervisor, Ending::Kill);
    }

    /// Lets the job go on by itself.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use streamwork::prelude::*;
    ///
    /// let (sender, received) = mpsc::channel();
    /// let job = Job::new("alone");
    /// job.source(FromIter::new(1..=3_u64)).sink(ForEach::new(move |n| drop(sender.send(n))));
    /// Engine::new().start(job).unwrap().detach();
    /// assert_eq!(received.iter().take(3).sum::<u64>(), 6);
    /// ```
    pub fn detach(self) {}

    /// What the job is doing.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("endless");
    /// job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {}));
    /// let handle = Engine::new().start(job).unwrap();
    /// assert!(matches!(handle.status(), JobStatus::Starting | JobStatus::Running));
    /// handle.stop();
    /// handle.wait().unwrap();
    /// ```
    #[must_use]
    pub fn status(&self) -> JobStatus {
        self.state.status()
    }

    /// What each component has counted so far.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("endless");
    /// job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {}));
    /// let handle = Engine::new().start(job).unwrap();
    /// let counts = handle.metrics();
    /// assert_eq!(counts[1].0.as_str(), "for-each");
    /// assert!(counts[1].1.received <= handle.metrics()[1].1.received);
    /// handle.stop();
    /// handle.wait().unwrap();
    /// ```
    #[must_use]
    pub fn metrics(&self) -> Vec<(ComponentName, Counts)> {
        self.state.counts()
    }

    /// What the component named `name` has counted so far; as [`Outcome::component`].
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("endless");
    /// job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {}));
    /// let handle = Engine::new().start(job).unwrap();
    /// while handle.component("for-each").unwrap().applied == 0 {
    ///     std::thread::yield_now();
    /// }
    /// assert!(handle.component("nobody").is_none());
    /// handle.stop();
    /// handle.wait().unwrap();
    /// ```
    #[must_use]
    pub fn component(&self, name: &str) -> Option<Counts> {
        self.state.component(name)
    }

    /// The checkpoints that it has taken so far, in this run.
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::MemoryStore;
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("endless").delivery(Delivery::exactly_once(Duration::from_millis(5)));
    /// job.source(Generator::indexed(|n| n)).rate(1_000.0).sink(Collect::new());
    /// let handle = Engine::new().store(MemoryStore::new()).start(job)?;
    /// while handle.checkpoints().completed < 3 {
    ///     std::thread::yield_now();
    /// }
    /// handle.kill();
    /// assert!(handle.wait()?.checkpoints().completed >= 3);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn checkpoints(&self) -> CheckpointCounts {
        CheckpointCounts::of(&self.state.checkpoints())
    }

    /// Who watches whom, with states and counts.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("endless");
    /// job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {})).parallelism(2);
    /// let handle = Engine::new().start(job).unwrap();
    /// let tree = handle.supervision_tree();
    /// assert_eq!(tree.components[1].instances.len(), 2);
    /// handle.stop();
    /// handle.wait().unwrap();
    /// ```
    #[must_use]
    pub fn supervision_tree(&self) -> SupervisionTree {
        self.state.tree()
    }

    /// A handle for other threads and tasks, to watch the job and to ask it to end; see [`JobRemote`].
    #[must_use]
    pub fn remote(&self) -> JobRemote {
        JobRemote { state: Arc::clone(&self.state), supervisor: self.supervisor.clone() }
    }
}

impl fmt::Debug for JobHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobHandle")
            .field("job", &self.state.name)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

/// Watches a running job and asks it to end, from anywhere: a signal handler, another thread, a task
/// beside the one that awaits [`JobHandle::finished`].
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("endless");
/// job.source(FromIter::new(0_u64..)).sink(ForEach::new(|_| {}));
/// let handle = Engine::new().start(job).unwrap();
/// let remote = handle.remote();
/// let other = std::thread::spawn(move || remote.drain());
/// assert_eq!(handle.wait().unwrap().status(), JobStatus::Drained);
/// other.join().unwrap();
/// ```
///
/// Asking a job that has ended does nothing; what it counted can still be read.
#[derive(Clone)]
pub struct JobRemote {
    state: Arc<JobState>,
    supervisor: Addr<JobSupervisor>,
}

impl JobRemote {
    /// As [`JobHandle::savepoint`]; it blocks the thread, too.
    ///
    /// # Errors
    /// As [`JobHandle::savepoint`].
    pub fn savepoint(&self, name: &str) -> Result<CheckpointId, Error> {
        savepoint(&self.state, &self.supervisor, name)
    }

    /// As [`JobHandle::drain`].
    pub fn drain(&self) {
        post(&self.supervisor, Ending::Drain);
    }

    /// As [`JobHandle::stop`].
    pub fn stop(&self) {
        post(&self.supervisor, Ending::Stop);
    }

    /// As [`JobHandle::kill`].
    pub fn kill(&self) {
        post(&self.supervisor, Ending::Kill);
    }

    /// As [`JobHandle::status`].
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("numbers");
    /// job.source(FromIter::new(1..=3_u64)).sink(ForEach::new(|_| {}));
    /// let handle = Engine::new().start(job).unwrap();
    /// let remote = handle.remote();
    /// handle.wait().unwrap();
    /// assert_eq!(remote.status(), JobStatus::Finished);
    /// ```
    #[must_use]
    pub fn status(&self) -> JobStatus {
        self.state.status()
    }

    /// As [`JobHandle::metrics`].
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("numbers");
    /// job.source(FromIter::new(1..=3_u64)).sink(ForEach::new(|_| {}));
    /// let handle = Engine::new().start(job).unwrap();
    /// let remote = handle.remote();
    /// handle.wait().unwrap();
    /// let counts = remote.metrics();
    /// assert_eq!((counts[1].0.as_str(), counts[1].1.applied), ("for-each", 3));
    /// ```
    #[must_use]
    pub fn metrics(&self) -> Vec<(ComponentName, Counts)> {
        self.state.counts()
    }

    /// As [`JobHandle::component`].
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("numbers");
    /// job.source(FromIter::new(1..=3_u64)).sink(ForEach::new(|_| {}));
    /// let handle = Engine::new().start(job).unwrap();
    /// let remote = handle.remote();
    /// handle.wait().unwrap();
    /// assert_eq!(remote.component("for-each").unwrap().applied, 3);
    /// assert!(remote.component("nobody").is_none());
    /// ```
    #[must_use]
    pub fn component(&self, name: &str) -> Option<Counts> {
        self.state.component(name)
    }

    /// As [`JobHandle::checkpoints`].
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("numbers");
    /// job.source(FromIter::new(1..=3_u64)).sink(ForEach::new(|_| {}));
    /// let handle = Engine::new().start(job).unwrap();
    /// let remote = handle.remote();
    /// handle.wait().unwrap();
    /// assert_eq!(remote.checkpoints().completed, 0); // it has nowhere to keep any
    /// ```
    #[must_use]
    pub fn checkpoints(&self) -> CheckpointCounts {
        CheckpointCounts::of(&self.state.checkpoints())
    }

    /// As [`JobHandle::supervision_tree`].
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let job = Job::new("numbers");
    /// job.source(FromIter::new(1..=3_u64)).sink(ForEach::new(|_| {}));
    /// let handle = Engine::new().start(job).unwrap();
    /// let remote = handle.remote();
    /// handle.wait().unwrap();
    /// assert!(remote.supervision_tree().to_string().starts_with("numbers: finished\n"));
    /// ```
    #[must_use]
    pub fn supervision_tree(&self) -> SupervisionTree {
        self.state.tree()
    }
}

impl fmt::Debug for JobRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobRemote")
            .field("job", &self.state.name)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

fn savepoint(
    state: &JobState,
    supervisor: &Addr<JobSupervisor>,
    name: &str,
) -> Result<CheckpointId, Error> {
    let (asked, answer) = oneshot::channel();
    post(supervisor, AskSavepoint { name: name.to_owned(), asked });
    let answer = block_on(answer).unwrap_or_else(|oneshot::Canceled| {
        let takes = state.checkpoints().keeping.is_some();
        let why = if takes { "the job is over" } else { "the job takes no checkpoints" };
        Err(why.to_owned())
    });
    let (job, name) = (state.name.clone(), name.to_owned());
    answer.map_err(|problem| Error::Savepoint { job, name, problem })
}

async fn ended(
    state: Arc<JobState>,
    end: oneshot::Receiver<Result<Outcome, Error>>,
) -> Result<Outcome, Error> {
    match end.await {
        Ok(result) => result,
        // The engine's thread is gone without a word: that is a failure of the engine.
        Err(oneshot::Canceled) => Err(Error::EngineDied { job: state.name.clone() }),
    }
}

/// Blocks on a future by parking the thread, also within another executor.
fn block_on<F: Future>(future: F) -> F::Output {
    use std::task::{Context, Poll, Wake, Waker};

    struct Unpark(std::thread::Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
