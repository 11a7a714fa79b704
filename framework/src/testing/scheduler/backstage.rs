//! The writer and the committer, as steps of the run.

use crate::checkpoint::PendingCommit;
use crate::runtime::{
    CommitReport, Committers, Helpers, Refused, Retry, WriterOrder, WriterReport, Writing,
};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The writer and the committer, whose orders are carried out when the seed says so.
#[derive(Clone, Debug, Default)]
pub(super) struct Backstage(Arc<Mutex<Orders>>);

#[derive(Debug, Default)]
pub(super) struct Orders {
    pub(super) machinery: Option<(Writing, Committers)>,
    pub(super) writes: VecDeque<WriterOrder>,
    /// The last order of commits has in it what was not confirmed of those before.
    pub(super) commits: Option<Vec<PendingCommit>>,
    tries: u32,
}

impl Backstage {
    pub(super) fn lock(&self) -> MutexGuard<'_, Orders> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Helpers for Backstage {
    fn write(&mut self, order: WriterOrder) {
        self.lock().writes.push_back(order);
    }

    fn commit(&mut self, commits: Vec<PendingCommit>) {
        let mut orders = self.lock();
        (orders.commits, orders.tries) = (Some(commits), 0);
    }

    fn discard(&mut self, commits: Vec<PendingCommit>) {
        if let Some((_, committers)) = &mut self.lock().machinery {
            commits.iter().for_each(|commit| committers.discard(commit));
        }
    }

    fn quit(self: Box<Self>, _: Duration) -> bool {
        true
    }
}

impl Orders {
    /// Carries out the oldest order of the writer, or sweeps if there is none.
    pub(super) fn write(&mut self) -> Option<WriterReport> {
        let (writing, _) = self.machinery.as_mut()?;
        let order = self.writes.pop_front()?;
        let open = matches!(order, WriterOrder::Put(_) | WriterOrder::Confirm(_));
        let report = writing.carry_out(order);
        if !open && self.writes.is_empty() {
            while writing.sweep() {}
        }
        report
    }

    pub(super) fn commit(&mut self) -> Option<CommitReport> {
        let (_, committers) = self.machinery.as_mut()?;
        let commits = self.commits.take()?;
        for commit in &commits {
            if let Err(Refused { problem, for_good }) = committers.commit(commit) {
                self.tries += 1;
                let tries = self.tries;
                if for_good || tries >= Retry::default().tries {
                    return Some(CommitReport::GaveUp { commit: commit.clone(), problem, tries });
                }
                self.commits = Some(commits);
                return None;
            }
        }
        commits.iter().map(|commit| commit.checkpoint).max().map(CommitReport::Committed)
    }
}
