//! Events that are looked at before they are applied: so that one which the component fails at is known
//! when it comes again, and can be kept.

use super::{Current, OperatorMachine, note};
use crate::channel::DEAD_LETTERS;
use crate::component::OnError;
use crate::event::{DeadLetter, Event};
use crate::guard::{catch, drop_quietly};
use crate::instance::failure::{Cause, UserError};
use crate::instance::logic::Logic;
use crate::instance::offences::{Judgement, Place};
use crate::key::key_hash;

/// What was seen of the event at hand.
#[derive(Debug, Default)]
pub(super) struct Examined {
    /// How many were processed before it.
    after: Option<u64>,
    encoded: Option<Vec<u8>>,
    /// Its content, and which with this content it is, if that is counted.
    content: Option<(u64, Option<Place>)>,
}

impl<L: Logic> OperatorMachine<L> {
    /// Whether events are looked at, and then taken one by one.
    pub(super) fn looks(&self) -> bool {
        self.watch.is_some() || self.keeps_dead() && self.seat.saving.is_none()
    }

    fn keeps_dead(&self) -> bool {
        self.seat.on_error == Some(OnError::DeadLetter)
    }

    /// Looks at the next event. Says whether it was one to be left out, which is done then.
    pub(super) fn examine(&mut self) -> bool {
        let Some(Current { link, events: batch, .. }) = &mut self.current else { return false };
        let Some(event) = batch.as_ref().and_then(|batch| batch.first()) else { return false };
        if self.examined.after == Some(self.processed) {
            // There was no room for it then: it is not another one with this content.
            return false;
        }
        let encoded = catch(|| event.encoded()).ok().flatten();
        let stream = self.seat.stream_of[link.as_usize()] as u64;
        let content = encoded.as_ref().map(|bytes| key_hash(&(stream, bytes.as_slice())));
        let place = content.and_then(|content| self.watch.as_mut()?.count(content));
        let after = Some(self.processed);
        self.examined = Examined { after, encoded, content: content.map(|c| (c, place)) };
        let (Some(content), Some(place)) = (content, place) else { return false };
        let Some((cause, tries)) = self.seat.offences.left_out(content, place) else {
            return false;
        };
        if let Some(batch) = batch {
            drop_quietly(batch.remove(0));
        }
        self.processed += 1;
        self.seat.counters.failed.add(1);
        let cause = Cause::Error(UserError::known(format!("{cause} (tried {tries} times)")));
        note(&self.seat, self.processed, || cause.clone());
        if self.keeps_dead() {
            self.bury(&cause, tries);
        }
        true
    }

    /// Gives the event at hand to the dead letters.
    pub(super) fn bury(&mut self, cause: &Cause, tries: u32) {
        if !self.keeps_dead() {
            return;
        }
        self.seat.counters.dead.add(1);
        let id = &self.seat.ctx.instance;
        let encoded = self.examined.encoded.take().unwrap_or_default();
        let (component, cause) = (id.component.as_str(), cause.to_string());
        let letter = DeadLetter::new(component, id.index, cause, tries, encoded);
        self.output.emitter.emit_to(DEAD_LETTERS, letter);
        // It is no part of the next call, which may fail too.
        if self.output.emitter.settle() {
            self.output.route();
        }
        self.output.note();
    }

    /// The component has failed at the event at hand, in a job with checkpoints: says what becomes of it.
    pub(super) fn judge(&mut self, cause: &Cause) -> Judgement {
        // Without a word on it the job fails.
        let on_error = self.seat.on_error.unwrap_or(OnError::Fail);
        let content = self.examined.content.take();
        self.seat.offences.failed(content, &text(cause), on_error)
    }
}

/// What happened, as an error of user code has it.
pub(super) fn text(cause: &Cause) -> String {
    match cause {
        Cause::Error(error) => error.to_string(),
        other => other.to_string(),
    }
}
