//! Wilson's interval of a rate.
//!
//! The rate that people would find, from the judgements of a judge on many answers and of people on a few.

use std::collections::BTreeMap;

use evalsuite_records::trial_statistics::t_quantile;

use super::standard_deviation;
use crate::mean;

/// The 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// Wilson's score interval of a rate at 95 %: lower and upper end, 0 to 1; `None` without observations.
///
/// Unlike the normal approximation, it is never empty: 20 of 20 is 0.839 to 1.
///
/// ```
/// let (lower, upper) = evalsuite_statistics::wilson_interval(20, 20).expect("20 observations");
/// assert_eq!((format!("{lower:.3}"), upper), ("0.839".to_owned(), 1.0));
/// ```
pub fn wilson_interval(successes: u32, observations: u32) -> Option<(f64, f64)> {
    let successes = f64::from(successes.min(observations));
    (observations > 0).then(|| wilson(successes / f64::from(observations), f64::from(observations)))
}

/// Wilson's interval of the mean of values from 0 to 1, such as the shares of wins where a tie is half a win; `None` without values.
///
/// `clusters` has a number for each value; values of one cluster are not independent of each other. The number of observations is
/// Kish's: (Σm)² / Σm² for clusters of m values, which is the number of values if each is a cluster of its own. It is exact for values
/// that are equal in each cluster; and as no values between 0 and 1 vary more than zeros and ones of the same mean, the interval is never
/// too narrow for ties.
pub fn share_interval(values: &[f64], clusters: &[usize]) -> Option<(f64, f64)> {
    let mut sizes: BTreeMap<usize, f64> = BTreeMap::new();
    clusters.iter().for_each(|cluster| *sizes.entry(*cluster).or_default() += 1.0);
    let all: f64 = sizes.values().sum();
    let squares: f64 = sizes.values().map(|size| size * size).sum();
    (!values.is_empty()).then(|| wilson(mean(values), all * all / squares))
}

/// Wilson's interval of a rate in `n` observations.
fn wilson(rate: f64, n: f64) -> (f64, f64) {
    let z2 = Z * Z;
    let center = (rate + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z / (1.0 + z2 / n) * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt();
    // At the ends the formula gives 0 and 1 up to rounding.
    let lower = if rate <= 0.0 { 0.0 } else { (center - half).max(0.0) };
    let upper = if rate >= 1.0 { 1.0 } else { (center + half).min(1.0) };
    (lower, upper)
}

/// A rate with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorrectedRate {
    /// The estimate, 0 to 1.
    pub rate: f64,
    /// Lower end of its interval, 0 to 1.
    pub lower: f64,
    /// Upper end of its interval, 0 to 1.
    pub upper: f64,
}

/// The rate corrected by prediction-powered inference: people's mean over the answers that both have rated, plus `λ` times how much better
/// the judge finds all answers than those. `None` without judged answers, or with fewer than two rated ones.
///
/// `judged` has the judge's value of each independent unit, a case with the mean of its trials, from 0 to 1; `rated` the person's and
/// the judge's value of each answer that both have rated. The estimate is that of Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient
/// prediction-powered inference, for a mean: `mean(person) + λ·(mean(judged) − mean(judge))`, with the variance
/// `λ²·var(judged)/N + var(person − λ·judge)/n`. `λ` is the one that makes the interval narrowest,
/// `cov(person, judge) / ((1 + n/N)·var(judge on all answers))`, within 0 to 1: a judge who is no guide counts for nothing. Both variances
/// (n − 1) are taken with four more observations, two at each end of the scale, as Agresti and Coull (1998) add to rates: else the interval
/// would be empty where a judge agrees with all of a few answers, or people let all of them pass. The quantile is Student's with n − 1 degrees
/// of freedom.
///
/// ```
/// use evalsuite_statistics::corrected_rate;
///
/// // The judge passes 9 of 10 cases, and one of four rated answers that a person fails.
/// let judged = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0];
/// let rated = [(1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (1.0, 1.0)];
/// let corrected = corrected_rate(&judged, &rated).expect("enough answers");
/// assert!((corrected.rate - 0.60).abs() < 0.01, "{corrected:?}");
/// ```
pub fn corrected_rate(judged: &[f64], rated: &[(f64, f64)]) -> Option<CorrectedRate> {
    if judged.is_empty() || rated.len() < 2 {
        return None;
    }
    let (people, judge): (Vec<f64>, Vec<f64>) = rated.iter().copied().unzip();
    let lambda = narrowest(judged, &people, &judge);
    let differences: Vec<f64> = rated.iter().map(|(person, judge)| person - lambda * judge).collect();
    let rate = lambda * mean(judged) + mean(&differences);
    let of_judge = lambda * lambda * variance_of_mean(judged, [0.0, 1.0]);
    let quantile = t_quantile(rated.len() as f64 - 1.0);
    let half = quantile * (of_judge + variance_of_mean(&differences, [-lambda, 1.0])).sqrt();
    let within = |value: f64| value.clamp(0.0, 1.0);
    Some(CorrectedRate { rate: within(rate), lower: within(rate - half), upper: within(rate + half) })
}

/// The `λ` with the narrowest interval; 1 where the judge always says the same.
fn narrowest(judged: &[f64], people: &[f64], judge: &[f64]) -> f64 {
    let [of_people, of_judge] = [people, judge].map(mean);
    let products: Vec<f64> = people.iter().zip(judge).map(|(a, b)| (a - of_people) * (b - of_judge)).collect();
    let spread = standard_deviation(&[judge, judged].concat()).unwrap_or_default();
    let shares = 1.0 + judge.len() as f64 / judged.len() as f64;
    if spread > 0.0 { (mean(&products) / (shares * spread * spread)).clamp(0.0, 1.0) } else { 1.0 }
}

/// The variance of the mean of some values, with two more values at each end of the scale.
fn variance_of_mean(values: &[f64], ends: [f64; 2]) -> f64 {
    let with_ends = [values, &ends, &ends].concat();
    let mean_of_all = mean(&with_ends);
    let squares: f64 = with_ends.iter().map(|value| (value - mean_of_all) * (value - mean_of_all)).sum();
    let (count, of_values) = (with_ends.len() as f64, values.len() as f64);
    squares / (count - 1.0) / of_values
}

#[cfg(test)]
mod tests {
    use evalsuite_records::trial_statistics::binomial;
    use fastrand::Rng;

    use super::*;

    #[test]
    fn intervals_are_those_of_the_literature() {
        let expected = [
            (20, 20, 0.839, 1.0),
            (50, 50, 0.929, 1.0),
            (100, 100, 0.963, 1.0),
            (200, 200, 0.981, 1.0),
            (18, 20, 0.699, 0.972),
            (48, 50, 0.865, 0.989),
        ];
        for (successes, observations, lower, upper) in expected {
            let found = wilson_interval(successes, observations).unwrap();
            assert!(
                (found.0 - lower).abs() < 5e-4 && (found.1 - upper).abs() < 5e-4,
                "{successes}/{observations}: {found:?}"
            );
        }
        assert_eq!(wilson_interval(0, 5).unwrap().0, 0.0);
        assert_eq!(wilson_interval(0, 0), None);
    }

    /// The guide to gates has these numbers, of any number of cases.
    #[test]
    fn the_lower_end_is_seldom_above_the_rate() {
        for (rate, most) in [(0.5, 0.063), (0.7, 0.041), (0.8, 0.029), (0.9, 0.027), (0.95, 0.026)] {
            for cases in 1..=300 {
                let is_met = |passed: &u32| wilson_interval(*passed, cases).unwrap().0 >= rate - 1e-12;
                let Some(least) = (0..=cases).find(is_met) else { continue };
                let met = evalsuite_records::trial_statistics::binomial_at_least(least, cases, rate);
                assert!(met <= most, "{least} of {cases} at {rate}: {met}");
            }
        }
    }

    #[test]
    fn without_ties_and_clusters_a_share_is_a_rate() {
        let wins: Vec<f64> = (0..20).map(|index| if index < 18 { 1.0 } else { 0.0 }).collect();
        let apart: Vec<usize> = (0..20).collect();
        assert_eq!(share_interval(&wins, &apart), wilson_interval(18, 20));
        assert_eq!(share_interval(&[], &[]), None);
        // Two values of a cluster that are always equal are one observation.
        let (twice, pairs): (Vec<f64>, Vec<usize>) = (0..40).map(|index| (wins[index / 2], index / 2)).unzip();
        assert_eq!(share_interval(&twice, &pairs), wilson_interval(18, 20));
    }

    #[test]
    fn intervals_of_shares_contain_the_truth_often_enough() {
        let mut random = Rng::with_seed(7);
        for (win, tie) in [(0.5, 0.0), (0.3, 0.4), (0.8, 0.1), (0.0, 1.0), (0.1, 0.8)] {
            let truth = win + tie / 2.0;
            let mut value = || match random.f64() {
                drawn if drawn < win => 1.0,
                drawn if drawn < win + tie => 0.5,
                _ => 0.0,
            };
            let contains = |_: &u32| {
                let values: Vec<f64> = (0..25).map(|_| value()).collect();
                let (lower, upper) = share_interval(&values, &(0..25).collect::<Vec<_>>()).unwrap();
                lower <= truth && truth <= upper
            };
            let covered = (0..2_000_u32).filter(contains).count();
            assert!(covered >= 1_870, "{win} wins and {tie} ties: {covered} of 2000");
        }
    }

    fn repeated(values: &[((f64, f64), usize)]) -> Vec<(f64, f64)> {
        values.iter().flat_map(|(value, count)| vec![*value; *count]).collect()
    }

    #[test]
    fn of_many_answers_it_is_the_published_estimate() {
        // 0.7 in both, as λ·(mean(judged) − mean(judge)) is 0; λ = 0.135 / (1.4·0.16) = 0.603, and
        // var(person − λ·judge) = 0.21 − 2·0.603·0.135 + 0.603²·0.16.
        let judged: Vec<f64> = (0..5_000).map(|index| f64::from(u8::from(index % 5 != 0))).collect();
        let rated = repeated(&[((1.0, 1.0), 1_390), ((0.0, 0.0), 390), ((0.0, 1.0), 210), ((1.0, 0.0), 10)]);
        let found = corrected_rate(&judged, &rated).unwrap();
        assert!((found.rate - 0.7).abs() < 1e-12, "{found:?}");
        let lambda = 0.135_f64 / (1.4 * 0.16);
        let of_differences = 0.21 - 2.0 * lambda * 0.135 + lambda * lambda * 0.16;
        let half = t_quantile(1_999.0) * (lambda * lambda * 0.16 / 5_000.0 + of_differences / 2_000.0).sqrt();
        assert!((found.upper - found.rate - half).abs() < 1e-4, "{found:?} ± {half}");
        assert!((found.rate - found.lower - half).abs() < 1e-4, "{found:?} ± {half}");
    }

    /// Reference values: `ppi_mean_pointestimate` and `ppi_mean_ci` (alpha 0.05) of ppi-python 0.2.3, which takes the plain variances and the normal distribution.
    #[test]
    fn it_is_the_estimate_of_ppi_python_with_a_slightly_wider_interval() {
        let every_fifth =
            |count: usize| -> Vec<f64> { (0..count).map(|it| f64::from(u8::from(it % 5 != 0))).collect() };
        let thirds: Vec<f64> = [0.0, 1.0, 2.0, 3.0].map(|it| it / 3.0).repeat(20);
        let cases = [
            (
                every_fifth(5_000),
                repeated(&[((1.0, 1.0), 1_390), ((0.0, 0.0), 390), ((0.0, 1.0), 210), ((1.0, 0.0), 10)]),
                [0.7, 0.684_281_24, 0.715_718_76],
                1e-4,
            ),
            (
                every_fifth(200),
                repeated(&[((1.0, 1.0), 28), ((0.0, 0.0), 8), ((0.0, 1.0), 6), ((1.0, 0.0), 2)]),
                [0.696_781_35, 0.578_501_15, 0.815_061_56],
                0.02,
            ),
            (
                thirds,
                repeated(&[((0.5, 0.75), 12), ((1.0, 1.0), 20), ((0.25, 0.0), 8)]),
                [0.596_940_58, 0.530_540_91, 0.663_340_26],
                0.05,
            ),
        ];
        for (judged, rated, [rate, lower, upper], most) in cases {
            let found = corrected_rate(&judged, &rated).unwrap();
            assert!((found.rate - rate).abs() < 1e-8, "{found:?}, not {rate}");
            assert!((0.0..most).contains(&(lower - found.lower)), "{found:?}, not [{lower}, {upper}]");
            assert!((0.0..most).contains(&(found.upper - upper)), "{found:?}, not [{lower}, {upper}]");
        }
    }

    #[test]
    fn a_judge_that_agrees_is_not_certain() {
        let found = corrected_rate(&[1.0; 20], &repeated(&[((1.0, 1.0), 20)])).unwrap();
        assert_eq!((found.rate, found.upper), (1.0, 1.0));
        // var of 22 ones and two zeros: 22·2/24/23; of 20 zeros and four ends: 4/23.
        let half = t_quantile(19.0) * ((44.0_f64 / 24.0 + 4.0) / 23.0 / 20.0).sqrt();
        assert!((found.lower - (1.0 - half)).abs() < 1e-12, "{found:?} {half}");
        assert_eq!(corrected_rate(&[], &[(1.0, 1.0); 5]), None);
        assert_eq!(corrected_rate(&[1.0], &[(1.0, 1.0)]), None);
    }

    /// If people let all of 20 answers pass, the lower end was 0.90, which 12 % of the samples of such a judge showed of a rate of 0.9.
    #[test]
    fn an_interval_contains_the_rate_where_few_answers_fail_and_the_judge_is_no_guide() {
        let judged: Vec<f64> = (0..200).map(|index| f64::from(u8::from(index < 120))).collect();
        for (rate, samples) in [(0.9, 20_u32), (0.93, 30), (0.85, 15)] {
            let mut covered = 0.0;
            // How many people let pass, and of these and of the others, how many the judge does.
            for (passed, chance) in (0..).zip(binomial(samples, rate)).filter(|(_, chance)| *chance > 1e-6) {
                for (both, of_both) in (0..).zip(binomial(passed, 0.6)) {
                    for (judge, of_judge) in (0..).zip(binomial(samples - passed, 0.6)) {
                        let counts = [both, passed - both, judge, samples - passed - judge];
                        let pairs = [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)].into_iter();
                        let rated: Vec<((f64, f64), usize)> =
                            pairs.zip(counts.map(|count: u32| count as usize)).collect();
                        let found = corrected_rate(&judged, &repeated(&rated)).unwrap();
                        let is_covered = found.lower <= rate && rate <= found.upper;
                        covered += if is_covered { chance * of_both * of_judge } else { 0.0 };
                    }
                }
            }
            assert!(covered >= 0.94, "{covered} of samples of {samples} at {rate}");
        }
    }

    #[test]
    fn intervals_contain_the_rate_that_people_would_find() {
        let mut random = Rng::with_seed(7);
        // People pass 70 %; the judge passes 95 % of these and 40 % of the others.
        let mut answer = || {
            let person = random.f64() < 0.7;
            let judge = random.f64() < if person { 0.95 } else { 0.4 };
            (f64::from(u8::from(person)), f64::from(u8::from(judge)))
        };
        for (cases, samples) in [(20, 20), (50, 30), (200, 50)] {
            let mut covered = 0;
            for _ in 0..2_000 {
                let judged: Vec<f64> = (0..cases).map(|_| answer().1).collect();
                let rated: Vec<(f64, f64)> = (0..samples).map(|_| answer()).collect();
                let found = corrected_rate(&judged, &rated).unwrap();
                covered += u32::from(found.lower <= 0.7 && 0.7 <= found.upper);
            }
            assert!((1_880..=1_990).contains(&covered), "{covered} of 2000 with {cases} cases and {samples} samples");
        }
    }
}
