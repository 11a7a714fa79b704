//! What a source says that is read too early.

/// Only who calls a source by hand meets it: the engine calls `setup` first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`next` was called before `setup`")]
pub(super) struct NotSetUp;
