//! How an amount is written.

/// Reads an amount. Anything that the book's programs take for a number is one: `42.00`, ` -5 `, `1e3`,
/// `42f`, `0x1p3`.
///
/// What is not finite, because it says so or is too large, is refused, unlike there: no mean and no
/// score could be told from it, and one such amount would spoil an account's history.
pub(super) fn amount(text: &str) -> Option<f32> {
    let text = text.trim_matches(|c| c <= ' ');
    let digits = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
    let number = match hexadecimal(digits) {
        Some(number) => number as f32,
        None => digits.parse().ok()?,
    };
    number.is_finite().then_some(number)
}

/// A number such as `-0x1.8p3`: hexadecimal digits times a power of two.
fn hexadecimal(text: &str) -> Option<f64> {
    let (sign, text) = match text.strip_prefix('-') {
        Some(text) => (-1.0, text),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let text = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    let (digits, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mantissa = whole
        .chars()
        .chain(fraction.chars())
        .try_fold(0.0, |sum, digit| Some(sum * 16.0 + f64::from(digit.to_digit(16)?)))?;
    let exponent = exponent.parse::<i32>().ok()?;
    let shift = i32::try_from(fraction.len()).ok()?.checked_mul(4)?;
    Some(sign * mantissa * 2_f64.powi(exponent.saturating_sub(shift)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_the_book_takes_for_a_number_is_one() {
        for (text, expected) in [
            ("42.00", "42.000000"),
            ("42.00 ", "42.000000"),
            (" 42.00", "42.000000"),
            ("\t42.00", "42.000000"),
            ("1e3", "1000.000000"),
            ("42f", "42.000000"),
            ("42D", "42.000000"),
            (".5", "0.500000"),
            ("5.", "5.000000"),
            ("-5", "-5.000000"),
            ("+5", "5.000000"),
            ("0x1p3", "8.000000"),
            ("-0X1.8p1f", "-3.000000"),
            ("16777217", "16777216.000000"),
            ("3.14159265", "3.141593"),
            ("89.6", "89.599998"),
        ] {
            let amount = amount(text).map(|amount| format!("{amount:.6}"));
            assert_eq!(amount.as_deref(), Some(expected), "{text:?}");
        }
    }

    #[test]
    fn nothing_else_is() {
        for text in [
            "", " ", "abc", "42.00@3", "4 2", "1_000", "f", "0x", "0x1", "0xp3", "0x1p", "0x1pz",
            "0xg1p3", "--5", "1e", "€5", "４２",
        ] {
            assert_eq!(amount(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        for text in [
            "NaN",
            "nan",
            "Infinity",
            "-Infinity",
            "inf",
            "1e39",
            "-1e400",
            "0x1p1000",
            "0x1p9999999",
        ] {
            assert_eq!(amount(text), None, "{text:?}");
        }
    }
}
