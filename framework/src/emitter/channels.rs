//! What was emitted into named channels.

use crate::channel::{Channel, ChannelInfo};
use crate::event::Event;
use crate::guard::drop_each;
use std::any::Any;
use std::fmt;

/// A `Vec` of events whose type is known to those who put them in and take them out.
pub(crate) trait Buffer: Any + Send {
    fn len(&self) -> usize;

    /// Drops the events from the `len`-th on, one by one.
    fn cut(&mut self, len: usize);

    /// Moves all events of `other` behind those that are here.
    fn take_from(&mut self, other: &mut dyn Buffer);

    /// A buffer of the same type without events.
    fn empty(&self) -> Box<dyn Buffer>;

    fn as_any(&self) -> &dyn Any;

    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<T: Send + 'static> Buffer for Vec<T> {
    fn len(&self) -> usize {
        self.len()
    }

    fn cut(&mut self, len: usize) {
        drop_each(self.drain(len..));
    }

    fn take_from(&mut self, other: &mut dyn Buffer) {
        if let Some(other) = other.as_any_mut().downcast_mut::<Self>() {
            if self.is_empty() {
                std::mem::swap(self, other);
            } else {
                self.append(other);
            }
        }
    }

    fn empty(&self) -> Box<dyn Buffer> {
        Box::new(Self::new())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// One channel's events.
pub(crate) struct Slot {
    pub(crate) channel: ChannelInfo,
    pub(crate) events: Box<dyn Buffer>,
    /// How many there were before the call at hand.
    mark: usize,
}

impl Slot {
    fn of<T: Event>(channel: Channel<T>) -> Self {
        Self { channel: channel.info(), events: Box::new(Vec::<T>::new()), mark: 0 }
    }
}

/// The channels that were emitted into so far.
#[derive(Default)]
pub(crate) struct Channels {
    slots: Vec<Slot>,
    /// Whether the call at hand has emitted into one.
    touched: bool,
}

impl Channels {
    /// The buffer of a channel, which is about to be added to.
    pub(crate) fn touch<T: Event>(&mut self, channel: Channel<T>) -> &mut Vec<T> {
        if !self.touched {
            self.touched = true;
            self.slots.iter_mut().for_each(|slot| slot.mark = slot.events.len());
        }
        let i = self.position(&channel.info()).unwrap_or_else(|| {
            self.slots.push(Slot::of(channel));
            self.slots.len() - 1
        });
        let buffer = self.slots[i].events.as_any_mut().downcast_mut();
        buffer.expect("a slot is found by its type")
    }

    fn position(&self, channel: &ChannelInfo) -> Option<usize> {
        self.slots.iter().position(|slot| slot.channel.is(channel))
    }

    pub(crate) fn get<T: Event>(&self, channel: Channel<T>) -> &[T] {
        let slot = self.position(&channel.info()).map(|i| &self.slots[i]);
        slot.and_then(|slot| slot.events.as_any().downcast_ref::<Vec<T>>())
            .map_or(&[], Vec::as_slice)
    }

    pub(crate) fn slots(&mut self) -> &mut [Slot] {
        &mut self.slots
    }

    /// The call at hand is over: what it emitted stays.
    pub(crate) fn keep(&mut self) {
        self.touched = false;
    }

    /// Takes back what the call at hand emitted.
    pub(crate) fn take_back(&mut self) {
        if std::mem::take(&mut self.touched) {
            self.slots.iter_mut().for_each(|slot| slot.events.cut(slot.mark));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.iter().map(|slot| slot.events.len()).sum()
    }

    /// The events of the fullest channel.
    pub(crate) fn most(&self) -> usize {
        self.slots.iter().map(|slot| slot.events.len()).max().unwrap_or(0)
    }

    /// Moves all events of `other` behind those that are here.
    pub(crate) fn take_from(&mut self, other: &mut Self) {
        for theirs in &mut other.slots {
            match self.position(&theirs.channel) {
                Some(i) => self.slots[i].events.take_from(&mut *theirs.events),
                None => {
                    let empty = theirs.events.empty();
                    let events = std::mem::replace(&mut theirs.events, empty);
                    self.slots.push(Slot { channel: theirs.channel, events, mark: 0 });
                }
            }
        }
    }
}

impl fmt::Debug for Channels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slots = self.slots.iter().map(|slot| (slot.channel.name(), slot.events.len()));
        f.debug_map().entries(slots).finish()
    }
}
