//! A job from its graph to its end, on the engine's own thread.

use super::actor::post;
use super::actors::Actors;
use super::assembly::{Assembly, Making, Settings};
use super::checkpoints::{CommitThread, Retry, Writer};
use super::keeping::Keeping;
use super::opened::Opened;
use super::outcome::Outcome;
use super::recording::{Recording, Threads};
use super::state::JobState;
use super::status::JobStatus;
use super::supervision::{ComponentSupervision, JobSupervision};
use super::supervisor::{ComponentSupervisor, Conclusion, JobSupervisor, LetGo, Remake, Rewinder};
use crate::checkpoint::{ManifestKind, Restored};
use crate::error::Error;
use crate::guard::{Panic, catch, drop_quietly};
use crate::id::Attempt;
use crate::instance::Cause;
use crate::job::{Checkpoints, Graph};
use crate::restart::RestartStrategy;
use actix::{Actor, Addr, Arbiter, AsyncContext};
use futures::channel::oneshot;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc;
use uuid::Uuid;

/// Where the engine's thread says whether the job has started.
pub(super) type Tell = mpsc::SyncSender<Result<Addr<JobSupervisor>, Error>>;

/// All that the engine's thread needs.
pub(super) struct Start {
    pub(super) state: Arc<JobState>,
    pub(super) graph: Graph,
    pub(super) settings: Settings,
    pub(super) strategy: RestartStrategy,
    pub(super) arbiters: usize,
    /// Where checkpoints are kept, and how they are taken.
    pub(super) keeping: Option<(Keeping, Checkpoints)>,
}

/// A job that is put together, and may run.
struct Prepared {
    assembly: Assembly,
    opened: Option<Opened>,
    arbiters: Vec<Arbiter>,
}

/// What machines are made from and by, as long as the job runs.
type Workshop = Rc<RefCell<(Assembly, Option<Actors>)>>;

impl Start {
    pub(super) async fn run(mut self, tell: Tell) -> Option<Result<Outcome, Error>> {
        let job = self.state.name.clone();
        let Prepared { assembly, opened, arbiters } = match self.prepare() {
            Ok(prepared) => prepared,
            Err(error) => {
                drop(tell.send(Err(error)));
                return None;
            }
        };
        let (done, concluded) = oneshot::channel();
        let rewinds = opened.is_some();
        let run = Uuid::now_v7().to_string();
        let restored = opened.as_ref().and_then(|opened| opened.restored.clone());
        let workshop: Workshop = Rc::new(RefCell::new((assembly, None)));
        let (supervisor, recorded) = self.supervise(&workshop, arbiters, opened, &run, done);
        // They begin before anything can end them: one that is dropped before it began would begin then,
        // where there is no runtime any more.
        tokio::task::yield_now().await;
        if let Err(source) = recorded {
            self.shut_down(&supervisor, &workshop).await;
            drop(tell.send(Err(Error::Engine { what: "its threads for checkpoints", source })));
            return None;
        }
        let is_over = restored.as_ref().is_some_and(|r| r.manifest.kind == ManifestKind::Finished);
        if is_over {
            self.log_start(&run, restored.as_ref());
            self.state.set_status(JobStatus::Finished);
            drop(tell.send(Ok(supervisor.clone())));
            self.shut_down(&supervisor, &workshop).await;
            return Some(self.conclude(None));
        }
        let making = Making { attempt: Attempt::FIRST, region: None, restored: restored.as_ref() };
        if let Err(panic) = make(&workshop, making) {
            self.shut_down(&supervisor, &workshop).await;
            drop(tell.send(Err(Error::Assembly { job, cause: panic.into() })));
            return None;
        }
        self.log_start(&run, restored.as_ref());
        drop(restored);
        if !rewinds {
            // The prototypes are not needed any more, and their destructors are the user's.
            workshop.borrow_mut().0.take_apart().into_iter().for_each(drop_quietly);
        }
        // Whoever starts a job waits for this.
        drop(tell.send(Ok(supervisor.clone())));
        let conclusion = concluded.await;
        self.shut_down(&supervisor, &workshop).await;
        Some(match conclusion {
            Ok(conclusion) => self.conclude(conclusion),
            Err(oneshot::Canceled) => Err(Error::EngineDied { job }),
        })
    }

    /// Puts the job together, opens its checkpoints and starts its arbiters.
    fn prepare(&mut self) -> Result<Prepared, Error> {
        let job = || self.state.name.clone();
        let graph = std::mem::take(&mut self.graph);
        let (state, settings) = (Arc::clone(&self.state), self.settings.clone());
        let mut assembly = match catch(|| Assembly::new(graph, state, settings)) {
            Ok(Ok(assembly)) => assembly,
            Ok(Err((error, mut graph))) => {
                graph.take_apart().into_iter().for_each(drop_quietly);
                return Err(Error::Assembly { job: job(), cause: Cause::setup(error) });
            }
            Err(panic) => return Err(Error::Assembly { job: job(), cause: panic.into() }),
        };
        let keeping = self.keeping.take();
        let opened = keeping
            .map(|(keeping, taking)| {
                let wait = std::thread::park_timeout;
                let opened =
                    catch(|| Opened::open(&self.state, &assembly, &keeping, taking, &wait));
                opened.unwrap_or_else(|p| Err(Error::Assembly { job: job(), cause: p.into() }))
            })
            .transpose();
        let started = opened.and_then(|opened| {
            let arbiters = catch(|| (0..self.arbiters).map(|_| Arbiter::new()).collect());
            Ok((opened, arbiters.map_err(|panic| no_threads("its arbiters", &panic))?))
        });
        match started {
            Ok((opened, arbiters)) => Ok(Prepared { assembly, opened, arbiters }),
            Err(error) => {
                assembly.take_apart().into_iter().for_each(drop_quietly);
                Err(error)
            }
        }
    }

    /// Starts the supervisors and, if there are checkpoints, what writes and commits them: says whether that
    /// could be had.
    fn supervise(
        &self,
        workshop: &Workshop,
        arbiters: Vec<Arbiter>,
        opened: Option<Opened>,
        run: &str,
        done: oneshot::Sender<Conclusion>,
    ) -> (Addr<JobSupervisor>, io::Result<()>) {
        let clock = &self.settings.clock;
        let rewinds = opened.is_some();
        let mut recorded = Ok(());
        let supervisor = JobSupervisor::create(|ctx| {
            let address = ctx.address();
            let components: Vec<_> = (0..self.state.components.len())
                .map(|c| {
                    let state = Arc::clone(&self.state);
                    let supervision = ComponentSupervision::new(state, c, self.strategy, rewinds);
                    let job = address.clone();
                    ComponentSupervisor::new(c, supervision, Arc::clone(clock), job).start()
                })
                .collect();
            let shell = Actors::new(arbiters, address.clone(), components.clone());
            workshop.borrow_mut().1 = Some(shell);
            let recording =
                opened.map(|opened| self.recording(opened, run, &address, &workshop.borrow().0));
            let recording = recording.transpose().unwrap_or_else(|error| {
                recorded = Err(error);
                None
            });
            let remake = remake(workshop);
            let rewinder = recording.map(|recording| Rewinder { recording, components, remake });
            let state = Arc::clone(&self.state);
            let supervision = JobSupervision::new(Arc::clone(&state), self.strategy, rewinds);
            JobSupervisor::new(state, supervision, Arc::clone(clock), done, rewinder)
        });
        (supervisor, recorded)
    }

    fn recording(
        &self,
        opened: Opened,
        run: &str,
        supervisor: &Addr<JobSupervisor>,
        assembly: &Assembly,
    ) -> io::Result<Recording> {
        let coordination = opened.coordination(&self.state, assembly, run);
        let Opened { writing, committers, .. } = opened;
        let to = supervisor.clone();
        let writer = Writer::start(writing, move |report| post(&to, report))?;
        let to = supervisor.clone();
        let committer =
            CommitThread::start(committers, Retry::default(), move |report| post(&to, report))?;
        let helpers = Box::new(Threads { writer, committer });
        Ok(Recording::new(Arc::clone(&self.state), coordination, helpers))
    }

    async fn shut_down(&self, supervisor: &Addr<JobSupervisor>, workshop: &Workshop) {
        // One that is gone holds nothing.
        supervisor.send(LetGo).await.unwrap_or_default();
        let shell = workshop.borrow_mut().1.take();
        if let Some(shell) = shell {
            shell.shut_down(&self.state).await;
        }
        workshop.borrow_mut().0.take_apart().into_iter().for_each(drop_quietly);
    }

    fn log_start(&self, run: &str, restored: Option<&Restored>) {
        let restored = match restored {
            Some(restored) if restored.manifest.kind == ManifestKind::Finished => {
                format!("from checkpoint {}, with which the job has finished", restored.manifest.id)
            }
            Some(restored) => format!("from checkpoint {}", restored.manifest.id),
            None => "fresh".to_owned(),
        };
        tracing::info!(
            job = self.state.name,
            %run,
            data_directory = self.state.place_of_checkpoints(),
            restored,
            delivery = %self.settings.delivery,
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
            dead = outcome.dead(),
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

fn make(workshop: &Workshop, making: Making<'_>) -> Result<(), Panic> {
    let (assembly, shell) = &mut *workshop.borrow_mut();
    match shell {
        Some(shell) => catch(|| assembly.make(making, shell)),
        // The job is over.
        None => Ok(()),
    }
}

fn remake(workshop: &Workshop) -> Remake {
    let workshop = Rc::clone(workshop);
    Box::new(move |region, attempt, restored| {
        let making = Making { attempt, region: Some(region), restored };
        make(&workshop, making).map_err(Cause::from)
    })
}

/// The system refused a thread, or what a thread needs.
pub(super) fn no_threads(what: &'static str, panic: &Panic) -> Error {
    Error::Engine { what, source: io::Error::other(panic.message.clone()) }
}
