//! The shell of actors: what drives the machines of a job that runs.

use super::actor::{Executor, ExecutorMailbox, Quit, Replace, post};
use super::assembly::{Place, Shell};
use super::state::JobState;
use super::status::JobStatus;
use super::supervisor::{ComponentSupervisor, JobSupervisor, Reporter, SnapshotPost};
use super::tree::InstanceState;
use crate::id::{Attempt, InstanceId};
use crate::instance::{Machine, Reports, Snapshots};
use crate::link::Mailbox;
use actix::{Actor, Addr, Arbiter};
use futures::future;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

/// The shell of actors.
pub(super) struct Actors {
    arbiters: Vec<Arbiter>,
    own_threads: Vec<Arbiter>,
    job: Addr<JobSupervisor>,
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
    pub(super) fn new(
        arbiters: Vec<Arbiter>,
        job: Addr<JobSupervisor>,
        supervisors: Vec<Addr<ComponentSupervisor>>,
    ) -> Self {
        Self { arbiters, own_threads: Vec::new(), job, supervisors, executors: Vec::new() }
    }

    /// Closes all instances but those that were left behind, then their threads.
    pub(super) async fn shut_down(self, state: &JobState) {
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

    fn reports(&mut self, component: usize, index: usize, attempt: Attempt) -> Arc<dyn Reports> {
        Arc::new(Reporter { supervisor: self.supervisors[component].clone(), index, attempt })
    }

    fn snapshots(
        &mut self,
        component: usize,
        index: usize,
        attempt: Attempt,
    ) -> Arc<dyn Snapshots> {
        Arc::new(SnapshotPost { job: self.job.clone(), at: (component, index), attempt })
    }

    fn drive(
        &mut self,
        _: usize,
        id: &InstanceId,
        place: Place,
        reports: Arc<dyn Reports>,
        machine: Box<dyn Machine>,
    ) -> Arc<dyn Mailbox> {
        if let Some(running) = self.executors.iter().find(|running| running.id == *id) {
            post(&running.address, Replace { machine, reports });
            return Arc::new(ExecutorMailbox(running.address.clone().recipient()));
        }
        let (arbiter, place, own_thread) = match place {
            Place::Arbiter(i) => (&self.arbiters[i], i, false),
            Place::OwnThread => {
                self.own_threads.push(Arbiter::new());
                let last = self.own_threads.len() - 1;
                (&self.own_threads[last], last, true)
            }
        };
        let executor = Executor::new(id.clone(), machine, reports);
        let address = Executor::start_in_arbiter(&arbiter.handle(), move |_| executor);
        let mailbox = Arc::new(ExecutorMailbox(address.clone().recipient()));
        self.executors.push(Running { id: id.clone(), place, own_thread, address });
        mailbox
    }
}
