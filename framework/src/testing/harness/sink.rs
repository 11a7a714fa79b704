//! A sink without a job.

use super::bench::Bench;
use crate::component::Result;
use crate::event::Nothing;
use crate::id::CheckpointId;
use crate::instance::{Logic, SinkLogic};
use crate::sink::{Handle, Sink};
use std::task::{self, Poll, Waker};

/// A [`Sink`] under test: no job, no actors, one call at a time, in the order in which the engine makes them.
/// What is prepared is committed by a clone of the prototype, as in a job.
///
/// ```
/// use streamwork::prelude::*;
/// use streamwork::CheckpointId;
/// use streamwork::testing::SinkHarness;
///
/// let got = Collect::new();
/// let mut harness = SinkHarness::new(got.clone());
/// harness.checkpointed();
/// harness.write("car")?;
/// let handle = harness.prepare(CheckpointId(1))?.unwrap();
/// harness.write("van")?;
/// assert!(got.is_empty());
///
/// // the instance panics; the checkpoint is published, and it is not known at first that it is committed
/// harness.rebuild();
/// harness.commit(handle.clone())?;
/// harness.commit(handle)?;
/// assert_eq!(got.take(), ["car"]);
///
/// // the source goes on behind the checkpoint
/// harness.write("van")?;
/// let handle = harness.prepare(CheckpointId(2))?.unwrap();
/// harness.commit(handle)?;
/// assert_eq!(got.take(), ["van"]);
/// # Ok::<(), streamwork::BoxError>(())
/// ```
///
/// A panic of the sink comes through to the test. For a sink that waits for others there is a
/// [whole job](crate::testing::run).
#[derive(Debug)]
pub struct SinkHarness<S: Sink> {
    prototype: S,
    bench: Bench<SinkLogic<S>, Nothing>,
}

impl<S: Sink + Clone> SinkHarness<S> {
    /// Puts a sink in: the prototype, of which the instance is a clone.
    #[must_use]
    pub fn new(prototype: S) -> Self {
        let bench = Bench::new(prototype.clone(), SinkLogic::new);
        Self { prototype, bench }
    }

    /// Makes it instance `index` of `parallelism`, where it is instance 0 of 1 otherwise; before it is set
    /// up. [`testing::context`](crate::testing::context) says what else `setup` is told.
    ///
    /// # Panics
    /// If there is no such instance, or it is set up already.
    pub fn instance(&mut self, index: usize, parallelism: usize) -> &mut Self {
        self.bench.place(index, parallelism);
        self
    }

    /// Makes it one of a job that takes checkpoints, where there are none otherwise; before it is set up.
    ///
    /// # Panics
    /// If it is set up already.
    pub fn checkpointed(&mut self) -> &mut Self {
        self.bench.take_checkpoints();
        self
    }

    /// Calls the sink's `setup`. Without it the first event does.
    ///
    /// # Errors
    /// As the sink's `setup`.
    pub fn setup(&mut self) -> Result<()> {
        self.bench.set_up()
    }

    /// Writes one event.
    ///
    /// # Errors
    /// As the sink's `write`, or its `setup` at the first event.
    ///
    /// # Panics
    /// As the sink, after [`finish`](Self::finish), and if there is no room for the event.
    pub fn write(&mut self, event: S::In) -> Result<()> {
        let mut cx = task::Context::from_waker(Waker::noop());
        self.bench.set_up_first()?;
        let ready = self.bench.logic.poll_ready(&mut cx)?;
        assert!(ready.is_ready(), "the sink waits for something: there is no room for the event");
        self.bench.apply(event)
    }

    /// There is nothing more to read for now. Says whether the sink is done with it; it is not if it waits.
    ///
    /// # Errors
    /// As the sink's `flush`.
    pub fn flush(&mut self) -> Result<bool> {
        self.bench.set_up_first()?;
        let mut cx = task::Context::from_waker(Waker::noop());
        match self.bench.logic.poll_flush(&mut cx) {
            Poll::Ready(flushed) => flushed.map(|()| true),
            Poll::Pending => Ok(false),
        }
    }

    /// The end of data. Without checkpoints a sink that commits does it now.
    ///
    /// # Errors
    /// As the sink's `finish`; as its `prepare` and `commit` too, if they are called.
    ///
    /// # Panics
    /// If it was called before.
    pub fn finish(&mut self) -> Result<()> {
        self.bench.finish()
    }

    /// A barrier: flushes, and prepares.
    ///
    /// # Errors
    /// As the sink's `flush` and `prepare`.
    ///
    /// # Panics
    /// If the sink waits for something instead of being flushed.
    pub fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Handle>> {
        assert!(self.flush()?, "the sink waits for something: it is not flushed");
        self.bench.logic.sink.prepare(checkpoint)
    }

    /// Commits what was prepared, by a clone of the prototype that was never set up.
    ///
    /// # Errors
    /// As the sink's `commit`.
    pub fn commit(&mut self, handle: Handle) -> Result<()> {
        self.prototype.clone().commit(handle)
    }

    /// Cleans up, by a clone of the prototype that was never set up: what a start does when all that its
    /// checkpoint holds is committed.
    ///
    /// # Errors
    /// As the sink's `clean_up`.
    pub fn clean_up(&mut self) -> Result<()> {
        let (job, component) = self.bench.names();
        self.prototype.clone().clean_up(job, component)
    }

    /// Drops the instance, and makes another of the prototype, which is set up by the next call: what
    /// happens after a panic.
    pub fn rebuild(&mut self) {
        self.bench.put(SinkLogic::new(self.prototype.clone()));
    }

    /// The sink, to look into.
    #[must_use]
    pub fn sink(&self) -> &S {
        &self.bench.logic.sink
    }

    /// The sink's clock. It stands still until it is told to [advance](crate::ManualClock::advance).
    #[must_use]
    pub fn clock(&self) -> &crate::ManualClock {
        self.bench.clock()
    }
}
