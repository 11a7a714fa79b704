//! State: what is remembered from one event to the next, and kept in checkpoints.
//!
//! A type that is kept implements [`State`]: it has a [`Shape`], so that a later version of the program
//! knows whether it can read what this one wrote. The state of keys lies in a table that the engine owns,
//! and user code gets one entry at a time ([`Keyed`]); the `#[state]` fields of a component are written by
//! name ([`FieldWriter`]) and read again, also by another number of instances ([`FieldReader`]).

mod error;
mod fields;
mod keyed;
mod reading;
mod rescale;
mod segment;
mod table;
mod types;
mod value;

pub(crate) use crate::shape::Shape;
pub use error::StateError;
pub use fields::{FieldReader, FieldWriter, StateField};
pub(crate) use fields::{WHOLE, compare, shape_of, was_saved};
pub use keyed::Keyed;
pub use reading::Reading;
pub use rescale::{KeyedMap, Redistribute, Rescale, Rescaling};
pub(crate) use table::{Cursor, Epoch, Place, Table};
pub use value::{Migration, Old, State};
