//! Comparison of computed numbers with bounds, as decimals: scores, means, rates, costs and margins.
//!
//! Suites write bounds as decimals, and scores are decimals too: 0.95, 0.7, ¼. Their sums and means are computed in binary floating point,
//! where 0.95 + 0.95 + 0.95 divided by 3 is 0.9499999999999998. A `>=` on such a number decides by rounding, and by the order of the
//! terms. [`at_least`] and [`at_most`] are the one comparison of a computed number with a bound. They ignore a difference that is not
//! larger than rounding can make it: 1e-12, or 4 times the precision of the larger number if that is more.
//!
//! This is exact for the sums that occur. A score is a decimal with few places from 0 to 1, and a mean of a thousand of them carries an
//! error below 1e-12, even if each addition is off by half a unit of the last place. Two different means of `n` scores with `p` decimal
//! places differ by at least 10⁻ᵖ / n: more than 1e-12 for six places and a hundred thousand scores. Numbers that differ by
//! less than 1e-12 cannot be told apart: a score of 0.9499999999995 reaches 0.95.

/// Largest difference that is rounding noise for numbers near 1 and below.
const NOISE: f64 = 1e-12;

/// Decimal places that [`without_noise`] keeps.
const PLACES: f64 = 1e12;

/// Whether a computed number reaches a bound. A `value` below `bound` by rounding noise reaches it.
///
/// NaN reaches nothing, and nothing reaches NaN. Infinities compare as IEEE 754 says.
///
/// ```
/// use evalsuite_schema::decimal::at_least;
///
/// assert!((0.95 + 0.95 + 0.95) / 3.0 < 0.95);
/// assert!(at_least((0.95 + 0.95 + 0.95) / 3.0, 0.95));
/// assert!(!at_least(0.949999, 0.95));
/// ```
pub fn at_least(value: f64, bound: f64) -> bool {
    value >= bound || same(value, bound)
}

/// Whether a computed number stays within a bound. A `value` above `bound` by rounding noise stays within it.
///
/// NaN is within nothing, and nothing is within NaN. Infinities compare as IEEE 754 says.
///
/// ```
/// use evalsuite_schema::decimal::at_most;
///
/// assert!(0.1 + 0.2 > 0.3);
/// assert!(at_most(0.1 + 0.2, 0.3));
/// assert!(!at_most(0.300001, 0.3));
/// ```
pub fn at_most(value: f64, bound: f64) -> bool {
    value <= bound || same(value, bound)
}

/// Whether two computed numbers are the same decimal, so that they differ by rounding noise at most.
pub fn is_same(a: f64, b: f64) -> bool {
    at_least(a, b) && at_most(a, b)
}

/// Whether the difference of two finite numbers is at most rounding noise.
fn same(a: f64, b: f64) -> bool {
    a.is_finite() && b.is_finite() && (a - b).abs() <= NOISE.max(4.0 * f64::EPSILON * a.abs().max(b.abs()))
}

/// The decimal with 12 places nearest to `value`, if it is at most 1e-14 away, otherwise `value` itself.
///
/// A mean of decimals becomes the decimal that it is, and a third stays a third.
///
/// ```
/// use evalsuite_schema::decimal::without_noise;
///
/// assert_eq!(without_noise((0.95 + 0.95 + 0.95) / 3.0), 0.95);
/// assert_eq!(without_noise(1.0 / 3.0), 1.0 / 3.0);
/// ```
pub fn without_noise(value: f64) -> f64 {
    // The quotient of an integer and 1e12 is the number that its decimal is read as. Adding 0.0 makes a negative zero positive.
    let decimal = (value * PLACES).round() / PLACES + 0.0;
    if (decimal - value).abs() <= 1e-14 { decimal } else { value }
}

/// `value` as text next to `bound`, so that the two texts compare as [`at_least`] and [`at_most`] compare the numbers.
///
/// The text has two decimals, or as many more as that takes: a sentence never says that 0.80 is below 0.8. The bound is printed in its
/// shortest form, with `{}`.
///
/// ```
/// use evalsuite_schema::decimal::shown_against;
///
/// assert_eq!(shown_against(0.7996, 0.8), "0.7996");
/// assert_eq!(shown_against(0.7912, 0.8), "0.79");
/// assert_eq!(shown_against((0.95 + 0.95 + 0.95) / 3.0, 0.95), "0.95");
/// ```
pub fn shown_against(value: f64, bound: f64) -> String {
    shown_from(2, value, bound)
}

/// A number without a bound: as it is with up to four decimals, otherwise rounded to four, and below 1 to four digits that are not leading
/// zeros.
///
/// ```
/// use evalsuite_schema::decimal::shown;
///
/// assert_eq!([shown(7.0 / 9.0), shown(0.1 + 0.2), shown(12.5), shown(0.00012346)], ["0.7778", "0.3", "12.5", "0.0001235"]);
/// ```
pub fn shown(value: f64) -> String {
    let rounded = match value.abs() {
        size if size < 1.0 => format!("{value:.3e}"),
        _ => format!("{value:.4}"),
    };
    rounded.parse::<f64>().map_or(rounded, |number| number.to_string())
}

/// The same next to a bound, with as many decimals as it takes for both texts to compare as the numbers do.
///
/// ```
/// use evalsuite_schema::decimal::shown_beside;
///
/// assert_eq!(shown_beside(12.5, 100.0), "12.5");
/// assert_eq!(shown_beside(7.0 / 9.0, 0.7778), "0.77778");
/// assert_eq!(shown_beside(0.1 + 0.2, 0.3), "0.3");
/// ```
pub fn shown_beside(value: f64, bound: f64) -> String {
    let text = shown(value);
    let side = |number: f64| (at_least(number, bound), at_most(number, bound));
    if text.parse::<f64>().is_ok_and(|number| side(number) == side(value)) { text } else { shown_against(value, bound) }
}

/// The same with at least this number of decimals.
pub fn shown_from(places: usize, value: f64, bound: f64) -> String {
    let side = |number: f64| (at_least(number, bound), at_most(number, bound));
    let shown = (places..=17)
        .map(|places| format!("{value:.places$}"))
        .find(|text| text.parse::<f64>().is_ok_and(|number| side(number) == side(value)))
        // The shortest form of a number is read as the same number.
        .unwrap_or_else(|| value.to_string());
    // Rounding may leave a negative zero.
    if shown.parse() == Ok(0.0) { shown.trim_start_matches('-').to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sums_of_decimals_reach_the_decimal_that_they_are_in_any_order() {
        for (scores, bound) in [
            (vec![0.95; 3], 0.95),
            (vec![0.7, 0.6, 0.8], 0.7),
            (vec![0.8, 0.7, 0.6], 0.7),
            (vec![0.1; 10], 0.1),
            (vec![0.85; 7], 0.85),
        ] {
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            assert!(at_least(mean, bound), "{scores:?}: {mean} reaches {bound}");
            assert!(at_most(mean, bound), "{scores:?}: {mean} is within {bound}");
            assert_eq!(without_noise(mean), bound, "{scores:?}");
            assert_eq!(shown_against(mean, bound), format!("{bound:.2}"), "{scores:?}");
        }
    }

    #[test]
    fn differences_above_the_noise_count() {
        assert!(!at_least(0.95 - 2e-12, 0.95));
        assert!(!at_most(0.95 + 2e-12, 0.95));
        assert!(!at_least(999_999.999, 1e6));
        assert!(!at_most(1e-11, 0.0));
    }

    #[test]
    fn noise_grows_with_the_numbers() {
        assert!(at_least(1e9 - 1e-7, 1e9));
        assert!(!at_least(1e9 - 1e-5, 1e9));
        assert!(at_most(f64::MAX, f64::MAX));
        assert!(!at_least(f64::MIN, f64::MAX));
    }

    #[test]
    fn nan_reaches_nothing_and_infinities_are_ordered() {
        for other in [f64::NAN, 0.0, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(!at_least(f64::NAN, other) && !at_least(other, f64::NAN));
            assert!(!at_most(f64::NAN, other) && !at_most(other, f64::NAN));
        }
        assert!(at_least(f64::INFINITY, f64::INFINITY) && at_most(f64::INFINITY, f64::INFINITY));
        assert!(at_least(f64::INFINITY, 1.0) && !at_most(f64::INFINITY, 1.0));
        assert!(!at_least(f64::NEG_INFINITY, 1.0) && at_most(f64::NEG_INFINITY, 1.0));
        assert!(!at_least(1.0, f64::INFINITY) && at_most(1.0, f64::INFINITY));
    }

    #[test]
    fn only_noise_is_removed() {
        assert_eq!(without_noise(0.1 + 0.2), 0.3);
        assert_eq!(without_noise(2.0 / 3.0), 2.0 / 3.0);
        assert_eq!(without_noise(0.949999999999), 0.949999999999);
        assert_eq!(without_noise(-1e-15).to_bits(), 0.0_f64.to_bits());
        assert_eq!(without_noise(1e300), 1e300);
        assert_eq!(without_noise(f64::INFINITY), f64::INFINITY);
        assert!(without_noise(f64::NAN).is_nan());
    }

    #[test]
    fn a_number_is_shown_on_its_side_of_the_bound() {
        for (value, bound, text) in [
            (0.7996, 0.8, "0.7996"),
            (0.8004, 0.8, "0.8004"),
            (0.795, 0.8, "0.795"),
            (0.5, 0.8, "0.50"),
            (0.95, 0.95, "0.95"),
            (0.949999, 0.95, "0.949999"),
            (0.123456, 0.123456, "0.123456"),
            (1.0 / 3.0, 1.0 / 3.0, "0.333333333333"),
            (1.0, 1.0, "1.00"),
            (-0.004, 0.0, "-0.004"),
            (-0.004, 0.5, "0.00"),
            (-1e-15, 0.0, "0.00"),
            (-0.004, -0.5, "0.00"),
            (1e-7, 0.0, "0.0000001"),
            (f64::NAN, 0.5, "NaN"),
            (f64::INFINITY, 0.5, "inf"),
        ] {
            assert_eq!(shown_against(value, bound), text, "{value} against {bound}");
        }
    }

    #[test]
    fn a_number_has_as_many_decimals_as_asked_for() {
        assert_eq!(shown_from(0, 30.04, 30.0), "30.04");
        assert_eq!(shown_from(1, 31.04, 30.0), "31.0");
        assert_eq!(shown_from(4, 0.5, 0.75), "0.5000");
    }

    #[test]
    fn a_number_without_a_bound_has_few_decimals() {
        for (value, text) in [
            (7.0 / 9.0, "0.7778"),
            (1.0, "1"),
            (0.0, "0"),
            (-0.25, "-0.25"),
            (1_234.567_891, "1234.5679"),
            (0.999_99, "1"),
            (1e21, "1000000000000000000000"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(shown(value), text, "{value}");
        }
        assert_eq!(shown_beside(0.999_99, 1.0), "0.99999");
        assert_eq!(shown_beside(30.000_01, 30.0), "30.00001");
    }

    #[test]
    fn numbers_that_differ_by_noise_are_the_same() {
        assert!(is_same(0.1 + 0.2, 0.3) && is_same(f64::INFINITY, f64::INFINITY));
        assert!(!is_same(0.3, 0.300_001) && !is_same(f64::NAN, f64::NAN));
    }

    proptest! {
        #[test]
        fn texts_compare_as_their_numbers(value in -2.0..2.0_f64, difference in -1e-3..1e-3_f64, places in 0..9_u32) {
            let scale = 10_f64.powi(places as i32);
            let bound = ((value + difference) * scale).round() / scale;
            let shown: f64 = shown_against(value, bound).parse().unwrap();
            let read: f64 = bound.to_string().parse().unwrap();
            let beside: f64 = shown_beside(value, bound).parse().unwrap();
            prop_assert_eq!((at_least(beside, read), at_most(beside, read)), (at_least(value, bound), at_most(value, bound)));
            prop_assert_eq!(at_least(shown, read), at_least(value, bound));
            prop_assert_eq!(at_most(shown, read), at_most(value, bound));
        }

        #[test]
        fn the_mean_of_decimals_does_not_depend_on_order(hundredths in prop::collection::vec(0..=100_u32, 1..200)) {
            let exact = f64::from(hundredths.iter().sum::<u32>()) / (100.0 * hundredths.len() as f64);
            let mean = |scores: Vec<f64>| scores.iter().sum::<f64>() / scores.len() as f64;
            let forward = mean(hundredths.iter().map(|n| f64::from(*n) / 100.0).collect());
            let backward = mean(hundredths.iter().rev().map(|n| f64::from(*n) / 100.0).collect());
            prop_assert!(at_least(forward, exact) && at_most(forward, exact));
            prop_assert!(at_least(backward, forward) && at_most(backward, forward));
        }
    }
}
