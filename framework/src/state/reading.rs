//! [`Reading`]: how values that were saved are read, decided once for all of them.

use super::value::{Migration, Old, State};
use crate::shape::{Difference, Shape};
use std::error::Error as StdError;
use std::fmt;

/// How values that were saved are read as a `T`. It is decided once, from the shape that they were saved
/// with: as they are, or by the type's [`migration`](State::migration). That has an example.
pub struct Reading<T> {
    old: Shape,
    /// `None`: as they are.
    migration: Option<Migration<T>>,
}

impl<T: State> Reading<T> {
    /// Decides.
    ///
    /// ```
    /// use streamwork::Reading;
    /// use streamwork::{Shape, State};
    ///
    /// assert_eq!(Reading::<u64>::of(&u64::shape()).unwrap().read(&[7])?, 7);
    /// let differences = Reading::<u64>::of(&u32::shape()).unwrap_err();
    /// assert_eq!(differences[0].to_string(), "u32 before, u64 now");
    /// # Ok::<(), streamwork::BoxError>(())
    /// ```
    ///
    /// # Errors
    /// The differences between the two shapes, where there is no migration.
    pub fn of(old: &Shape) -> Result<Self, Vec<Difference>> {
        let migration = match Shape::compare(old, &T::shape()) {
            Ok(()) => None,
            Err(differences) if T::VERSION <= old.version() => return Err(differences),
            Err(differences) => Some(T::migration().ok_or(differences)?),
        };
        Ok(Self { old: old.clone(), migration })
    }

    /// Reads one of them.
    ///
    /// # Errors
    /// The bytes are not what they are said to be, or the migration says that it cannot.
    pub fn read(&self, bytes: &[u8]) -> Result<T, Box<dyn StdError + Send + Sync>> {
        match self.migration {
            None => Ok(rmp_serde::from_slice(bytes)?),
            Some(migrate) => migrate(&Old::new(&self.old, bytes)),
        }
    }
}

impl<T> fmt::Debug for Reading<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").field("migrates", &self.migration.is_some()).finish()
    }
}
