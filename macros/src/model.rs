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
    pub(crate) state: Vec<State<'a>>,
}

/// A field marked `#[state]`.
#[derive(Debug)]
pub(crate) struct State<'a> {
    pub(crate) member: Member,
    pub(crate) ty: &'a Type,
    pub(crate) rescale: Rescale,
}

/// The word in `#[state(..)]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rescale {
    Refuse,
    ByKey,
    Replicated,
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
