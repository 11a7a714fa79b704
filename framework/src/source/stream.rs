//! Any `futures::Stream`.

use super::not_set_up::NotSetUp;
use super::{Progress, Source};
use crate::component::{BoxError, Component, Context, Fatal, Result};
use crate::emitter::Emitter;
use crate::event::Event;
use futures::Stream;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{self, Poll};

/// Emits the items of a [`futures::Stream`] that a closure makes: one for each instance.
///
/// ```
/// use futures::stream;
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("numbers");
/// let numbers = FromStream::new(|ctx: &Context| {
///     let first = ctx.index() as u64 * 10;
///     stream::iter(first..first + 3)
/// });
/// job.source(numbers).parallelism(2).group(Forward).sink(got.clone()).parallelism(2);
/// Engine::new().run(job)?;
/// assert_eq!(got.of_instance(0), [0, 1, 2]);
/// assert_eq!(got.of_instance(1), [10, 11, 12]);
/// # Ok::<(), streamwork::Error>(())
/// ```
///
/// What is ready goes at once, up to a batch; the source waits only while nothing is. The stream is polled
/// on a thread that runs tokio with its timers and sockets, and must not block it: for what blocks there is
/// [`FromThread`](super::FromThread).
///
/// **A restart begins a new stream**: a stream has no position. After a panic in it the closure is
/// called again, so what the first stream had emitted may come again, and what it had taken in may be
/// lost, as the new one has it.
///
/// # Panics
/// A panic of the closure at the start fails the job; one of the stream is one of the source.
///
/// # Cancel safety
/// `setup` does not wait. Dropping the future of `next` loses nothing: it waits only before its first
/// event. The stream is dropped with the source.
pub struct FromStream<S, F> {
    make: F,
    stream: Opened<S>,
}

impl<S, F> FromStream<S, F>
where
    F: Fn(&Context) -> S + Clone + Send + 'static,
{
    /// A source of the items of what `make` returns, which is called for each instance when the job
    /// starts, and again after a restart.
    pub fn new(make: F) -> Self {
        Self { make, stream: Opened::No }
    }
}

/// Emits the items of a [`futures::Stream`] of results that a closure makes: one for each instance. An
/// error is one of the source, and the next item is asked for: see [`Source::next`] for how many in a
/// row end the job. One marked [`Fatal`] ends it at once, one marked [`Malformed`](crate::Malformed)
/// never does.
///
/// ```
/// use futures::stream;
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("numbers");
/// let words = ["1", "two", "3"];
/// job.source(TryFromStream::new(move |_: &Context| stream::iter(words.map(str::parse::<u64>))))
///     .sink(got.clone());
/// let outcome = Engine::new().run(job)?;
/// assert_eq!((got.take(), outcome.failed()), (vec![1, 3], 1));
/// # Ok::<(), streamwork::Error>(())
/// ```
///
/// All else is as with [`FromStream`].
///
/// # Cancel safety
/// As [`FromStream`].
pub struct TryFromStream<S, F> {
    make: F,
    stream: Opened<S>,
}

impl<S, F> TryFromStream<S, F>
where
    F: Fn(&Context) -> S + Clone + Send + 'static,
{
    /// A source of the items of what `make` returns, which is called for each instance when the job
    /// starts, and again after a restart.
    pub fn new(make: F) -> Self {
        Self { make, stream: Opened::No }
    }
}

enum Opened<S> {
    No,
    Yes(Pin<Box<S>>),
    /// It has ended, and is not polled again.
    Ended,
}

impl<S: Stream> Opened<S> {
    /// Hands what is ready to `take`, until that has enough or fails; waits only while nothing was ready.
    async fn next<T>(
        &mut self,
        out: &mut Emitter<T>,
        mut take: impl FnMut(S::Item, &mut Emitter<T>) -> Result<()>,
    ) -> Result<Progress> {
        poll_fn(|cx| self.poll_next(cx, out, &mut take)).await
    }

    fn poll_next<T>(
        &mut self,
        cx: &mut task::Context<'_>,
        out: &mut Emitter<T>,
        take: &mut impl FnMut(S::Item, &mut Emitter<T>) -> Result<()>,
    ) -> Poll<Result<Progress>> {
        let stream = match self {
            Self::Yes(stream) => stream,
            Self::Ended => return Poll::Ready(Ok(Progress::End)),
            Self::No => return Poll::Ready(Err(Fatal::new(NotSetUp).into())),
        };
        let before = out.len();
        while !out.is_full() {
            match stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(item)) => take(item, out)?,
                Poll::Ready(None) => {
                    *self = Self::Ended;
                    return Poll::Ready(Ok(Progress::End));
                }
                Poll::Pending if out.len() == before => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(Ok(Progress::More))
    }
}

impl<S, F> Component for FromStream<S, F>
where
    S: Send + 'static,
    F: Send + 'static,
{
    type Saved = ();

    fn name(&self) -> &str {
        "from-stream"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<S, F> Source for FromStream<S, F>
where
    S: Stream<Item: Event> + Send + 'static,
    F: Fn(&Context) -> S + Clone + Send + 'static,
{
    type Out = S::Item;

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.stream = Opened::Yes(Box::pin((self.make)(ctx)));
        Ok(())
    }

    async fn next(&mut self, out: &mut Emitter<S::Item>) -> Result<Progress> {
        let take = |item, out: &mut Emitter<S::Item>| {
            out.emit(item);
            Ok(())
        };
        self.stream.next(out, take).await
    }
}

impl<S, F> Component for TryFromStream<S, F>
where
    S: Send + 'static,
    F: Send + 'static,
{
    type Saved = ();

    fn name(&self) -> &str {
        "try-from-stream"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<S, T, E, F> Source for TryFromStream<S, F>
where
    S: Stream<Item = Result<T, E>> + Send + 'static,
    T: Event,
    E: Into<BoxError>,
    F: Fn(&Context) -> S + Clone + Send + 'static,
{
    type Out = T;

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.stream = Opened::Yes(Box::pin((self.make)(ctx)));
        Ok(())
    }

    async fn next(&mut self, out: &mut Emitter<T>) -> Result<Progress> {
        let take = |item: Result<T, E>, out: &mut Emitter<T>| {
            out.emit(item.map_err(Into::into)?);
            Ok(())
        };
        self.stream.next(out, take).await
    }
}

/// A clone has the same closure and no stream.
impl<S, F: Clone> Clone for FromStream<S, F> {
    fn clone(&self) -> Self {
        Self { make: self.make.clone(), stream: Opened::No }
    }
}

/// A clone has the same closure and no stream.
impl<S, F: Clone> Clone for TryFromStream<S, F> {
    fn clone(&self) -> Self {
        Self { make: self.make.clone(), stream: Opened::No }
    }
}

impl<S, F> fmt::Debug for FromStream<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FromStream")
    }
}

impl<S, F> fmt::Debug for TryFromStream<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TryFromStream")
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::context;
    use super::*;
    use futures::channel::mpsc;
    use futures::executor::block_on;
    use futures::stream;
    use std::sync::Mutex;
    use std::task::Waker;

    #[test]
    fn what_is_ready_goes_and_nothing_more_is_waited_for() {
        let (mut tell, told) = mpsc::channel(9);
        let told = Mutex::new(Some(told));
        let told = std::sync::Arc::new(told);
        let mut source = FromStream::new(move |_: &Context| told.lock().unwrap().take().unwrap());
        block_on(source.setup(&context(0, 1))).unwrap();
        let mut cx = task::Context::from_waker(Waker::noop());
        let mut out = Emitter::with_room(2);
        {
            let mut next = std::pin::pin!(source.next(&mut out));
            assert!(next.as_mut().poll(&mut cx).is_pending());
            for n in 1..=3_u64 {
                tell.try_send(n).unwrap();
            }
            assert!(matches!(next.poll(&mut cx), Poll::Ready(Ok(Progress::More))));
        }
        assert_eq!(out.as_slice(), [1, 2]);
        let mut out = Emitter::with_room(2);
        assert_eq!(block_on(source.next(&mut out)).unwrap(), Progress::More);
        assert_eq!(out.as_slice(), [3]);
        drop(tell);
        assert_eq!(block_on(source.next(&mut Emitter::new())).unwrap(), Progress::End);
    }

    #[test]
    fn a_stream_that_has_ended_is_left_alone() {
        let mut source = FromStream::new(|_: &Context| {
            let mut polls = 0..1;
            stream::poll_fn(move |_| {
                assert!(polls.next().is_some(), "polled after its end");
                Poll::Ready(None::<u64>)
            })
        });
        block_on(source.setup(&context(0, 1))).unwrap();
        for _ in 0..2 {
            assert_eq!(block_on(source.next(&mut Emitter::new())).unwrap(), Progress::End);
        }
    }

    #[test]
    fn an_error_comes_after_what_was_before_it_and_is_as_it_was_marked() {
        let items = || [Ok(1), Err("plain".into()), Ok(2), Err(Fatal::new("last").into())];
        let mut source =
            TryFromStream::new(move |_: &Context| stream::iter::<[Result<u64>; 4]>(items()));
        block_on(source.setup(&context(0, 1))).unwrap();
        let mut out = Emitter::new();
        let error = block_on(source.next(&mut out)).unwrap_err();
        assert!(error.to_string() == "plain" && !Fatal::is(&*error));
        let error = block_on(source.next(&mut out)).unwrap_err();
        assert!(error.to_string() == "last" && Fatal::is(&*error));
        assert_eq!(out.as_slice(), [1, 2]);
    }
}
