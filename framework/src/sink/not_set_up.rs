//! What a sink says that is written to too early.

/// Only who calls a sink by hand meets it: the engine calls `setup` first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event came before `setup`")]
pub(super) struct NotSetUp;
