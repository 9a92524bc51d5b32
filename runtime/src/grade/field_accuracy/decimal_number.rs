//! Exact decimal numbers, for tolerances: 19.91 − 19.90 is 0.01, which it is not in binary floating point.
//!
//! Hand-written: a difference, a product and a comparison of numbers with up to 38 digits, for which every user would compile
//! `rust_decimal` or `bigdecimal`. Compared with Python's `decimal` in the tests of grading.

use std::cmp::Ordering;

/// `digits · 10^exponent`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Decimal {
    digits: i128,
    exponent: i32,
}

impl Decimal {
    /// The number that a text such as `-19.90` or `1e-3` is; `None` if it is no number, or has more digits than can be compared exactly.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Self { digits, exponent: i32::checked_sub(exponent, i32::try_from(fraction.len()).ok()?)? })
    }

    /// The shortest decimal that is read as this number.
    pub(super) fn shortest(value: f64) -> Option<Self> {
        Self::parse(&format!("{value:e}"))
    }

    /// The distance of two numbers.
    pub(super) fn distance(self, other: Self) -> Option<Self> {
        let exponent = self.exponent.min(other.exponent);
        let digits = self.digits_at(exponent)?.checked_sub(other.digits_at(exponent)?)?.checked_abs()?;
        Some(Self { digits, exponent })
    }

    /// The size of the product of two numbers.
    pub(super) fn size_of_product(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?.checked_abs()?;
        Some(Self { digits, exponent: self.exponent.checked_add(other.exponent)? })
    }

    /// The order of two numbers.
    pub(super) fn order(self, other: Self) -> Option<Ordering> {
        let exponent = self.exponent.min(other.exponent);
        Some(self.digits_at(exponent)?.cmp(&other.digits_at(exponent)?))
    }

    /// The nearest binary number.
    pub(super) fn nearest(self) -> f64 {
        format!("{}e{}", self.digits, self.exponent).parse().unwrap_or(f64::NAN)
    }

    /// The digits of the number with a lower exponent.
    fn digits_at(self, exponent: i32) -> Option<i128> {
        if self.digits == 0 {
            return Some(0);
        }
        let zeros = u32::try_from(self.exponent.checked_sub(exponent)?).ok()?;
        self.digits.checked_mul(10_i128.checked_pow(zeros)?)
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};

    use super::*;

    fn number(text: &str) -> Decimal {
        Decimal::parse(text).unwrap_or_else(|| panic!("{text} is a number"))
    }

    #[test]
    fn differences_are_those_of_decimals() {
        let distance = |a, b| number(a).distance(number(b)).unwrap();
        assert_eq!(distance("19.90", "19.91").order(number("0.01")), Some(Equal));
        assert_eq!(distance("1.0", "1.1").order(number("0.1")), Some(Equal));
        assert_eq!(distance("9007199254740993", "9007199254740992").order(number("0")), Some(Greater));
        assert_eq!(distance("1e30", "1").order(number("1e30")), Some(Less));
        assert_eq!(distance("-1.5", "1.5").nearest(), 3.0);
    }

    #[test]
    fn texts_are_numbers_or_not() {
        assert_eq!(number("+007.50e1").nearest(), 75.0);
        assert_eq!(number(".5").nearest(), 0.5);
        assert_eq!(number("5.").nearest(), 5.0);
        assert_eq!(Decimal::shortest(0.1).unwrap().nearest(), 0.1);
        for text in ["", ".", "e5", "1e", "1.2.3", "--1", "1-", "0x10", "inf", "1e99999999999"] {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn more_digits_than_fit_are_no_answer_and_no_panic() {
        assert!(number("1e300").distance(number("1")).is_none());
        assert!(number("1e300").order(number("1e-300")).is_none());
        assert!(Decimal::parse(&"9".repeat(40)).is_none());
        assert_eq!(number("0e300").distance(number("1")).unwrap().nearest(), 1.0);
    }
}
