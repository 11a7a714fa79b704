//! Logic with the state of keys.

use super::{Finish, Logic};
use crate::checkpoint::ComponentManifest;
use crate::component::{Context, Fatal, Result};
use crate::emitter::{Emitter, Trial};
use crate::guard::catch_silently;
use crate::instance::{Kept, Restorer, Saver};
use crate::key::{Key, KeySelector, key_hash};
use crate::operator::KeyedOperator;
use crate::state::{Cursor, Keyed, Place, State, Table};
use crate::time::{EventTime, Moment};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::borrow::Borrow;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::Duration;

/// The keys of an instance, and how far it has come with finishing them.
pub(super) struct Keys<K, S> {
    pub(super) table: Table<K, S>,
    /// How long a state lives after its last change, if not for ever.
    ttl: Option<Duration>,
    /// Whether what a failed call has changed is undone.
    pub(super) undoes: bool,
    finished: Cursor,
}

/// Calls `use_it` with a key and its state; `undoes` if that is to leave no trace where it fails.
#[inline]
pub(super) fn call<K: Key + Clone, S: Default + State>(
    place: Place<'_, K, S>,
    undoes: bool,
    use_it: impl FnOnce(&K, &mut Keyed<S>) -> Result<()>,
) -> Result<()> {
    if undoes { attempt(place, use_it) } else { place.with(use_it) }
}

#[cold]
#[inline(never)]
fn attempt<K: Key + Clone, S: Default + State>(
    place: Place<'_, K, S>,
    use_it: impl FnOnce(&K, &mut Keyed<S>) -> Result<()>,
) -> Result<()> {
    place.with(|key, state| {
        let copy = state.copy().map_err(Fatal::new)?;
        let result = use_it(key, state);
        if result.is_err() {
            state.put_back(copy).map_err(Fatal::new)?;
        }
        result
    })
}

impl<K: Key + Clone + Send + 'static, S: Default + State> Keys<K, S> {
    /// Keys that are finished before the instance looks up.
    const AT_ONCE: usize = 64;

    pub(super) fn new(ttl: Option<Duration>) -> Self {
        let table = Table::volatile().with_ttl(ttl);
        Self { table, ttl, undoes: false, finished: Cursor::default() }
    }

    pub(super) fn start(&mut self, ctx: &Context) {
        self.table.start(Arc::clone(&ctx.clock));
    }

    #[inline]
    pub(super) fn due(&mut self) -> Option<Moment> {
        self.table.due()
    }

    /// Sweeps a bit, and calls `fire` with the earliest timer if it is due. Says whether it was.
    pub(super) fn on_time(
        &mut self,
        fire: impl FnOnce(&K, EventTime, &mut Keyed<S>) -> Result<()>,
    ) -> Result<bool> {
        self.table.sweep();
        let Some((key, hash, at)) = self.table.take_timer() else { return Ok(false) };
        let fire = |key: &K, state: &mut Keyed<S>| fire(key, at, state);
        call(self.table.place(hash, &key), self.undoes, fire).map(|()| true)
    }

    /// Calls `finish` with one key after the other: some of them, as long as there is room for what it
    /// emits. Goes on from there when it is called again. What a call that failed has emitted is taken
    /// back.
    pub(super) fn finish<T>(
        &mut self,
        out: &mut Emitter<T>,
        mut finish: impl FnMut(&K, &mut Keyed<S>, &mut Emitter<T>) -> Result<()>,
    ) -> Result<Finish> {
        for _ in 0..Self::AT_ONCE {
            let trial = Trial::begin(out);
            let finished =
                self.table.walk(&mut self.finished, |key, state| finish(key, state, trial.out));
            match finished {
                None => return Ok(Finish::Done),
                Some(finished) => finished?,
            }
            trial.keep();
            if out.wants_look() && out.settle() {
                break;
            }
        }
        Ok(Finish::More)
    }
}

impl<K, S> Keys<K, S>
where
    K: Key + Serialize + DeserializeOwned,
    S: Default + State,
{
    pub(super) fn restore(&mut self, restorer: &Restorer<'_>) -> Result<()> {
        self.table = restorer.table(self.ttl)?;
        Ok(())
    }
}

/// Notes that a panic came up where the key of an event was looked for, and not in the component.
pub(super) struct Selecting<'a>(&'a mut bool);

impl<'a> Selecting<'a> {
    #[inline]
    pub(super) fn watch<R>(selecting: &'a mut bool, select: impl FnOnce() -> R) -> R {
        let mark = Selecting(selecting);
        let result = select();
        std::mem::forget(mark);
        result
    }
}

impl Drop for Selecting<'_> {
    fn drop(&mut self) {
        *self.0 = true;
    }
}

/// A keyed operator as logic.
pub(crate) struct KeyedLogic<O: KeyedOperator, S> {
    operator: O,
    selector: S,
    keys: Keys<O::Key, O::State>,
    selecting: bool,
}

impl<O: KeyedOperator, S> KeyedLogic<O, S> {
    /// Keys whose state was not changed for the time `ttl` are forgotten.
    pub(crate) fn new(operator: O, selector: S, ttl: Option<Duration>) -> Self {
        Self { operator, selector, keys: Keys::new(ttl), selecting: false }
    }
}

#[cfg(feature = "test-util")]
impl<O: KeyedOperator, S> KeyedLogic<O, S> {
    pub(crate) fn operator(&self) -> &O {
        &self.operator
    }

    pub(crate) fn keys(&self) -> &Table<O::Key, O::State> {
        &self.keys.table
    }
}

impl<O, S> Logic for KeyedLogic<O, S>
where
    O: KeyedOperator<Key: Borrow<S::Key>>,
    S: KeySelector<O::In, Key: ToOwned<Owned = O::Key>>,
{
    type In = O::In;
    type Out = O::Out;

    fn kept() -> Kept {
        Kept::keyed_of::<O, O::Key, O::State>()
    }

    fn differences(old: &ComponentManifest) -> Vec<String> {
        Kept::keyed_differences::<O, O::Key, O::State>(old)
    }

    fn restore(&mut self, restorer: &Restorer<'_>) -> Result<()> {
        self.keys.restore(restorer)?;
        restorer.component(&mut self.operator)
    }

    fn save(&mut self, saver: &mut Saver) -> Result<()> {
        saver.table(&mut self.keys.table)?;
        saver.component(&self.operator)
    }

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.keys.start(ctx);
        self.operator.setup(ctx)
    }

    const WARMS: bool = true;

    #[inline]
    fn warm(&self, events: &[O::In]) {
        let table = &self.keys.table;
        if table.is_large() {
            // A key that cannot be had is met again when its event is applied.
            drop(catch_silently(|| {
                let hash = |event| self.selector.with_key(event, key_hash);
                table.fetch(events.iter().map(hash));
            }));
        }
    }

    #[inline]
    fn apply(&mut self, event: O::In, out: &mut Emitter<O::Out>) -> Result<()> {
        let Self { operator, selector, keys, selecting } = self;
        let (table, undoes) = (&mut keys.table, keys.undoes);
        let place = Selecting::watch(selecting, || {
            selector.with_key(&event, |key| table.place(key_hash(key), key))
        });
        call(place, undoes, |key, state| operator.apply(key, event, state, out))
    }

    fn undo_failed(&mut self) {
        self.keys.undoes = true;
    }

    const TIMED: bool = true;

    #[cfg(feature = "test-util")]
    fn set_ttl(&mut self, ttl: Duration) {
        self.keys = Keys::new(Some(ttl));
    }

    #[inline]
    fn due(&mut self) -> Option<Moment> {
        self.keys.due()
    }

    fn on_time(&mut self, out: &mut Emitter<O::Out>) -> Result<bool> {
        let Self { operator, keys, .. } = self;
        keys.on_time(|key, at, state| operator.on_timer(key, at, state, out))
    }

    fn poll_finish(
        &mut self,
        out: &mut Emitter<O::Out>,
        _: &mut task::Context<'_>,
    ) -> Poll<Result<Finish>> {
        let Self { operator, keys, .. } = self;
        keys.finish(out, |key, state, out| operator.finish(key, state, out)).into()
    }

    fn is_spared(&mut self) -> bool {
        std::mem::take(&mut self.selecting)
    }
}
