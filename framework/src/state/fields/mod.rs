//! The `#[state]` fields of a component: described, written and read by their names.

mod reader;
mod writer;

pub use reader::FieldReader;
pub use writer::FieldWriter;

use super::reading::Reading;
use super::rescale::{KeyedMap, Rescale};
use super::value::State;
use crate::shape::{Change, Difference, Field, Shape};

/// One field marked `#[state]`: a part of what is saved of a component. In a source the marked fields are
/// the position that it is built anew at.
///
/// ```
/// use streamwork::{Component, Rescale};
///
/// #[derive(Component)]
/// struct Tail {
///     #[state]
///     offset: u64,
/// }
///
/// let [offset] = Tail::STATE else { panic!() };
/// assert_eq!((offset.name, offset.type_name, offset.rescale), ("offset", "u64", Rescale::Refuse));
/// assert_eq!(offset.shape().to_string(), "u64");
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StateField {
    /// The field's name.
    pub name: &'static str,
    /// Its type as it is written in the source.
    pub type_name: &'static str,
    /// What becomes of it when the parallelism changes.
    pub rescale: Rescale,
    /// Whether it begins with its type's default where it was not saved: `#[state(default)]`.
    pub default: bool,
    shape: fn() -> Shape,
    check: fn(&Shape) -> Result<(), Vec<Difference>>,
}

impl StateField {
    /// A field of type `T`.
    ///
    /// ```
    /// use streamwork::{Rescale, StateField};
    ///
    /// const OFFSET: StateField = StateField::new::<u64>("offset", "u64", Rescale::Refuse);
    /// assert!(!OFFSET.default && OFFSET.or_default().default);
    /// ```
    #[must_use]
    pub const fn new<T: State>(
        name: &'static str,
        type_name: &'static str,
        rescale: Rescale,
    ) -> Self {
        let check = |old: &Shape| Reading::<T>::of(old).map(drop);
        Self { name, type_name, rescale, default: false, shape: T::shape, check }
    }

    /// A field whose entries move with their keys.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use streamwork::StateField;
    ///
    /// let counts = StateField::by_key::<BTreeMap<String, u64>>("counts", "BTreeMap<String, u64>");
    /// assert_eq!(counts.shape().to_string(), "by_key[string: u64]");
    /// ```
    #[must_use]
    pub const fn by_key<M: KeyedMap>(name: &'static str, type_name: &'static str) -> Self {
        let shape = || Shape::ByKey(Box::new(M::Key::shape()), Box::new(M::Value::shape()));
        let check = |old: &Shape| readings::<M>(old).map(drop);
        Self { name, type_name, rescale: Rescale::ByKey, default: false, shape, check }
    }

    /// The same field, with a default.
    #[must_use]
    pub const fn or_default(self) -> Self {
        Self { default: true, ..self }
    }

    /// What it is made of.
    #[must_use]
    pub fn shape(&self) -> Shape {
        (self.shape)()
    }

    /// Whether it is read from what was saved without it.
    fn can_be_new(&self) -> bool {
        self.default || self.shape().is_option()
    }
}

/// How the keys and the values of a map are read.
type Entries<M> = (Reading<<M as KeyedMap>::Key>, Reading<<M as KeyedMap>::Value>);

fn readings<M: KeyedMap>(old: &Shape) -> Result<Entries<M>, Vec<Difference>> {
    let Shape::ByKey(key, value) = old else {
        let new = Shape::ByKey(Box::new(M::Key::shape()), Box::new(M::Value::shape()));
        return Err(Shape::compare(old, &new).err().unwrap_or_default());
    };
    let within = |part: &'static str| {
        move |found: Vec<Difference>| {
            found.into_iter().map(|it| it.within(part)).collect::<Vec<_>>()
        }
    };
    let keys = Reading::of(key).map_err(within("[key]"))?;
    Ok((keys, Reading::of(value).map_err(within("[]"))?))
}

/// What a component's fields are made of together.
pub(crate) fn shape_of(fields: &[StateField]) -> Shape {
    if fields.is_empty() {
        return Shape::Nothing;
    }
    let described = |field: &StateField| Field {
        default: field.default,
        ..Field::new(field.name, field.shape())
    };
    Shape::Struct(fields.iter().map(described).collect())
}

/// What was saved, by name.
fn saved(old: &Shape) -> Option<&[Field]> {
    match old {
        Shape::Nothing => Some(&[]),
        Shape::Struct(fields) => Some(fields),
        _ => None,
    }
}

/// Whether the fields can be read from what was saved; pure, and asked before anything is read.
pub(crate) fn compare(old: &Shape, fields: &[StateField]) -> Result<(), Vec<Difference>> {
    let Some(before) = saved(old) else { return Shape::compare(old, &shape_of(fields)) };
    let mut found = Vec::new();
    for field in fields {
        match before.iter().find(|former| former.name == field.name) {
            Some(former) => {
                let differences = (field.check)(&former.shape).err().unwrap_or_default();
                found.extend(differences.into_iter().map(|it| it.within(field.name)));
            }
            None if field.can_be_new() => {}
            None => found.push(Difference::new(field.name, Change::FieldNew)),
        }
    }
    for former in before {
        if !fields.iter().any(|field| field.name == former.name) {
            found.push(Difference::new(&*former.name, Change::FieldGone));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Whether a field was saved, or the state that is no set of fields.
pub(crate) fn was_saved(old: &Shape, name: &str) -> bool {
    match name {
        WHOLE => *old != Shape::Nothing,
        _ => saved(old).is_some_and(|fields| fields.iter().any(|field| field.name == name)),
    }
}

/// How a blob begins: the number of its format.
const FORMAT: u8 = 1;

/// The name of state that is no set of fields.
pub(crate) const WHOLE: &str = "";
