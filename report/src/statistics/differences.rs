//! Mean and standard error of paired differences.

/// The 97.5 % and 80 % quantiles of the standard normal distribution, added: an effect of so many standard errors is seen in four of
/// five runs.
const POWER: f64 = 1.959_963_984_540_054 + 0.841_621_233_572_914;

/// The mean; 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / count(values) }
}

/// The standard deviation (n − 1); `None` of fewer than two.
pub(crate) fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() > 1).then(|| (squares / (count(values) - 1.0)).sqrt())
}

/// The smallest difference that would have been seen in four of five such comparisons, from the standard error of the differences.
/// `None` with fewer than two clusters, or where all differences are equal.
///
/// `clusters` has a number for each difference; differences of one cluster are not independent of each other.
pub(crate) fn smallest_visible_effect(differences: &[f64], clusters: &[usize]) -> Option<f64> {
    let error = standard_error(differences, clusters)?;
    (error > 0.0).then_some(POWER * error)
}

/// The standard error of the mean: √(C/(C−1) · Σ_c(Σᵢ dᵢ − d̄)²)/n. With a cluster per difference it is the usual one.
pub(super) fn standard_error(differences: &[f64], clusters: &[usize]) -> Option<f64> {
    let mean = mean(differences);
    let mut sums = vec![0.0; clusters.iter().max().map_or(0, |last| last + 1)];
    let mut used = vec![false; sums.len()];
    for (difference, cluster) in differences.iter().zip(clusters) {
        sums[*cluster] += difference - mean;
        used[*cluster] = true;
    }
    let count_of_clusters = used.iter().filter(|used| **used).count();
    if count_of_clusters < 2 {
        return None;
    }
    #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^53 clusters")]
    let c = count_of_clusters as f64;
    let squares: f64 = sums.iter().map(|sum| sum * sum).sum();
    Some((c / (c - 1.0) * squares).sqrt() / count(differences))
}

#[allow(clippy::cast_precision_loss, reason = "far fewer than 2^53 values")]
fn count(values: &[f64]) -> f64 {
    values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_clusters_the_error_is_the_usual_one() {
        let differences = [0.1, -0.2, 0.4, 0.0, 0.3];
        // √(Σ(d − d̄)² / (n(n − 1)))
        let mean = 0.12;
        let squares: f64 = differences.iter().map(|d| (d - mean) * (d - mean)).sum();
        let expected = (squares / 20.0_f64).sqrt();
        let found = standard_error(&differences, &[0, 1, 2, 3, 4]).unwrap();
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        assert!((smallest_visible_effect(&differences, &[0, 1, 2, 3, 4]).unwrap() - 2.8016 * expected).abs() < 1e-4);
    }

    #[test]
    fn clusters_that_move_together_widen_the_error() {
        let differences = [0.5, 0.5, -0.5, -0.5];
        let apart = standard_error(&differences, &[0, 1, 2, 3]).unwrap();
        let together = standard_error(&differences, &[0, 0, 1, 1]).unwrap();
        assert!((together - 0.5).abs() < 1e-12 && together > apart);
        assert_eq!(standard_error(&differences, &[0, 0, 0, 0]), None);
        assert_eq!(smallest_visible_effect(&[0.0, 0.0], &[0, 1]), None);
    }
}
