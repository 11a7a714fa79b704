//! [`Engine`]: from a job to its end.

use super::actor::{Executor, ExecutorMailbox, Quit};
use super::assembly::{Place, Settings, Shell, assemble, state_of};
use super::handle::{JobHandle, Outcome};
use super::state::JobState;
use super::status::JobStatus;
use super::supervisor::{ComponentSupervisor, Conclusion, JobSupervisor, Reporter};
use super::tree::InstanceState;
use crate::error::Error;
use crate::guard::{Panic, catch, drop_quietly};
use crate::id::InstanceId;
use crate::instance::{Cause, Machine, Reports};
use crate::job::{Delivery, Graph, Job};
use crate::link::Mailbox;
use crate::restart::RestartStrategy;
use crate::time::SystemClock;
use actix::{Actor, Addr, Arbiter, System};
use futures::channel::oneshot;
use futures::future;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;
use uuid::Uuid;

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
#[derive(Clone, Debug, Default)]
pub struct Engine {
    arbiters: Option<usize>,
    data_dir: Option<PathBuf>,
    fresh: bool,
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

    /// Lets a job begin anew although its data directory holds checkpoints; these are moved aside.
    #[must_use]
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Runs a job and blocks the thread to its end. Inside an async runtime, where a thread is not to
    /// be blocked, use [`start`](Self::start) and await [`JobHandle::finished`].
    ///
    /// # Errors
    /// [`Error::Refused`] with everything that is wrong with the job, [`Error::Failed`] if a failure
    /// ended it, [`Error::Assembly`] if user code panicked before, [`Error::Engine`] if the threads
    /// could not be had.
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
    /// code panicked while it was put together, [`Error::Engine`] if the threads could not be had.
    pub fn start(&self, job: Job) -> Result<JobHandle, Error> {
        let name = job.name().to_owned();
        let (delivery, key_groups, limits) = job.settings();
        let strategy = job.restart_strategy();
        let graph = match job.into_graph() {
            Ok(graph) => graph,
            Err(problems) => return Err(Error::Refused { job: name, problems }),
        };
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let start = Start {
            state: Arc::new(state_of(&name, &graph)),
            graph,
            settings: Settings { key_groups, limits, clock: Arc::new(SystemClock::new()) },
            strategy,
            delivery,
            arbiters: self.arbiters.unwrap_or_else(cores),
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

/// Where the engine's thread says whether the job has started.
type Tell = mpsc::SyncSender<Result<Addr<JobSupervisor>, Error>>;

/// All that the engine's thread needs.
struct Start {
    state: Arc<JobState>,
    graph: Graph,
    settings: Settings,
    strategy: RestartStrategy,
    delivery: Delivery,
    arbiters: usize,
}

impl Start {
    async fn run(mut self, tell: Tell) -> Option<Result<Outcome, Error>> {
        let job = self.state.name.clone();
        let threads = catch(|| (0..self.arbiters).map(|_| Arbiter::new()).collect());
        let arbiters: Vec<Arbiter> = match threads {
            Ok(arbiters) => arbiters,
            Err(panic) => {
                drop(tell.send(Err(no_threads("its arbiters", &panic))));
                return None;
            }
        };
        let (done, concluded) = oneshot::channel();
        let supervisor = JobSupervisor::new(Arc::clone(&self.state), done).start();
        let clock = &self.settings.clock;
        let components = (0..self.state.components.len())
            .map(|c| {
                let (state, clock) = (Arc::clone(&self.state), Arc::clone(clock));
                ComponentSupervisor::new(state, c, self.strategy, clock, supervisor.clone()).start()
            })
            .collect();
        // They begin before anything can end them: one that is dropped before it began would begin then,
        // where there is no runtime any more.
        tokio::task::yield_now().await;
        let mut shell = Actors {
            arbiters,
            own_threads: Vec::new(),
            supervisors: components,
            executors: Vec::new(),
        };
        let assembled =
            catch(|| assemble(&mut self.graph, &self.state, &self.settings, &mut shell));
        // The prototypes are not needed any more, and their destructors are the user's.
        self.graph.take_apart().into_iter().for_each(drop_quietly);
        let assembled = assembled.map_err(Cause::from).and_then(|made| made.map_err(Cause::setup));
        if let Err(cause) = assembled {
            shell.shut_down(&self.state).await;
            drop(tell.send(Err(Error::Assembly { job, cause })));
            return None;
        }
        self.log_start();
        // Whoever starts a job waits for this.
        drop(tell.send(Ok(supervisor)));
        let conclusion = concluded.await;
        shell.shut_down(&self.state).await;
        Some(match conclusion {
            Ok(conclusion) => self.conclude(conclusion),
            Err(oneshot::Canceled) => Err(Error::EngineDied { job }),
        })
    }

    fn log_start(&self) {
        let run = Uuid::now_v7();
        tracing::info!(
            job = self.state.name,
            %run,
            data_directory = "none",
            restored = "fresh",
            delivery = %self.delivery,
            page = "off",
            "job started",
        );
    }

    fn conclude(self, conclusion: Conclusion) -> Result<Outcome, Error> {
        let outcome = Outcome::of(&self.state);
        let cause = match &conclusion {
            Some((failure, _)) => failure.to_string(),
            None => "none".to_owned(),
        };
        tracing::info!(
            job = self.state.name,
            status = %outcome.status(),
            events_in = outcome.events_in(),
            events_out = outcome.events_out(),
            late = 0,
            failed = outcome.failed(),
            dropped = outcome.dropped(),
            dead = 0,
            restarts = outcome.restarts(),
            cause,
            "job ended",
        );
        match conclusion {
            None => Ok(outcome),
            Some((failure, exhausted)) => {
                let (job, counts) = (self.state.name.clone(), self.state.counts());
                let failure = Box::new(failure);
                Err(Error::Failed { job, failure, exhausted, counts })
            }
        }
    }
}

/// The system refused a thread, or what a thread needs.
fn no_threads(what: &'static str, panic: &Panic) -> Error {
    Error::Engine { what, source: io::Error::other(panic.message.clone()) }
}

/// The shell of actors.
struct Actors {
    arbiters: Vec<Arbiter>,
    own_threads: Vec<Arbiter>,
    supervisors: Vec<Addr<ComponentSupervisor>>,
    executors: Vec<Running>,
}

struct Running {
    id: InstanceId,
    place: usize,
    own_thread: bool,
    address: Addr<Executor>,
}

impl Actors {
    /// Closes all instances but those that were left behind, then their threads.
    async fn shut_down(self, state: &JobState) {
        // After a halt nobody is waited for; at an end that came by itself, user code may still clear
        // up.
        let halted = !matches!(state.status(), JobStatus::Finished | JobStatus::Drained);
        let patience = Duration::from_millis(if halted { 10 } else { 5_000 });
        let abandoned = |id: &InstanceId| {
            state.instances().any(|i| i.id == *id && i.state() == InstanceState::Abandoned)
        };
        let mut keep = (vec![true; self.arbiters.len()], vec![true; self.own_threads.len()]);
        let mut closing = Vec::new();
        for running in self.executors {
            let join = if running.own_thread { &mut keep.1 } else { &mut keep.0 };
            if abandoned(&running.id) {
                tracing::warn!(
                    job = state.name,
                    component = %running.id.component,
                    instance = running.id.index,
                    "the instance did not come to its end in time; its thread is left behind",
                );
                join[running.place] = false;
            } else {
                closing.push((running.own_thread, running.place, running.address));
            }
        }
        let on_live_threads = closing
            .into_iter()
            .filter(|(own, place, _)| if *own { keep.1[*place] } else { keep.0[*place] })
            .map(|(_, _, address)| async move { address.send(Quit).await });
        // An executor that died has reported it already.
        let closed = future::join_all(on_live_threads);
        let in_time = tokio::time::timeout(patience, closed).await.is_ok();
        let arbiters = self.arbiters.into_iter().zip(keep.0);
        let own_threads = self.own_threads.into_iter().zip(keep.1);
        let threads: Vec<(Arbiter, bool)> = arbiters.chain(own_threads).collect();
        threads.iter().for_each(|(arbiter, _)| {
            arbiter.stop();
        });
        // Joined from a thread that can be left behind: an arbiter's runtime waits for blocking calls
        // of user code without end.
        let (tell, told) = mpsc::sync_channel(1);
        let join = move || {
            for (arbiter, _) in threads.into_iter().filter(|(_, join)| *join) {
                // A thread that cannot be joined has panicked; its executors reported their death.
                drop(arbiter.join());
            }
            // If nobody waits any more, nobody is told.
            tell.send(()).unwrap_or_default();
        };
        let joining = std::thread::Builder::new().name("streamwork".to_owned()).spawn(join);
        let joined = joining.is_ok() && told.recv_timeout(patience).is_ok();
        if !(in_time && joined) {
            tracing::warn!(job = state.name, "blocking calls of user code are left behind");
        }
    }
}

impl Shell for Actors {
    fn arbiters(&self) -> usize {
        self.arbiters.len()
    }

    fn reports(&mut self, component: usize, index: usize) -> Arc<dyn Reports> {
        Arc::new(Reporter { supervisor: self.supervisors[component].clone(), index })
    }

    fn spawn(
        &mut self,
        component: usize,
        id: &InstanceId,
        place: Place,
        machine: Box<dyn Machine>,
    ) -> Arc<dyn Mailbox> {
        let (arbiter, place, own_thread) = match place {
            Place::Arbiter(i) => (&self.arbiters[i], i, false),
            Place::OwnThread => {
                self.own_threads.push(Arbiter::new());
                let last = self.own_threads.len() - 1;
                (&self.own_threads[last], last, true)
            }
        };
        let supervisor = self.supervisors[component].clone();
        let reports = Arc::new(Reporter { supervisor, index: id.index });
        let executor = Executor::new(id.clone(), machine, reports);
        let address = Executor::start_in_arbiter(&arbiter.handle(), move |_| executor);
        let mailbox = Arc::new(ExecutorMailbox(address.clone().recipient()));
        self.executors.push(Running { id: id.clone(), place, own_thread, address });
        mailbox
    }
}
