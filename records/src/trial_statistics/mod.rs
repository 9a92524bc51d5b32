//! Statistics of the trials of a case: the binomial distribution, and intervals of the mean of scores.
//!
//! Hand-written: sums and a recurrence, for which every user would compile a statistics crate such as `statrs`.

#[cfg(test)]
pub mod tests;

use std::collections::BTreeMap;

use evalsuite_schema::decimal::at_least;
use evalsuite_schema::sorting::{map, set, sort_by};

use crate::exact_sums::mean;
use crate::record::{Rule, Stability};

/// Mean and spread of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    pub mean: f64,
    pub min: f64,
    pub max: f64,
    /// Sample standard deviation (n − 1); 0 for one score.
    pub stddev: f64,
}

impl Summary {
    /// `None` without scores.
    pub fn of(scores: &[f64]) -> Option<Self> {
        let n = scores.len() as f64;
        let (first, rest) = scores.split_first()?;
        let mean = mean(scores)?;
        let min = rest.iter().copied().fold(*first, f64::min);
        let max = rest.iter().copied().fold(*first, f64::max);
        if rest.is_empty() {
            return Some(Self { mean, min, max, stddev: 0.0 });
        }
        let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
        Some(Self { mean, min, max, stddev: (squares / (n - 1.0)).sqrt() })
    }
}

/// How far below the threshold a score counts that reaches the threshold although its verdict is `fail`: less than scores differ by, and
/// more than the rounding noise that comparisons forgive.
const JUST_BELOW: f64 = 1e-9;

/// A score as it counts towards passing: at least the threshold if its verdict is `pass`, less than the threshold if it is `fail`.
pub fn counted_score(score: f64, passed: bool, threshold: f64) -> f64 {
    if passed { score.max(threshold) } else { score.min(threshold - JUST_BELOW) }
}

/// Whether the mean of the scores of trials, or for [`Rule::ConfidenceInterval`] the lower end of its interval, reaches a threshold. Each
/// score is with whether its trial passed, and [counts](counted_score) accordingly.
pub fn mean_reaches(rule: Rule, trials: impl IntoIterator<Item = (f64, bool)>, threshold: f64) -> bool {
    let counted = trials.into_iter().map(|(score, passed)| counted_score(score, passed, threshold));
    let counted: Vec<f64> = counted.collect();
    let measured = match rule {
        Rule::ConfidenceInterval => guaranteed_interval(&counted).map(|(lower, _)| lower),
        _ => mean(&counted),
    };
    measured.is_some_and(|measured| at_least(measured, threshold))
}

/// `part / whole` as a number from 0 to 1.
pub fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

/// Probability that at least one of k trials drawn from n trials passed, if c of the n passed; `None` for k > n.
pub fn pass_at_k(n: usize, c: usize, k: usize) -> Option<f64> {
    if k > n {
        return None;
    }
    if n - c < k {
        return Some(1.0);
    }
    Some(1.0 - (0..k).map(|i| ratio(n - c - i, n - i)).product::<f64>())
}

/// Probability that all of k trials drawn from n trials passed, if c of the n passed; `None` for k > n.
pub fn pass_hat_k(n: usize, c: usize, k: usize) -> Option<f64> {
    if k > n {
        return None;
    }
    if c < k {
        return Some(0.0);
    }
    Some((0..k).map(|i| ratio(c - i, n - i)).product())
}

/// Values of `pass_at_k` or `pass_hat_k` for every reported k.
pub fn by_k(n: usize, value: impl Fn(usize) -> Option<f64>) -> BTreeMap<u32, Option<f64>> {
    let ks = set([1, 2, 3, 5, 10, n].into_iter().filter(|k| (1..=n).contains(k)));
    map(ks.into_iter().filter_map(|k| Some((u32::try_from(k).ok()?, value(k)))))
}

/// Whether n trials have the same result, if c of them passed; `None` for fewer than two.
pub fn stability(n: usize, c: usize) -> Option<Stability> {
    match c {
        _ if n < 2 => None,
        0 => Some(Stability::StableFail),
        c if c == n => Some(Stability::StablePass),
        _ => Some(Stability::Flaky),
    }
}

/// The probabilities that 0, 1, 2 … of so many trials pass, each at this rate, above 0 and below 1.
///
/// By logarithms: powers and coefficients of thousands of trials are no finite numbers.
pub fn binomial(trials: u32, rate: f64) -> impl Iterator<Item = f64> {
    let odds = (rate / (1.0 - rate)).ln();
    let mut next = f64::from(trials) * (1.0 - rate).ln();
    (0..=trials).map(move |passed| {
        let logarithm = next;
        next += (f64::from(trials - passed) / (f64::from(passed) + 1.0)).ln() + odds;
        logarithm.exp()
    })
}

/// Probability that at most so many of them pass.
pub fn binomial_at_most(passed: u32, trials: u32, rate: f64) -> f64 {
    binomial(trials, rate).take(passed as usize + 1).sum::<f64>().min(1.0)
}

/// Probability that at least so many of them pass.
pub fn binomial_at_least(passed: u32, trials: u32, rate: f64) -> f64 {
    binomial(trials, rate).skip(passed as usize).sum::<f64>().min(1.0)
}

/// The 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;
/// Values that are added at each end of the scale.
const ADDED: f64 = 2.0;

/// The 95 % interval of the mean of a population of values between `least` and `most`, from a sample of it; `None` without values.
///
/// Two values at each end of the scale are added to the sample, as Agresti and Coull (1998) add two successes and two
/// failures to a rate, then the interval is Student's. The interval therefore has a width even if all values agree.
///
/// `clusters` contains a number for each value; values of one cluster are not independent of each other, and the added
/// values have the size of an average cluster. Without `clusters`, each value is a separate cluster. The degrees of freedom are those of Kish's
/// effective number of clusters, (Σm)² / Σm² for clusters of m values: where one cluster has half of the values, many small ones do not tell
/// how much the mean varies.
pub fn bounded_interval(values: &[f64], clusters: Option<&[usize]>, [least, most]: [f64; 2]) -> Option<(f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for (index, value) in values.iter().enumerate() {
        let cluster = clusters.and_then(|clusters| clusters.get(index)).copied().unwrap_or(index);
        let (sum, size) = sums.entry(cluster).or_default();
        (*sum, *size) = (*sum + value, *size + 1.0);
    }
    let (count, size) = (sums.len() as f64 + 2.0 * ADDED, values.len() as f64 / sums.len() as f64);
    let added = [least, most].map(|end| (end * size, size, ADDED));
    let all = || sums.values().map(|(sum, size)| (*sum, *size, 1.0)).chain(added);
    let total: f64 = all().map(|(_, size, times)| size * times).sum();
    let mean = all().map(|(sum, _, times)| sum * times).sum::<f64>() / total;
    let squares: f64 = all().map(|(sum, size, times)| times * (sum - size * mean).powi(2)).sum();
    let effective = total * total / all().map(|(_, size, times)| size * size * times).sum::<f64>();
    // Of clusters of one size, it is their number but for rounding.
    let degrees = ((effective + 1e-9).floor() - 1.0).max(1.0);
    let half = t_quantile(degrees) * (count / (count - 1.0) * squares).sqrt() / total;
    Some(((mean - half).max(least), (mean + half).min(most)))
}

/// The 97.5 % quantile of Student's t distribution, to within 0.002 (Cornish and Fisher's expansion from six degrees of freedom on).
pub fn t_quantile(degrees: f64) -> f64 {
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

/// Probability with which each end is on the wrong side of the mean.
const ERROR: f64 = 0.025;
/// Most trials of a case.
const MOST_SCORES: usize = 1000;
/// Halvings of the scale: more than a double distinguishes.
const HALVINGS: u32 = 54;

/// The 95 % interval of the mean of a population of scores from 0 to 1, from a sample of it; `None` without scores.
///
/// Each end is wrong in at most 2.5 % of samples. The lower end is Gaffke's (2005): the 2.5 % quantile of the mean of the scores and one
/// more score of 0, with random weights, all of which are equally likely (Dirichlet's distribution with parameters 1). The upper end is the
/// same from above, with a score of 1. For scores of 0 and 1, this is the exact interval of Clopper and Pearson (1934). It has a width even
/// if all scores are equal: Student's interval has none then, and Wilson's lower end is above the rate too often in small samples.
pub fn guaranteed_interval(scores: &[f64]) -> Option<(f64, f64)> {
    let inverted: Vec<f64> = scores.iter().map(|score| 1.0 - score).collect();
    Some((lower_end(scores)?, 1.0 - lower_end(&inverted)?))
}

/// The largest lower end that scores from 0 to 1 can have: that of as many scores of 1.
pub fn largest_lower_end(scores: usize) -> f64 {
    ERROR.powf((scores as f64).recip())
}

/// How many scores of 1 have a lower end that is at least this number; `None` if no number of them has.
pub fn scores_to_reach(lower_end: f64) -> Option<usize> {
    (1..=MOST_SCORES).find(|scores| at_least(largest_lower_end(*scores), lower_end))
}

fn lower_end(scores: &[f64]) -> Option<f64> {
    // Sums of the same numbers in another order differ by rounding.
    let mut scores = scores.to_vec();
    sort_by(&mut scores, f64::total_cmp);
    let (mut least, mut most) = (0.0, *scores.last()?);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(least, most);
        if 1.0 - share_above(&scores, middle) <= ERROR { least = middle } else { most = middle }
    }
    Some(least)
}

/// Probability that the mean of the scores and a 0, with random weights, is above a limit.
///
/// It is the divided difference of `(x − limit)₊ⁿ` over the scores and the 0. Between a value below and one above the limit it is a mean
/// of the same probability without one of the two, so nothing cancels out.
fn share_above(scores: &[f64], limit: f64) -> f64 {
    let above: Vec<f64> = scores.iter().map(|score| score - limit).filter(|distance| *distance > 0.0).collect();
    let below = scores.iter().chain([&0.0]).map(|score| limit - score).filter(|distance| *distance >= 0.0);
    // Element i: the probability with the first i values above, and the values below so far.
    let mut shares = vec![1.0; above.len() + 1];
    shares[0] = 0.0;
    for below in below {
        for (index, above) in above.iter().enumerate() {
            shares[index + 1] = (above * shares[index + 1] + below * shares[index]) / (above + below);
        }
    }
    shares.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod binomial_tests {
    use super::*;

    #[test]
    fn probabilities_are_those_of_tables() {
        for (most, n, rate, expected) in
            [(0, 5, 0.5, 0.031_25), (2, 5, 0.5, 0.5), (5, 5, 0.3, 1.0), (1, 10, 0.1, 0.736_1), (1, 3, 0.5, 0.5)]
        {
            assert!((binomial_at_most(most, n, rate) - expected).abs() < 1e-4, "{most} of {n} at {rate}");
        }
        assert!(
            (binomial_at_most(1, 3, 0.5) - 0.5).abs() < 1e-12 && (binomial_at_least(1, 3, 0.5) - 0.875).abs() < 1e-12
        );
        assert!((binomial(4, 0.3).sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn many_trials_neither_vanish_nor_overflow() {
        assert!((binomial_at_most(1_000, 2_000, 0.5) - 0.508_9).abs() < 1e-4);
        assert!((binomial_at_least(0, 2_000, 0.3) - 1.0).abs() < 1e-9);
        assert!((binomial_at_least(2_000, 2_000, 0.999) - 0.999_f64.powi(2_000)).abs() < 1e-9);
        assert!((binomial_at_most(50_000, 100_000, 0.5) - 0.501_3).abs() < 1e-4);
    }
}

#[cfg(test)]
mod bounded_interval_tests {
    use super::*;

    const SCORES: [f64; 2] = [0.0, 1.0];

    fn is_near(found: (f64, f64), expected: (f64, f64)) -> bool {
        (found.0 - expected.0).abs() < 1e-3 && (found.1 - expected.1).abs() < 1e-3
    }

    #[test]
    fn values_that_agree_have_an_interval() {
        for (count, least, most) in [(1, 0.0, 0.01), (5, 0.4, 0.6), (20, 0.79, 0.81), (100, 0.94, 0.96)] {
            let (lower, upper) = bounded_interval(&vec![1.0; count], None, SCORES).unwrap();
            assert_eq!(upper, 1.0);
            assert!((least..most).contains(&lower), "{count} values: from {lower}");
        }
        let (lower, upper) = bounded_interval(&[0.0; 40], None, [-1.0, 1.0]).unwrap();
        assert!(lower == -upper && (0.09..0.11).contains(&upper), "{lower} {upper}");
        assert_eq!(bounded_interval(&[], None, SCORES), None);
    }

    #[test]
    fn it_is_students_interval_of_the_sample_and_four_more_values() {
        let values = [0.5, 0.75, 1.0, 0.25, 0.5, 0.0];
        // Of 0.5, 0.75, 1, 0.25, 0.5, 0, 0, 0, 1, 1: mean 0.5, s² 1.625/9, s 0.42492, t(9) 2.262.
        let half = 2.262 * 0.424_92 / 10_f64.sqrt();
        let found = bounded_interval(&values, None, SCORES).unwrap();
        assert!(is_near(found, (0.5 - half, 0.5 + half)), "{found:?}");
    }

    #[test]
    fn values_of_a_cluster_count_as_one() {
        let (values, clusters): (Vec<f64>, Vec<usize>) =
            (0..40).map(|index| (f64::from(index / 4 % 2), index as usize / 4)).unzip();
        let apart: Vec<f64> = values.iter().copied().step_by(4).collect();
        let found = bounded_interval(&values, Some(&clusters), SCORES).unwrap();
        assert!(is_near(found, bounded_interval(&apart, None, SCORES).unwrap()), "{found:?}");
    }

    /// The degrees of freedom were those of as many equal clusters: the interval had the mean in two thirds of samples.
    #[test]
    fn one_large_cluster_is_not_outvoted_by_many_small_ones() {
        for (large, small) in [(30, 29), (100, 100), (20, 10)] {
            let clusters: Vec<usize> = [vec![0; large], (1..=small).collect()].concat();
            let mut covered = 0.0;
            // In half of the populations' clusters, all cases lost everything: the large one is one of them or not.
            for is_lost in [0.0, -1.0] {
                for (lost, probability) in binomial(small as u32, 0.5).enumerate() {
                    let others = (0..small).map(|index| if index < lost { -1.0 } else { 0.0 });
                    let values: Vec<f64> = std::iter::repeat_n(is_lost, large).chain(others).collect();
                    let (lower, upper) = bounded_interval(&values, Some(&clusters), [-1.0, 1.0]).unwrap();
                    covered += if lower <= -0.5 && -0.5 <= upper { probability / 2.0 } else { 0.0 };
                }
            }
            assert!(covered > 0.92, "{large} and {small}: {covered}");
        }
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        for (degrees, expected) in [
            (1.0, 12.706),
            (3.0, 3.182),
            (4.0, 2.776),
            (5.0, 2.571),
            (6.0, 2.447),
            (9.0, 2.262),
            (19.0, 2.093),
            (29.0, 2.045),
            (1e6, 1.960),
        ] {
            assert!((t_quantile(degrees) - expected).abs() < 2e-3, "{degrees}: {}", t_quantile(degrees));
        }
    }
}

#[cfg(test)]
mod guaranteed_interval_tests {
    use fastrand::Rng;

    use super::*;

    #[track_caller]
    fn is_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    /// Probability of at most `passed` of `trials` at a rate.
    fn at_most(passed: usize, trials: usize, rate: f64) -> f64 {
        let ways = |k: usize| (0..k).map(|i| (trials - i) as f64 / (i + 1) as f64).product::<f64>();
        (0..=passed).map(|k| ways(k) * rate.powi(k as i32) * (1.0 - rate).powi((trials - k) as i32)).sum()
    }

    #[test]
    fn of_zeros_and_ones_it_is_exact() {
        for trials in 1..=30 {
            for passed in 0..=trials {
                let scores: Vec<f64> = (0..trials).map(|trial| f64::from(u8::from(trial < passed))).collect();
                let (lower, upper) = guaranteed_interval(&scores).unwrap();
                // At each end, a sample that is at least as far away has a probability of 2.5 %.
                if passed > 0 {
                    is_near(1.0 - at_most(passed - 1, trials, lower), ERROR)
                } else {
                    is_near(lower, 0.0)
                }
                if passed < trials { is_near(at_most(passed, trials, upper), ERROR) } else { is_near(upper, 1.0) }
            }
            is_near(guaranteed_interval(&vec![1.0; trials]).unwrap().0, largest_lower_end(trials));
        }
        assert_eq!(guaranteed_interval(&[]), None);
        assert_eq!([0.5, 0.8, 0.9, 0.99, 1.0].map(scores_to_reach), [Some(6), Some(17), Some(36), Some(368), None]);
    }

    #[test]
    fn of_one_score_and_of_equal_scores_it_has_a_width() {
        let (lower, upper) = guaranteed_interval(&[0.7]).unwrap();
        is_near(lower, 0.7 * 0.025);
        is_near(upper, 1.0 - 0.3 * 0.025);
        let mut before = 2.0;
        for trials in [1, 3, 10, 100, 1000] {
            let (lower, upper) = guaranteed_interval(&vec![0.8; trials]).unwrap();
            assert!(lower < 0.8 && upper > 0.8 && upper - lower < before, "{trials}: {lower} {upper}");
            before = upper - lower;
        }
    }

    /// The quantile from weights that are drawn: exponential variables over their sum.
    #[test]
    fn it_is_the_quantile_of_means_with_random_weights() {
        let mut random = Rng::with_seed(5);
        for scores in [&[0.6, 0.8, 1.0][..], &[0.0, 0.5, 0.5, 1.0], &[0.9, 0.9, 0.0, 0.3, 0.95]] {
            let lower = guaranteed_interval(scores).unwrap().0;
            let mean = |random: &mut Rng| {
                let mut weight = || -(1.0 - random.f64()).ln();
                let mut sums = (0.0, weight());
                for score in scores {
                    let weight = weight();
                    sums = (sums.0 + weight * score, sums.1 + weight);
                }
                sums.0 / sums.1
            };
            let below = (0..200_000).filter(|_| mean(&mut random) < lower).count();
            assert!((4_700..5_300).contains(&below), "{scores:?}: {below} of 200000 below {lower}");
        }
    }

    type Population = (&'static str, fn(&mut Rng) -> f64, f64);

    const POPULATIONS: [Population; 8] = [
        ("0 or 1", |random| f64::from(u8::from(random.f64() < 0.8)), 0.8),
        ("0, 0.5 or 1", |random| [0.0, 0.5, 1.0, 1.0, 1.0][random.usize(..5)], 0.7),
        ("uniform", Rng::f64, 0.5),
        ("near 1", |random| 1.0 - random.f64().powi(9), 0.9),
        ("near 0", |random| random.f64().powi(9), 0.1),
        ("0.9, seldom 0", |random| if random.f64() < 0.1 { 0.0 } else { 0.9 }, 0.81),
        ("0.6, seldom 1", |random| if random.f64() < 0.1 { 1.0 } else { 0.6 }, 0.64),
        ("0.2, seldom 1", |random| if random.f64() < 0.02 { 1.0 } else { 0.2 }, 0.216),
    ];

    #[test]
    fn each_end_is_seldom_on_the_wrong_side() {
        for (name, draw, mean) in POPULATIONS {
            for trials in [1, 3, 5, 12] {
                let mut random = Rng::with_seed(7);
                let mut wrong = [0_u32; 2];
                for _ in 0..1_000 {
                    let scores: Vec<f64> = (0..trials).map(|_| draw(&mut random)).collect();
                    let (lower, upper) = guaranteed_interval(&scores).unwrap();
                    wrong[0] += u32::from(lower > mean + 1e-9);
                    wrong[1] += u32::from(upper < mean - 1e-9);
                }
                // Of 1000, 2.5 % are 25, with a standard deviation of 5.
                assert!(wrong.iter().all(|wrong| *wrong <= 42), "{name}, {trials} trials: {wrong:?} of 1000");
            }
        }
    }
}
