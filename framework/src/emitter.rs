//! [`Emitter`]: where user logic puts what it makes.

use crate::guard::drop_each;
use std::fmt;

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
    limit: usize,
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
        Self { buffer: Vec::new(), limit: limit.max(1) }
    }

    /// Emits one event to every subscriber.
    #[inline]
    pub fn emit(&mut self, event: T) {
        self.buffer.push(event);
    }

    /// How many events have been emitted since the engine last took them.
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
        self.buffer.len() >= self.limit
    }

    /// How many more events may be emitted before this emitter [is full](Self::is_full).
    #[inline]
    #[must_use]
    pub fn room(&self) -> usize {
        self.limit.saturating_sub(self.buffer.len())
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
    }

    pub(crate) fn buffer(&mut self) -> &mut Vec<T> {
        &mut self.buffer
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

    /// The call went well: what it emitted stays.
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
