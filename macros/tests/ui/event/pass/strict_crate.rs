// A crate with few names in scope, and with lints turned up, can use the derive.
#![no_implicit_prelude]
#![deny(warnings, unused_qualifications, unused_lifetimes, single_use_lifetimes, missing_docs)]
//! A crate.

use ::std::clone::Clone;
use ::streamwork::{Event, EventTime};

/// Takes the standard library's place.
pub struct Option;
/// Takes the standard library's place.
pub trait Send {}

/// An event.
#[derive(Event, Clone, ::serde::Serialize, ::serde::Deserialize)]
#[event(weight = Self::bytes)]
pub struct Strict<T, const N: usize>
where
    T: ::std::cmp::Ord,
{
    /// When.
    #[event(time)]
    #[deprecated]
    pub r#at: EventTime,
    /// What.
    pub payload: ::std::vec::Vec<T>,
}

impl<T: ::std::cmp::Ord, const N: usize> Strict<T, N> {
    fn bytes(&self) -> usize {
        N + self.payload.len()
    }
}

macro_rules! event {
    ($name:ident, $weight:path, $field:ident: $time:ty) => {
        /// An event out of a macro.
        #[derive(Event, Clone)]
        #[event(local, weight = $weight)]
        pub struct $name {
            /// When.
            #[event(time)]
            pub $field: $time,
        }
    };
}

event!(Local, ::std::mem::size_of_val, when: ::streamwork::EventTime);

/// An event of no values.
#[derive(Event, Clone, ::serde::Serialize, ::serde::Deserialize)]
pub enum Never {}

fn main() {
    let local = Local { when: EventTime::from_millis(3) };
    ::std::assert_eq!(local.weight(), 8);
    ::std::assert!(local.time() == ::std::option::Option::Some(local.when));
}
