//! An amount of money in cents, exactly.

/// Reads a decimal number with two decimals at most, as cents: `42.00`, ` -5 `, `.5`, `1e3`, `42f`.
///
/// What is written is what counts, and no float is on the way: `0.29` is 29 cents, and `42.100` has a
/// decimal too many although its value has not. Decimals are counted as scientific notation has them:
/// `1.005e1` has two. An amount below zero is a refund. Nothing that is not finite or is too large for
/// `i64` cents is an amount, and no hexadecimal number, since that is no decimal.
pub(super) fn cents(text: &str) -> Option<i64> {
    let text = text.trim_matches(|c| c <= ' ');
    let text = text.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(text);
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && decimals.is_empty() {
        return None;
    }
    let mut number = 0_i64;
    for digit in whole.chars().chain(decimals.chars()) {
        let digit = i64::from(digit.to_digit(10)?);
        // Below zero there is room for one more.
        number = number.checked_mul(10)?.checked_sub(digit)?;
    }
    // By how many places what was read is short of cents.
    let places = exponent.checked_sub(i32::try_from(decimals.len()).ok()?)?.checked_add(2)?;
    let places = u32::try_from(places).ok()?;
    let cents = match number {
        0 => 0,
        number => number.checked_mul(10_i64.checked_pow(places)?)?,
    };
    if negative { Some(cents) } else { cents.checked_neg() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_decimals_are_exact() {
        for (text, expected) in [
            ("42.00", 4_200),
            ("42", 4_200),
            ("42.1", 4_210),
            ("0.29", 29),
            ("1.15", 115),
            ("799.99", 79_999),
            ("16777217", 1_677_721_700),
            (" 42.00", 4_200),
            ("42.00 \t", 4_200),
            (".5", 50),
            ("5.", 500),
            ("+5", 500),
            ("-5", -500),
            ("-0.01", -1),
            ("-0", 0),
            ("007", 700),
            ("1e3", 100_000),
            ("1E-2", 1),
            ("1.005e1", 1_005),
            ("42f", 4_200),
            ("4.5D", 450),
            ("0e99", 0),
            ("92233720368547758.07", i64::MAX),
            ("-92233720368547758.08", i64::MIN),
        ] {
            assert_eq!(cents(text), Some(expected), "{text:?}");
        }
    }

    #[test]
    fn nothing_else_is_an_amount() {
        for text in [
            "",
            " ",
            ".",
            "-",
            "+",
            "e3",
            ".e3",
            "abc",
            "1.234",
            "42.100",
            "0.000",
            "1e-3",
            "NaN",
            "nan",
            "Infinity",
            "-inf",
            "1e39",
            "92233720368547758.08",
            "-92233720368547758.09",
            "1e9999999999",
            "1e",
            "--5",
            "+-5",
            "4 2",
            "1_000",
            "0x1p3",
            "42.00@3",
            "€5",
            "４２",
            "1.2.3",
            "1e2e3",
            "f",
        ] {
            assert_eq!(cents(text), None, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_number_of_cents_reads_as_it_is_written(number in any::<i64>()) {
            let (sign, size) = (if number < 0 { "-" } else { "" }, number.unsigned_abs());
            let text = format!("{sign}{}.{:02}", size / 100, size % 100);
            prop_assert_eq!(cents(&text), Some(number));
            prop_assert_eq!(cents(&format!("{number}e-2")), Some(number));
            prop_assert_eq!(cents(&format!("{text}0")), None);
        }
    }
}
