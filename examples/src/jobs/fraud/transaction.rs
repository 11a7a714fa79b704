//! [`Transaction`]: what it is made of, and how it is printed.

use super::utc::Utc;
use serde::{Deserialize, Serialize};
use std::fmt;
use streamwork::prelude::*;
use uuid::Uuid;

/// Somebody pays.
#[derive(Event, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transaction {
    /// Which transaction it is.
    pub id: Uuid,
    /// Who pays.
    pub account: i64,
    /// When.
    #[event(time)]
    pub time: EventTime,
    /// How much; a finite number.
    pub amount: f32,
    /// What for, or where.
    pub place: Place,
}

/// What a transaction was for, or where it took place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Place {
    /// At the counter for this merchandise.
    Merchandise(i64),
    /// Somewhere on earth.
    At(Position),
}

impl Place {
    /// Where it is, if that is known.
    #[must_use]
    pub fn position(self) -> Option<Position> {
        match self {
            Self::At(position) => Some(position),
            Self::Merchandise(_) => None,
        }
    }
}

/// A point on earth.
#[derive(State, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Position {
    /// From -90 to 90 degrees; north is positive.
    pub latitude: f64,
    /// From -180 to 180 degrees; east is positive.
    pub longitude: f64,
}

/// As the book's programs print it; with a position in place of the merchandise if there is one.
impl fmt::Display for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, account, time, amount, place } = self;
        let time = Utc(*time);
        write!(f, "[transaction:{id}; amount:{amount:.6}; transactionTime: {time}; ")?;
        match place {
            Place::Merchandise(number) => write!(f, "merchandise: {number}, user: {account}]"),
            Place::At(Position { latitude, longitude }) => {
                write!(f, "position: {latitude:.6} {longitude:.6}, user: {account}]")
            }
        }
    }
}
