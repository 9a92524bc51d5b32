//! Numbers as JSON has them.

use evalsuite_schema::json::Number;

/// The value of decimal digits with an optional sign: an integer where 64 bits hold it, else the nearest float, as in
/// JavaScript.
pub(super) fn integer(text: &str) -> Option<Number> {
    match text.parse::<i64>() {
        // Minus zero is a float.
        Ok(0) if text.starts_with('-') => return float(text),
        Ok(value) => return Some(Number::from(value)),
        Err(_) => {}
    }
    match text.parse::<u64>() {
        Ok(value) => Some(Number::from(value)),
        Err(_) => float(text),
    }
}

/// The value of a float; `None` if it is too large to be finite.
pub(super) fn float(text: &str) -> Option<Number> {
    Number::from_f64(text.parse().ok()?)
}

/// The value of digits to another base than ten.
pub(super) fn based(digits: &str, base: u32) -> Option<Number> {
    if let Ok(value) = u64::from_str_radix(digits, base) {
        return Some(Number::from(value));
    }
    let value = digits
        .chars()
        .fold(0.0, |value, digit| value * f64::from(base) + f64::from(digit.to_digit(base).unwrap_or_default()));
    Number::from_f64(value)
}

/// How JavaScript spells a number as a key: `1` also for `1.0`.
pub(super) fn as_key(number: &Number) -> String {
    /// Integers up to here are exact in a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match number.as_f64() {
        Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() <= EXACT => format!("{value:.0}"),
        _ => number.to_string(),
    }
}
