// A crate with few names in scope, and with lints turned up, can use the derive.
#![no_implicit_prelude]
#![deny(warnings, unused_qualifications, unused_lifetimes, single_use_lifetimes, missing_docs)]
//! A crate.

use ::std::option::Option as Maybe;
use ::streamwork::Component;

/// Takes the standard library's place.
pub struct Option;
/// Takes the standard library's place.
pub trait Clone {}
/// Takes the standard library's place.
pub trait Send {}

/// A component.
#[derive(Component)]
#[component(blocking)]
pub struct Strict<T, const N: usize>
where
    T: ::std::iter::Iterator,
{
    /// State under a keyword's name.
    #[state]
    pub r#type: Maybe<T::Item>,
    /// An old field.
    #[state(replicated)]
    #[deprecated]
    pub array: [u64; 2],
    /// Not kept.
    pub scratch: [u64; N],
    /// Entries that move.
    #[state(by_key, default)]
    pub map: ::std::collections::BTreeMap<u8, u8>,
    /// Not kept.
    pub items: T,
}

fn main() {
    type Lines = ::std::vec::IntoIter<u8>;
    ::std::assert!(<Strict<Lines, 2> as Component>::BLOCKING);
    ::std::assert_eq!(<Strict<Lines, 2> as Component>::STATE[0].name, "type");
}
