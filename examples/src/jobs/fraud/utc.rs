//! [`Utc`]: a time as people write it.

use std::fmt;
use streamwork::EventTime;

/// Displays a time as date and time of day in Greenwich. All times that there are have one; a calendar
/// that ends with the year 9999 would have to refuse some.
pub(super) struct Utc(pub(super) EventTime);

impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_millis().div_euclid(1_000);
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        // Counted from 1 March of the year 0, an era of 400 years is as long as any other, and the
        // day that only some years have is a year's last.
        let days = days + 719_468;
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = year + 400 * era + next_year;
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}+0000")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01 00:00:00+0000"),
            (-1, "1969-12-31 23:59:59+0000"),
            (951_782_399, "2000-02-28 23:59:59+0000"),
            (951_782_400, "2000-02-29 00:00:00+0000"),
            (1_796_045_702, "2026-11-30 13:35:02+0000"),
            (4_107_542_400, "2100-03-01 00:00:00+0000"),
            (-62_167_219_201, "-001-12-31 23:59:59+0000"),
        ] {
            assert_eq!(Utc(EventTime::from_millis(seconds * 1_000)).to_string(), expected);
        }
        assert!(Utc(EventTime::MAX).to_string().starts_with("292278994-08-17 07:12:55"));
        assert!(Utc(EventTime::MIN).to_string().starts_with("-292275055-05-16 16:47:04"));
    }
}
