//! The numbers of paired cases.

use serde::Serialize;

use super::{ComparisonVerdict, FEWEST_PAIRS, SIGNIFICANT};
use crate::statistics::{mean, paired_interval, sign_flip_p_value, smallest_visible_effect};

/// The numbers of the pairs of a suite or a slice.
pub(super) struct Measured {
    pub(super) differing: usize,
    pub(super) difference: f64,
    pub(super) interval: Option<(f64, f64)>,
    pub(super) p_value: f64,
    pub(super) visible_effect: Option<f64>,
}

/// Paired cases: their differences, and which of them belong together.
#[derive(Default)]
pub(super) struct Pairs {
    differences: Vec<f64>,
    clusters: Vec<usize>,
}

impl Pairs {
    pub(super) fn len(&self) -> usize {
        self.differences.len()
    }

    pub(super) fn push(&mut self, difference: f64, cluster: usize) {
        self.differences.push(difference);
        self.clusters.push(cluster);
    }
}

impl Measured {
    pub(super) fn of(Pairs { differences, clusters }: &Pairs) -> Self {
        Self {
            differing: differences.iter().filter(|difference| difference.abs() > 1e-9).count(),
            difference: mean(differences),
            interval: paired_interval(differences, clusters),
            p_value: sign_flip_p_value(differences),
            visible_effect: smallest_visible_effect(differences, clusters),
        }
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
    /// 95 % interval of `difference`; `None` with fewer than two cases or clusters.
    pub interval: Option<(f64, f64)>,
    /// Probability of a difference at least as large if nothing had changed, 0 to 1.
    pub p_value: f64,
    /// The same, adjusted for the number of slices that gate: those with six cases or more (Holm).
    pub adjusted_p: f64,
    /// What follows. A slice with fewer than six cases is undecided, and does not gate.
    pub verdict: ComparisonVerdict,
}

impl SliceComparison {
    pub(super) fn new(key: String, value: String, pairs: &Pairs) -> Self {
        let measured = Measured::of(pairs);
        Self {
            key,
            value,
            pairs: pairs.len(),
            difference: measured.difference,
            interval: measured.interval,
            p_value: measured.p_value,
            adjusted_p: measured.p_value,
            verdict: ComparisonVerdict::Undecided,
        }
    }

    /// Decides it by its adjusted p-value.
    pub(super) fn judge(&mut self) {
        let is_significant = self.adjusted_p < SIGNIFICANT;
        self.verdict = match self.difference {
            _ if self.pairs < FEWEST_PAIRS => ComparisonVerdict::Undecided,
            difference if is_significant && difference < 0.0 => ComparisonVerdict::Regressed,
            _ if is_significant => ComparisonVerdict::Improved,
            _ => ComparisonVerdict::Unchanged,
        };
    }
}
