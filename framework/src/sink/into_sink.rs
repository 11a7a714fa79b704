//! Any `futures::Sink`.

use super::Sink;
use super::not_set_up::NotSetUp;
use crate::component::{BoxError, Component, Context, Fatal, Result};
use crate::event::Event;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{self, Poll};

/// Hands events to a [`futures::Sink`] that a closure makes: one for each instance.
///
/// ```
/// use futures::StreamExt;
/// use futures::channel::mpsc;
/// use streamwork::prelude::*;
///
/// let (tell, told) = mpsc::channel(1);
/// let job = Job::new("numbers");
/// job.source(FromIter::new(1..=100_u64)).sink(IntoSink::new(move |_: &Context| tell.clone()));
/// let handle = Engine::new().start(job)?;
/// let numbers: Vec<u64> = futures::executor::block_on(told.take(100).collect());
/// handle.wait()?;
/// assert!(numbers.into_iter().eq(1..=100));
/// # Ok::<(), streamwork::Error>(())
/// ```
///
/// An event goes there only when the sink is ready for it, and those before it are held back until then.
/// It is flushed whenever there is nothing more to read, and closed at the end of the job; a job that is
/// stopped or fails, and an instance that is built anew, drop it as it is. It is polled on a thread that
/// runs tokio with its timers and sockets, and must not block it.
///
/// After a failure of a job that takes checkpoints it gets again what came since the newest; under
/// exactly-once that needs [`SinkStage::may_repeat`](crate::SinkStage::may_repeat).
///
/// # Errors
/// An error of the sink is final: the job fails with it.
///
/// # Panics
/// A panic of the closure at the start fails the job; one of the sink is one of any
/// [`Sink`](crate::Sink).
pub struct IntoSink<T, S, F> {
    make: F,
    sink: Option<Pin<Box<S>>>,
    events: PhantomData<fn(T)>,
}

impl<T, S, F> IntoSink<T, S, F>
where
    F: Fn(&Context) -> S + Clone + Send + 'static,
{
    /// A sink that hands events to what `make` returns, which is called for each instance when the job
    /// starts, and again after a restart.
    pub fn new(make: F) -> Self {
        Self { make, sink: None, events: PhantomData }
    }
}

impl<T, S, F> IntoSink<T, S, F>
where
    S: futures::Sink<T>,
{
    fn inner(&mut self) -> Result<Pin<&mut S>> {
        let sink = self.sink.as_mut().map(Pin::as_mut);
        sink.ok_or_else(|| Fatal::new(NotSetUp).into())
    }
}

fn last<E: Into<BoxError>>(error: E) -> BoxError {
    Fatal::new(error).into()
}

impl<T, S, F> Component for IntoSink<T, S, F>
where
    T: 'static,
    S: Send + 'static,
    F: Send + 'static,
{
    type Saved = ();

    fn name(&self) -> &str {
        "into-sink"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<T, S, F> Sink for IntoSink<T, S, F>
where
    T: Event,
    S: futures::Sink<T, Error: Into<BoxError>> + Send + 'static,
    F: Fn(&Context) -> S + Clone + Send + 'static,
{
    type In = T;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.sink = Some(Box::pin((self.make)(ctx)));
        Ok(())
    }

    fn poll_ready(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        self.inner()?.poll_ready(cx).map_err(last)
    }

    fn write(&mut self, event: T) -> Result<()> {
        self.inner()?.start_send(event).map_err(last)
    }

    fn poll_flush(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        self.inner()?.poll_flush(cx).map_err(last)
    }

    fn poll_finish(&mut self, cx: &mut task::Context<'_>) -> Poll<Result<()>> {
        self.inner()?.poll_close(cx).map_err(last)
    }
}

/// A clone has the same closure and no sink.
impl<T, S, F: Clone> Clone for IntoSink<T, S, F> {
    fn clone(&self) -> Self {
        Self { make: self.make.clone(), sink: None, events: PhantomData }
    }
}

impl<T, S, F> fmt::Debug for IntoSink<T, S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IntoSink")
    }
}
