//! Logic with two inputs. Both sides travel as one type, so that links and frames need not know.

use super::keyed::{Keys, Selecting, call};
use super::{Finish, Logic};
use crate::checkpoint::ComponentManifest;
use crate::component::{Context, Result};
use crate::emitter::Emitter;
use crate::event::Event;
use crate::grouping::{Grouping, Target, Targets};
use crate::instance::{Kept, Restorer, Saver};
use crate::key::{KeySelector, key_hash};
use crate::operator::{KeyedTwoInput, TwoInput};
#[cfg(feature = "test-util")]
use crate::state::Table;
use crate::time::{EventTime, Moment};
use std::borrow::Borrow;
use std::task::{self, Poll};
use std::time::Duration;

/// An event of one of two streams.
#[derive(Clone, Debug)]
pub(crate) enum Side<L, R> {
    Left(L),
    Right(R),
}

impl<L: Event, R: Event> Event for Side<L, R> {
    fn weight(&self) -> usize {
        match self {
            Self::Left(event) => event.weight(),
            Self::Right(event) => event.weight(),
        }
    }

    fn time(&self) -> Option<EventTime> {
        match self {
            Self::Left(event) => event.time(),
            Self::Right(event) => event.time(),
        }
    }

    fn encoded(&self) -> Option<Vec<u8>> {
        match self {
            Self::Left(event) => event.encoded(),
            Self::Right(event) => event.encoded(),
        }
    }
}

/// The grouping of the left stream, once its events travel as [`Side`]s.
#[derive(Clone)]
pub(crate) struct LeftOf<G>(pub(crate) G);

impl<L, R, G: Grouping<L>> Grouping<Side<L, R>> for LeftOf<G> {
    #[inline]
    fn target(&mut self, event: &Side<L, R>, targets: Targets) -> Target {
        match event {
            Side::Left(event) => self.0.target(event, targets),
            Side::Right(_) => unreachable!("an event of the right on the left edge"),
        }
    }

    fn sole_target(&self, targets: Targets) -> Option<usize> {
        self.0.sole_target(targets)
    }

    fn by_key(&self) -> bool {
        self.0.by_key()
    }
}

/// The grouping of the right stream.
#[derive(Clone)]
pub(crate) struct RightOf<G>(pub(crate) G);

impl<L, R, G: Grouping<R>> Grouping<Side<L, R>> for RightOf<G> {
    #[inline]
    fn target(&mut self, event: &Side<L, R>, targets: Targets) -> Target {
        match event {
            Side::Right(event) => self.0.target(event, targets),
            Side::Left(_) => unreachable!("an event of the left on the right edge"),
        }
    }

    fn sole_target(&self, targets: Targets) -> Option<usize> {
        self.0.sole_target(targets)
    }

    fn by_key(&self) -> bool {
        self.0.by_key()
    }
}

/// An operator with two inputs as logic.
pub(crate) struct TwoInputLogic<O>(pub(crate) O);

impl<O: TwoInput> Logic for TwoInputLogic<O> {
    type In = Side<O::Left, O::Right>;
    type Out = O::Out;

    fn kept() -> Kept {
        Kept::fields_of::<O>()
    }

    fn differences(old: &ComponentManifest) -> Vec<String> {
        Kept::differences::<O>(old)
    }

    fn restore(&mut self, restorer: &Restorer<'_>) -> Result<()> {
        restorer.component(&mut self.0)
    }

    fn save(&mut self, saver: &mut Saver) -> Result<()> {
        saver.component(&self.0)
    }

    fn setup(&mut self, ctx: &Context) -> Result<()> {
        self.0.setup(ctx)
    }

    #[inline]
    fn apply(&mut self, event: Self::In, out: &mut Emitter<O::Out>) -> Result<()> {
        match event {
            Side::Left(event) => self.0.apply_left(event, out),
            Side::Right(event) => self.0.apply_right(event, out),
        }
    }

    fn poll_finish(
        &mut self,
        out: &mut Emitter<O::Out>,
        _: &mut task::Context<'_>,
    ) -> Poll<Result<Finish>> {
        Poll::Ready(self.0.finish(out).map(|()| Finish::Done))
    }
}

/// An operator with two keyed inputs as logic.
pub(crate) struct KeyedTwoInputLogic<O: KeyedTwoInput, L, R> {
    operator: O,
    left: L,
    right: R,
    keys: Keys<O::Key, O::State>,
    selecting: bool,
}

impl<O: KeyedTwoInput, L, R> KeyedTwoInputLogic<O, L, R> {
    /// Keys whose state was not changed for the time `ttl` are forgotten.
    pub(crate) fn new(operator: O, left: L, right: R, ttl: Option<Duration>) -> Self {
        Self { operator, left, right, keys: Keys::new(ttl), selecting: false }
    }
}

#[cfg(feature = "test-util")]
impl<O: KeyedTwoInput, L, R> KeyedTwoInputLogic<O, L, R> {
    pub(crate) fn operator(&self) -> &O {
        &self.operator
    }

    pub(crate) fn keys(&self) -> &Table<O::Key, O::State> {
        &self.keys.table
    }
}

impl<O, L, R> Logic for KeyedTwoInputLogic<O, L, R>
where
    O: KeyedTwoInput<Key: Borrow<L::Key> + Borrow<R::Key>>,
    L: KeySelector<O::Left, Key: ToOwned<Owned = O::Key>>,
    R: KeySelector<O::Right, Key: ToOwned<Owned = O::Key>>,
{
    type In = Side<O::Left, O::Right>;
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

    #[inline]
    fn apply(&mut self, event: Self::In, out: &mut Emitter<O::Out>) -> Result<()> {
        let Self { operator, left, right, keys, selecting } = self;
        let (table, undoes) = (&mut keys.table, keys.undoes);
        match event {
            Side::Left(event) => {
                let place = Selecting::watch(selecting, || {
                    left.with_key(&event, |key| table.place(key_hash(key), key))
                });
                call(place, undoes, |key, state| operator.apply_left(key, event, state, out))
            }
            Side::Right(event) => {
                let place = Selecting::watch(selecting, || {
                    right.with_key(&event, |key| table.place(key_hash(key), key))
                });
                call(place, undoes, |key, state| operator.apply_right(key, event, state, out))
            }
        }
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
