//! How often a comparison may call a change what is none, and which test of it may do so how often.

/// Probability that a comparison of an agent that has not changed says *regressed*.
pub(super) use crate::sequential::REGRESSED;
/// Probability that it says *improved*.
pub(super) const IMPROVED: f64 = 0.005;
/// Largest part of these that the tests of single cases take where scores can show a change, too.
const CASES: f64 = 0.5;
/// Largest probability of the differences of cases at which each case counts as one in the test of the scores. That costs little
/// power. Of three trials, one case that comes out otherwise in all of them has 0.1.
pub(super) const ALIKE: f64 = 0.12;
/// The same for the tests of single cases, which are not made then.
pub(super) const ALIKE_CASES: f64 = 0.05;

/// Level of the tests of single cases of a suite and target in one direction, where all its tests together may be wrong with the
/// probability `all`. `smallest`: the smallest p-value that the scores could have; where it is too large to show
/// anything, single cases get their part.
pub(super) fn of_cases(all: f64, smallest: f64) -> f64 {
    if smallest > all { all } else { all * CASES }
}

/// Level of the score, and of the slices together, after the tests of single cases have used a part.
pub(super) fn of_scores(all: f64, used: f64, has_slices: bool) -> f64 {
    let left = (all - used).max(0.0);
    if has_slices { left / 2.0 } else { left }
}
