//! [`Writer`]: the thread that owns the store.

use crate::checkpoint::{
    CheckpointStore, Generation, Latest, Manifest, Restored, Retention, Segments, StoreError,
    Sweeper,
};
use crate::component::{BoxError, with_causes};
use crate::guard::catch;
use crate::id::CheckpointId;
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, TryRecvError};
use std::time::Duration;

/// What a writer is to do. Orders are carried out one after the other.
#[derive(Debug)]
pub(crate) enum WriterOrder {
    Put(Segments),
    /// What was put since the last publication is not needed.
    Discard,
    Publish(Box<Manifest>),
    Read {
        region: usize,
        checkpoint: CheckpointId,
    },
    /// What sinks have prepared for checkpoints up to this one is committed.
    Confirm(CheckpointId),
    Quit,
}

/// What a writer has to say.
#[derive(Debug)]
pub(crate) enum WriterReport {
    /// What has become of the publication that was ordered.
    Published(Result<Box<Manifest>, String>),
    /// What a region goes back to.
    Read { region: usize, read: Result<Box<Restored>, String> },
    /// The writer is gone, without having been told so.
    Died,
}

/// What a writer does its work with; on a thread of its own, or for a test on that of the caller.
pub(crate) struct Writing {
    store: Box<dyn CheckpointStore>,
    generation: Generation,
    sweeper: Sweeper,
    /// What is kept: also what sinks have prepared something for that is not committed.
    retention: Retention,
    /// There may be something to sweep.
    dirty: bool,
    /// The last number that may be used.
    reserved: CheckpointId,
    /// A write of a checkpoint that is on its way has failed.
    failed: Option<String>,
}

impl fmt::Debug for Writing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writing").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Writing {
    /// Numbers that are reserved at once.
    const NUMBERS: u64 = 1_024;

    /// Takes a store of which the job goes on from this checkpoint, and the first number that none of it has
    /// had.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) fn begin(
        mut store: Box<dyn CheckpointStore>,
        keep: usize,
        from: Option<CheckpointId>,
    ) -> Result<(Self, CheckpointId), StoreError> {
        let generation = store.begin()?;
        let first = store.reserve(Self::NUMBERS)?;
        let reserved = CheckpointId(first.0 + Self::NUMBERS - 1);
        // The first one builds upon it.
        let retention = Retention { keep, needed: from.into_iter().collect() };
        let (sweeper, dirty, failed) = (Sweeper::default(), true, None);
        Ok((Self { store, generation, sweeper, retention, dirty, reserved, failed }, first))
    }

    /// Carries an order out.
    pub(crate) fn carry_out(&mut self, order: WriterOrder) -> Option<WriterReport> {
        match order {
            WriterOrder::Put(segments) => {
                self.put(&segments);
                None
            }
            WriterOrder::Discard => {
                self.recover();
                self.dirty = true;
                None
            }
            WriterOrder::Publish(manifest) => {
                self.dirty = true;
                let published = self.publish(&manifest).map(|()| manifest);
                Some(WriterReport::Published(published))
            }
            WriterOrder::Read { region, checkpoint } => {
                let read = Restored::read(&*self.store, &Latest::None, Some(checkpoint));
                let read = read.map_err(|error| with_causes(&error)).and_then(|read| {
                    read.map(Box::new).ok_or_else(|| format!("checkpoint {checkpoint} is gone"))
                });
                Some(WriterReport::Read { region, read })
            }
            WriterOrder::Confirm(id) => {
                if let Err(error) = self.store.confirm(id) {
                    tracing::warn!(
                        checkpoint = id.0,
                        "a commit was not noted: {}",
                        with_causes(&error)
                    );
                }
                None
            }
            WriterOrder::Quit => None,
        }
    }

    fn put(&mut self, segments: &Segments) {
        for (id, bytes) in segments {
            if self.failed.is_some() {
                return;
            }
            let put = self.reserve_for(id.checkpoint).and_then(|()| self.store.put(*id, bytes));
            if let Err(error) = put {
                self.failed = Some(with_causes(&error));
            }
        }
    }

    /// Publishes, or makes sure that it is not published and will not be.
    fn publish(&mut self, manifest: &Manifest) -> Result<(), String> {
        let published = match self.failed.take() {
            Some(problem) => Err(problem),
            None => self.try_publish(manifest).map_err(|error| with_causes(&*error)),
        };
        let Err(problem) = published else { return Ok(()) };
        if let Err(error) = self.store.reopen() {
            return Err(format!(
                "{problem}; and the store cannot be opened again: {}",
                with_causes(&error)
            ));
        }
        // The answer may have been lost, and not the checkpoint.
        match self.store.manifests() {
            Ok(published) if published.contains(&manifest.id) => Ok(()),
            _ => Err(problem),
        }
    }

    fn try_publish(&mut self, manifest: &Manifest) -> Result<(), BoxError> {
        self.reserve_for(manifest.id)?;
        self.store.publish(self.generation, manifest.id, &manifest.encode()?)?;
        // The next one builds upon it.
        self.retention.needed = BTreeSet::from([manifest.id]);
        self.retention.needed.extend(manifest.commits.iter().map(|commit| commit.checkpoint));
        Ok(())
    }

    /// Sees to it that numbers are reserved beyond this one.
    fn reserve_for(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        if id.0 + Self::NUMBERS / 2 > self.reserved.0 {
            let first = self.store.reserve(Self::NUMBERS)?;
            self.reserved = CheckpointId(first.0 + Self::NUMBERS - 1);
        }
        Ok(())
    }

    /// Opens the store again if it has failed.
    fn recover(&mut self) {
        if self.failed.take().is_some()
            && let Err(error) = self.store.reopen()
        {
            tracing::warn!(
                "the store of checkpoints cannot be opened again: {}",
                with_causes(&error)
            );
        }
    }

    /// Removes some of what nobody needs, while nothing is on its way. Says whether there is more.
    pub(crate) fn sweep(&mut self) -> bool {
        if self.dirty && self.failed.is_none() {
            self.dirty = self.sweeper.sweep(&mut *self.store, &self.retention);
        }
        self.dirty
    }
}

/// A writer on a thread of its own.
#[derive(Debug)]
pub(crate) struct Writer {
    orders: mpsc::Sender<WriterOrder>,
    /// Closed when the thread is over.
    over: mpsc::Receiver<()>,
}

impl Writer {
    /// Starts the thread; its reports go to `tell`.
    ///
    /// # Errors
    /// There is no thread to be had.
    pub(crate) fn start(
        writing: Writing,
        tell: impl Fn(WriterReport) + Send + 'static,
    ) -> io::Result<Self> {
        let (orders, received) = mpsc::channel();
        let (ending, over) = mpsc::channel::<()>();
        let work = move || {
            let _ending = ending;
            // Dropped before that: who has waited for the end can open the store again.
            let mut writing = writing;
            let worked = catch(|| {
                // Whether what was put belongs to a checkpoint that is on its way.
                let mut open = false;
                loop {
                    let next = match received.try_recv() {
                        Err(TryRecvError::Empty) if !open && writing.sweep() => continue,
                        Err(TryRecvError::Empty) => received.recv().ok(),
                        next => next.ok(),
                    };
                    match next {
                        None | Some(WriterOrder::Quit) => break,
                        Some(order) => {
                            open = match order {
                                WriterOrder::Put(_) => true,
                                WriterOrder::Confirm(_) => open,
                                _ => false,
                            };
                            if let Some(report) = writing.carry_out(order) {
                                tell(report);
                            }
                        }
                    }
                }
            });
            if worked.is_err() {
                tell(WriterReport::Died);
            }
        };
        std::thread::Builder::new().name("streamwork-writer".to_owned()).spawn(work)?;
        Ok(Self { orders, over })
    }

    /// Gives an order. A writer that died has reported that.
    pub(crate) fn order(&self, order: WriterOrder) {
        self.orders.send(order).unwrap_or_default();
    }

    /// Waits until everything that was ordered is done, at most so long. Says whether it is.
    pub(crate) fn quit(self, patience: Duration) -> bool {
        self.order(WriterOrder::Quit);
        self.over.recv_timeout(patience) != Err(RecvTimeoutError::Timeout)
    }
}
