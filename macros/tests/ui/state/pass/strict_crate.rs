// A crate with few names in scope, and with lints turned up, can use the derive.
#![no_implicit_prelude]
#![deny(warnings, unused_qualifications, unused_lifetimes, single_use_lifetimes, missing_docs)]
//! A crate.

use ::serde::{Deserialize, Serialize};
use ::std::boxed::Box as Owned;
use ::std::option::Option as Maybe;
use ::streamwork::State;

/// Takes the standard library's place.
pub struct Option;
/// Takes the standard library's place.
pub struct Vec;
/// Takes the standard library's place.
pub struct Box;

/// State.
#[derive(State, Serialize, Deserialize)]
#[state(version = 2, migrate = Self::from_old)]
pub struct Strict<T> {
    /// Under a keyword's name.
    pub r#type: T,
    /// Itself.
    pub next: Maybe<Owned<Self>>,
    /// With a default.
    #[serde(default)]
    #[state(default)]
    pub count: u64,
}

impl<T> Strict<T> {
    fn from_old(_: &::streamwork::Old<'_>) -> ::streamwork::Result<Self> {
        ::std::result::Result::Err(::std::convert::From::from("no"))
    }
}

/// State.
#[derive(State, Serialize, Deserialize)]
pub enum Choice<T> {
    /// Nothing.
    Nothing,
    /// One.
    One(T),
    /// Two.
    Two(T, #[state(serde, version = 1)] u8),
    /// A name.
    Named {
        /// The field.
        r#type: T,
    },
}

fn main() {
    let text = ::std::string::ToString::to_string(&<Strict<u8> as State>::shape());
    ::std::assert_eq!(text, "{type: u8, next: ^0?, count: u64} v2");
    let text = ::std::string::ToString::to_string(&<Choice<u8> as State>::shape());
    ::std::assert_eq!(text, "<Nothing | One(u8) | Two(u8, u8 v1) | Named{type: u8}>");
}
