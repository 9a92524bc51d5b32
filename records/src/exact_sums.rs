//! Sums and means that do not depend on the order of their terms.

use evalsuite_schema::decimal::without_noise;
use evalsuite_schema::sorting::sort_by;

/// The sum of values. It carries the rounding error of one addition, not of all of them (Neumaier, 1974), and is the same in any order.
pub fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sort_by(&mut sorted, f64::total_cmp);
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for value in sorted {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    // An infinity has lost everything.
    if sum.is_finite() { sum + lost } else { sum }
}

/// The sum of the values that are known; `None` if none is.
pub fn sum_of_known(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let known: Vec<f64> = values.into_iter().collect();
    (!known.is_empty()).then(|| sum(known))
}

/// The mean of values, without rounding noise: that of decimals is a decimal. `None` without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| without_noise(sum(values.iter().copied()) / values.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_of_many_decimals_is_the_nearest_number() {
        assert_eq!(sum(vec![0.1; 1_000]), 100.0);
        assert_eq!(sum(vec![0.001; 100_000]), 100.0);
        assert_eq!(sum([1e100, 1.0, -1e100]), 1.0);
        assert_eq!(sum([]), 0.0);
        assert_eq!(sum_of_known([]), None);
        assert_eq!(sum_of_known([0.1, 0.2]), Some(sum([0.1, 0.2])));
        assert_eq!(sum([f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(sum([f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn a_mean_of_decimals_is_a_decimal_in_any_order() {
        assert_eq!(mean(&[0.95, 0.95, 0.95]), Some(0.95));
        assert_eq!(mean(&[0.7, 0.6, 0.8]), mean(&[0.8, 0.7, 0.6]));
        assert_eq!(mean(&[0.7, 0.6, 0.8]), Some(0.7));
        assert_eq!(mean(&[1.0, 0.0, 0.0]), Some(1.0 / 3.0));
        assert_eq!(mean(&[]), None);
    }
}
