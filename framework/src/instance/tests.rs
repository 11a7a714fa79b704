//! What the tests of machines have at hand: the other ends of everything that a machine holds.

use super::{Report, Reports, Seat};
use crate::checkpoint::Barrier;
use crate::component::{Context, Split};
use crate::id::{Attempt, CheckpointId, InstanceId, LinkIndex};
use crate::link::{Control, Frame, LinkLimits, LinkSender, LinkState, Mailbox, Pace};
use crate::metrics::Counters;
use crate::time::ManualClock;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

/// A mailbox that is emptied by hand.
#[derive(Default)]
pub(super) struct Inbox(Mutex<VecDeque<Frame>>);

impl Mailbox for Inbox {
    fn deliver(&self, frame: Frame) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(frame);
    }
}

impl Inbox {
    pub(super) fn pop(&self) -> Option<Frame> {
        self.0.lock().unwrap().pop_front()
    }

    /// What has come since the last look, with its control elements; the credits go home.
    pub(super) fn open_all(&self) -> Vec<Result<i64, Control>> {
        let mut seen = Vec::new();
        while let Some(frame) = self.pop() {
            let (batch, control, _credit) = frame.open::<i64>();
            seen.extend(batch.into_iter().flat_map(|b| *b).map(Ok));
            seen.extend(control.map(Err));
        }
        seen
    }
}

/// Reports, as text.
#[derive(Default)]
pub(super) struct Notes(Mutex<Vec<String>>);

impl Reports for Notes {
    fn report(&self, report: Report) {
        let text = match report {
            Report::Ready => "ready".to_owned(),
            Report::Broken(failure, comeback) => format!("broken: {failure}, {comeback}"),
            Report::Restarted => "restarted".to_owned(),
            Report::Lost(failure) => format!("lost: {failure}"),
            Report::Exhausted => "exhausted".to_owned(),
            Report::Ended => "ended".to_owned(),
        };
        self.0.lock().unwrap().push(text);
    }
}

impl Notes {
    pub(super) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Counts how often a machine was woken.
#[derive(Default)]
pub(super) struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Wakes {
    pub(super) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

/// The seat of the only instance of a component, with `links` that end in it.
pub(super) fn seat(component: &str, links: usize, clock: &ManualClock, notes: &Arc<Notes>) -> Seat {
    Seat {
        ctx: Context {
            job: "bench".into(),
            instance: InstanceId::new(component, 0),
            parallelism: 1,
            split: Split { index: 0, count: 1 },
            clock: Arc::new(clock.clone()),
            draining: Arc::default(),
            checkpointed: false,
            owner: "bench".into(),
        },
        attempt: Attempt::FIRST,
        links,
        pace: Arc::default(),
        control: Arc::default(),
        counters: Arc::default(),
        on_error: None,
        offences: Arc::default(),
        streams: [Arc::from("bench")].into(),
        stream_of: vec![0; links].into(),
        reports: Arc::clone(notes) as Arc<dyn Reports>,
        saving: None,
    }
}

/// A barrier of a job's first checkpoints.
pub(super) fn barrier(id: u64) -> Barrier {
    Barrier { id: CheckpointId(id), since: None }
}

/// A link to a mailbox, whose receiver is fast, from the instance that counts here.
pub(super) fn link_to(
    mailbox: &Arc<Inbox>,
    index: u32,
    limits: LinkLimits,
    counters: &Arc<Counters>,
) -> LinkSender {
    let pace = Arc::new(Pace::default());
    pace.publish(1);
    LinkSender {
        state: LinkState::new(limits, pace),
        mailbox: Arc::clone(mailbox) as Arc<dyn Mailbox>,
        index: LinkIndex(index),
        attempt: Attempt::FIRST,
        counters: Arc::clone(counters),
    }
}
