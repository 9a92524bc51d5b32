//! Exact decimal numbers: 19.91 − 19.90 is 0.01, which it is not in binary floating point.
//!
//! Hand-written: a difference, a product and a comparison, for which every user would compile `bigdecimal`. Compared with fractions of
//! `num-bigint` in the tests of grading.

use std::cmp::Ordering;

/// Largest size of an exponent: numbers with larger ones would have too many zeros.
const LARGEST_EXPONENT: i32 = 4096;

/// `digits · 10^exponent`, or that below 0.
#[derive(Debug, Clone)]
pub(super) struct Decimal {
    is_negative: bool,
    /// Of the number without its sign, the last one first, and the first one not 0. None of zero.
    digits: Vec<u8>,
    exponent: i32,
}

impl Decimal {
    /// The number that a text such as `-19.90` or `1e-3` is; `None` if it is no number, or has a very large exponent.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (is_negative, size) = match mantissa.strip_prefix('-') {
            Some(size) => (true, size),
            None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
        };
        let (whole, fraction) = size.split_once('.').unwrap_or((size, ""));
        let digits = || whole.bytes().chain(fraction.bytes()).rev();
        if !(-LARGEST_EXPONENT..=LARGEST_EXPONENT).contains(&exponent)
            || digits().next().is_none()
            || !digits().all(|digit| digit.is_ascii_digit())
        {
            return None;
        }
        let exponent = exponent - i32::try_from(fraction.len()).ok()?;
        Some(Self { is_negative, ..Self::of_digits(digits().map(|digit| digit - b'0').collect(), exponent) })
    }

    /// The shortest decimal that is read as this number.
    pub(super) fn shortest(value: f64) -> Self {
        Self::parse(&format!("{value:e}")).unwrap_or_else(|| Self::of_digits(Vec::new(), 0))
    }

    fn of_digits(mut digits: Vec<u8>, exponent: i32) -> Self {
        digits.truncate(digits.iter().rposition(|digit| *digit != 0).map_or(0, |last| last + 1));
        Self { is_negative: false, digits, exponent }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// The distance of two numbers.
    pub(super) fn distance(&self, other: &Self) -> Self {
        let (large, small) = if self.size_order(other).is_ge() { (self, other) } else { (other, self) };
        let exponent = large.exponent.min(small.exponent);
        let (mut digits, small) = (large.digits_at(exponent), small.digits_at(exponent));
        digits.resize(digits.len().max(small.len()) + 1, 0);
        let mut carry = 0;
        for (index, digit) in digits.iter_mut().enumerate() {
            let second = small.get(index).copied().unwrap_or_default() + carry;
            (*digit, carry) = if self.is_negative == other.is_negative {
                ((*digit + 10 - second) % 10, u8::from(*digit < second))
            } else {
                ((*digit + second) % 10, (*digit + second) / 10)
            };
        }
        Self::of_digits(digits, exponent)
    }

    /// The size of the product of two numbers.
    pub(super) fn size_of_product(&self, other: &Self) -> Self {
        let mut digits = vec![0; self.digits.len() + other.digits.len()];
        for (place, first) in self.digits.iter().enumerate() {
            let mut carry = 0;
            for (index, digit) in digits[place..].iter_mut().enumerate() {
                let sum = *digit + first * other.digits.get(index).copied().unwrap_or_default() + carry;
                (*digit, carry) = (sum % 10, sum / 10);
            }
        }
        Self::of_digits(digits, self.exponent + other.exponent)
    }

    /// The order of the sizes of two numbers.
    pub(super) fn size_order(&self, other: &Self) -> Ordering {
        let exponent = self.exponent.min(other.exponent);
        let (own, others) = (self.digits_at(exponent), other.digits_at(exponent));
        own.len().cmp(&others.len()).then_with(|| own.iter().rev().cmp(others.iter().rev()))
    }

    /// The nearest binary number.
    pub(super) fn nearest(&self) -> f64 {
        let sign = if self.is_negative { "-" } else { "" };
        let digits: String = self.digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect();
        format!("{sign}0{digits}e{}", self.exponent).parse().unwrap_or(f64::NAN)
    }

    /// The digits of the number with a lower exponent.
    fn digits_at(&self, exponent: i32) -> Vec<u8> {
        let zeros = if self.is_zero() { 0 } else { usize::try_from(self.exponent - exponent).unwrap_or_default() };
        let mut digits = vec![0; zeros];
        digits.extend(&self.digits);
        digits
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
        let nines = "9".repeat(50);
        for (a, b, difference, order) in [
            ("19.90", "19.91", "0.01", Equal),
            ("1.0", "1.1", "0.1", Equal),
            ("9007199254740993", "9007199254740992", "0", Greater),
            ("1e30", "1", "1e30", Less),
            ("-1.5", "1.5", "3", Equal),
            ("-1.5", "-2", "0.50", Equal),
            ("0", "-0.0", "0", Equal),
            ("1e300", "1", "1e300", Less),
            ("1e300", "-1e-300", "1e300", Greater),
            (&nines, "-1", "1e50", Equal),
            (&nines, "1e50", "1", Equal),
        ] {
            for (a, b) in [(a, b), (b, a)] {
                assert_eq!(number(a).distance(&number(b)).size_order(&number(difference)), order, "{a} {b}");
            }
        }
        assert_eq!(number("-1.5").distance(&number("1.5")).nearest(), 3.0);
        assert_eq!(number("0e300").distance(&number("1")).nearest(), 1.0);
    }

    #[test]
    fn products_are_exact() {
        for (a, b, product) in [
            ("0.1", "-0.3", "0.03"),
            ("99", "99", "9801"),
            ("0", "7", "0"),
            ("1e300", "1e300", "1e600"),
            ("12", "5e-1", "6"),
        ] {
            assert_eq!(number(a).size_of_product(&number(b)).size_order(&number(product)), Equal, "{a} {b}");
        }
    }

    #[test]
    fn texts_are_numbers_or_not() {
        assert_eq!(number("+007.50e1").nearest(), 75.0);
        assert_eq!(number(".5").nearest(), 0.5);
        assert_eq!(number("5.").nearest(), 5.0);
        assert_eq!(Decimal::shortest(0.1).nearest(), 0.1);
        for text in ["", ".", "e5", "1e", "1.2.3", "--1", "1-", "0x10", "inf", "1e99999999999", "1e-5000"] {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }
}
