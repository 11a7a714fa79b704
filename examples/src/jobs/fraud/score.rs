//! [`Score`]: how suspicious a transaction is.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Sum;
use streamwork::prelude::*;
use uuid::Uuid;

/// How suspicious something is, in thousandths: from an analyzer 0.0 to 1.0. Scores are added up in
/// whatever order they come; whole numbers make the sum the same in each.
///
/// ```
/// use examples::jobs::fraud::Score;
///
/// assert_eq!(Score::of(0.35).to_string(), "0.35");
/// assert_eq!((Score::of(-1.0), Score::of(7.0)), (Score::ZERO, Score::ONE));
/// assert_eq!([Score::ONE, Score::of(0.5)].into_iter().sum::<Score>().to_string(), "1.5");
/// ```
#[derive(
    State, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Score(u32);

impl Score {
    /// Not suspicious at all.
    pub const ZERO: Self = Self(0);
    /// As suspicious as an analyzer can find it.
    pub const ONE: Self = Self(1_000);

    /// The nearest score from 0.0 to 1.0; zero for what is not a number.
    #[must_use]
    pub fn of(share: f64) -> Self {
        Self((share.clamp(0.0, 1.0) * 1_000.0).round() as u32)
    }

    /// A score that rises evenly, from zero at `none` to one at `full`.
    #[must_use]
    pub fn rising(value: f64, none: f64, full: f64) -> Self {
        Self::of((value - none) / (full - none))
    }
}

impl Sum for Score {
    fn sum<I: Iterator<Item = Self>>(scores: I) -> Self {
        Self(scores.map(|Self(thousandths)| thousandths).sum())
    }
}

/// With at least one decimal, as the book's programs print it.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", f64::from(self.0) / 1_000.0)
    }
}

/// Who gives a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Analyst {
    /// Looks at the amount.
    AverageTicket,
    /// Looks at the place.
    Proximity,
    /// Looks at the number of transactions.
    Frequency,
}

impl Analyst {
    /// Everybody who gives one.
    pub const ALL: [Self; 3] = [Self::AverageTicket, Self::Proximity, Self::Frequency];

    /// The name of its component.
    #[must_use]
    pub const fn component(self) -> &'static str {
        match self {
            Self::AverageTicket => "average ticket analyzer",
            Self::Proximity => "proximity analyzer",
            Self::Frequency => "frequency analyzer",
        }
    }
}

impl fmt::Display for Analyst {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AverageTicket => "average ticket",
            Self::Proximity => "proximity",
            Self::Frequency => "frequency",
        })
    }
}

/// One analyst's score of one transaction.
#[derive(Event, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scored {
    /// The transaction.
    pub transaction: Uuid,
    /// Who looked at it.
    pub by: Analyst,
    /// What was found.
    pub score: Score,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_from_zero_to_one() {
        for (share, text) in [
            (0.0, "0.0"),
            (1.0, "1.0"),
            (0.0004, "0.0"),
            (0.9996, "1.0"),
            (0.1234, "0.123"),
            (f64::NAN, "0.0"),
            (f64::INFINITY, "1.0"),
            (f64::NEG_INFINITY, "0.0"),
        ] {
            assert_eq!(Score::of(share).to_string(), text, "{share}");
        }
        let rising = |value| Score::rising(value, 2.0, 10.0).to_string();
        assert_eq!([1.0, 2.0, 6.0, 10.0, 99.0].map(rising), ["0.0", "0.0", "0.5", "1.0", "1.0"]);
    }
}
