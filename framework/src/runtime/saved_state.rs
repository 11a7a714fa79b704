//! [`SavedState`]: what a checkpoint holds, for whoever wants to read it when the job is over.

use crate::checkpoint::{Restored, RestoredComponent};
use crate::component::{BoxError, Component};
use crate::event::Storable;
use crate::id::CheckpointId;
use crate::instance::{read_fields, read_keys};
use crate::key::{Key, KeyGroups};
use crate::state::State;
use std::fmt;

/// What the last checkpoint of a job holds; [`Outcome::saved_state`](crate::Outcome::saved_state) reads it.
///
/// ```
/// use std::time::Duration;
/// use streamwork::MemoryStore;
/// use streamwork::prelude::*;
///
/// let job = Job::new("counts").delivery(Delivery::exactly_once(Duration::from_secs(1)));
/// job.source(FromIter::new(0..10_u64))
///     .key_by_value(|n: &u64| n % 2)
///     .fold(0_u64, |sum, n| *sum += n)
///     .named("sums")
///     .sink(Collect::new());
/// let outcome = Engine::new().store(MemoryStore::new()).run(job).unwrap();
/// let state = outcome.saved_state().unwrap().unwrap();
/// let mut sums: Vec<(u64, Option<(u64,)>)> = state.keyed("sums").unwrap();
/// sums.sort();
/// assert_eq!(sums, [(0, Some((20,))), (1, Some((25,)))]);
/// ```
pub struct SavedState {
    restored: Restored,
}

impl SavedState {
    pub(super) fn new(restored: Restored) -> Self {
        Self { restored }
    }

    /// The checkpoint.
    #[must_use]
    pub fn checkpoint(&self) -> CheckpointId {
        self.restored.manifest.id
    }

    fn component(&self, name: &str) -> Result<RestoredComponent, BoxError> {
        let component = RestoredComponent::of(&self.restored, name);
        component.ok_or_else(|| format!("the checkpoint holds no component {name:?}").into())
    }

    fn key_groups(&self) -> Result<KeyGroups, BoxError> {
        let count = self.restored.manifest.key_groups;
        KeyGroups::new(count).ok_or_else(|| format!("the checkpoint has {count} key groups").into())
    }

    /// The keys of a keyed component with their state, in no order.
    ///
    /// # Errors
    /// There is no such component, or its keys or their state are not of these types.
    pub fn keyed<K, S>(&self, component: &str) -> Result<Vec<(K, S)>, BoxError>
    where
        K: Key + Storable + Send + 'static,
        S: Default + State,
    {
        let restored = self.component(component)?;
        read_keys(component, &restored, self.key_groups()?)
    }

    /// The `#[state]` fields of each instance of an operator or a sink, in order; one without any has none.
    ///
    /// ```
    /// use std::time::Duration;
    /// use streamwork::MemoryStore;
    /// use streamwork::prelude::*;
    ///
    /// /// Sums what it gets.
    /// #[derive(Component, Clone, Default)]
    /// struct Sum {
    ///     #[state]
    ///     sum: u64,
    /// }
    ///
    /// impl Operator for Sum {
    ///     type In = u64;
    ///     type Out = u64;
    ///
    ///     fn apply(&mut self, n: u64, _: &mut Emitter<u64>) -> Result<()> {
    ///         self.sum += n;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let job = Job::new("sum").delivery(Delivery::exactly_once(Duration::from_secs(1)));
    /// job.source(FromIter::new(1..=4_u64)).apply(Sum::default()).sink(Collect::new());
    /// let outcome = Engine::new().store(MemoryStore::new()).run(job).unwrap();
    /// let state = outcome.saved_state().unwrap().unwrap();
    /// assert_eq!(state.instances::<Sum>("sum").unwrap(), [(10,)]);
    /// ```
    ///
    /// # Errors
    /// There is no such component, or it is no `C`.
    pub fn instances<C: Component>(&self, component: &str) -> Result<Vec<C::Saved>, BoxError> {
        let restored = self.component(component)?;
        (0..restored.parallelism).map(|i| read_fields::<C>(component, &restored, i)).collect()
    }
}

impl fmt::Debug for SavedState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SavedState").field("checkpoint", &self.checkpoint()).finish_non_exhaustive()
    }
}
