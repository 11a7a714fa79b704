//! State that belongs to keys: the engine owns the map, user code gets one entry at a time.

mod keyed;
mod table;

pub use keyed::Keyed;
pub(crate) use table::Table;
