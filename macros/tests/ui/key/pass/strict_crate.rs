// A crate with few names in scope, and with lints turned up, can use the derive.
#![no_implicit_prelude]
#![deny(warnings, unused_qualifications, unused_lifetimes, single_use_lifetimes, missing_docs)]
//! A crate.

use ::std::cmp::{Eq, PartialEq};
use ::streamwork::Key;

/// A key that borrows.
#[derive(Key, PartialEq, Eq)]
pub struct Borrowed<'a, T: ?::std::marker::Sized> {
    /// Named like what the derive writes.
    pub hasher: &'a str,
    /// Unsized.
    pub rest: &'a T,
}

/// A key of all shapes.
#[derive(Key, PartialEq, Eq)]
pub enum Shape<T: ::std::iter::Iterator> {
    /// None.
    Unit,
    /// One after the other.
    Tuple(u8, T::Item),
    /// By name.
    Named {
        /// Named like what the derive writes.
        field1: u8,
        /// Named like what the derive writes.
        field0: T::Item,
    },
    /// A keyword.
    r#Else,
}

macro_rules! key {
    ($name:ident { $($field:ident: $type:ty),* }) => {
        /// A key out of a macro.
        #[derive(Key, PartialEq, Eq)]
        pub struct $name {
            $(
                /// A part.
                pub $field: $type,
            )*
        }
    };
}

key!(Account { bank: u32, number: ::std::string::String });

/// A key of no values.
#[derive(Key, PartialEq, Eq)]
pub enum Never {}

fn main() {
    let a = ::streamwork::key_hash(&Borrowed { hasher: "a", rest: "b" });
    let b = ::streamwork::key_hash(&("a", "b"));
    ::std::assert_eq!(a, b);
}
