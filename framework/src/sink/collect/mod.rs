//! Into memory, for examples and tests.

use super::{Effect, Handle, Sink};
use crate::component::{Component, Context, Result};
use crate::event::Event;
use crate::id::CheckpointId;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// Keeps everything it gets. Clones share what was collected, so keep one to look into.
///
/// ```
/// use streamwork::prelude::*;
///
/// let got = Collect::new();
/// let job = Job::new("numbers");
/// job.source(FromIter::new([3, 1, 2])).sink(got.clone());
/// Engine::new().run(job).unwrap();
/// assert_eq!(got.len(), 3);
/// assert_eq!(got.take(), [3, 1, 2]);
/// assert!(got.is_empty());
/// ```
///
/// In a job that takes checkpoints an event is seen here when the checkpoint that holds it is published;
/// those of one instance and one checkpoint come together. What was committed stays over a restart of the
/// job in the same process. In another one there is nothing of it: memory is not kept.
pub struct Collect<T> {
    shared: Arc<Mutex<Shared<T>>>,
    /// Since when this instance is set up; `None` of a prototype.
    seat: Option<Seat>,
    /// Of the checkpoint to come.
    gathered: Vec<T>,
}

/// Whose events an instance collects.
struct Seat {
    instance: usize,
    /// Of the job and of the component; `None` if there are no checkpoints.
    owner: Option<(Arc<str>, Arc<str>)>,
    /// Tells attempts apart.
    attempt: Uuid,
}

struct Shared<T> {
    events: Vec<(usize, T)>,
    prepared: HashMap<BatchId, Batch<T>>,
}

/// What is committed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct BatchId {
    checkpoint: CheckpointId,
    instance: usize,
    /// Another process, and another attempt, has another.
    attempt: String,
}

/// What an instance has prepared at a checkpoint.
struct Batch<T> {
    job: Arc<str>,
    component: Arc<str>,
    events: Vec<T>,
}

impl<T> Collect<T> {
    /// An empty collection.
    #[must_use]
    pub fn new() -> Self {
        let shared = Shared { events: Vec::new(), prepared: HashMap::new() };
        Self { shared: Arc::new(Mutex::new(shared)), seat: None, gathered: Vec::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Shared<T>> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes out what was collected, in the order of arrival.
    #[must_use]
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut self.lock().events).into_iter().map(|(_, event)| event).collect()
    }

    /// How many events were collected.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().events.len()
    }

    /// Whether nothing was collected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().events.is_empty()
    }
}

impl<T: Clone> Collect<T> {
    /// A copy of what instance `index` collected.
    ///
    /// ```
    /// use streamwork::prelude::*;
    ///
    /// let got = Collect::new();
    /// let job = Job::new("all");
    /// job.source(FromIter::new(["car"])).group(All).sink(got.clone()).parallelism(2);
    /// Engine::new().run(job).unwrap();
    /// assert_eq!(got.of_instance(1), ["car"]);
    /// assert_eq!(got.len(), 2);
    /// ```
    #[must_use]
    pub fn of_instance(&self, index: usize) -> Vec<T> {
        let shared = self.lock();
        shared.events.iter().filter(|(i, _)| *i == index).map(|(_, event)| event.clone()).collect()
    }
}

impl<T> Default for Collect<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// A clone shares what was collected, and is not set up.
impl<T> Clone for Collect<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), seat: None, gathered: Vec::new() }
    }
}

impl<T: Send + 'static> Component for Collect<T> {
    type Saved = ();

    fn name(&self) -> &str {
        "collect"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<T: Event> Sink for Collect<T> {
    type In = T;

    const EFFECT: Effect = Effect::Committing;

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        // What was gathered before comes again.
        self.gathered.clear();
        let id = ctx.instance();
        let owner =
            ctx.is_checkpointed().then(|| (ctx.owner().into(), id.component.as_str().into()));
        self.seat = Some(Seat { instance: id.index, owner, attempt: Uuid::now_v7() });
        Ok(())
    }

    fn write(&mut self, event: T) -> Result<()> {
        match &self.seat {
            Some(Seat { owner: Some(_), .. }) => self.gathered.push(event),
            seat => {
                let instance = seat.as_ref().map_or(0, |seat| seat.instance);
                self.lock().events.push((instance, event));
            }
        }
        Ok(())
    }

    fn prepare(&mut self, checkpoint: CheckpointId) -> Result<Option<Handle>> {
        let Some(Seat { instance, owner: Some((job, component)), attempt }) = &self.seat else {
            return Ok(None);
        };
        if self.gathered.is_empty() {
            return Ok(None);
        }
        let id = BatchId { checkpoint, instance: *instance, attempt: attempt.to_string() };
        let handle = Handle::new(&id)?;
        let (job, component) = (Arc::clone(job), Arc::clone(component));
        let batch = Batch { job, component, events: std::mem::take(&mut self.gathered) };
        self.lock().prepared.insert(id, batch);
        Ok(Some(handle))
    }

    fn commit(&mut self, handle: Handle) -> Result<()> {
        let id: BatchId = handle.get()?;
        let mut shared = self.lock();
        // It is gone if it was committed before, and if another process has prepared it.
        if let Some(batch) = shared.prepared.remove(&id) {
            shared.events.extend(batch.events.into_iter().map(|event| (id.instance, event)));
        }
        Ok(())
    }

    fn discard(&mut self, handle: Handle) -> Result<()> {
        self.lock().prepared.remove(&handle.get()?);
        Ok(())
    }

    fn clean_up(&mut self, owner: &str, component: &str) -> Result<()> {
        let is_other = |batch: &Batch<T>| *batch.job != *owner || *batch.component != *component;
        self.lock().prepared.retain(|_, batch| is_other(batch));
        Ok(())
    }
}

impl<T> fmt::Debug for Collect<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collect").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
