//! [`Offences`]: events that a component has failed at, and which of them are left out. Pure.
//!
//! A region that has failed goes back to the last checkpoint, and the event that it failed at comes again. It
//! is known by its content (the stream that it is of, and its bytes) and by its place: the how-manieth of that
//! content it is, of those that its instance gets after the checkpoint. So after a failure the component looks
//! at its events one by one, until a checkpoint is behind it:
//!
//! ```text
//! try 1   nobody looked: at some event
//! try 2   at content c
//! try 3   at the k-th c that an instance gets after the checkpoint
//!         the job fails, or the k-th c is left out when it comes to that instance again
//! ```

use crate::component::OnError;
use crate::id::CheckpointId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often an event is tried.
pub(crate) const TRIES: u32 = 3;

/// Which of the events with some content one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    instance: usize,
    /// Of those that the instance gets after the checkpoint, from 1.
    nth: u64,
}

#[derive(Clone, Debug)]
struct Offence {
    content: u64,
    /// Not known before those with this content are counted.
    place: Option<Place>,
    tries: u32,
    cause: String,
    left_out: bool,
}

#[derive(Debug, Default)]
struct Record {
    /// After which checkpoint occurrences are counted.
    after: Option<CheckpointId>,
    /// A failure at an event that nobody had looked at.
    unknown: Option<String>,
    offences: Vec<Offence>,
}

/// The events that the instances of a component have failed at. It outlives them.
#[derive(Debug, Default)]
pub(crate) struct Offences(Mutex<Record>);

/// What becomes of a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It is tried again; `known` if that cannot go on for ever.
    Again { known: bool },
    /// It is left out when it comes again.
    LeaveOut,
    /// The job fails: it was tried this often.
    Fail(u32),
}

impl Offences {
    fn lock(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An instance goes on from `checkpoint`. Gives what it has to look for, if anything.
    pub(crate) fn watch(&self, checkpoint: Option<CheckpointId>, instance: usize) -> Option<Watch> {
        let mut record = self.lock();
        if record.after != checkpoint {
            record.after = checkpoint;
            // What was left out lies before it.
            record.offences.retain(|offence| !offence.left_out);
            record.offences.iter_mut().for_each(|offence| offence.place = None);
        }
        let suspected = record.unknown.is_some() || !record.offences.is_empty();
        suspected.then(|| Watch {
            instance,
            counts: record.offences.iter().map(|offence| (offence.content, 0)).collect(),
        })
    }

    /// An instance has failed at an event: at one that nobody looked at, or at one with this content, and at this
    /// place, if that was counted.
    pub(crate) fn failed(
        &self,
        event: Option<(u64, Option<Place>)>,
        cause: &str,
        on_error: OnError,
    ) -> Judgement {
        let mut record = self.lock();
        let Some((content, place)) = event else {
            record.unknown = Some(cause.to_owned());
            return Judgement::Again { known: false };
        };
        let first = record.unknown.take().is_some_and(|unknown| unknown == cause);
        let is_it = |offence: &&mut Offence| {
            let same = offence.place.is_none() || offence.place == place;
            offence.content == content && !offence.left_out && same
        };
        let offence = match record.offences.iter_mut().find(is_it) {
            Some(offence) => {
                offence.tries += 1;
                offence.place = place;
                offence
            }
            None => {
                let (tries, cause) = (if first { 2 } else { 1 }, cause.to_owned());
                let offence = Offence { content, place, tries, cause, left_out: false };
                record.offences.push(offence);
                return Judgement::Again { known: first };
            }
        };
        match on_error {
            _ if offence.tries < TRIES || offence.place.is_none() => {
                Judgement::Again { known: true }
            }
            OnError::Fail => Judgement::Fail(offence.tries),
            OnError::Skip | OnError::DeadLetter => {
                offence.left_out = true;
                Judgement::LeaveOut
            }
        }
    }

    /// Why the event with this content at this place is left out, and how often it was tried; `None` if it
    /// is not.
    pub(crate) fn left_out(&self, content: u64, place: Place) -> Option<(String, u32)> {
        let record = self.lock();
        let is_it = |o: &&Offence| o.left_out && o.content == content && o.place == Some(place);
        record.offences.iter().find(is_it).map(|offence| (offence.cause.clone(), offence.tries))
    }

    /// A checkpoint is behind an instance that looked, and with it what the component had failed at.
    pub(crate) fn passed(&self) {
        let mut record = self.lock();
        record.unknown = None;
        record.offences.clear();
    }
}

/// What an instance counts while it looks.
#[derive(Debug)]
pub(crate) struct Watch {
    instance: usize,
    counts: HashMap<u64, u64>,
}

impl Watch {
    /// An event with this content comes. Gives its place, if they are counted.
    pub(crate) fn count(&mut self, content: u64) -> Option<Place> {
        let count = self.counts.get_mut(&content)?;
        *count += 1;
        Some(Place { instance: self.instance, nth: *count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FIVE: Option<CheckpointId> = Some(CheckpointId(5));

    /// Runs a component over `contents` again and again, which always fails at those places, until it comes
    /// through or is given up. Gives the places that were left out, and how often it was run.
    fn run(contents: &[u64], fails: &[usize], on_error: OnError) -> (Vec<usize>, u32, bool) {
        let offences = Offences::default();
        for runs in 1.. {
            let mut watch = offences.watch(FIVE, 0);
            let mut left_out = Vec::new();
            let mut failed = false;
            for (place, content) in contents.iter().enumerate() {
                let event = watch.as_mut().map(|watch| (*content, watch.count(*content)));
                if let Some((content, Some(at))) = event
                    && offences.left_out(content, at).is_some()
                {
                    left_out.push(place);
                    continue;
                }
                if fails.contains(&place) {
                    if let Judgement::Fail(_) = offences.failed(event, "no", on_error) {
                        return (left_out, runs, false);
                    }
                    failed = true;
                    break;
                }
            }
            if !failed {
                return (left_out, runs, true);
            }
            assert!(runs < 1_000, "it never ends");
        }
        unreachable!("the runs have no end")
    }

    proptest! {
        /// Exactly the events that fail are left out, also among others with the same content.
        #[test]
        fn what_fails_is_left_out_and_nothing_else(
            contents in prop::collection::vec(0_u64..3, 1..20),
            fails in prop::collection::btree_set(0_usize..20, 0..4),
        ) {
            let fails: Vec<usize> = fails.into_iter().filter(|f| *f < contents.len()).collect();
            let (left_out, runs, through) = run(&contents, &fails, OnError::Skip);
            prop_assert!(through);
            prop_assert_eq!(left_out, fails.clone());
            prop_assert!(runs as usize <= 1 + fails.len() * 4, "{} runs", runs);
        }
    }

    #[test]
    fn an_event_is_tried_three_times_and_then_the_job_fails() {
        assert_eq!(run(&[1, 2, 3], &[1], OnError::Fail), (vec![], 3, false));
        assert_eq!(run(&[1, 2, 3], &[1], OnError::DeadLetter), (vec![1], 4, true));
    }

    #[test]
    fn tries_outlive_a_checkpoint_and_places_do_not() {
        let offences = Offences::default();
        offences.failed(None, "no", OnError::Skip);
        let mut watch = offences.watch(FIVE, 0).unwrap();
        assert_eq!(watch.count(7), None);
        let judged = offences.failed(Some((7, None)), "no", OnError::Skip);
        assert_eq!(judged, Judgement::Again { known: true });
        let mut watch = offences.watch(Some(CheckpointId(6)), 0).unwrap();
        let first = watch.count(7);
        assert_eq!(first, Some(Place { instance: 0, nth: 1 }));
        let judged = offences.failed(Some((7, first)), "no", OnError::Skip);
        assert_eq!(judged, Judgement::LeaveOut);
        assert_eq!(offences.left_out(7, first.unwrap()), Some(("no".to_owned(), 3)));
        // Behind the next checkpoint it is an event of the past, and another may be the first 7.
        assert!(offences.watch(Some(CheckpointId(7)), 0).is_none());
        assert_eq!(offences.left_out(7, first.unwrap()), None);
    }

    #[test]
    fn what_is_never_the_same_is_never_known() {
        let offences = Offences::default();
        let unknown = Judgement::Again { known: false };
        assert_eq!(offences.failed(None, "no", OnError::Skip), unknown);
        assert_eq!(offences.failed(None, "no", OnError::Skip), unknown);
        let first = offences.failed(Some((1, None)), "no", OnError::Skip);
        assert_eq!(first, Judgement::Again { known: true });
        for content in 2..10 {
            assert_eq!(offences.failed(Some((content, None)), "no", OnError::Skip), unknown);
        }
        offences.passed();
        assert!(offences.watch(FIVE, 0).is_none());
    }
}
