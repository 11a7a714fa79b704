//! [`Fold`]: a running aggregate for each key.

use super::KeyedOperator;
use crate::component::{Component, Result};
use crate::emitter::Emitter;
use crate::event::{Event, Storable};
use crate::key::Key;
use crate::state::{Keyed, State};
use std::fmt;
use std::marker::PhantomData;

/// The component that [`KeyedStream::fold`](crate::KeyedStream::fold) adds, under the name `fold`: with
/// each event it emits the key and the aggregate so far.
pub struct Fold<K, T, A, F> {
    initial: A,
    step: F,
    types: PhantomData<fn(K, T)>,
}

impl<K, T, A, F> Fold<K, T, A, F> {
    pub(crate) fn new(initial: A, step: F) -> Self {
        Self { initial, step, types: PhantomData }
    }
}

impl<K, T, A: Clone, F: Clone> Clone for Fold<K, T, A, F> {
    fn clone(&self) -> Self {
        Self::new(self.initial.clone(), self.step.clone())
    }
}

impl<K: 'static, T: 'static, A: Send + 'static, F: Send + 'static> Component for Fold<K, T, A, F> {
    type Saved = ();

    fn name(&self) -> &str {
        "fold"
    }

    fn save(&self) {}

    fn load(&mut self, (): ()) {}
}

impl<K, T, A, F> KeyedOperator for Fold<K, T, A, F>
where
    K: Key + Event + Storable,
    T: Event,
    A: Event + State,
    F: Fn(&mut A, &T) + Clone + Send + 'static,
{
    type Key = K;
    type In = T;
    type Out = (K, A);
    /// In a tuple, since an aggregate that is an option could not be told from none.
    type State = Option<(A,)>;

    #[inline]
    fn apply(
        &mut self,
        key: &K,
        event: T,
        state: &mut Keyed<Option<(A,)>>,
        out: &mut Emitter<(K, A)>,
    ) -> Result<()> {
        let (aggregate,) = state.get_or_insert_with(|| (self.initial.clone(),));
        (self.step)(aggregate, &event);
        out.emit((key.clone(), aggregate.clone()));
        Ok(())
    }
}

impl<K, T, A: fmt::Debug, F> fmt::Debug for Fold<K, T, A, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fold").field("initial", &self.initial).finish_non_exhaustive()
    }
}
