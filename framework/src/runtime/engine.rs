//! [`Engine`]: from a job to its end.

use super::assembly::{Settings, state_of};
use super::handle::JobHandle;
use super::keeping::{Keeping, MakeStore, StorePlace};
use super::outcome::Outcome;
use super::start::{Start, no_threads};
use crate::checkpoint::CheckpointStore;
use crate::error::Error;
use crate::guard::catch;
use crate::id::CheckpointId;
use crate::job::{Job, Problem, Problems};
use crate::time::SystemClock;
use actix::System;
use futures::channel::oneshot;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;

/// Runs jobs in this process.
///
/// ```
/// use streamwork::prelude::*;
///
/// let doubled = Collect::new();
/// let job = Job::new("numbers");
/// job.source(FromIter::new(1..=3_u64)).sink(doubled.clone());
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!(outcome.events_out(), 3);
/// ```
#[derive(Clone, Default)]
pub struct Engine {
    arbiters: Option<usize>,
    data_dir: Option<PathBuf>,
    store: Option<MakeStore>,
    fresh: bool,
    wanted: Option<CheckpointId>,
}

impl Engine {
    /// An engine with one arbiter (a thread that runs instances) for each core.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of arbiters (at least one). Instances share them: there may be any number of
    /// instances.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("one-thread");
    /// job.source(FromIter::new(1..=3_u64)).sink(got.clone()).parallelism(4);
    /// Engine::new().arbiters(1).run(job).unwrap();
    /// assert_eq!(got.len(), 3);
    /// ```
    #[must_use]
    pub fn arbiters(mut self, arbiters: usize) -> Self {
        self.arbiters = Some(arbiters.max(1));
        self
    }

    /// Sets the directory in which a job keeps its checkpoints; it is made if it is missing. Each job needs
    /// one of its own.
    #[must_use]
    pub fn data_dir(mut self, path: impl Into<PathBuf>) -> Self {
        self.data_dir = Some(path.into());
        self
    }

    /// Keeps checkpoints in a store and not in a directory, also where [`data_dir`](Self::data_dir) names one:
    /// each clone of it must hold the same.
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::MemoryStore;
    /// use streamwork::prelude::*;
    ///
    /// let engine = Engine::new().store(MemoryStore::new());
    /// let numbers = |got: &Collect<u64>| {
    ///     let job = Job::new("numbers").delivery(Delivery::exactly_once(Duration::from_secs(1)));
    ///     job.source(Generator::indexed(|n| n).events(3)).sink(got.clone());
    ///     job
    /// };
    /// let got = Collect::new();
    /// engine.run(numbers(&got)).unwrap();
    /// assert_eq!(got.take(), [0, 1, 2]);
    /// // It has finished already.
    /// assert_eq!(engine.run(numbers(&got)).unwrap().status(), JobStatus::Finished);
    /// assert!(got.is_empty());
    /// ```
    #[must_use]
    pub fn store<S: CheckpointStore + Clone + Sync + 'static>(mut self, store: S) -> Self {
        self.store = Some(Arc::new(move || Box::new(store.clone())));
        self
    }

    /// Lets a job go on from this checkpoint, and not from the newest. What was committed since is committed
    /// again: the job repeats it.
    #[must_use]
    pub fn restore_from(mut self, checkpoint: CheckpointId) -> Self {
        self.wanted = Some(checkpoint);
        self
    }

    /// Lets a job begin anew although its data directory holds checkpoints; these are moved to `archive/<n>`
    /// in it. It does nothing to a [`store`](Self::store), from which a job goes on all the same: to begin anew
    /// there, give an empty one.
    #[must_use]
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Runs a job and blocks the thread to its end. Inside an async runtime, where a thread is not to
    /// be blocked, use [`start`](Self::start) and await [`JobHandle::finished`].
    ///
    /// # Errors
    /// As [`start`](Self::start), and [`Error::Failed`] if a failure ended the job.
    pub fn run(&self, job: Job) -> Result<Outcome, Error> {
        self.start(job)?.wait()
    }

    /// Starts a job and returns when it is put together: checked, and its instances made. Setting them
    /// up and reading go on meanwhile. Also within a tokio or actix runtime: the engine has threads of
    /// its own.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("numbers");
    /// job.source(FromIter::new(1..=3_u64)).sink(got.clone());
    /// let handle = Engine::new().start(job).unwrap();
    /// let outcome = futures::executor::block_on(handle.finished()).unwrap();
    /// assert_eq!(outcome.status(), JobStatus::Finished);
    /// assert_eq!(got.take(), [1, 2, 3]);
    /// ```
    ///
    /// # Errors
    /// [`Error::Refused`] with everything that is wrong with the job, [`Error::Assembly`] if user
    /// code failed while it was put together, [`Error::Engine`] if the threads could not be had. Of a job that
    /// takes checkpoints also [`Error::DataDirectory`], [`Error::Store`] and [`Error::Recovery`] if they cannot
    /// be kept or read, [`Error::Incompatible`] if the job has become another since the last one, and
    /// [`Error::Commit`] and [`Error::CleanUp`] if a sink cannot commit or remove what it had prepared.
    pub fn start(&self, job: Job) -> Result<JobHandle, Error> {
        let name = job.name().to_owned();
        let (delivery, key_groups, limits) = job.settings();
        let strategy = job.restart_strategy();
        let refused = |problems| Error::Refused { job: name.clone(), problems };
        let keeping = match (delivery.checkpoints(), self.keeping()) {
            (None, _) => None,
            (Some(settings), Some(keeping)) => Some((keeping, settings)),
            (Some(_), None) => {
                let delivery = delivery.to_string();
                let nowhere = Problem::NoDataDirectory { delivery };
                let others = job.into_graph().err().map(Problems::into_vec).unwrap_or_default();
                let problems = std::iter::once(nowhere).chain(others).collect();
                return Err(refused(Problems::new(problems)));
            }
        };
        let dropped = job.dropped_state();
        let graph = job.into_graph().map_err(refused)?;
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let clock = Arc::new(SystemClock::new());
        let settings = Settings { key_groups, limits, clock, delivery, dropped };
        let start = Start {
            state: Arc::new(state_of(&name, &graph)),
            graph,
            settings,
            strategy,
            arbiters: self.arbiters.unwrap_or_else(cores),
            keeping,
        };
        let state = Arc::clone(&start.state);
        let (tell, told) = mpsc::sync_channel(1);
        let (ended, end) = oneshot::channel();
        std::thread::Builder::new()
            .name("streamwork".to_owned())
            .spawn(move || {
                let system = match catch(System::new) {
                    Ok(system) => system,
                    Err(panic) => {
                        drop(tell.send(Err(no_threads("its runtime", &panic))));
                        return;
                    }
                };
                if let Some(outcome) = system.block_on(start.run(tell)) {
                    // If the handle was dropped, nobody asks.
                    drop(ended.send(outcome));
                }
            })
            .map_err(|source| Error::Engine { what: "its thread", source })?;
        match told.recv() {
            Ok(started) => Ok(JobHandle::new(state, started?, end)),
            Err(mpsc::RecvError) => Err(Error::EngineDied { job: name }),
        }
    }
}

impl Engine {
    /// Where checkpoints are kept, if that was said.
    fn keeping(&self) -> Option<Keeping> {
        let directory = || self.data_dir.clone().map(StorePlace::Directory);
        let place = self.store.clone().map(StorePlace::Store).or_else(directory)?;
        Some(Keeping { place, fresh: self.fresh, wanted: self.wanted })
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine")
            .field("arbiters", &self.arbiters)
            .field("data_dir", &self.data_dir)
            .field("fresh", &self.fresh)
            .field("restore_from", &self.wanted)
            .finish_non_exhaustive()
    }
}
