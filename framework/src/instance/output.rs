//! [`Output`]: all that an instance sends, and when it leaves.

use super::channels::ChannelFan;
use super::edge::Fan;
use super::failure::Failure;
use super::losses::Losses;
use super::meter::SLICE;
use crate::emitter::Emitter;
use crate::event::Event;
use crate::guard::drop_each;
use crate::link::{BatchSize, Control};
use crate::metrics::Counters;
use crate::time::Moment;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

/// The emitter of an instance, with the edges that take its batches.
///
/// A full batch leaves at once. A partial one leaves when the instance has nothing more to read,
/// before a control element, and after eight input frames or a millisecond at the latest.
pub(crate) struct Output<T> {
    pub(crate) emitter: Emitter<T>,
    outlets: Outlets<T>,
    counters: Arc<Counters>,
    /// Events in the emitter that were counted.
    noted: usize,
    frames: u32,
    flushed: Moment,
    /// Events that closures had lost when they were last asked for a failure.
    lost: u64,
}

/// Who subscribes to what an instance emits.
pub(crate) struct Outlets<T> {
    /// To its stream.
    pub(crate) stream: Fan<T>,
    /// To its channels.
    pub(crate) channels: Vec<Box<dyn ChannelFan>>,
    /// Of the closures that a source leads its events through by itself.
    pub(crate) losses: Option<Losses>,
}

impl<T> fmt::Debug for Outlets<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream, channels, .. } = self;
        f.debug_struct("Outlets")
            .field("stream", stream)
            .field("channels", channels)
            .finish_non_exhaustive()
    }
}

impl<T: Event> Output<T> {
    const FRAMES: u32 = 8;
    /// A buffer for more events than this, which one call has filled, is not kept.
    const LARGE: usize = 1 << 14;

    pub(crate) fn new(outlets: Outlets<T>, counters: Arc<Counters>) -> Self {
        let mut this = Self {
            emitter: Emitter::with_room(1),
            outlets,
            counters,
            noted: 0,
            frames: 0,
            flushed: Moment::START,
            lost: 0,
        };
        this.set_limit();
        this
    }

    /// A batch is no larger than what the slowest receiver takes in a frame: what waits here waits
    /// in front of the next control element.
    fn set_limit(&mut self) {
        let channels = self.outlets.channels.iter_mut().map(|channel| channel.most()).min();
        let most = self.outlets.stream.most().min(channels.unwrap_or(usize::MAX));
        self.emitter.set_limit(BatchSize::for_type::<T>().events.min(most));
    }

    /// Counts what was emitted since the last time.
    pub(crate) fn note(&mut self) {
        let emitted = self.emitter.total();
        self.counters.emitted.add((emitted - self.noted) as u64);
        self.noted = emitted;
    }

    /// Routes what was emitted.
    pub(crate) fn route(&mut self) {
        self.note();
        if std::mem::take(&mut self.noted) == 0 {
            return;
        }
        let (buffer, channels) = self.emitter.parts();
        if !buffer.is_empty() {
            self.outlets.stream.push(buffer);
            if buffer.capacity() > Self::LARGE {
                *buffer = Vec::new();
            }
        }
        for slot in channels.slots().iter_mut().filter(|slot| slot.events.len() > 0) {
            let subscribed = &mut self.outlets.channels;
            match subscribed.iter_mut().find(|fan| fan.channel().is(&slot.channel)) {
                Some(fan) => fan.push(&mut *slot.events),
                None => {
                    self.counters.unread.add(slot.events.len() as u64);
                    slot.events.cut(0);
                }
            }
        }
        self.set_limit();
    }

    /// A failure of a closure that is to end the job, once.
    pub(crate) fn take_failure(&mut self) -> Option<Failure> {
        let lost = self.counters.lost_in_steps.get();
        if std::mem::replace(&mut self.lost, lost) == lost {
            return None;
        }
        let channels = &mut self.outlets.channels;
        let failure = self.outlets.losses.as_ref().and_then(Losses::take_failure);
        let failure = failure.or_else(|| self.outlets.stream.take_failure());
        failure.or_else(|| channels.iter_mut().find_map(|channel| channel.take_failure()))
    }

    /// An input frame, or a call of a source, is done.
    pub(crate) fn frame_done(&mut self, now: Moment) {
        self.frames += 1;
        if self.frames >= Self::FRAMES {
            self.flush(now);
        }
    }

    /// Flushes if the last time is a millisecond ago.
    pub(crate) fn flush_if_due(&mut self, now: Moment) {
        if now.since(self.flushed) >= SLICE {
            self.flush(now);
        }
    }

    /// Sends everything that credit allows.
    pub(crate) fn flush(&mut self, now: Moment) {
        self.route();
        self.outlets.stream.flush();
        self.outlets.channels.iter_mut().for_each(|channel| channel.flush());
        self.frames = 0;
        self.flushed = now;
    }

    /// Puts a control element behind everything emitted so far.
    pub(crate) fn control(&mut self, control: Control) {
        self.route();
        self.outlets.stream.push_control(control);
        self.outlets.channels.iter_mut().for_each(|channel| channel.push_control(control));
    }

    /// Whether frames wait for credit; the waker is then woken when some comes home.
    pub(crate) fn is_blocked(&mut self, waker: &Waker) -> bool {
        // Each asks for its own credit, so none may be left out.
        let blocked = self.outlets.stream.is_blocked(waker);
        let channels = self.outlets.channels.iter_mut();
        channels.fold(blocked, |blocked, channel| channel.is_blocked(waker) | blocked)
    }

    /// Whether frames wait for credit.
    pub(crate) fn waits(&self) -> bool {
        self.outlets.stream.waits() || self.outlets.channels.iter().any(|c| c.waits())
    }

    /// Drops and counts what was not sent.
    pub(crate) fn discard(&mut self) {
        self.note();
        let emitted = std::mem::take(&mut self.noted) as u64;
        let (buffer, channels) = self.emitter.parts();
        drop_each(buffer.drain(..));
        channels.slots().iter_mut().for_each(|slot| slot.events.cut(0));
        let channels: u64 = self.outlets.channels.iter_mut().map(|c| c.discard()).sum();
        self.counters.unsent.add(self.outlets.stream.discard() + channels + emitted);
    }
}

impl<T> fmt::Debug for Output<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output").field("stream", &self.outlets.stream).finish_non_exhaustive()
    }
}
