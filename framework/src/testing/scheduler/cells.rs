//! The shell: machines with their mailboxes, and what they tell.

use crate::checkpoint::Snapshot;
use crate::guard::drop_quietly;
use crate::id::{Attempt, InstanceId};
use crate::instance::{Machine, Report, Reports, Snapshots};
use crate::link::{Frame, Mailbox};
use crate::runtime::{Place, Shell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

/// A machine with its mailbox.
pub(super) struct Cell {
    pub(super) machine: Box<dyn Machine>,
    pub(super) mail: Arc<Mail>,
    pub(super) woken: Arc<Woken>,
}

#[derive(Default)]
pub(super) struct Mail(Mutex<VecDeque<Frame>>);

impl Mail {
    pub(super) fn pop(&self) -> Option<Frame> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }
}

impl Mailbox for Mail {
    fn deliver(&self, frame: Frame) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(frame);
    }
}

pub(super) struct Woken(pub(super) AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What instances tell, in the order in which they do.
pub(super) enum Letter {
    Report { component: usize, index: usize, attempt: Attempt, report: Report },
    Snapshot { at: (usize, usize), attempt: Attempt, snapshot: Snapshot },
}

type Inbox = Arc<Mutex<VecDeque<Letter>>>;

struct Reporter {
    inbox: Inbox,
    component: usize,
    index: usize,
    attempt: Attempt,
}

impl Reporter {
    fn post(&self, letter: Letter) {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).push_back(letter);
    }
}

impl Reports for Reporter {
    fn report(&self, report: Report) {
        let Self { component, index, attempt, .. } = *self;
        self.post(Letter::Report { component, index, attempt, report });
    }
}

impl Snapshots for Reporter {
    fn put(&self, snapshot: Snapshot) {
        let Self { component, index, attempt, .. } = *self;
        self.post(Letter::Snapshot { at: (component, index), attempt, snapshot });
    }
}

/// The shell.
#[derive(Default)]
pub(super) struct Cells {
    pub(super) cells: Vec<Cell>,
    ids: Vec<InstanceId>,
    pub(super) letters: Inbox,
}

impl Shell for Cells {
    fn arbiters(&self) -> usize {
        1
    }

    fn reports(&mut self, component: usize, index: usize, attempt: Attempt) -> Arc<dyn Reports> {
        Arc::new(Reporter { inbox: Arc::clone(&self.letters), component, index, attempt })
    }

    fn snapshots(
        &mut self,
        component: usize,
        index: usize,
        attempt: Attempt,
    ) -> Arc<dyn Snapshots> {
        Arc::new(Reporter { inbox: Arc::clone(&self.letters), component, index, attempt })
    }

    fn drive(
        &mut self,
        _: usize,
        id: &InstanceId,
        _: Place,
        _: Arc<dyn Reports>,
        machine: Box<dyn Machine>,
    ) -> Arc<dyn Mailbox> {
        if let Some(i) = self.ids.iter().position(|other| other == id) {
            let cell = &mut self.cells[i];
            let mut old = std::mem::replace(&mut cell.machine, machine);
            old.close();
            drop_quietly(old);
            cell.woken.0.store(true, Ordering::Relaxed);
            return Arc::clone(&cell.mail) as Arc<dyn Mailbox>;
        }
        let mail = Arc::new(Mail::default());
        let woken = Arc::new(Woken(AtomicBool::new(true)));
        self.ids.push(id.clone());
        self.cells.push(Cell { machine, mail: Arc::clone(&mail), woken });
        mail
    }
}
