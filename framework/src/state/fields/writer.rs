//! [`FieldWriter`]: the state of one instance on its way into bytes.

use super::{FORMAT, WHOLE};
use crate::shape::Shape;
use crate::state::error::StateError;
use crate::state::rescale::KeyedMap;
use crate::state::value::State;
use serde::Serialize;
use serde_bytes::ByteBuf;

/// Collects the state of one instance, field by field, into one piece of bytes.
///
/// ```
/// use streamwork::{Component, FieldReader, FieldWriter, Rescaling};
///
/// #[derive(Component)]
/// struct Tail {
///     #[state]
///     offset: u64,
/// }
///
/// let mut fields = FieldWriter::new("tail");
/// Tail::encode(&(7,), &mut fields)?;
/// let bytes = fields.into_bytes();
///
/// let shape = Tail::state_shape();
/// let reader = FieldReader::new("tail", &shape, &[&bytes], Rescaling::WHOLE)?;
/// assert_eq!(Tail::decode(&reader)?, (7,));
/// # Ok::<(), streamwork::StateError>(())
/// ```
#[derive(Debug)]
pub struct FieldWriter {
    component: String,
    fields: Vec<(&'static str, ByteBuf)>,
}

impl FieldWriter {
    /// For an instance of this component.
    #[must_use]
    pub fn new(component: &str) -> Self {
        Self { component: component.to_owned(), fields: Vec::new() }
    }

    /// Writes a field in one piece.
    ///
    /// # Errors
    /// serde refuses to write it.
    pub fn put<T: State>(&mut self, name: &'static str, value: &T) -> Result<(), StateError> {
        self.push(name, value)
    }

    /// Writes a map entry by entry.
    ///
    /// # Errors
    /// serde refuses to write one.
    pub fn put_by_key<M: KeyedMap>(
        &mut self,
        name: &'static str,
        map: &M,
    ) -> Result<(), StateError> {
        let entries = map
            .entries()
            .map(|(key, value)| Ok((self.bytes(name, key)?, self.bytes(name, value)?)));
        let entries = entries.collect::<Result<Vec<_>, StateError>>()?;
        self.push(name, &entries)
    }

    /// Writes state that is no set of fields.
    ///
    /// # Errors
    /// serde refuses to write it.
    pub fn put_whole<T: State>(&mut self, value: &T) -> Result<(), StateError> {
        if T::shape() == Shape::Nothing { Ok(()) } else { self.put(WHOLE, value) }
    }

    fn push<T: Serialize>(&mut self, name: &'static str, value: &T) -> Result<(), StateError> {
        let bytes = self.bytes(name, value)?;
        self.fields.push((name, bytes));
        Ok(())
    }

    fn bytes<T: Serialize>(&self, name: &str, value: &T) -> Result<ByteBuf, StateError> {
        let bytes = rmp_serde::to_vec_named(value).map_err(|source| StateError::Unwritable {
            component: self.component.clone(),
            field: name.to_owned(),
            source: source.into(),
        })?;
        Ok(ByteBuf::from(bytes))
    }

    /// Whether nothing was written: then nothing needs to be kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// All of it in one piece: a byte that tells the format, and MessagePack.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        let mut bytes = vec![FORMAT];
        // Names and bytes are always written.
        rmp_serde::encode::write(&mut bytes, &self.fields).expect("a list of names and bytes");
        bytes
    }
}
