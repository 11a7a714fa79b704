//! [`IntoTransaction`]: how a transaction is written in a line.

use super::amount::amount;
use super::{Place, Position, Transaction};
use streamwork::prelude::*;
use uuid::Uuid;

/// What a transaction is made of, as it comes in.
pub trait IntoTransaction: Event {
    /// The transaction.
    ///
    /// # Errors
    /// It can't be read as one.
    fn to_transaction(&self) -> Result<Transaction, LineError>;
}

impl IntoTransaction for Transaction {
    fn to_transaction(&self) -> Result<Transaction, LineError> {
        Ok(self.clone())
    }
}

/// A line in one of two forms.
///
/// | fields | form | |
/// |---|---|---|
/// | 2 to 4 | `amount,merchandise` | of account 1, now; further fields are ignored, as in the book |
/// | 5 or more | `account,epoch_ms,amount,lat,lon` | further fields are ignored |
impl IntoTransaction for String {
    fn to_transaction(&self) -> Result<Transaction, LineError> {
        let line = self.strip_suffix('\r').unwrap_or(self);
        let fields: Vec<&str> = line.split(',').collect();
        let (read, form) = match fields[..] {
            [account, millis, amount, lat, lon, ..] => {
                (located([account, millis, amount, lat, lon]), Form::Either)
            }
            [amount, merchandise, ..] => (bought(amount, merchandise), Form::First),
            _ => (None, Form::First),
        };
        read.ok_or_else(|| LineError { line: beginning(line), form })
    }
}

/// The id has the time in it.
fn now() -> (Uuid, EventTime) {
    let id = Uuid::now_v7();
    let (seconds, nanos) = id.get_timestamp().map_or((0, 0), |time| time.to_unix());
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    let millis = seconds.saturating_mul(1_000).saturating_add(i64::from(nanos / 1_000_000));
    (id, EventTime::from_millis(millis))
}

/// Of the first form.
fn bought(text: &str, merchandise: &str) -> Option<Transaction> {
    let (amount, place) = (amount(text)?, Place::Merchandise(merchandise.parse().ok()?));
    let (id, time) = now();
    Some(Transaction { id, account: 1, time, amount, place })
}

/// Of the second form.
fn located([account, millis, text, latitude, longitude]: [&str; 5]) -> Option<Transaction> {
    let degrees = |text: &str, most: f64| {
        text.trim().parse::<f64>().ok().filter(|degrees| degrees.abs() <= most)
    };
    let (latitude, longitude) = (degrees(latitude, 90.0)?, degrees(longitude, 180.0)?);
    Some(Transaction {
        account: account.parse().ok()?,
        time: EventTime::from_millis(millis.parse().ok()?),
        amount: amount(text)?,
        place: Place::At(Position { latitude, longitude }),
        id: now().0,
    })
}

/// A line that is no transaction. Displays as what is to be said of it in the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line:?} is no transaction")]
pub struct LineError {
    line: String,
    form: Form,
}

/// Which form the line was meant to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    First,
    Either,
}

impl LineError {
    /// What the user is told, in one line.
    ///
    /// ```
    /// use examples::jobs::fraud::IntoTransaction;
    ///
    /// let error = "abc".to_owned().to_transaction().unwrap_err();
    /// assert_eq!(
    ///     error.wanted(),
    ///     "Input needs to be in this format: {amount},{merchandiseId}. For example: 42.00,3",
    /// );
    /// ```
    #[must_use]
    pub fn wanted(&self) -> &'static str {
        match self.form {
            Form::First => {
                "Input needs to be in this format: {amount},{merchandiseId}. For example: 42.00,3"
            }
            Form::Either => {
                "Input needs to be in this format: {amount},{merchandiseId} or \
                 {account},{epoch_ms},{amount},{lat},{lon}. \
                 For example: 42.00,3 or 7,1767225600000,42.00,47.38,8.54"
            }
        }
    }
}

/// As much of a line as goes into a log.
fn beginning(line: &str) -> String {
    const MOST: usize = 80;
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Transaction, LineError> {
        line.to_owned().to_transaction()
    }

    #[test]
    fn the_first_form_is_read_as_in_the_book() {
        for (line, merchandise) in [
            ("42.00,3", 3),
            ("42.00 ,3", 3),
            ("42,+3", 3),
            ("3.14159265,-7", -7),
            ("1,2,3", 2),
            ("1,2,", 2),
            ("1,2,x,y", 2),
            ("42.00,3\r", 3),
            ("42,9223372036854775807", i64::MAX),
        ] {
            let transaction = read(line).unwrap();
            assert_eq!(transaction.account, 1);
            assert_eq!(transaction.place, Place::Merchandise(merchandise), "{line:?}");
        }
        for line in [
            "",
            "abc",
            "100",
            "42.00@3",
            ",3",
            "42,",
            ",",
            "42,3.0",
            "42, 3",
            "42,3 ",
            "\r",
            "42,9223372036854775808",
            "NaN,3",
            "Infinity,1",
            "1e39,3",
            "42;3",
            "42,3\r\r",
        ] {
            assert_eq!(read(line).map_err(|e| e.form), Err(Form::First), "{line:?}");
        }
    }

    #[test]
    fn the_second_form_has_account_time_and_place() {
        let transaction = read("7,1767225600123,42.5,47.38,-8.54\r").unwrap();
        assert_eq!(transaction.account, 7);
        assert_eq!(transaction.time, EventTime::from_millis(1_767_225_600_123));
        assert_eq!(
            transaction.to_string(),
            format!(
                "[transaction:{}; amount:42.500000; transactionTime: 2026-01-01 00:00:00+0000; \
                 position: 47.380000 -8.540000, user: 7]",
                transaction.id
            )
        );
        assert!(read("-7,-1,-0.5, 90 ,180,ignored").is_ok());
        for line in [
            "7,0,1,91,0",
            "7,0,1,0,181",
            "7,0,1,NaN,0",
            "7,0,1,0,inf",
            "7,0,NaN,0,0",
            "7,0,1,,",
            "7,0,1,0,",
            ",,,,",
            "x,0,1,0,0",
            "7,1.5,1,0,0",
            "9223372036854775808,0,1,0,0",
        ] {
            assert_eq!(read(line).map_err(|e| e.form), Err(Form::Either), "{line:?}");
        }
    }

    #[test]
    fn each_line_is_a_transaction_of_its_own() {
        let (one, two) = (read("1,1").unwrap(), read("1,1").unwrap());
        assert_ne!(one.id, two.id);
        assert!(one.time > EventTime::from_millis(1_700_000_000_000));
    }

    #[test]
    fn a_long_line_is_not_repeated_in_full() {
        let error = read(&"é".repeat(1_000)).unwrap_err();
        assert_eq!(error.to_string().chars().count(), 80 + "\"...\" is no transaction".len());
    }
}
