//! Ranges of numbers.

/// A range of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Range {
    /// The range in words, as in "write a number greater than 0".
    pub words: &'static str,
    /// Lower bound.
    pub low: f64,
    /// Whether the lower bound is itself outside of the range.
    pub above: bool,
    /// Upper bound, which is inside of the range.
    pub high: f64,
    /// Whether only even numbers are in the range.
    pub even: bool,
}

impl Range {
    pub(crate) const fn new(words: &'static str, low: f64, high: f64) -> Self {
        Self { words, low, above: false, high, even: false }
    }

    /// Whether `value` is in the range.
    pub fn contains(&self, value: f64) -> bool {
        let is_high_enough = if self.above { value > self.low } else { value >= self.low };
        is_high_enough && value <= self.high && !(self.even && value % 2.0 != 0.0)
    }
}

/// Highest score of a criterion with score ranges.
pub const TOP: u8 = 10;

/// From 0 to 1.
pub const FRACTION: Range = Range::new("a number within 0..1", 0.0, 1.0);
/// Greater than 0.
pub const POSITIVE: Range = Range { above: true, ..Range::new("a number greater than 0", 0.0, f64::INFINITY) };
/// At least 0.
pub const NOT_NEGATIVE: Range = Range::new("a number of at least 0", 0.0, f64::INFINITY);
/// Greater than 0 and at most 1.
pub const PASS_MARK: Range = Range { above: true, ..Range::new("a number greater than 0 and at most 1", 0.0, 1.0) };
/// From -1 to 1.
pub const CORRELATION: Range = Range::new("a number within -1..1", -1.0, 1.0);
/// From 0 to 2.
pub const TEMPERATURE: Range = Range::new("a number within 0..2", 0.0, 2.0);
/// Number of judgements after a failing one.
pub const CONFIRM: Range = Range { even: true, ..Range::new("an even number within 0..10", 0.0, 10.0) };
