//! [`Emitter`]: where user logic puts what it makes.

mod channels;

pub(crate) use channels::{Buffer, Channels};

use crate::channel::Channel;
use crate::event::Event;
use crate::guard::drop_each;
use std::fmt;
use std::sync::Arc;

/// Takes the events that a source or an operator emits while it is being called.
///
/// It is a plain buffer: nothing leaves while the call runs, so a call that fails leaves no trace.
///
/// ```
/// use streamwork::Emitter;
///
/// let mut out = Emitter::new();
/// out.emit("car");
/// out.emit("van");
/// assert_eq!(out.as_slice(), ["car", "van"]);
/// ```
pub struct Emitter<T> {
    buffer: Vec<T>,
    /// At how many events it is full.
    limit: usize,
    /// At how many events somebody is to look closer: the limit, or 0 once the call at hand has emitted
    /// into a channel. So a component without channels pays nothing for those of others.
    look: usize,
    channels: Channels,
    /// The streams that the component reads.
    streams: Option<Arc<[Arc<str>]>>,
    /// Which of them the event at hand came from.
    stream: usize,
}

impl<T> Emitter<T> {
    /// An empty one, with room for 1,024 events.
    #[must_use]
    pub fn new() -> Self {
        Self::with_room(1_024)
    }

    /// An empty one that reports itself full after `limit` events (at least one).
    ///
    /// ```
    /// use streamwork::Emitter;
    ///
    /// let mut out = Emitter::with_room(2);
    /// out.emit("car");
    /// assert_eq!((out.room(), out.is_full()), (1, false));
    /// out.emit("van");
    /// assert_eq!((out.room(), out.is_full()), (0, true));
    /// ```
    #[must_use]
    pub fn with_room(limit: usize) -> Self {
        Self {
            buffer: Vec::new(),
            limit: limit.max(1),
            look: limit.max(1),
            channels: Channels::default(),
            streams: None,
            stream: 0,
        }
    }

    /// Emits one event to every subscriber.
    #[inline]
    pub fn emit(&mut self, event: T) {
        self.buffer.push(event);
    }

    /// Where to emit into a named channel; [`Channel`] has an example. What is emitted into a channel
    /// without subscribers is dropped and counted.
    ///
    /// ```
    /// use streamwork::{Channel, Emitter};
    ///
    /// const ALERTS: Channel<&str> = Channel::new("alerts");
    ///
    /// let mut out = Emitter::<u64>::new();
    /// out.to(ALERTS).emit("too heavy");
    /// assert_eq!(out.emitted_to(ALERTS), ["too heavy"]);
    /// assert!(out.as_slice().is_empty());
    /// ```
    pub fn to<U: Event>(&mut self, channel: Channel<U>) -> ChannelEmitter<'_, U> {
        self.look = 0;
        ChannelEmitter { buffer: self.channels.touch(channel) }
    }

    /// Emits one event into a channel, as `to(channel).emit(event)` does; here what is emitted may be made
    /// with a look at the emitter.
    ///
    /// ```
    /// use streamwork::{Channel, Emitter};
    ///
    /// const ALERTS: Channel<String> = Channel::new("alerts");
    ///
    /// let mut out = Emitter::<u64>::new();
    /// out.emit_to(ALERTS, format!("too heavy, on {}", out.stream()));
    /// assert_eq!(out.emitted_to(ALERTS), ["too heavy, on default"]);
    /// ```
    pub fn emit_to<U: Event>(&mut self, channel: Channel<U>, event: U) {
        self.to(channel).emit(event);
    }

    /// What has been emitted into a channel since the engine last took the events; [`to`](Self::to) has
    /// an example.
    #[must_use]
    pub fn emitted_to<U: Event>(&self, channel: Channel<U>) -> &[U] {
        self.channels.get(channel)
    }

    /// The name of the stream that the event at hand came from: an
    /// [alias](crate::Stream::alias), or else the name of the component that emitted it, followed by
    /// `/channel` if it came over a channel. Outside of `apply` it is no help: in a source and in a test without
    /// an engine it is `default`, in `finish` that of the last event.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// #[derive(Component, Clone)]
    /// struct Label;
    ///
    /// impl Operator for Label {
    ///     type In = u64;
    ///     type Out = String;
    ///
    ///     fn apply(&mut self, n: u64, out: &mut Emitter<String>) -> Result<()> {
    ///         out.emit(format!("{n} of {}", out.stream()));
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let got = Collect::new();
    /// let job = Job::new("labels");
    /// let odd = job.source(FromIter::new([1_u64])).named("odd");
    /// let even = job.source(FromIter::new([2_u64])).named("even");
    /// Streams::of([odd.alias("first"), even.clone()]).apply(Label).sink(got.clone());
    /// Engine::new().run(job).unwrap();
    /// let mut labels = got.take();
    /// labels.sort();
    /// assert_eq!(labels, ["1 of first", "2 of even"]);
    /// ```
    #[must_use]
    pub fn stream(&self) -> &str {
        self.streams
            .as_ref()
            .and_then(|names| names.get(self.stream))
            .map_or("default", |name| name)
    }

    /// How many events have been emitted since the engine last took them, those into channels left out.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer.len()
    }

    /// Whether nothing has been emitted since the engine last took the events.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Whether as much has been emitted as one batch should hold (or as a rate limit allows): the
    /// moment for a source to return. Emitting more is no error; it only waits longer.
    #[inline]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.wants_look() && self.is_loaded()
    }

    /// How many more events may be emitted before this emitter [is full](Self::is_full).
    #[inline]
    #[must_use]
    pub fn room(&self) -> usize {
        self.limit.saturating_sub(self.buffer.len().max(self.channels.most()))
    }

    /// What has been emitted since the engine last took the events.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.buffer
    }

    /// The number of events at which this emitter calls itself full.
    pub(crate) fn limit(&self) -> usize {
        self.limit
    }

    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit.max(1);
        self.look = self.limit;
    }

    /// Whether it may be full, or channels were emitted into: [`settle`](Self::settle) tells.
    #[inline]
    pub(crate) fn wants_look(&self) -> bool {
        self.buffer.len() >= self.look
    }

    #[cold]
    fn is_loaded(&self) -> bool {
        self.buffer.len().max(self.channels.most()) >= self.limit
    }

    /// What calls have emitted into channels stays. Says whether the emitter is full.
    #[cold]
    #[inline(never)]
    pub(crate) fn settle(&mut self) -> bool {
        self.channels.keep();
        self.look = self.limit;
        self.is_loaded()
    }

    pub(crate) fn buffer(&mut self) -> &mut Vec<T> {
        &mut self.buffer
    }

    /// The default buffer and the channels, to be taken from at the same time.
    pub(crate) fn parts(&mut self) -> (&mut Vec<T>, &mut Channels) {
        (&mut self.buffer, &mut self.channels)
    }

    /// Everything emitted, into channels too.
    pub(crate) fn total(&self) -> usize {
        self.buffer.len() + self.channels.len()
    }

    /// The streams that the component reads, by the numbers that [`set_stream`](Self::set_stream) gives.
    pub(crate) fn set_streams(&mut self, names: Arc<[Arc<str>]>) {
        self.streams = Some(names);
    }

    /// Which stream the events to come are from.
    pub(crate) fn set_stream(&mut self, stream: usize) {
        self.stream = stream;
    }

    /// Moves everything that `other` has behind what is here.
    pub(crate) fn take_from(&mut self, other: &mut Self) {
        if self.buffer.is_empty() {
            std::mem::swap(&mut self.buffer, &mut other.buffer);
        } else {
            self.buffer.append(&mut other.buffer);
        }
        self.channels.take_from(&mut other.channels);
        other.settle();
    }
}

/// Emits into a named channel; made by [`Emitter::to`].
///
/// ```
/// use streamwork::{Channel, Emitter};
///
/// const ALERTS: Channel<u64> = Channel::new("alerts");
///
/// let mut out = Emitter::<u64>::new();
/// out.to(ALERTS).extend([1, 2]);
/// assert_eq!(out.emitted_to(ALERTS), [1, 2]);
/// ```
#[derive(Debug)]
pub struct ChannelEmitter<'a, T> {
    buffer: &'a mut Vec<T>,
}

impl<T> ChannelEmitter<'_, T> {
    /// Emits one event to every subscriber of the channel; [`Emitter::to`] has an example.
    #[inline]
    pub fn emit(&mut self, event: T) {
        self.buffer.push(event);
    }
}

impl<T> Extend<T> for ChannelEmitter<'_, T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, events: I) {
        self.buffer.extend(events);
    }
}

/// Watches over one call of user code: unless it is kept, what the call emitted is taken back, by
/// whatever path the call ended.
pub(crate) struct Trial<'a, T> {
    pub(crate) out: &'a mut Emitter<T>,
    mark: usize,
}

impl<'a, T> Trial<'a, T> {
    #[inline]
    pub(crate) fn begin(out: &'a mut Emitter<T>) -> Self {
        let mark = out.len();
        Self { out, mark }
    }

    /// The call went well: what it emitted stays. Before the next one the emitter is
    /// [settled](Emitter::settle) if it [wants a look](Emitter::wants_look).
    #[inline]
    pub(crate) fn keep(self) {
        std::mem::forget(self);
    }
}

impl<T> Trial<'_, T> {
    /// Out of line, to keep the loop that hardly ever gets here small.
    #[cold]
    #[inline(never)]
    fn take_back(&mut self) {
        // Perhaps a panic unwinds already: a second one must end here.
        drop_each(self.out.buffer.drain(self.mark..));
        self.out.channels.take_back();
        self.out.look = self.out.limit;
    }
}

impl<T> Drop for Trial<'_, T> {
    fn drop(&mut self) {
        self.take_back();
    }
}

impl<T> Default for Emitter<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Emits every item, as [`Emitter::emit`] does one.
///
/// ```
/// use streamwork::Emitter;
///
/// let mut out = Emitter::new();
/// out.extend([1, 2, 3]);
/// assert_eq!(out.len(), 3);
/// ```
impl<T> Extend<T> for Emitter<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, events: I) {
        self.buffer.extend(events);
    }
}

impl<T> fmt::Debug for Emitter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Emitter").field("len", &self.len()).field("limit", &self.limit).finish()
    }
}
