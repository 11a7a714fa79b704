//! [`Recording`]: the checkpoints of a job that runs, as the job's supervisor carries them out.

use super::checkpoints::{
    CommitReport, CommitThread, Coordination, Order, Writer, WriterOrder, WriterReport,
};
use super::state::JobState;
use crate::checkpoint::{PendingCommit, Restored, Snapshot};
use crate::component::OnError;
use crate::id::CheckpointId;
use crate::time::{EventTime, Moment};
use futures::channel::oneshot;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What is to be done that only the job's supervisor can do.
#[derive(Debug)]
pub(crate) enum RecordingOrder {
    /// Make the machines of a region anew, with what they go on from.
    Make {
        region: usize,
        restored: Option<Box<Restored>>,
    },
    /// The sources close their links.
    Close,
    /// Nobody needs to go on.
    Halt,
    /// The job fails: because of this sink, or of no component in particular.
    FailCommit(PendingCommit, String),
    Fail(String),
}

/// A region on its way back.
#[derive(Debug, Default)]
struct Rewinding {
    /// Its pause is over.
    rested: bool,
    /// What it goes on from was read; or it begins anew.
    restored: Option<Option<Box<Restored>>>,
}

/// Who waits for a savepoint.
pub(crate) type Asked = oneshot::Sender<Result<CheckpointId, String>>;

/// Checkpoints as they are carried out.
#[derive(Debug)]
pub(crate) struct Recording {
    state: Arc<JobState>,
    coordination: Coordination,
    helpers: Box<dyn Helpers>,
    rewinding: HashMap<usize, Rewinding>,
    asked: Vec<(String, Asked)>,
    orders: Vec<RecordingOrder>,
}

impl Recording {
    pub(crate) fn new(
        state: Arc<JobState>,
        coordination: Coordination,
        helpers: Box<dyn Helpers>,
    ) -> Self {
        let (rewinding, asked, orders) = (HashMap::new(), Vec::new(), Vec::new());
        Self { state, coordination, helpers, rewinding, asked, orders }
    }

    /// What the supervisor is to do.
    pub(crate) fn take_orders(&mut self) -> Vec<RecordingOrder> {
        std::mem::take(&mut self.orders)
    }

    /// When it has something to do, if nothing happens before.
    pub(crate) fn next_time(&self) -> Option<Moment> {
        self.coordination.next_time()
    }

    pub(crate) fn on_time(&mut self, now: Moment) {
        self.coordination.on_time(now);
        self.carry_out();
    }

    pub(crate) fn on_running(&mut self, now: Moment) {
        self.coordination.on_running(now);
        self.carry_out();
    }

    pub(crate) fn on_rewound(&mut self, region: usize, now: Moment) {
        self.coordination.on_rewound(region, now);
        self.carry_out();
    }

    pub(crate) fn end(&mut self, stop: bool, now: Moment) {
        self.coordination.end(stop, now);
        self.carry_out();
    }

    pub(crate) fn savepoint(&mut self, name: String, asked: Asked, now: Moment) {
        self.asked.push((name.clone(), asked));
        self.coordination.savepoint(name, now);
        self.carry_out();
    }

    pub(crate) fn on_snapshot(&mut self, at: (usize, usize), snapshot: Snapshot, day: EventTime) {
        self.coordination.on_snapshot(at, snapshot, day);
        self.carry_out();
    }

    /// An instance of an attempt that has failed gives its part.
    pub(crate) fn on_stale(&mut self, at: (usize, usize), snapshot: Snapshot) {
        self.coordination.on_stale(at, snapshot);
        self.carry_out();
    }

    pub(crate) fn on_failure(&mut self, region: usize, now: Moment) {
        self.rewinding.insert(region, Rewinding::default());
        self.coordination.on_failure(region, now);
        self.carry_out();
    }

    /// The pause of a region that goes back is over.
    pub(crate) fn on_rested(&mut self, region: usize) {
        if let Some(rewinding) = self.rewinding.get_mut(&region) {
            rewinding.rested = true;
            self.make_if_ready(region);
        }
    }

    pub(crate) fn on_writer(&mut self, report: WriterReport, now: Moment) {
        match report {
            WriterReport::Published(published) => self.coordination.on_published(published, now),
            WriterReport::Read { region, read } => match read {
                Ok(restored) => self.go_on_from(region, Some(restored)),
                Err(problem) => self.orders.push(RecordingOrder::Fail(format!(
                    "the last checkpoint could not be read: {problem}"
                ))),
            },
            WriterReport::Died => {
                let problem = "the writer of checkpoints died".to_owned();
                self.orders.push(RecordingOrder::Fail(problem));
            }
        }
        self.carry_out();
    }

    pub(crate) fn on_committer(&mut self, report: CommitReport) {
        match report {
            CommitReport::Committed(id) => self.coordination.on_committed(id),
            CommitReport::GaveUp { commit, problem, tries } => {
                let problem = format!("{problem} (tried {tries} times)");
                match self.state.on_commit_error(&commit.component) {
                    OnError::Fail => self.orders.push(RecordingOrder::FailCommit(commit, problem)),
                    _ => {
                        if self.coordination.on_left_out(&commit) {
                            self.state.leave_out(&commit, &problem);
                        }
                    }
                }
            }
            CommitReport::Died => {
                let problem = "the committer died".to_owned();
                self.orders.push(RecordingOrder::Fail(problem));
            }
        }
        self.carry_out();
    }

    fn go_on_from(&mut self, region: usize, restored: Option<Box<Restored>>) {
        if let Some(rewinding) = self.rewinding.get_mut(&region) {
            rewinding.restored = Some(restored);
            self.make_if_ready(region);
        }
    }

    fn make_if_ready(&mut self, region: usize) {
        let ready = |rewinding: &Rewinding| rewinding.rested && rewinding.restored.is_some();
        if self.rewinding.get(&region).is_some_and(ready)
            && let Some(restored) = self.rewinding.remove(&region).and_then(|r| r.restored)
        {
            self.orders.push(RecordingOrder::Make { region, restored });
        }
    }

    fn carry_out(&mut self) {
        for order in self.coordination.take_orders() {
            match order {
                Order::Trigger(trigger) => {
                    self.state.sources().for_each(|source| source.control().trigger(trigger));
                }
                Order::Abort(id) => {
                    self.state.instances().for_each(|instance| instance.control().abort(id));
                }
                Order::Put(segments) => self.helpers.write(WriterOrder::Put(segments)),
                Order::Discard => self.helpers.write(WriterOrder::Discard),
                Order::Publish(manifest) => self.helpers.write(WriterOrder::Publish(manifest)),
                Order::Commit(commits) => self.helpers.commit(commits),
                Order::Forget(commits) => self.helpers.discard(commits),
                Order::Confirm(id) => self.helpers.write(WriterOrder::Confirm(id)),
                Order::Rewind { region, to: None } => self.go_on_from(region, None),
                Order::Rewind { region, to: Some(manifest) } => {
                    let checkpoint = manifest.id;
                    self.helpers.write(WriterOrder::Read { region, checkpoint });
                }
                Order::Tell { savepoint, result } => {
                    if let Some(i) = self.asked.iter().position(|(name, _)| *name == savepoint) {
                        // Nobody waits any more: then nobody asks for it.
                        drop(self.asked.remove(i).1.send(result));
                    }
                }
                Order::Close => self.orders.push(RecordingOrder::Close),
                Order::Halt => self.orders.push(RecordingOrder::Halt),
                Order::Fail(problem) => self.orders.push(RecordingOrder::Fail(problem)),
            }
        }
        let last = self.coordination.completed().map(|manifest| manifest.id);
        self.state.set_checkpoints(self.coordination.costs(), last);
    }

    /// The job is over: what was ordered is done, and nothing more.
    pub(crate) fn quit(self, patience: Duration) {
        if !self.helpers.quit(patience) {
            tracing::warn!(job = self.state.name, "writing of checkpoints is left behind");
        }
    }
}

/// Who writes and commits.
pub(crate) trait Helpers: fmt::Debug {
    fn write(&mut self, order: WriterOrder);

    /// Orders commits: all that are not confirmed.
    fn commit(&mut self, commits: Vec<PendingCommit>);

    /// Orders to remove what is never to be committed.
    fn discard(&mut self, commits: Vec<PendingCommit>);

    /// Waits until what was ordered is done, at most so long. Says whether it is.
    fn quit(self: Box<Self>, patience: Duration) -> bool;
}

/// The writer and the committer as threads.
#[derive(Debug)]
pub(super) struct Threads {
    pub(super) writer: Writer,
    pub(super) committer: CommitThread,
}

impl Helpers for Threads {
    fn write(&mut self, order: WriterOrder) {
        self.writer.order(order);
    }

    fn commit(&mut self, commits: Vec<PendingCommit>) {
        self.committer.commit(commits);
    }

    fn discard(&mut self, commits: Vec<PendingCommit>) {
        self.committer.discard(commits);
    }

    fn quit(self: Box<Self>, patience: Duration) -> bool {
        let committed = self.committer.quit(patience);
        self.writer.quit(patience) && committed
    }
}
