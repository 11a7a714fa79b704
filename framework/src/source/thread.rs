//! A closure on a thread of its own, for what blocks.

use super::handover::{Closed, Giver, Handover, Taken, Taker};
use super::not_set_up::NotSetUp;
use super::{Progress, Source};
use crate::component::{Component, Context, Fatal, Result};
use crate::emitter::Emitter;
use crate::event::Event;
use crate::guard::catch;
use std::fmt;
use std::io;
use std::marker::PhantomData;

/// Emits what a closure emits that runs on a thread of its own, so that it may block: one for each
/// instance.
///
/// ```
/// use std::io::BufRead;
/// use streamwork::prelude::*;
///
/// let words = FromThread::new(|_: &Context, out: &mut ThreadEmitter<String>| {
///     // Anything that blocks: here it is only a text in memory.
///     let mut input = std::io::Cursor::new("car\nvan\n");
///     let mut line = String::new();
///     while input.read_line(&mut line)? > 0 {
///         out.emit(line.trim_end().to_owned())?;
///         line.clear();
///     }
///     Ok(())
/// });
///
/// let got = Collect::new();
/// let job = Job::new("words");
/// job.source(words).sink(got.clone());
/// Engine::new().run(job)?;
/// assert_eq!(got.take(), ["car", "van"]);
/// # Ok::<(), streamwork::Error>(())
/// ```
///
/// An event can be taken as soon as it is emitted, and events that come faster than they are taken go as
/// a batch. While the engine is behind by 1,024 events, [`emit`](ThreadEmitter::emit) blocks.
///
/// **A restart begins anew**: a closure has no position. After a panic in it, it is called again on a new
/// thread, and what it had emitted before may come again.
///
/// # Errors
/// What the closure returns ends the split when everything emitted has left: `Ok` as the end of the
/// input, an error as one that fails the job. If the thread can't be started, setup fails.
///
/// # Panics
/// A panic of the closure is one of the source, when everything emitted before it has left.
///
/// # Cancel safety
/// `setup` does not wait. Dropping the future of `next` loses nothing: it emits only when it is about to
/// return. When the job ends or the source is built anew, the thread is told by its next `emit`, which
/// fails; nobody waits for it, and it does not keep the process from ending.
///
/// A job that is drained processes every event that `emit` has accepted. One that is stopped or killed loses
/// up to 2,048 of them, which are not counted.
pub struct FromThread<T, F> {
    run: F,
    taker: Option<(Taker<T>, Context)>,
    events: PhantomData<fn() -> T>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot start the thread of the source")]
struct NoThread {
    source: io::Error,
}

impl<T, F> FromThread<T, F>
where
    F: Fn(&Context, &mut ThreadEmitter<T>) -> Result<()> + Clone + Send + 'static,
{
    /// A source of what `run` emits, which is called for each instance when the job starts, and again
    /// after a restart.
    pub fn new(run: F) -> Self {
        Self { run, taker: None, events: PhantomData }
    }
}

/// Where the closure of a [`FromThread`] puts what it makes.
///
/// ```
/// use std::sync::mpsc;
/// use streamwork::prelude::*;
///
/// let (tell, told) = mpsc::channel();
/// let endless = FromThread::new(move |_: &Context, out: &mut ThreadEmitter<u64>| {
///     tell.send("begun")?;
///     while out.emit(7).is_ok() {}
///     assert!(out.is_closed());
///     tell.send("closed")?;
///     Ok(())
/// });
/// let job = Job::new("endless");
/// job.source(endless).sink(ForEach::new(|_| {}));
/// let handle = Engine::new().start(job)?;
/// assert_eq!(told.recv()?, "begun");
/// handle.drain();
/// handle.wait()?;
/// assert_eq!(told.recv()?, "closed");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ThreadEmitter<T> {
    giver: Giver<T>,
}

impl<T> ThreadEmitter<T> {
    /// Emits one event. Blocks while 1,024 events wait to be taken.
    ///
    /// # Errors
    /// [`Closed`] if nobody will take it; then the event is dropped.
    #[inline]
    pub fn emit(&mut self, event: T) -> Result<(), Closed> {
        self.giver.give(event)
    }

    /// Whether events are taken no more: what a closure asks that waits for something else.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.giver.is_closed()
    }
}

impl<T: Send + 'static, F: Send + 'static> Component for FromThread<T, F> {
    type Saved = ();

    fn name(&self) -> &str {
        "from-thread"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<T, F> Source for FromThread<T, F>
where
    T: Event,
    F: Fn(&Context, &mut ThreadEmitter<T>) -> Result<()> + Clone + Send + 'static,
{
    type Out = T;

    /// What was accepted is emitted.
    const DRAINS: bool = true;

    async fn setup(&mut self, ctx: &Context) -> Result<()> {
        // Should there be one, it is told to end.
        self.taker = None;
        let (giver, taker) = Handover::pair();
        let (run, thread_ctx) = (self.run.clone(), ctx.clone());
        let thread = std::thread::Builder::new().name("streamwork source".into());
        let start = thread.spawn(move || {
            let mut out = ThreadEmitter { giver };
            let outcome = catch(|| run(&thread_ctx, &mut out));
            out.giver.end(outcome);
        });
        start.map_err(|source| Fatal::new(NoThread { source }))?;
        self.taker = Some((taker, ctx.clone()));
        Ok(())
    }

    /// # Cancel safety
    /// Nothing is lost when the future is dropped.
    async fn next(&mut self, out: &mut Emitter<T>) -> Result<Progress> {
        let Some((taker, ctx)) = &mut self.taker else {
            return Err(Fatal::new(NotSetUp).into());
        };
        match taker.take(out, || ctx.is_draining()).await {
            Taken::Events => Ok(Progress::More),
            Taken::End(Ok(Ok(()))) => Ok(Progress::End),
            Taken::End(Ok(Err(error))) if Fatal::is(&*error) => Err(error),
            Taken::End(Ok(Err(error))) => Err(Fatal::new(error).into()),
            // Now it is one of the source.
            Taken::End(Err(panic)) => panic!("in the thread, {panic}"),
        }
    }
}

/// A clone has the same closure and no thread.
impl<T, F: Clone> Clone for FromThread<T, F> {
    fn clone(&self) -> Self {
        Self { run: self.run.clone(), taker: None, events: PhantomData }
    }
}

impl<T, F> fmt::Debug for FromThread<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromThread").field("running", &self.taker.is_some()).finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for ThreadEmitter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadEmitter").field("closed", &self.is_closed()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::context;
    use super::*;
    use futures::executor::block_on;

    #[test]
    fn next_before_setup_is_an_error() {
        let mut source = FromThread::new(|_: &Context, _: &mut ThreadEmitter<u64>| Ok(()));
        let error = block_on(source.next(&mut Emitter::new())).unwrap_err();
        assert!(Fatal::is(&*error));
        assert_eq!(error.to_string(), "`next` was called before `setup`");
    }

    /// What the child process is asked for.
    #[cfg(target_os = "linux")]
    const CHILD: &str = "STREAMWORK_THREAD_CHILD";

    /// Not a test by itself: what follows, in a process in which no thread can be started.
    #[cfg(target_os = "linux")]
    #[test]
    fn child() {
        if std::env::var_os(CHILD).is_none() {
            return;
        }
        let mut source = FromThread::new(|_: &Context, _: &mut ThreadEmitter<u64>| Ok(()));
        let error = block_on(source.setup(&context(0, 1))).unwrap_err();
        assert!(Fatal::is(&*error));
        assert_eq!(error.to_string(), "cannot start the thread of the source");
        let causes = std::iter::successors(error.source(), |cause| (**cause).source());
        assert!(causes.into_iter().any(|cause| cause.is::<io::Error>()));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_cannot_be_started_is_told() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "source::thread::tests::child", "--test-threads=1"])
            .env(CHILD, "1")
            // No address space has room for such a stack.
            .env("RUST_MIN_STACK", (1_u64 << 50).to_string())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}
