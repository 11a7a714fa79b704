//! State that belongs to keys: the engine owns the map, user code gets one entry at a time.

mod keyed;
mod segment;
mod shape;
mod table;

pub(crate) use keyed::Epoch;
pub use keyed::Keyed;
pub use shape::{Shape, State};
pub(crate) use table::{Cursor, Table};
