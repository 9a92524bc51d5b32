//! How often a comparison may call a change what is none, and which test of it may do so how often.

/// Probability that a comparison of an agent that has not changed says *regressed*.
pub(super) const REGRESSED: f64 = 0.045;
/// Probability that it says *improved*.
pub(super) const IMPROVED: f64 = 0.005;
/// Largest part of these that the tests of single cases take where scores can show a change, too.
const CASES: f64 = 0.5;

/// The levels of the tests of one suite and target, in one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Levels {
    all: f64,
    has_slices: bool,
}

impl Levels {
    /// The levels of one of so many suites and targets, which share the probability `all` to be wrong.
    pub(super) fn new(all: f64, suites: usize, has_slices: bool) -> Self {
        Self { all: all / suites as f64, has_slices }
    }

    /// Level of the tests of single cases. `smallest`: the smallest p-value that the scores could have; where it is too large to show
    /// anything, single cases get their part.
    pub(super) fn cases(self, smallest: f64) -> f64 {
        if smallest > self.all { self.all } else { self.all * CASES }
    }

    /// Level of the score, and of the slices together, after the tests of single cases have used a part.
    pub(super) fn scores(self, used: f64) -> f64 {
        let left = (self.all - used).max(0.0);
        if self.has_slices { left / 2.0 } else { left }
    }
}
