//! The interval of the mean of values with a lower and an upper bound.

use std::collections::BTreeMap;

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
/// values have the size of an average cluster. Without `clusters`, each value is a separate cluster.
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
    let half = t_quantile(count - 1.0) * (count / (count - 1.0) * squares).sqrt() / total;
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

#[cfg(test)]
mod tests {
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
