//! Decimal numbers as they are written, and as fractions.

use num_bigint::BigInt;
use num_rational::BigRational;
use proptest::prelude::*;

/// An exact number.
pub(crate) type Exact = BigRational;

/// A decimal number: `units` / 10^`places`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) units: i64,
    pub(crate) places: u32,
}

impl Decimal {
    /// The number in decimal digits.
    pub(crate) fn text(self) -> String {
        let sign = if self.units < 0 { "-" } else { "" };
        let digits = format!("{:0width$}", self.units.unsigned_abs(), width = self.places as usize + 1);
        let (whole, fraction) = digits.split_at(digits.len() - self.places as usize);
        if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
    }

    /// The number as files are read: the nearest double.
    pub(crate) fn float(self) -> f64 {
        self.text().parse().expect("decimal digits are a number")
    }

    /// The number itself.
    pub(crate) fn exact(self) -> Exact {
        Exact::new(self.units.into(), BigInt::from(10).pow(self.places))
    }
}

/// `numerator` / `denominator`.
pub(crate) fn ratio(numerator: usize, denominator: usize) -> Exact {
    Exact::new(numerator.into(), denominator.into())
}

/// 0 or 1.
pub(crate) fn whole(number: i64) -> Exact {
    Exact::from_integer(number.into())
}

/// A number from 0 to 1 with up to four places, of which many are round.
pub(crate) fn share() -> impl Strategy<Value = Decimal> {
    prop_oneof![
        4 => (0..=10_i64).prop_map(|units| Decimal { units, places: 1 }),
        4 => (0..=100_i64).prop_map(|units| Decimal { units, places: 2 }),
        1 => (0..=10_000_i64).prop_map(|units| Decimal { units, places: 4 }),
    ]
}

/// A pass mark: greater than 0.
pub(crate) fn mark() -> impl Strategy<Value = Decimal> {
    share().prop_map(|share| if share.units == 0 { Decimal { units: 1, places: share.places.max(1) } } else { share })
}
