use serde::{Deserialize, Serialize};

use crate::model::score::ratio;

/// How well something tells two classes apart: a calculator for graders and agents that count hits and misses.
///
/// ```
/// use evalsuite::ClassificationMetrics;
///
/// // 8 of 10 spam mails were found, and 2 good mails were taken for spam.
/// let metrics = ClassificationMetrics::from_counts(8, 2, 88, 2);
/// assert_eq!((metrics.precision, metrics.recall, metrics.accuracy), (0.8, 0.8, 0.96));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClassificationMetrics {
    /// tp / (tp + fp), 0 to 1: how much of what was reported is right.
    pub precision: f64,
    /// tp / (tp + fn), 0 to 1: how much of what is there was reported.
    pub recall: f64,
    /// Harmonic mean of precision and recall, 2·tp / (2·tp + fp + fn), 0 to 1.
    pub f1: f64,
    /// (tp + tn) / all, 0 to 1.
    pub accuracy: f64,
}

impl ClassificationMetrics {
    /// From the numbers of true and false positives and of true and false negatives. What would be divided by 0 is 0.
    pub fn from_counts(tp: usize, fp: usize, tn: usize, r#fn: usize) -> Self {
        let share = |part: usize, others: &[usize]| {
            let whole = others.iter().fold(part, |sum, other| sum.saturating_add(*other));
            if whole == 0 { 0.0 } else { ratio(part, whole) }
        };
        Self {
            precision: share(tp, &[fp]),
            recall: share(tp, &[r#fn]),
            f1: share(tp.saturating_mul(2), &[fp, r#fn]),
            accuracy: share(tp.saturating_add(tn), &[fp, r#fn]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_become_shares() {
        let metrics = ClassificationMetrics::from_counts(3, 1, 4, 2);
        assert_eq!((metrics.precision, metrics.recall, metrics.accuracy), (0.75, 0.6, 0.7));
        let harmonic = 2.0 * 0.75 * 0.6 / (0.75 + 0.6);
        assert!((metrics.f1 - harmonic).abs() < 1e-12);
    }

    #[test]
    fn nothing_to_divide_by_is_0() {
        let nothing = ClassificationMetrics { precision: 0.0, recall: 0.0, f1: 0.0, accuracy: 0.0 };
        assert_eq!(ClassificationMetrics::from_counts(0, 0, 0, 0), nothing);
        let negatives = ClassificationMetrics::from_counts(0, 0, 5, 0);
        assert_eq!((negatives.precision, negatives.recall, negatives.f1, negatives.accuracy), (0.0, 0.0, 0.0, 1.0));
    }
}
