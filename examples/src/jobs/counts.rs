//! How many vehicles of each type there were.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use streamwork::prelude::*;

/// Vehicles by type. Displays as one line for each type.
#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
pub struct Counts(BTreeMap<Kind, u64>);

impl Counts {
    /// One more of this type.
    pub(super) fn add(&mut self, vehicle: String) {
        *self.0.entry(Kind(vehicle)).or_default() += 1;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(Kind(vehicle), count)| writeln!(f, "  {vehicle}: {count}"))
    }
}

/// A type of vehicle. The order is that of UTF-16 units, as in the book's programs.
#[derive(State, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Kind(String);

impl Ord for Kind {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.encode_utf16().cmp(other.0.encode_utf16())
    }
}

impl PartialOrd for Kind {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_in_the_order_of_utf_16() {
        let mut kinds = ["car", "\u{ffff}", "\u{10000}", "", "camión", " car", "Car"];
        kinds.sort_by_key(|kind| Kind((*kind).to_owned()));
        assert_eq!(kinds, ["", " car", "Car", "camión", "car", "\u{10000}", "\u{ffff}"]);
    }

    #[test]
    fn each_type_has_a_line() {
        let mut counts = Counts::default();
        ["van", "car", "car", ""].into_iter().for_each(|kind| counts.add(kind.to_owned()));
        assert_eq!(counts.to_string(), "  : 1\n  car: 2\n  van: 1\n");
    }
}
