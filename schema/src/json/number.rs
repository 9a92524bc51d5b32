//! Numbers of JSON.

use serde_json::Number;

/// Name of the struct as which `serde_json` hands over numbers of any length, with its feature `arbitrary_precision`.
pub(crate) const NAME: &str = "$serde_json::private::Number";

/// A number in 64 bits.
pub(super) enum Parsed {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

/// The value of digits that JSON allows: an integer where 64 bits hold it, else the nearest float. `None` if it is not finite.
///
/// The standard library rounds correctly, and is optimised in every program.
pub(super) fn parsed(digits: &str, is_integer: bool) -> Option<Parsed> {
    if is_integer {
        if let Ok(number) = digits.parse() {
            return Some(Parsed::Unsigned(number));
        }
        match digits.parse() {
            // Minus zero is a float.
            Ok(0) | Err(_) => {}
            Ok(number) => return Some(Parsed::Signed(number)),
        }
    }
    digits.parse().ok().filter(|number: &f64| number.is_finite()).map(Parsed::Float)
}

/// The number with these digits: an integer where 64 bits hold it, else the nearest float. `None` if it is not finite.
pub fn number_of_digits(digits: &str, is_integer: bool) -> Option<Number> {
    match parsed(digits, is_integer)? {
        Parsed::Unsigned(number) => Some(number.into()),
        Parsed::Signed(number) => Some(number.into()),
        Parsed::Float(number) => Number::from_f64(number),
    }
}
