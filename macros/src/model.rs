//! What was understood of an input, when nothing is wrong with it.

use proc_macro2::Ident;
use syn::{ExprPath, Fields, Generics, Member, Path, Type, Variant};

/// What every impl needs to know of the type that it is for.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    pub(crate) ident: &'a Ident,
    pub(crate) generics: &'a Generics,
    /// The types of all fields.
    pub(crate) types: Vec<&'a Type>,
    /// Where Streamwork is found.
    pub(crate) krate: Path,
}

/// A struct that is a component.
#[derive(Debug)]
pub(crate) struct Component<'a> {
    pub(crate) target: Target<'a>,
    pub(crate) name: String,
    /// `None` leaves the trait's own default.
    pub(crate) parallelism: Option<usize>,
    pub(crate) blocking: bool,
    /// The constants of its channels.
    pub(crate) channels: Vec<ExprPath>,
    pub(crate) state: Vec<StateField<'a>>,
}

/// A field marked `#[state]`.
#[derive(Debug)]
pub(crate) struct StateField<'a> {
    pub(crate) member: Member,
    pub(crate) ty: &'a Type,
    pub(crate) mark: Mark,
}

/// What stands in `#[state(..)]` on a field of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) rescale: Rescale,
    pub(crate) default: bool,
}

/// What becomes of a field when the parallelism changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rescale {
    Refuse,
    ByKey,
    Replicated,
    Redistribute,
}

/// A type that is an event.
#[derive(Debug)]
pub(crate) struct Event<'a> {
    pub(crate) target: Target<'a>,
    /// The field that holds the time, and its type.
    pub(crate) time: Option<(Member, &'a Type)>,
    /// The function that weighs it.
    pub(crate) weight: Option<ExprPath>,
    /// Whether it is never stored or sent.
    pub(crate) local: bool,
}

/// A type that is a key.
#[derive(Debug)]
pub(crate) struct Key<'a> {
    pub(crate) target: Target<'a>,
    pub(crate) shape: Shape<'a>,
}

/// What a key is made of.
#[derive(Debug)]
pub(crate) enum Shape<'a> {
    Struct(&'a Fields),
    Enum(Vec<&'a Variant>),
}

/// A type that is kept.
#[derive(Debug)]
pub(crate) struct State<'a> {
    pub(crate) target: Target<'a>,
    pub(crate) version: u32,
    /// The function that reads what a lower version wrote.
    pub(crate) migrate: Option<ExprPath>,
    pub(crate) body: Body<'a>,
}

/// What a type that is kept is made of.
#[derive(Debug)]
pub(crate) enum Body<'a> {
    /// It is taken as it is.
    Opaque,
    Struct(Parts<'a>),
    Enum(Vec<Alternative<'a>>),
}

/// A variant of an enum that is kept.
#[derive(Debug)]
pub(crate) struct Alternative<'a> {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) parts: Parts<'a>,
}

/// The fields of a struct or of a variant.
#[derive(Debug)]
pub(crate) enum Parts<'a> {
    Unit,
    Newtype(Part<'a>),
    Tuple(Vec<Part<'a>>),
    Named(Vec<Part<'a>>),
}

/// A field that is written.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) ty: &'a Type,
    /// Its version, if it is taken as it is.
    pub(crate) opaque: Option<u32>,
    pub(crate) default: bool,
    pub(crate) left_out: bool,
}
