//! A closure for each event.

use super::Sink;
use crate::component::{Component, Result};
use crate::event::Event;
use std::fmt;
use std::marker::PhantomData;

/// Calls a closure with each event. Each instance has a clone of it.
///
/// A panic in it, a failed assertion too, loses that event and restarts the instance: **the job goes
/// on**. A test that asserts in here looks at [`Outcome::failed`](crate::Outcome::failed) after it.
///
/// After a failure of a job that takes checkpoints it is called again with what came since the newest; under
/// exactly-once that needs [`SinkStage::may_repeat`](crate::SinkStage::may_repeat).
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use streamwork::prelude::*;
///
/// let sum = Arc::new(AtomicU64::new(0));
/// let add = Arc::clone(&sum);
/// let job = Job::new("sum");
/// job.source(FromIter::new(1..=4_u64)).sink(ForEach::new(move |n| {
///     add.fetch_add(n, Ordering::Relaxed);
/// }));
/// Engine::new().run(job).unwrap();
/// assert_eq!(sum.load(Ordering::Relaxed), 10);
/// ```
pub struct ForEach<T, F> {
    call: F,
    events: PhantomData<fn(T)>,
}

impl<T, F> ForEach<T, F>
where
    F: FnMut(T) + Clone + Send + 'static,
{
    /// A sink that calls `call`.
    pub fn new(call: F) -> Self {
        Self { call, events: PhantomData }
    }
}

impl<T, F: Clone> Clone for ForEach<T, F> {
    fn clone(&self) -> Self {
        Self { call: self.call.clone(), events: PhantomData }
    }
}

impl<T: 'static, F: Send + 'static> Component for ForEach<T, F> {
    type Saved = ();

    fn name(&self) -> &str {
        "for-each"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<T, F> Sink for ForEach<T, F>
where
    T: Event,
    F: FnMut(T) + Clone + Send + 'static,
{
    type In = T;

    #[inline]
    fn write(&mut self, event: T) -> Result<()> {
        (self.call)(event);
        Ok(())
    }
}

impl<T, F> fmt::Debug for ForEach<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ForEach")
    }
}

/// Calls a closure that may fail with each event. Each instance has a clone of it.
///
/// An error loses that event; a [`Fatal`](crate::Fatal) one fails the job. A panic, a failed assertion
/// too, loses the event and restarts the instance, and the job goes on, as with [`ForEach`]. What is said
/// there of repeated calls is true of it, too.
///
/// ```
/// use streamwork::prelude::*;
///
/// let job = Job::new("picky");
/// job.source(FromIter::new(1..=4_u64)).sink(TryForEach::new(|n| {
///     if n == 3 { Err("no threes".into()) } else { Ok(()) }
/// }));
/// let outcome = Engine::new().run(job).unwrap();
/// assert_eq!((outcome.events_out(), outcome.failed()), (3, 1));
/// ```
pub struct TryForEach<T, F> {
    call: F,
    events: PhantomData<fn(T)>,
}

impl<T, F> TryForEach<T, F>
where
    F: FnMut(T) -> Result<()> + Clone + Send + 'static,
{
    /// A sink that calls `call`.
    pub fn new(call: F) -> Self {
        Self { call, events: PhantomData }
    }
}

impl<T, F: Clone> Clone for TryForEach<T, F> {
    fn clone(&self) -> Self {
        Self { call: self.call.clone(), events: PhantomData }
    }
}

impl<T: 'static, F: Send + 'static> Component for TryForEach<T, F> {
    type Saved = ();

    fn name(&self) -> &str {
        "try-for-each"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<T, F> Sink for TryForEach<T, F>
where
    T: Event,
    F: FnMut(T) -> Result<()> + Clone + Send + 'static,
{
    type In = T;

    #[inline]
    fn write(&mut self, event: T) -> Result<()> {
        (self.call)(event)
    }
}

impl<T, F> fmt::Debug for TryForEach<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TryForEach")
    }
}
