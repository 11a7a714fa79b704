//! What reads one split: a stream that is asked for one `next` after the other.

use crate::component::{Context, Result};
use crate::emitter::Emitter;
use crate::source::{Progress, Source};
use futures::Stream;
use futures::stream;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// What a reader yields.
pub(super) enum Item<S: Source> {
    /// Set up.
    Ready(Result<()>),
    /// One `next` has completed.
    Step { out: Emitter<S::Out>, outcome: Result<Progress>, position: S::Saved },
}

pub(super) type Reader<S> = Pin<Box<dyn Stream<Item = Item<S>> + Send>>;

/// The emitter for the next call and its limit, shared with the reader, which owns the source.
pub(super) struct Turn<T> {
    pub(super) out: Option<Emitter<T>>,
    pub(super) limit: usize,
}

pub(super) type SharedTurn<T> = Arc<Mutex<Turn<T>>>;

/// A source with what it needs to be read.
struct Reading<S: Source> {
    source: S,
    ctx: Context,
    turn: SharedTurn<S::Out>,
    ready: bool,
}

/// Reads one split, one `next` for each time that the stream is asked for an item. A pending `next`
/// stays pending inside, whatever happens outside.
pub(super) fn read<S: Source>(source: S, ctx: Context, turn: SharedTurn<S::Out>) -> Reader<S> {
    // Boxed, since it moves in and out of the future for each item.
    let reading = Box::new(Reading { source, ctx, turn, ready: false });
    Box::pin(stream::unfold(reading, |mut reading| async move {
        if !reading.ready {
            reading.ready = true;
            let outcome = reading.source.setup(&reading.ctx).await;
            return Some((Item::Ready(outcome), reading));
        }
        let mut out = {
            let mut turn = reading.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let mut out = turn.out.take().unwrap_or_default();
            out.set_limit(turn.limit);
            out
        };
        let outcome = reading.source.next(&mut out).await;
        let position = reading.source.save();
        Some((Item::Step { out, outcome, position }, reading))
    }))
}
