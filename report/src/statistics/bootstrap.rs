//! The bootstrap interval of a paired mean difference.

use fastrand::Rng;

const RESAMPLES: usize = 10_000;
const SEED: u64 = 0x5eed_b007;
/// The 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The 95 % interval of the mean of paired differences; `None` with fewer than two clusters.
///
/// `clusters` has a number for each difference; differences of one cluster are not independent of each other. Whole clusters are drawn
/// with replacement, 10,000 times with a fixed seed. The trials of a case are not drawn again: the differences between cases contain
/// their noise already, and drawing them would count it twice (Davison and Hinkley 1997, §3.8), which makes intervals at 95 % cover 98 %.
/// The ends are percentiles, moved outwards as far as Student's t is wider than the normal distribution for so few clusters (Hesterberg
/// 2015, the expanded percentile interval). The example `interval_coverage` measures how often intervals contain the truth.
///
/// ```
/// let differences = [0.5, 0.0, -0.5, 0.0, 0.5, 0.0, 0.0, 0.5];
/// let (lower, upper) = evalsuite_report::paired_interval(&differences, &[0, 1, 2, 3, 4, 5, 6, 7]).expect("eight clusters");
/// assert!(lower < 0.125 && 0.125 < upper);
/// ```
pub fn paired_interval(differences: &[f64], clusters: &[usize]) -> Option<(f64, f64)> {
    let mut sums: Vec<(f64, f64)> = Vec::new();
    for (difference, cluster) in differences.iter().zip(clusters) {
        if sums.len() <= *cluster {
            sums.resize(cluster + 1, (0.0, 0.0));
        }
        sums[*cluster].0 += difference;
        sums[*cluster].1 += 1.0;
    }
    sums.retain(|(_, cases)| *cases > 0.0);
    if sums.len() < 2 {
        return None;
    }
    let means = resampled_means(&sums);
    let outside = resamples_below(sums.len());
    Some((means[outside], means[RESAMPLES - 1 - outside]))
}

/// The means of the resamples in ascending order; `clusters` are sums of differences with their numbers.
pub(super) fn resampled_means(clusters: &[(f64, f64)]) -> Vec<f64> {
    let mut random = Rng::with_seed(SEED);
    let mut means: Vec<f64> = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let (mut sum, mut cases) = (0.0, 0.0);
        for _ in 0..clusters.len() {
            let (drawn, count) = clusters[random.usize(..clusters.len())];
            sum += drawn;
            cases += count;
        }
        means.push(sum / cases);
    }
    means.sort_unstable_by(f64::total_cmp);
    means
}

/// Resamples below the lower end: 2.5 % of them, less for few clusters.
fn resamples_below(clusters: usize) -> usize {
    #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^53 clusters")]
    let count = clusters as f64;
    let share = normal_tail(t_quantile(count - 1.0) * (count / (count - 1.0)).sqrt());
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 250")]
    let below = (share * RESAMPLES as f64) as usize;
    below
}

/// The 97.5 % quantile of Student's t, to within 0.002 (Cornish and Fisher's expansion from 6 degrees of freedom on).
fn t_quantile(degrees: f64) -> f64 {
    for (few, quantile) in [(1.0, 12.706), (2.0, 4.303), (3.0, 3.182), (4.0, 2.776), (5.0, 2.571)] {
        if degrees <= few {
            return quantile;
        }
    }
    let [z3, z5, z7] = [3, 5, 7].map(|power| Z.powi(power));
    Z + (z3 + Z) / (4.0 * degrees)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / (96.0 * degrees.powi(2))
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / (384.0 * degrees.powi(3))
}

/// Probability that a standard normal variable is above `z` ≥ 0, to seven places (Abramowitz and Stegun 1964, 26.2.17).
fn normal_tail(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let terms = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = terms.iter().rev().fold(0.0, |sum, term| t * (term + sum));
    (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(differences: &[f64]) -> Option<(f64, f64)> {
        paired_interval(differences, &(0..differences.len()).collect::<Vec<_>>())
    }

    #[test]
    fn the_interval_contains_the_mean_and_is_the_same_each_time() {
        let differences: Vec<f64> = (0..30).map(|index| if index % 3 == 0 { 1.0 / 3.0 } else { 0.0 }).collect();
        let (lower, upper) = apart(&differences).unwrap();
        let mean = 1.0 / 9.0;
        assert!(lower < mean && mean < upper && upper - lower < 0.2, "{lower} {upper}");
        assert_eq!(apart(&differences), Some((lower, upper)));
    }

    #[test]
    fn clusters_that_move_together_widen_the_interval() {
        let differences: Vec<f64> = (0..30).map(|index| if index / 5 % 2 == 0 { 0.5 } else { 0.0 }).collect();
        let width = |clusters: &[usize]| {
            let (lower, upper) = paired_interval(&differences, clusters).unwrap();
            upper - lower
        };
        let together: Vec<usize> = (0..30).map(|index| index / 5).collect();
        assert!(width(&together) > 1.5 * width(&(0..30).collect::<Vec<_>>()));
        assert_eq!(paired_interval(&differences, &[0; 30]), None);
    }

    #[test]
    fn equal_runs_have_an_interval_around_0() {
        assert_eq!(apart(&[0.0; 10]), Some((0.0, 0.0)));
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        for (degrees, expected) in
            [(1.0, 12.706), (5.0, 2.571), (6.0, 2.447), (9.0, 2.262), (19.0, 2.093), (29.0, 2.045), (1e6, 1.960)]
        {
            assert!((t_quantile(degrees) - expected).abs() < 2e-3, "{degrees}: {}", t_quantile(degrees));
        }
        for (z, expected) in [(0.0, 0.5), (1.0, 0.158_655), (1.959_964, 0.025), (3.0, 0.001_350)] {
            assert!((normal_tail(z) - expected).abs() < 1e-6, "{z}: {}", normal_tail(z));
        }
        assert_eq!((resamples_below(1_000_000), resamples_below(2)), (249, 0));
    }
}
