//! The nested bootstrap of a paired mean difference.

use fastrand::Rng;

const RESAMPLES: usize = 10_000;
const SEED: u64 = 0x5eed_b007;

/// The scores of the trials of one case in two runs. Neither is empty.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PairedTrials {
    pub(crate) base: Vec<f64>,
    pub(crate) now: Vec<f64>,
    /// Cases with the same number are drawn together.
    pub(crate) cluster: usize,
}

/// The 95 % interval of the mean over cases of `now − base`: clusters are drawn with replacement, then the trials of their cases, 10,000
/// times; the ends are percentiles. `None` with fewer than two clusters.
pub(crate) fn bootstrap_interval(pairs: &[PairedTrials]) -> Option<(f64, f64)> {
    let mut clusters: Vec<Vec<&PairedTrials>> = Vec::new();
    for pair in pairs {
        if clusters.len() <= pair.cluster {
            clusters.resize(pair.cluster + 1, Vec::new());
        }
        clusters[pair.cluster].push(pair);
    }
    clusters.retain(|cluster| !cluster.is_empty());
    if clusters.len() < 2 {
        return None;
    }
    let mut random = Rng::with_seed(SEED);
    let mut means: Vec<f64> = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let (mut sum, mut cases) = (0.0, 0.0);
        for _ in 0..clusters.len() {
            for pair in &clusters[random.usize(..clusters.len())] {
                sum += resampled_mean(&pair.now, &mut random) - resampled_mean(&pair.base, &mut random);
                cases += 1.0;
            }
        }
        means.push(sum / cases);
    }
    means.sort_unstable_by(f64::total_cmp);
    Some((means[RESAMPLES / 40 - 1], means[RESAMPLES - RESAMPLES / 40]))
}

fn resampled_mean(scores: &[f64], random: &mut Rng) -> f64 {
    if let [score] = scores {
        return *score;
    }
    let mut sum = 0.0;
    for _ in 0..scores.len() {
        sum += scores[random.usize(..scores.len())];
    }
    #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^53 trials")]
    let mean = sum / scores.len() as f64;
    mean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(base: &[f64], now: &[f64], cluster: usize) -> PairedTrials {
        PairedTrials { base: base.to_vec(), now: now.to_vec(), cluster }
    }

    #[test]
    fn the_interval_contains_the_mean_and_is_the_same_each_time() {
        let pairs: Vec<PairedTrials> = (0..30)
            .map(|index| {
                pair(&[0.0, 1.0, 1.0], if index % 3 == 0 { &[1.0, 1.0, 1.0] } else { &[0.0, 1.0, 1.0] }, index)
            })
            .collect();
        let (lower, upper) = bootstrap_interval(&pairs).unwrap();
        let mean = 1.0 / 9.0;
        assert!(lower < mean && mean < upper && upper - lower < 0.4, "{lower} {upper}");
        assert_eq!(bootstrap_interval(&pairs), Some((lower, upper)));
    }

    #[test]
    fn clusters_that_move_together_widen_the_interval() {
        let pairs = |cluster: fn(usize) -> usize| -> Vec<PairedTrials> {
            let now = |index: usize| if (index / 5).is_multiple_of(2) { 1.0 } else { 0.5 };
            (0..30).map(|index| pair(&[0.5], &[now(index)], cluster(index))).collect()
        };
        let width = |pairs: &[PairedTrials]| bootstrap_interval(pairs).map(|(lower, upper)| upper - lower).unwrap();
        assert!(width(&pairs(|index| index / 5)) > 1.5 * width(&pairs(|index| index)));
        assert_eq!(bootstrap_interval(&pairs(|_| 0)), None);
    }

    #[test]
    fn equal_runs_have_an_interval_around_0() {
        let pairs: Vec<PairedTrials> = (0..10).map(|index| pair(&[1.0], &[1.0], index)).collect();
        assert_eq!(bootstrap_interval(&pairs), Some((0.0, 0.0)));
    }
}
