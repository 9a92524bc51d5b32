//! The interval of the mean of a few scores, whose ends err as seldom as they say.

use evalsuite_schema::decimal::at_least;
use evalsuite_schema::sorting::sort_by;

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
mod tests {
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
