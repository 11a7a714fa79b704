//! [`ChannelFan`]: the subscribers of one named channel, whatever its type.

use super::edge::Fan;
use super::failure::Failure;
use crate::channel::{Channel, ChannelInfo};
use crate::emitter::Buffer;
use crate::event::Event;
use crate::link::Control;
use std::fmt;
use std::task::Waker;

/// A [`Fan`] for the events of a channel.
pub(crate) trait ChannelFan: Send {
    fn channel(&self) -> ChannelInfo;

    /// Gives all events of a buffer of this channel to its subscribers, and leaves it empty.
    fn push(&mut self, events: &mut dyn Buffer);

    fn push_control(&mut self, control: Control);

    fn flush(&mut self);

    fn is_blocked(&mut self, waker: &Waker) -> bool;

    fn waits(&self) -> bool;

    fn most(&mut self) -> usize;

    fn discard(&mut self) -> u64;

    fn take_failure(&mut self) -> Option<Failure>;
}

impl fmt::Debug for dyn ChannelFan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.channel().fmt(f)
    }
}

/// The subscribers of a channel of events of type `T`.
#[derive(Debug)]
pub(crate) struct TypedChannel<T> {
    channel: Channel<T>,
    fan: Fan<T>,
}

impl<T: Event> TypedChannel<T> {
    pub(crate) fn new(channel: Channel<T>, fan: Fan<T>) -> Self {
        Self { channel, fan }
    }
}

impl<T: Event> ChannelFan for TypedChannel<T> {
    fn channel(&self) -> ChannelInfo {
        self.channel.info()
    }

    fn push(&mut self, events: &mut dyn Buffer) {
        if let Some(events) = events.as_any_mut().downcast_mut() {
            self.fan.push(events);
        }
    }

    fn push_control(&mut self, control: Control) {
        self.fan.push_control(control);
    }

    fn flush(&mut self) {
        self.fan.flush();
    }

    fn is_blocked(&mut self, waker: &Waker) -> bool {
        self.fan.is_blocked(waker)
    }

    fn waits(&self) -> bool {
        self.fan.waits()
    }

    fn most(&mut self) -> usize {
        self.fan.most()
    }

    fn discard(&mut self) -> u64 {
        self.fan.discard()
    }

    fn take_failure(&mut self) -> Option<Failure> {
        self.fan.take_failure()
    }
}
