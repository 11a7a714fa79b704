//! [`State`]: types that can be kept in a checkpoint, and [`Shape`]: what they are made of.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A type that is kept in checkpoints and read again by a later version of the program.
pub trait State: Serialize + DeserializeOwned + Send + 'static {
    /// What it is made of.
    fn shape() -> Shape;
}

/// What a type is made of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Shape {
    /// Nothing is kept.
    Nothing,
    /// A type that is taken as it is: its name.
    Plain(String),
}
