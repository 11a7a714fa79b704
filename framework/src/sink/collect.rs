//! Into memory, for examples and tests.

use super::Sink;
use crate::component::{Component, Context, Result};
use crate::event::Event;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
pub struct Collect<T> {
    events: Arc<Mutex<Vec<(usize, T)>>>,
    instance: usize,
}

impl<T> Collect<T> {
    /// An empty collection.
    #[must_use]
    pub fn new() -> Self {
        Self { events: Arc::default(), instance: 0 }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(usize, T)>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes out what was collected, in the order of arrival.
    #[must_use]
    pub fn take(&self) -> Vec<T> {
        std::mem::take(&mut *self.lock()).into_iter().map(|(_, event)| event).collect()
    }

    /// How many events were collected.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether nothing was collected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
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
        let events = self.lock();
        events.iter().filter(|(i, _)| *i == index).map(|(_, event)| event.clone()).collect()
    }
}

impl<T> Default for Collect<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Clone for Collect<T> {
    fn clone(&self) -> Self {
        Self { events: Arc::clone(&self.events), instance: self.instance }
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

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.instance = ctx.index();
        Ok(())
    }

    fn write(&mut self, event: T) -> Result<()> {
        let instance = self.instance;
        self.lock().push((instance, event));
        Ok(())
    }
}

impl<T> fmt::Debug for Collect<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collect").field("len", &self.len()).finish_non_exhaustive()
    }
}
