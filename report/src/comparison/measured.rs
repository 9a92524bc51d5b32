//! The numbers of paired cases.

use evalsuite_records::statistics::bounded_interval;
use evalsuite_statistics::{ExchangeTest, mean};
use serde::Serialize;

use super::{ComparisonVerdict, FEWEST_PAIRS};

/// Paired cases of a suite or a slice: their differences, and which of them belong together.
pub(super) struct Differences {
    pub(super) values: Vec<f64>,
    pub(super) clusters: Vec<usize>,
}

impl Differences {
    pub(super) fn interval(&self) -> Option<(f64, f64)> {
        bounded_interval(&self.values, Some(&self.clusters), [-1.0, 1.0])
    }
}

/// The probability of a difference at least as large in its direction, by the tests that it is worse and that it is better.
pub(super) fn p_value(difference: f64, [worse, better]: [ExchangeTest; 2]) -> f64 {
    match difference {
        difference if difference < 0.0 => worse.at_most,
        difference if difference > 0.0 => better.at_least,
        _ => 1.0,
    }
}

/// The cases of a suite and target with one value of a key, in two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SliceComparison {
    /// The key, such as `bucket` or `metadata.language`.
    pub key: String,
    /// The value.
    pub value: String,
    /// Number of cases that were compared.
    pub pairs: usize,
    /// Mean over them of the score in the run minus that in the base, −1 to 1.
    pub difference: f64,
    /// 95 % interval of the mean difference of such cases.
    pub interval: Option<(f64, f64)>,
    /// Probability of a difference at least as large in this direction if nothing had changed, 0 to 1.
    pub p_value: f64,
    /// The same, adjusted for the number of slices that gate: those with six cases or more (Holm).
    pub adjusted_p: f64,
    /// What follows. A slice with fewer than six cases is undecided, and does not gate.
    pub verdict: ComparisonVerdict,
}

impl SliceComparison {
    pub(super) fn new((key, value): (String, String), differences: &Differences, tests: [ExchangeTest; 2]) -> Self {
        let difference = mean(&differences.values);
        let p_value = p_value(difference, tests);
        Self {
            key,
            value,
            pairs: differences.values.len(),
            difference,
            interval: differences.interval(),
            p_value,
            adjusted_p: p_value,
            verdict: ComparisonVerdict::Undecided,
        }
    }

    /// Decides it by its adjusted p-value and the levels of a regression and of an improvement.
    pub(super) fn judge(&mut self, regressed: f64, improved: f64) {
        self.verdict = match self.difference {
            _ if self.pairs < FEWEST_PAIRS => ComparisonVerdict::Undecided,
            difference if difference < 0.0 && self.adjusted_p <= regressed => ComparisonVerdict::Regressed,
            difference if difference > 0.0 && self.adjusted_p <= improved => ComparisonVerdict::Improved,
            _ => ComparisonVerdict::Unchanged,
        };
    }
}
