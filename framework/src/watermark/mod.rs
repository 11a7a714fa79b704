//! Watermarks: how the promises of several inputs become one.

mod frontier;

pub(crate) use frontier::{Advance, Frontier};
