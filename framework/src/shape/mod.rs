//! [`Shape`]: what a type is made of, as far as its bytes are concerned.
//!
//! A shape is written down beside what was saved, and compared with that of the program which reads it.

mod compare;
mod text;

pub use compare::{Change, Difference};

use serde::{Deserialize, Serialize};
use std::cell::RefCell;

/// What a type is made of, as far as its bytes are concerned: the names and the types of its fields, the
/// names of its variants. What the type itself is called counts for nothing.
///
/// `#[derive(State)]` writes it down; [`compare`](Self::compare) says whether one type can read what
/// another has written.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use streamwork::State;
///
/// #[derive(State, Serialize, Deserialize)]
/// struct Visits {
///     count: u64,
///     last: Option<String>,
/// }
///
/// assert_eq!(Visits::shape().to_string(), "{count: u64, last: string?}");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Shape {
    /// `()`: nothing is kept.
    Nothing,
    /// One value of a type that everybody knows: `u64`, `bool`, `string`.
    Plain(String),
    /// A value or none.
    Option(Box<Self>),
    /// Any number of values, in order.
    List(Box<Self>),
    /// Any number of different values.
    Set(Box<Self>),
    /// Values that are found by their keys.
    Map(Box<Self>, Box<Self>),
    /// A map whose entries are kept one by one, and move with their keys (`#[state(by_key)]`).
    ByKey(Box<Self>, Box<Self>),
    /// A fixed number of values of one type.
    Array(Box<Self>, usize),
    /// Values of these types, in order: a tuple, or a struct whose fields have no names.
    Tuple(Vec<Self>),
    /// A struct without fields.
    Unit,
    /// A struct of one field without a name: its bytes are those of the field.
    Newtype(Box<Self>),
    /// Fields with names.
    Struct(Vec<Field>),
    /// One of several variants.
    Enum(Vec<Variant>),
    /// A type that is taken as it is: `#[state(serde, version = 1)]`.
    Opaque {
        /// Its name as it is written in the source.
        name: String,
        /// The number that its user counts up when its bytes change.
        version: u32,
    },
    /// A type with a name of its own.
    Type {
        /// What it is called, for words alone.
        name: String,
        /// Its [`VERSION`](crate::State::VERSION).
        version: u32,
        /// What it is made of.
        shape: Box<Self>,
    },
    /// A type inside itself: how many [types](Self::Type) further out, 0 for the innermost.
    Again(usize),
}

/// A field with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The name that it is written under.
    pub name: String,
    /// Other names that it is read under: `#[serde(alias = "..")]`.
    pub aliases: Vec<String>,
    /// What it is made of.
    pub shape: Shape,
    /// Whether it has a value where it was not written: `#[serde(default)]`.
    pub default: bool,
    /// Whether it is left out at times: `#[serde(skip_serializing_if = "..")]`.
    pub left_out: bool,
}

impl Field {
    /// A field that is always written and has no default.
    #[must_use]
    pub fn new(name: &str, shape: Shape) -> Self {
        let name = name.to_owned();
        Self { name, aliases: Vec::new(), shape, default: false, left_out: false }
    }

    /// The same field, read under another name too.
    #[must_use]
    pub fn alias(mut self, name: &str) -> Self {
        self.aliases.push(name.to_owned());
        self
    }

    /// The same field, with a default.
    #[must_use]
    pub fn or_default(self) -> Self {
        Self { default: true, ..self }
    }

    /// The same field, left out at times.
    #[must_use]
    pub fn at_times(self) -> Self {
        Self { left_out: true, ..self }
    }
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// The name that it is written under.
    pub name: String,
    /// Other names that it is read under.
    pub aliases: Vec<String>,
    /// What it holds: [`Unit`](Shape::Unit), [`Newtype`](Shape::Newtype), [`Tuple`](Shape::Tuple) or
    /// [`Struct`](Shape::Struct).
    pub shape: Shape,
}

impl Variant {
    /// A variant that holds this.
    #[must_use]
    pub fn new(name: &str, shape: Shape) -> Self {
        Self { name: name.to_owned(), aliases: Vec::new(), shape }
    }

    /// The same variant, read under another name too.
    #[must_use]
    pub fn alias(mut self, name: &str) -> Self {
        self.aliases.push(name.to_owned());
        self
    }
}

thread_local! {
    /// The types that are being described, outermost first.
    static OPEN: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

/// Ends the description of a type, also if it panics.
struct Opened;

impl Drop for Opened {
    fn drop(&mut self) {
        OPEN.with_borrow_mut(Vec::pop);
    }
}

impl Shape {
    /// One value of a type that everybody knows.
    ///
    /// ```
    /// use streamwork::{Shape, State};
    ///
    /// assert_eq!(u64::shape(), Shape::plain("u64"));
    /// ```
    #[must_use]
    pub fn plain(name: &str) -> Self {
        Self::Plain(name.to_owned())
    }

    /// A type that is taken as it is.
    ///
    /// ```
    /// use streamwork::Shape;
    ///
    /// assert_eq!(Shape::opaque("Decimal", 1).to_string(), "Decimal v1");
    /// ```
    #[must_use]
    pub fn opaque(name: &str, version: u32) -> Self {
        Self::Opaque { name: name.to_owned(), version }
    }

    /// A type with a name of its own. Where it holds itself, that is said instead of describing it again.
    ///
    /// ```
    /// use streamwork::{Field, Shape, State};
    ///
    /// # #[derive(serde::Serialize, serde::Deserialize)]
    /// struct List {
    ///     head: u64,
    ///     tail: Option<Box<List>>,
    /// }
    ///
    /// impl State for List {
    ///     fn shape() -> Shape {
    ///         Shape::of_type::<Self>("List", 0, || {
    ///             Shape::Struct(vec![
    ///                 Field::new("head", u64::shape()),
    ///                 Field::new("tail", <Option<Box<Self>>>::shape()),
    ///             ])
    ///         })
    ///     }
    /// }
    ///
    /// assert_eq!(List::shape().to_string(), "{head: u64, tail: ^0?}");
    /// ```
    pub fn of_type<T: ?Sized>(name: &str, version: u32, describe: impl FnOnce() -> Self) -> Self {
        let id = std::any::type_name::<T>();
        let around = OPEN.with_borrow_mut(|open| {
            let around = open.iter().rev().position(|&other| other == id);
            if around.is_none() {
                open.push(id);
            }
            around
        });
        match around {
            Some(outwards) => Self::Again(outwards),
            None => {
                let _opened = Opened;
                Self::Type { name: name.to_owned(), version, shape: Box::new(describe()) }
            }
        }
    }

    /// The version of the type: that of its name, through an option or a tuple of one around it.
    #[must_use]
    pub fn version(&self) -> u32 {
        match self {
            Self::Type { version, .. } | Self::Opaque { version, .. } => *version,
            Self::Option(inner) => inner.version(),
            Self::Tuple(parts) if parts.len() == 1 => parts[0].version(),
            _ => 0,
        }
    }

    /// Whether a field of it that was not written is read as none.
    pub(crate) fn is_option(&self) -> bool {
        matches!(self, Self::Option(_))
    }
}
