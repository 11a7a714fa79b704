//! [`Proximity`]: can somebody have got there since?

use super::{Analysis, Analyst, Position, Score, Transaction};

/// Takes the speed that the account must have travelled with since its last transaction: 300 km/h is
/// usual, 1,000 km/h is certainly not, and between the two the score rises evenly.
///
/// Distances below 5 km say nothing, since a place is not known better than that; nor does a
/// transaction without a place. Of two places the one of the later time is remembered, so that a
/// transaction which comes too late is measured against its neighbour and not taken for the last.
#[derive(Clone, Debug)]
pub struct Proximity;

const NEAR: f64 = 5.0;
const USUAL: f64 = 300.0;
const CERTAINLY_NOT: f64 = 1_000.0;
const EARTH_RADIUS: f64 = 6_371.0;
const MILLIS_PER_HOUR: f64 = 3_600_000.0;

impl Analysis for Proximity {
    const BY: Analyst = Analyst::Proximity;

    /// Where the account was last, and when, in milliseconds.
    type History = Option<(Position, i64)>;

    fn score(history: &mut Self::History, transaction: &Transaction) -> Score {
        let Some(here) = transaction.place.position() else { return Score::ZERO };
        let now = transaction.time.as_millis();
        let last = *history;
        if last.is_none_or(|(_, then)| then <= now) {
            *history = Some((here, now));
        }
        last.map_or(Score::ZERO, |(there, then)| score(distance(here, there), now.abs_diff(then)))
    }
}

/// For a distance in kilometres that was travelled within some milliseconds.
fn score(distance: f64, millis: u64) -> Score {
    if distance < NEAR {
        return Score::ZERO;
    }
    // In no time at all the speed is infinite, which is a score too.
    Score::rising(distance / (millis as f64 / MILLIS_PER_HOUR), USUAL, CERTAINLY_NOT)
}

/// The distance between two points on a sphere of the size of the earth, in kilometres.
fn distance(a: Position, b: Position) -> f64 {
    let (from, to) = (a.latitude.to_radians(), b.latitude.to_radians());
    let north = ((to - from) / 2.0).sin().powi(2);
    let east = ((b.longitude - a.longitude).to_radians() / 2.0).sin().powi(2);
    // Rounding may take the haversine of opposite points beyond one.
    let haversine = (north + from.cos() * to.cos() * east).min(1.0);
    2.0 * EARTH_RADIUS * haversine.sqrt().asin()
}

#[cfg(test)]
mod tests {
    use super::super::{Place, Simulation};
    use super::*;
    use streamwork::EventTime;

    const ZURICH: Position = Position { latitude: 47.38, longitude: 8.54 };
    const PARIS: Position = Position { latitude: 48.86, longitude: 2.35 };
    const HOUR: i64 = 3_600_000;

    #[track_caller]
    fn check(steps: &[(Option<Position>, i64)], expected: &[&str]) {
        let mut history = None;
        let scores = steps.iter().map(|(position, millis)| {
            let transaction = Transaction {
                place: position.map_or(Place::Merchandise(1), Place::At),
                time: EventTime::from_millis(*millis),
                ..Simulation::seeded(1).transaction(0)
            };
            Proximity::score(&mut history, &transaction).to_string()
        });
        assert_eq!(scores.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn distances_are_those_on_the_globe() {
        let close = |a, b, expected: f64| (distance(a, b) - expected).abs() < 1.0;
        assert!(close(ZURICH, PARIS, 488.5), "{}", distance(ZURICH, PARIS));
        let at = |latitude, longitude| Position { latitude, longitude };
        assert!(close(at(0.0, 179.5), at(0.0, -179.5), 111.2));
        assert!(close(at(90.0, 0.0), at(90.0, 123.0), 0.0));
        assert!(close(at(10.0, 20.0), at(-10.0, -160.0), EARTH_RADIUS * std::f64::consts::PI));
    }

    #[test]
    fn a_train_is_usual_and_an_impossible_journey_is_not() {
        check(&[(Some(ZURICH), 0), (Some(PARIS), 4 * HOUR)], &["0.0", "0.0"]);
        check(&[(Some(ZURICH), 0), (Some(PARIS), HOUR / 10)], &["0.0", "1.0"]);
        assert_eq!(score(650.0, 3_600_000).to_string(), "0.5");
    }

    #[test]
    fn in_no_time_only_what_is_near_is_possible() {
        let near = Position { latitude: ZURICH.latitude + 0.01, ..ZURICH };
        check(&[(Some(ZURICH), 7), (Some(near), 7), (Some(PARIS), 7)], &["0.0", "0.0", "1.0"]);
    }

    #[test]
    fn what_has_no_place_says_nothing_and_changes_nothing() {
        check(&[(Some(ZURICH), 0), (None, 1), (Some(PARIS), 2)], &["0.0", "0.0", "1.0"]);
    }

    #[test]
    fn what_comes_too_late_is_not_taken_for_the_last() {
        check(
            &[(Some(PARIS), 9 * HOUR), (Some(ZURICH), 0), (Some(PARIS), 9 * HOUR + 1)],
            &["0.0", "0.0", "0.0"],
        );
    }

    #[test]
    fn the_ends_of_time_are_far_apart() {
        check(&[(Some(ZURICH), i64::MIN), (Some(PARIS), i64::MAX)], &["0.0", "0.0"]);
    }
}
