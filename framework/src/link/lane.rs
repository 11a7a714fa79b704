//! [`Lane`]: the sender's end of a link.

use super::{Batch, Control, Frame, LinkState, Mailbox, Room};
use crate::event::Event;
use crate::guard::{catch, drop_each};
use crate::id::{Attempt, LinkIndex};
use crate::metrics::Counters;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;

/// What a sender needs of a link: its state and the way to the receiver.
#[derive(Clone)]
pub(crate) struct LinkSender {
    pub(crate) state: Arc<LinkState>,
    pub(crate) mailbox: Arc<dyn Mailbox>,
    pub(crate) index: LinkIndex,
    pub(crate) attempt: Attempt,
    /// Those of the sender.
    pub(crate) counters: Arc<Counters>,
}

impl fmt::Debug for LinkSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkSender").field("index", &self.index).finish_non_exhaustive()
    }
}

/// A frame without its credit yet.
struct Ready<T> {
    batch: Option<Batch<T>>,
    control: Option<Control>,
}

/// What an instance has for one link and could not send yet: whole frames that wait for credit, and
/// the last, partial one, which goes on filling.
pub(crate) struct Lane<T> {
    link: LinkSender,
    ready: VecDeque<Ready<T>>,
    partial: Vec<T>,
    /// The partial frame is to leave as soon as there is credit.
    overdue: bool,
    size: BatchSize,
    /// How many events make a frame: by their size, and by the receiver's pace when it was last
    /// looked at.
    most: usize,
    /// Bytes that a batch of this lane may have.
    share: usize,
}

impl<T: Event> Lane<T> {
    /// What may be filling in the lanes of one edge.
    const EDGE_BYTES: usize = 1 << 20;

    /// One of `lanes` lanes of an edge: the more there are, the smaller are the batches that fill in
    /// each of them.
    pub(crate) fn new(link: LinkSender, lanes: usize) -> Self {
        let share = (Self::EDGE_BYTES / lanes.max(1)).clamp(1 << 10, BatchSize::BYTES);
        let size = BatchSize::new(share, size_of::<T>());
        Self {
            most: size.events.min(link.state.most_events()),
            link,
            ready: VecDeque::new(),
            partial: Vec::new(),
            overdue: false,
            size,
            share,
        }
    }

    /// Adds one event.
    #[inline]
    pub(crate) fn push(&mut self, event: T) {
        self.partial.push(event);
        if self.partial.len() >= self.most {
            self.cut(None);
        }
    }

    /// Adds all of `batch` and leaves an empty buffer in its place.
    pub(crate) fn push_batch(&mut self, batch: &mut Vec<T>) {
        if batch.len() > 2 * self.most {
            // One call has made more than a batch: it goes out in frames of the usual size.
            batch.drain(..).for_each(|event| self.push(event));
            return;
        }
        if self.partial.is_empty() {
            std::mem::swap(&mut self.partial, batch);
        } else {
            self.partial.append(batch);
        }
        if self.partial.len() >= self.most {
            self.cut(None);
        }
    }

    /// Adds a control element behind everything that is here.
    pub(crate) fn push_control(&mut self, control: Control) {
        self.cut(Some(control));
    }

    /// Lets the partial frame leave as soon as it can; until there is credit it goes on filling.
    pub(crate) fn flush(&mut self) {
        self.overdue = !self.partial.is_empty();
        self.send();
    }

    /// Makes a whole frame of the partial one, and sends it if there is credit.
    fn cut(&mut self, control: Option<Control>) {
        self.overdue = false;
        let batch = (!self.partial.is_empty()).then(|| self.take_partial(self.partial.len()));
        if let (None, Some(Control::Watermark(_)), Some(last)) =
            (&batch, control, self.ready.back_mut())
            && matches!(last.control, Some(Control::Watermark(_)))
        {
            // A later watermark takes the place of one that has no event behind it.
            last.control = control;
            return;
        }
        self.ready.push_back(Ready { batch, control });
        self.send_ready();
    }

    /// An empty buffer, one that came back if there is one.
    fn fresh(&self) -> Batch<T> {
        match self.link.state.reuse().map(|b| b.downcast::<Vec<T>>()) {
            Some(Ok(buffer)) => buffer,
            _ => Batch::new(Vec::with_capacity(self.size.events)),
        }
    }

    /// Sends what credit allows.
    fn send(&mut self) {
        self.send_ready();
        if !self.overdue || !self.ready.is_empty() {
            return;
        }
        // Only what fits: what is left goes on filling, and holds up nobody.
        let room = self.link.state.room();
        if let Some((events, _)) = room.and_then(|room| fit(&self.partial, room)) {
            let batch = self.take_partial(events);
            self.ready.push_back(Ready { batch: Some(batch), control: None });
            self.send_ready();
        }
        self.overdue = !self.partial.is_empty();
    }

    /// The first `events` events of the partial frame.
    fn take_partial(&mut self, events: usize) -> Batch<T> {
        let mut batch = self.fresh();
        if events == self.partial.len() {
            std::mem::swap(&mut *batch, &mut self.partial);
        } else {
            batch.extend(self.partial.drain(..events));
        }
        batch
    }

    fn send_ready(&mut self) {
        while let Some(first) = self.ready.front() {
            let Some(room) = self.link.state.room() else { return };
            let (events, bytes) = match &first.batch {
                None => (0, 0),
                Some(batch) => match fit(batch, room) {
                    None => return,
                    Some(fitting) => fitting,
                },
            };
            let Some(ready) = self.take_ready(events) else { return };
            if events > 0 {
                // Follows events that weigh more than their type.
                self.size = BatchSize::new(self.share, bytes.div_ceil(events));
            }
            let credit = self.link.state.take(events, bytes);
            self.link.counters.sent.add(events as u64);
            let LinkSender { index, attempt, .. } = self.link;
            let frame = Frame::new(index, attempt, ready.batch, ready.control, credit);
            self.link.mailbox.deliver(frame);
        }
    }

    /// The first whole frame, or its first `events` events if it has more.
    fn take_ready(&mut self, events: usize) -> Option<Ready<T>> {
        let more = self.ready.front()?.batch.as_ref().is_some_and(|batch| batch.len() > events);
        if !more {
            return self.ready.pop_front();
        }
        let mut part = self.fresh();
        let batch = self.ready.front_mut()?.batch.as_mut()?;
        part.extend(batch.drain(..events));
        Some(Ready { batch: Some(part), control: None })
    }

    /// Sends what credit allows; if something stays behind, asks to be woken. Says whether whole
    /// frames stay behind: a partial one blocks nobody.
    pub(crate) fn is_blocked(&mut self, waker: &Waker) -> bool {
        self.send();
        if self.ready.is_empty() && !self.overdue {
            return false;
        }
        self.link.state.wait(waker);
        self.send();
        !self.ready.is_empty()
    }

    /// How many events this lane takes in one frame, by the receiver's pace as it is now.
    pub(crate) fn most(&mut self) -> usize {
        self.most = self.size.events.min(self.link.state.most_events());
        self.most
    }

    /// Whether whole frames wait for credit.
    pub(crate) fn waits(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Drops what waits here, and says how many events that were.
    pub(crate) fn discard(&mut self) -> u64 {
        let waiting = self.ready.drain(..).filter_map(|ready| ready.batch).flat_map(|batch| *batch);
        let unsent: Vec<T> = waiting.chain(std::mem::take(&mut self.partial)).collect();
        let count = unsent.len() as u64;
        drop_each(unsent);
        count
    }
}

impl<T> fmt::Debug for Lane<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane")
            .field("ready", &self.ready.len())
            .field("partial", &self.partial.len())
            .finish_non_exhaustive()
    }
}

/// What is taken for the weight of an event at most: sums of it do not overflow.
const HEAVIEST: usize = 1 << 40;

/// What an event weighs; if its own function panics, as much as its type.
fn weight<T: Event>(event: &T) -> usize {
    catch(|| event.weight()).map_or(size_of::<T>(), |weight| weight.min(HEAVIEST))
}

/// What a batch weighs. The plain sum of equal weights is one multiplication.
fn weigh<T: Event>(batch: &[T]) -> usize {
    // Caught once for all; one by one only if that fails.
    let whole = catch(|| batch.iter().map(|event| event.weight().min(HEAVIEST)).sum());
    whole.unwrap_or_else(|_| batch.iter().map(weight).sum())
}

/// How many events from the front of `batch` fit into `room`, and their bytes.
fn fit<T: Event>(batch: &[T], room: Room) -> Option<(usize, usize)> {
    let bytes = weigh(batch);
    if bytes <= room.bytes && batch.len() <= room.events {
        return Some((batch.len(), bytes));
    }
    let mut fitting: (usize, usize) = (0, 0);
    for event in batch.iter().take(room.events) {
        let bytes = fitting.1 + weight(event);
        if bytes > room.bytes {
            break;
        }
        fitting = (fitting.0 + 1, bytes);
    }
    match fitting {
        (0, _) if room.empty => batch.first().map(|event| (1, weight(event))),
        (0, _) => None,
        fitting => Some(fitting),
    }
}

/// How many events make a batch: as many as stay in the nearest cache, at most 1,024.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchSize {
    pub(crate) events: usize,
}

impl BatchSize {
    const BYTES: usize = 32 << 10;
    const EVENTS: usize = 1_024;

    /// The size for the emitter of a component.
    pub(crate) fn for_type<T>() -> Self {
        Self::new(Self::BYTES, size_of::<T>())
    }

    /// As many events as fit into `bytes` if each weighs `weight`.
    fn new(bytes: usize, weight: usize) -> Self {
        Self { events: (bytes / weight.max(1)).clamp(1, Self::EVENTS) }
    }
}
