//! The rate that people would find, from the judgements of a judge on many answers and of people on a few.

use super::mean;

/// The 97.5 % quantile of the standard normal distribution.
const Z: f64 = 1.959_963_984_540_054;

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

/// The rate corrected by prediction-powered inference: the judge's mean over `judged`, plus the mean difference of person and judge on
/// the answers that both have rated. `None` without judged answers, or with fewer than two rated ones.
///
/// `judged` has the judge's value of each independent unit, a case with the mean of its trials, from 0 to 1; `rated` the person's and
/// the judge's value of each answer that both have rated. The estimate is that of Angelopoulos, Bates, Fannjiang, Jordan and Zrnic
/// (2023), Prediction-powered inference, *Science* 382, for a mean: `mean(judged) + mean(person − judge)`, with the variance
/// `var(judged)/N + var(person − judge)/n`. Both variances (n − 1) are taken with two more observations, one at each end of the scale:
/// else the interval would be empty where a judge agrees with all of a few answers.
///
/// ```
/// use evalsuite_report::corrected_rate;
///
/// // The judge passes 9 of 10 cases, and one of four rated answers that a person fails.
/// let judged = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0];
/// let rated = [(1.0, 1.0), (0.0, 1.0), (0.0, 0.0), (1.0, 1.0)];
/// let corrected = corrected_rate(&judged, &rated).expect("enough answers");
/// assert!((corrected.rate - 0.65).abs() < 1e-9);
/// ```
pub fn corrected_rate(judged: &[f64], rated: &[(f64, f64)]) -> Option<CorrectedRate> {
    if judged.is_empty() || rated.len() < 2 {
        return None;
    }
    let differences: Vec<f64> = rated.iter().map(|(person, judge)| person - judge).collect();
    let rate = mean(judged) + mean(&differences);
    let half = Z * (variance_of_mean(judged, [0.0, 1.0]) + variance_of_mean(&differences, [-1.0, 1.0])).sqrt();
    let within = |value: f64| value.clamp(0.0, 1.0);
    Some(CorrectedRate { rate: within(rate), lower: within(rate - half), upper: within(rate + half) })
}

/// The variance of the mean of some values, with one more value at each end of the scale.
fn variance_of_mean(values: &[f64], ends: [f64; 2]) -> f64 {
    let with_ends = [values, &ends].concat();
    let mean_of_all = mean(&with_ends);
    let squares: f64 = with_ends.iter().map(|value| (value - mean_of_all) * (value - mean_of_all)).sum();
    #[allow(clippy::cast_precision_loss, reason = "far fewer than 2^53 values")]
    let (count, of_values) = (with_ends.len() as f64, values.len() as f64);
    squares / (count - 1.0) / of_values
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;

    fn repeated(values: &[((f64, f64), usize)]) -> Vec<(f64, f64)> {
        values.iter().flat_map(|(value, count)| vec![*value; *count]).collect()
    }

    #[test]
    fn of_many_answers_it_is_the_published_estimate() {
        // mean(judged) + mean(person − judge) = 0.8 − 0.1, ± 1.96·√(0.16/5000 + (0.11 − 0.01)/2000).
        let judged: Vec<f64> = (0..5_000).map(|index| f64::from(u8::from(index % 5 != 0))).collect();
        let rated = repeated(&[((1.0, 1.0), 1_390), ((0.0, 0.0), 390), ((0.0, 1.0), 210), ((1.0, 0.0), 10)]);
        let found = corrected_rate(&judged, &rated).unwrap();
        assert!((found.rate - 0.7).abs() < 1e-12, "{found:?}");
        let half = Z * (0.16_f64 / 5_000.0 + 0.1_f64 / 2_000.0).sqrt();
        assert!((found.upper - found.rate - half).abs() < 1e-4, "{found:?} ± {half}");
        assert!((found.rate - found.lower - half).abs() < 1e-4, "{found:?} ± {half}");
    }

    /// Reference values: `ppi_mean_pointestimate` and `ppi_mean_ci` (alpha 0.05, lam 1) of ppi-python 0.2.3, which takes the plain variances.
    #[test]
    fn it_is_the_estimate_of_ppi_python_with_a_slightly_wider_interval() {
        let every_fifth =
            |count: usize| -> Vec<f64> { (0..count).map(|it| f64::from(u8::from(it % 5 != 0))).collect() };
        let thirds: Vec<f64> = [0.0, 1.0, 2.0, 3.0].map(|it| it / 3.0).repeat(20);
        let cases = [
            (
                every_fifth(5_000),
                repeated(&[((1.0, 1.0), 1_390), ((0.0, 0.0), 390), ((0.0, 1.0), 210), ((1.0, 0.0), 10)]),
                [0.7, 0.682_251_771_263_111_4, 0.717_748_228_736_888_7],
                1e-4,
            ),
            (
                every_fifth(200),
                repeated(&[((1.0, 1.0), 28), ((0.0, 0.0), 8), ((0.0, 1.0), 6), ((1.0, 0.0), 2)]),
                [0.709_090_909_090_909_1, 0.574_089_325_326_040_8, 0.844_092_492_855_777_4],
                0.02,
            ),
            (
                thirds,
                repeated(&[((0.5, 0.75), 12), ((1.0, 1.0), 20), ((0.25, 0.0), 8)]),
                [0.475, 0.376_967_779_525_929_3, 0.573_032_220_474_070_7],
                0.05,
            ),
        ];
        for (judged, rated, [rate, lower, upper], most) in cases {
            let found = corrected_rate(&judged, &rated).unwrap();
            assert!((found.rate - rate).abs() < 1e-12, "{found:?}");
            assert!((0.0..most).contains(&(lower - found.lower)), "{found:?}, not [{lower}, {upper}]");
            assert!((0.0..most).contains(&(found.upper - upper)), "{found:?}, not [{lower}, {upper}]");
        }
    }

    #[test]
    fn a_judge_that_agrees_is_not_certain() {
        let found = corrected_rate(&[1.0; 20], &repeated(&[((1.0, 1.0), 20)])).unwrap();
        assert_eq!((found.rate, found.upper), (1.0, 1.0));
        // var of 21 ones and a zero: 21/22/22·22/21 = 1/22; of 20 zeros and two ends: 2/21.
        let half = Z * ((1.0_f64 / 22.0 + 2.0 / 21.0) / 20.0).sqrt();
        assert!((found.lower - (1.0 - half)).abs() < 1e-12, "{found:?} {half}");
        assert_eq!(corrected_rate(&[], &[(1.0, 1.0); 5]), None);
        assert_eq!(corrected_rate(&[1.0], &[(1.0, 1.0)]), None);
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
