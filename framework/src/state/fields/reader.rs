//! [`FieldReader`]: the state of all instances that there were, on its way into one that there is.

use super::{FORMAT, StateField, WHOLE, compare, readings, saved};
use crate::key::Key;
use crate::shape::{Difference, Shape};
use crate::state::error::StateError;
use crate::state::reading::Reading;
use crate::state::rescale::{KeyedMap, Redistribute, Rescaling};
use crate::state::types::NIL;
use crate::state::value::State;
use serde::Serialize;
use serde_bytes::ByteBuf;
use std::collections::BTreeMap;
use std::error::Error as StdError;
use std::fmt;

/// Gives an instance the state that it goes on with, from that of all instances that there were.
/// [`FieldWriter`](super::FieldWriter) has an example.
pub struct FieldReader<'a> {
    component: &'a str,
    shape: &'a Shape,
    /// Of each instance that there was, its fields by name.
    olds: Vec<BTreeMap<String, ByteBuf>>,
    to: Rescaling,
}

impl<'a> FieldReader<'a> {
    /// From the state of each instance that there was, in order, and the shape that it was saved with.
    ///
    /// # Errors
    /// There is not one for each instance, or one can't be read.
    pub fn new(
        component: &'a str,
        shape: &'a Shape,
        olds: &[&[u8]],
        to: Rescaling,
    ) -> Result<Self, StateError> {
        if olds.len() != to.before && *shape != Shape::Nothing {
            let (before, found) = (to.before, olds.len());
            return Err(StateError::Incomplete { component: component.to_owned(), before, found });
        }
        let parse = |(instance, bytes): (usize, &&[u8])| {
            fields(bytes).map_err(|source| StateError::Damaged {
                component: component.to_owned(),
                instance,
                source,
            })
        };
        let olds = olds.iter().enumerate().map(parse).collect::<Result<_, _>>()?;
        Ok(Self { component, shape, olds, to })
    }

    /// Whether these fields can be read from what was saved.
    ///
    /// # Errors
    /// Everything that has changed.
    pub fn check(&self, fields: &[StateField]) -> Result<(), StateError> {
        compare(self.shape, fields).map_err(|differences| self.changed(differences))
    }

    /// State that is no set of fields.
    ///
    /// # Errors
    /// It has changed, can't be read, or was saved at another parallelism.
    pub fn whole<T: State>(&self) -> Result<T, StateError> {
        let reading = Reading::of(self.shape).map_err(|found| self.changed(found))?;
        if *self.shape == Shape::Nothing {
            return self.read(&reading, WHOLE, self.to.index, &[NIL]);
        }
        self.own(&reading, WHOLE)
    }

    /// A field marked `#[state]`.
    ///
    /// # Errors
    /// It has changed, can't be read, or was saved at another parallelism.
    pub fn plain<T: State>(
        &self,
        field: &StateField,
        default: Option<fn() -> T>,
    ) -> Result<T, StateError> {
        match self.reading(field)? {
            Some(reading) => self.own(&reading, field.name),
            None => self.fresh(field, default),
        }
    }

    /// A field marked `#[state(replicated)]`: that of the first instance.
    ///
    /// # Errors
    /// It has changed, or can't be read.
    pub fn replicated<T: State>(
        &self,
        field: &StateField,
        default: Option<fn() -> T>,
    ) -> Result<T, StateError> {
        match self.reading(field)? {
            Some(reading) => self.of_instance(&reading, field.name, 0),
            None => self.fresh(field, default),
        }
    }

    /// A field marked `#[state(redistribute)]`: its own at the parallelism of before, else what
    /// [`Redistribute`] says.
    ///
    /// # Errors
    /// It has changed, or can't be read.
    pub fn redistribute<T: State + Redistribute>(
        &self,
        field: &StateField,
        default: Option<fn() -> T>,
    ) -> Result<T, StateError> {
        let Some(reading) = self.reading(field)? else { return self.fresh(field, default) };
        if self.to.before == self.to.parallelism {
            return self.of_instance(&reading, field.name, self.to.index);
        }
        let all = (0..self.olds.len()).map(|i| self.of_instance(&reading, field.name, i));
        let all = all.collect::<Result<Vec<T>, _>>()?;
        Ok(T::redistribute(all, self.to.index, self.to.parallelism))
    }

    /// A field marked `#[state(by_key)]`: the entries whose keys belong to this instance.
    ///
    /// # Errors
    /// It has changed, an entry can't be read, or lay with an instance that it didn't belong to.
    ///
    /// # Panics
    /// If there are more instances than key groups, before or now.
    pub fn by_key<M: KeyedMap>(
        &self,
        field: &StateField,
        default: Option<fn() -> M>,
    ) -> Result<M, StateError> {
        let Some(old) = self.old_shape(field.name) else { return self.fresh(field, default) };
        let within = |found: Vec<Difference>| found.into_iter().map(|it| it.within(field.name));
        let (keys, values) = readings::<M>(old).map_err(|d| self.changed(within(d).collect()))?;
        let Rescaling { index, parallelism, before, key_groups } = self.to;
        let mut mine = Vec::new();
        for instance in 0..self.olds.len() {
            let bytes = self.bytes(field.name, instance)?;
            let entries: Vec<(ByteBuf, ByteBuf)> = rmp_serde::from_slice(bytes)
                .map_err(|error| self.undecodable(field.name, instance, error.into()))?;
            for (key, value) in entries {
                let key: M::Key = self.read(&keys, field.name, instance, &key)?;
                let group = key_groups.of_key(&key);
                let home = key_groups.instance(group, before);
                if home != instance {
                    return Err(self.misplaced(field.name, &key, instance, home));
                }
                if key_groups.instance(group, parallelism) == index {
                    let value = values.read(&value).map_err(|source| {
                        let (component, field) = (self.component.to_owned(), field.name.to_owned());
                        StateError::UndecodableKey { component, field, key: written(&key), source }
                    })?;
                    mine.push((key, value));
                }
            }
        }
        Ok(M::from_entries(mine))
    }

    fn reading<T: State>(&self, field: &StateField) -> Result<Option<Reading<T>>, StateError> {
        let Some(old) = self.old_shape(field.name) else { return Ok(None) };
        let within = |found: Vec<Difference>| found.into_iter().map(|it| it.within(field.name));
        Reading::of(old).map(Some).map_err(|found| self.changed(within(found).collect()))
    }

    fn old_shape(&self, name: &str) -> Option<&'a Shape> {
        let field = saved(self.shape)?.iter().find(|field| field.name == name)?;
        Some(&field.shape)
    }

    /// A field that was not saved.
    fn fresh<T: State>(
        &self,
        field: &StateField,
        default: Option<fn() -> T>,
    ) -> Result<T, StateError> {
        match default {
            Some(default) => Ok(default()),
            None if field.can_be_new() => {
                rmp_serde::from_slice(&[NIL]).map_err(|e| self.undecodable(field.name, 0, e.into()))
            }
            None => Err(self.check(&[*field]).err().unwrap_or_else(|| self.changed(Vec::new()))),
        }
    }

    /// What this very instance wrote.
    fn own<T: State>(&self, reading: &Reading<T>, name: &str) -> Result<T, StateError> {
        let Rescaling { index, parallelism: now, before, .. } = self.to;
        if before != now {
            let (component, field) = (self.component.to_owned(), name.to_owned());
            return Err(StateError::Rescaled { component, field, before, now });
        }
        self.of_instance(reading, name, index)
    }

    fn of_instance<T: State>(
        &self,
        reading: &Reading<T>,
        name: &str,
        instance: usize,
    ) -> Result<T, StateError> {
        self.read(reading, name, instance, self.bytes(name, instance)?)
    }

    fn bytes(&self, name: &str, instance: usize) -> Result<&[u8], StateError> {
        let fields = self.olds.get(instance);
        let bytes = fields.and_then(|fields| fields.get(name)).map(|bytes| &bytes[..]);
        bytes.ok_or_else(|| self.undecodable(name, instance, "it was not saved".into()))
    }

    fn read<T: State>(
        &self,
        reading: &Reading<T>,
        name: &str,
        instance: usize,
        bytes: &[u8],
    ) -> Result<T, StateError> {
        reading.read(bytes).map_err(|source| self.undecodable(name, instance, source))
    }

    fn changed(&self, differences: Vec<Difference>) -> StateError {
        StateError::Changed { component: self.component.to_owned(), differences }
    }

    fn undecodable(
        &self,
        field: &str,
        instance: usize,
        source: Box<dyn StdError + Send + Sync>,
    ) -> StateError {
        let (component, field) = (self.component.to_owned(), field.to_owned());
        StateError::Undecodable { component, field, instance, source }
    }

    fn misplaced<K: Key + Serialize>(
        &self,
        field: &str,
        key: &K,
        instance: usize,
        home: usize,
    ) -> StateError {
        let (component, field) = (self.component.to_owned(), field.to_owned());
        let before = self.to.before;
        StateError::Misplaced { component, field, key: written(key), instance, home, before }
    }
}

/// The fields in a piece of bytes, by name.
fn fields(bytes: &[u8]) -> Result<BTreeMap<String, ByteBuf>, Box<dyn StdError + Send + Sync>> {
    let [FORMAT, bytes @ ..] = bytes else { return Err("it is in no format that is known".into()) };
    let fields: Vec<(String, ByteBuf)> = rmp_serde::from_slice(bytes)?;
    Ok(fields.into_iter().collect())
}

/// A key in words, as far as it can be had: keys have no `Debug`.
fn written<K: Serialize>(key: &K) -> String {
    serde_json::to_string(key).unwrap_or_else(|_| "(a key without a text)".to_owned())
}

impl fmt::Debug for FieldReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FieldReader")
            .field("component", &self.component)
            .field("to", &self.to)
            .finish_non_exhaustive()
    }
}
