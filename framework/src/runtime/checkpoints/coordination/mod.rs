//! [`Coordination`]: what is done about checkpoints. Pure.

use crate::checkpoint::{
    Barrier, ComponentManifest, Manifest, ManifestKind, Pending, PendingCommit, Segments, Snapshot,
};
use crate::id::CheckpointId;
use crate::instance::Trigger;
use crate::job::Checkpoints;
use crate::time::{EventTime, Moment};
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// What the shell is to do.
#[derive(Debug)]
pub(crate) enum Order {
    /// Every source is to send a barrier.
    Trigger(Trigger),
    /// The checkpoints up to this one are given up: nobody is to wait for their barriers.
    Abort(CheckpointId),
    /// These belong into a checkpoint that is on its way.
    Put(Segments),
    /// What was put of the checkpoint under way is not needed.
    Discard,
    /// Everything of this checkpoint was put.
    Publish(Box<Manifest>),
    /// These are to become visible.
    Commit(Vec<PendingCommit>),
    /// Everything up to this checkpoint has.
    Confirm(CheckpointId),
    /// These never will: their events come again.
    Forget(Vec<PendingCommit>),
    /// These instances go back to this checkpoint, or begin anew where there is none.
    Rewind { region: usize, to: Option<Arc<Manifest>> },
    /// This is what has become of a savepoint: its number, or why there is none.
    Tell { savepoint: String, result: Result<CheckpointId, String> },
    /// Everything is committed: the sources close their links.
    Close,
    /// Nothing is left that would have to go on: the job was to stop and has, or is through and somebody
    /// in it has failed since.
    Halt,
    /// The job cannot come to its end.
    Fail(String),
}

/// What the manifests of a job have in common.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    pub(crate) job: String,
    pub(crate) run: String,
    pub(crate) delivery: String,
    pub(crate) key_groups: u16,
    /// Without parts.
    pub(crate) components: Vec<ComponentManifest>,
    /// Of each component its region.
    pub(crate) regions: Vec<usize>,
}

/// What checkpoints have cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Costs {
    pub(crate) completed: u64,
    pub(crate) failed: u64,
    /// From the trigger to the publication: of the first one, and the longest.
    pub(crate) first: Duration,
    pub(crate) worst: Duration,
    /// The longest time that an instance took to save itself, and that one held links for it.
    pub(crate) stall: Duration,
    pub(crate) aligned: Duration,
}

/// Why a checkpoint is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reason {
    Periodic,
    Savepoint(String),
    Stop,
    Finish,
}

#[derive(Debug)]
struct Flight {
    id: CheckpointId,
    pending: Pending,
    reason: Reason,
    since: Option<Arc<Manifest>>,
    begun: Moment,
    /// What sinks have prepared for it, and for those that were given up before it; once it is being
    /// published.
    publishing: Option<Vec<PendingCommit>>,
}

/// The checkpoints of one job.
#[derive(Debug)]
pub(crate) struct Coordination {
    settings: Checkpoints,
    template: Template,
    /// The number of the next one.
    next: CheckpointId,
    /// The last one that is published.
    completed: Option<Arc<Manifest>>,
    flight: Option<Flight>,
    /// What sinks have prepared and nobody has confirmed to be committed.
    unconfirmed: Vec<PendingCommit>,
    /// What sinks have prepared for checkpoints that were given up: the job has gone on, so it belongs to
    /// the next one.
    carried: Vec<PendingCommit>,
    savepoints: VecDeque<String>,
    /// How the job is to end.
    ending: Option<Reason>,
    /// The checkpoint that it ends with is published, and was taken for this reason.
    last: Option<Reason>,
    /// Something has failed since.
    broken: bool,
    /// Tries for the last checkpoint that have failed.
    failed_in_row: u32,
    /// All instances are set up.
    running: bool,
    /// Regions that have failed and wait until it is known where they go back to.
    settling: Vec<usize>,
    /// Regions that are being set up again.
    rewinding: BTreeSet<usize>,
    due: Moment,
    costs: Costs,
    orders: VecDeque<Order>,
}

impl Coordination {
    /// Tries for a checkpoint that a job is to end with.
    const TRIES: u32 = 20;
    /// After the first of them; after each as long again, and no longer than the longest.
    const PAUSE: Duration = Duration::from_millis(100);
    const LONGEST: Duration = Duration::from_secs(2);

    /// `restored` is what the job goes on from; `next` a number that no checkpoint has had.
    pub(crate) fn new(
        settings: Checkpoints,
        template: Template,
        restored: Option<Arc<Manifest>>,
        next: CheckpointId,
    ) -> Self {
        Self {
            settings,
            template,
            next,
            completed: restored,
            flight: None,
            unconfirmed: Vec::new(),
            carried: Vec::new(),
            savepoints: VecDeque::new(),
            ending: None,
            last: None,
            broken: false,
            failed_in_row: 0,
            running: false,
            settling: Vec::new(),
            rewinding: BTreeSet::new(),
            due: Moment::START,
            costs: Costs::default(),
            orders: VecDeque::new(),
        }
    }

    /// What is to be done, in this order.
    pub(crate) fn take_orders(&mut self) -> VecDeque<Order> {
        std::mem::take(&mut self.orders)
    }

    pub(crate) fn costs(&self) -> Costs {
        self.costs
    }

    /// The last one that is published.
    pub(crate) fn completed(&self) -> Option<&Arc<Manifest>> {
        self.completed.as_ref()
    }

    /// When it has something to do, if nothing happens before.
    pub(crate) fn next_time(&self) -> Option<Moment> {
        match &self.flight {
            Some(flight) if flight.publishing.is_none() => {
                Some(flight.begun + self.settings.timeout)
            }
            Some(_) => None,
            None if self.is_open() => Some(self.due),
            None => None,
        }
    }

    /// Whether a checkpoint may begin.
    fn is_open(&self) -> bool {
        let undisturbed = self.settling.is_empty() && self.rewinding.is_empty();
        self.running && undisturbed && self.flight.is_none() && self.last.is_none()
    }

    /// All instances are set up for the first time.
    pub(crate) fn on_running(&mut self, now: Moment) {
        self.running = true;
        self.due = now + self.settings.every;
        self.begin_if_wanted(now);
    }

    /// Time has passed.
    pub(crate) fn on_time(&mut self, now: Moment) {
        let timeout = self.settings.timeout;
        if self.flight.as_ref().is_some_and(|f| f.publishing.is_none() && f.begun + timeout <= now)
        {
            self.give_up("it was not complete in time", now);
            self.begin_if_wanted(now);
        }
        if self.is_open() && self.due <= now {
            self.begin(now);
        }
    }

    /// The job is to come to its end with a checkpoint: when its sources are exhausted, or (`stop`) where
    /// it is.
    pub(crate) fn end(&mut self, stop: bool, now: Moment) {
        self.ending = Some(if stop { Reason::Stop } else { Reason::Finish });
        if self.rewinding.is_empty() {
            self.begin_if_wanted(now);
        } else {
            self.stop_where_it_is();
        }
    }

    /// A checkpoint that stays is to be taken.
    pub(crate) fn savepoint(&mut self, name: String, now: Moment) {
        self.savepoints.push_back(name);
        self.begin_if_wanted(now);
    }

    fn begin_if_wanted(&mut self, now: Moment) {
        let retries = self.failed_in_row > 0;
        let wanted = self.ending.is_some() && !retries || !self.savepoints.is_empty();
        if self.is_open() && wanted {
            self.begin(now);
        }
    }

    fn begin(&mut self, now: Moment) {
        let reason = match (self.savepoints.pop_front(), &self.ending) {
            (Some(name), _) => Reason::Savepoint(name),
            (None, Some(ending)) => ending.clone(),
            (None, None) => Reason::Periodic,
        };
        let id = self.next;
        self.next = CheckpointId(id.0 + 1);
        self.due = now + self.settings.every;
        let instances = self.template.components.iter().map(|c| c.parallelism as usize);
        let pending = Pending::new(id, instances);
        let since = self.completed.clone();
        let barrier = Barrier { id, since: since.as_ref().map(|since| since.id) };
        let is_last = reason == Reason::Stop;
        self.flight = Some(Flight { id, pending, reason, since, begun: now, publishing: None });
        self.orders.push_back(Order::Trigger(Trigger { barrier, is_last }));
    }

    /// An instance gives its part.
    pub(crate) fn on_snapshot(
        &mut self,
        at: (usize, usize),
        mut snapshot: Snapshot,
        time_of_day: EventTime,
    ) {
        let name = &self.template.components[at.0].name;
        let flight = self.flight.as_mut().filter(|flight| flight.id == snapshot.id);
        let Some(flight) = flight.filter(|flight| flight.publishing.is_none()) else {
            // Of one that was given up.
            self.carried.extend(snapshot.commit(name, at.1));
            return;
        };
        let segments = flight.pending.add(at, name, snapshot);
        if !segments.is_empty() {
            self.orders.push_back(Order::Put(segments));
        }
        if flight.pending.is_complete() {
            let pending = std::mem::replace(&mut flight.pending, Pending::new(self.next, []));
            self.costs.stall = self.costs.stall.max(pending.took);
            self.costs.aligned = self.costs.aligned.max(pending.aligned);
            let Template { job, run, delivery, key_groups, components, .. } = self.template.clone();
            let mut manifest = Manifest {
                job,
                id: pending.id(),
                kind: match &flight.reason {
                    Reason::Periodic => ManifestKind::Periodic,
                    Reason::Savepoint(name) => ManifestKind::Savepoint(name.clone()),
                    Reason::Stop => ManifestKind::Stopped,
                    Reason::Finish => ManifestKind::Finished,
                },
                taken_at: time_of_day.as_millis(),
                run,
                delivery,
                key_groups,
                components,
                commits: Vec::new(),
            };
            pending.complete(&mut manifest, flight.since.as_deref());
            let mut prepared = std::mem::take(&mut self.carried);
            prepared.append(&mut manifest.commits);
            manifest.commits = self.unconfirmed.clone();
            manifest.commits.extend(prepared.iter().cloned());
            flight.publishing = Some(prepared);
            self.orders.push_back(Order::Publish(Box::new(manifest)));
        }
    }

    /// The store says what has become of a publication.
    pub(crate) fn on_published(&mut self, published: Result<Box<Manifest>, String>, now: Moment) {
        let Some(flight) = self.flight.take_if(|flight| flight.publishing.is_some()) else {
            return;
        };
        match published {
            Ok(manifest) => {
                let took = now.since(flight.begun);
                if self.costs.completed == 0 {
                    self.costs.first = took;
                }
                self.costs.completed += 1;
                self.costs.worst = self.costs.worst.max(took);
                self.failed_in_row = 0;
                match flight.reason {
                    Reason::Periodic => {}
                    Reason::Savepoint(savepoint) => {
                        self.orders.push_back(Order::Tell { savepoint, result: Ok(manifest.id) });
                    }
                    last @ (Reason::Stop | Reason::Finish) => {
                        self.last = Some(last);
                        self.ending = None;
                    }
                }
                // What was confirmed or left out meanwhile stays that.
                self.unconfirmed.extend(flight.publishing.into_iter().flatten());
                self.completed = Some(manifest.into());
                self.commit_or_close();
            }
            Err(problem) => self.on_failed(flight, &problem, now),
        }
        self.settle();
        self.begin_if_wanted(now);
    }

    /// A sink has given up to commit this, and it is left out by policy. Says whether it was not before.
    pub(crate) fn on_left_out(&mut self, commit: &PendingCommit) -> bool {
        let before = self.unconfirmed.len();
        self.unconfirmed.retain(|other| other != commit);
        let is_news = self.unconfirmed.len() < before;
        self.commit_or_close();
        is_news
    }

    /// Everything that was prepared for checkpoints up to `id` is committed, or left out by policy.
    pub(crate) fn on_committed(&mut self, id: CheckpointId) {
        self.unconfirmed.retain(|commit| commit.checkpoint > id);
        self.orders.push_back(Order::Confirm(id));
        self.close_if_committed();
    }

    /// Has what is not confirmed committed; if there is nothing, the job may come to its end.
    fn commit_or_close(&mut self) {
        if self.unconfirmed.is_empty() {
            self.close_if_committed();
        } else {
            self.orders.push_back(Order::Commit(self.unconfirmed.clone()));
        }
    }

    fn close_if_committed(&mut self) {
        if self.unconfirmed.is_empty() {
            match &self.last {
                Some(Reason::Finish) if !self.broken => self.orders.push_back(Order::Close),
                Some(_) => self.orders.push_back(Order::Halt),
                None => {}
            }
        }
    }

    /// An instance of an attempt that has failed gives its part.
    pub(crate) fn on_stale(&mut self, at: (usize, usize), mut snapshot: Snapshot) {
        let commit = snapshot.commit(&self.template.components[at.0].name, at.1);
        self.orders.extend(commit.map(|commit| Order::Forget(vec![commit])));
    }

    /// Something in `region` has failed: the checkpoint under way is given up, and it goes back to the last
    /// one as soon as it is known which that is.
    pub(crate) fn on_failure(&mut self, region: usize, now: Moment) {
        if self.last.is_some() {
            // What is to be saved is: there is nothing to go back for.
            self.broken = true;
            self.close_if_committed();
            return;
        }
        self.failed_in_row = 0;
        // Its sources are not at their end any more.
        self.ending.take_if(|ending| *ending == Reason::Finish);
        self.rewinding.remove(&region);
        self.settling.push(region);
        self.forget(region);
        if self.flight.as_ref().is_some_and(|flight| flight.publishing.is_none()) {
            self.give_up("an instance has failed", now);
        }
        self.settle();
    }

    /// What a region has prepared since the last checkpoint comes again.
    fn forget(&mut self, region: usize) {
        let Template { components, regions, .. } = &self.template;
        let gone = |name: &str| {
            let component = components.iter().position(|component| component.name == name);
            component.is_none_or(|component| regions[component] == region)
        };
        let carried = std::mem::take(&mut self.carried);
        let (forgotten, kept): (Vec<_>, Vec<_>) =
            carried.into_iter().partition(|commit| gone(&commit.component));
        self.carried = kept;
        if !forgotten.is_empty() {
            self.orders.push_back(Order::Forget(forgotten));
        }
    }

    /// A job that is to stop and has something that goes back stops where the last checkpoint has it, as soon
    /// as it is known which that is.
    fn stop_where_it_is(&mut self) {
        if self.flight.is_none() && self.ending == Some(Reason::Stop) {
            self.ending = None;
            self.settling.clear();
            self.orders.push_back(Order::Halt);
        }
    }

    fn settle(&mut self) {
        if !self.settling.is_empty() || !self.rewinding.is_empty() {
            self.stop_where_it_is();
        }
        if self.flight.is_none() {
            for region in std::mem::take(&mut self.settling) {
                self.forget(region);
                self.rewinding.insert(region);
                let to = self.completed.clone();
                self.orders.push_back(Order::Rewind { region, to });
            }
        }
    }

    /// A region that has gone back is set up again.
    pub(crate) fn on_rewound(&mut self, region: usize, now: Moment) {
        self.rewinding.remove(&region);
        self.due = now + self.settings.every;
        self.begin_if_wanted(now);
    }

    /// The checkpoint under way is given up.
    fn give_up(&mut self, problem: &str, now: Moment) {
        let Some(flight) = self.flight.take() else { return };
        self.orders.push_back(Order::Abort(flight.id));
        self.orders.push_back(Order::Discard);
        self.on_failed(flight, problem, now);
    }

    fn on_failed(&mut self, flight: Flight, problem: &str, now: Moment) {
        let prepared = flight.publishing.unwrap_or_else(|| flight.pending.into_commits());
        self.carried.extend(prepared);
        self.costs.failed += 1;
        let checkpoint = flight.id.0;
        tracing::warn!(job = self.template.job, checkpoint, "the checkpoint failed: {problem}");
        match flight.reason {
            Reason::Periodic => {}
            Reason::Savepoint(savepoint) => {
                let result = Err(problem.to_owned());
                self.orders.push_back(Order::Tell { savepoint, result });
            }
            // Its sources are paused, so it stops where the checkpoint before has it.
            Reason::Stop => {
                self.ending = None;
                self.orders.push_back(Order::Halt);
            }
            Reason::Finish => {
                self.failed_in_row += 1;
                if self.failed_in_row >= Self::TRIES {
                    self.ending = None;
                    let problem = format!("its last checkpoint could not be published: {problem}");
                    self.orders.push_back(Order::Fail(problem));
                }
                let pause = Self::PAUSE.saturating_mul(self.failed_in_row);
                self.due = now + pause.min(Self::LONGEST);
            }
        }
    }
}

#[cfg(test)]
mod tests;
