//! [`Effect`]: what becomes of what a sink writes when events come again, and [`Handle`].

use crate::component::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What becomes of what a sink writes when events come again after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// It becomes visible when the checkpoint that holds it is published, once. [`TwoPhaseSink`](super::TwoPhaseSink)
    /// is the trait for it.
    Committing,
    /// Writing the same again changes nothing.
    Idempotent,
    /// It is seen again.
    Repeating,
}

/// By what a sink commits what it has prepared: a value of its own, as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handle(Vec<u8>);

impl Handle {
    /// A handle that holds `value`.
    ///
    /// # Errors
    /// The value cannot be encoded.
    pub fn new<T: Serialize>(value: &T) -> Result<Self> {
        Ok(Self(rmp_serde::to_vec_named(value)?))
    }

    /// The value.
    ///
    /// # Errors
    /// The bytes are not those of such a value.
    pub fn get<T: DeserializeOwned>(&self) -> Result<T> {
        Ok(rmp_serde::from_slice(&self.0)?)
    }

    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_read_back_from_its_bytes_and_as_nothing_else() {
        let handle = Handle::new(&("draft", 7_u64)).unwrap();
        let read = Handle::from_bytes(handle.clone().into_bytes());
        assert_eq!(read, handle);
        assert_eq!(read.get::<(String, u64)>().unwrap(), ("draft".to_owned(), 7));
        assert!(read.get::<u64>().is_err());
    }
}
