//! Results of Inspect's metrics on the same data: `stderr`, `ci` and `ci_wilson` of `inspect_ai.scorer`, inspect_ai 0.3.285
//! (`tests/tools/inspect_statistics.py` prints them).

use super::bootstrap::resampled_means;
use super::differences::{mean, standard_error};
use super::{paired_interval, wilson_interval};

const DIFFERENCES: [f64; 20] = [
    0.5, -0.25, 0.0, 1.0, 0.0, -0.5, 0.25, 0.0, 0.75, -0.125, 0.0, 0.5, -1.0, 0.25, 0.0, 0.375, 0.5, -0.25, 0.125, 0.0,
];
const CLUSTERS: [usize; 20] = [0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 4, 4, 5, 5, 5, 6, 7, 7, 8, 8];

fn apart() -> Vec<usize> {
    (0..DIFFERENCES.len()).collect()
}

/// Sums and sizes of clusters.
fn sums(clusters: &[usize]) -> Vec<(f64, f64)> {
    let mut sums = vec![(0.0, 0.0); clusters.iter().max().map_or(0, |last| last + 1)];
    for (difference, cluster) in DIFFERENCES.iter().zip(clusters) {
        sums[*cluster].0 += difference;
        sums[*cluster].1 += 1.0;
    }
    sums
}

fn is_near((lower, upper): (f64, f64), expected: (f64, f64), tolerance: f64) -> bool {
    (lower - expected.0).abs() < tolerance && (upper - expected.1).abs() < tolerance
}

#[test]
fn standard_errors_are_those_of_inspect() {
    assert!((mean(&DIFFERENCES) - 0.10625).abs() < 1e-12);
    for (clusters, expected) in [(apart(), 0.099_453_688_640_545_28), (CLUSTERS.to_vec(), 0.074_815_202_018_874_48)] {
        let found = standard_error(&DIFFERENCES, &clusters).expect("several clusters");
        assert!((found - expected).abs() < 1e-12, "{found}, Inspect has {expected}");
    }
}

/// 10,000 resamples here and 200,000 there: their ends differ by chance.
#[test]
fn resamples_spread_as_those_of_inspect() {
    for (clusters, expected) in [(apart(), (-0.0875, 0.293_75)), (CLUSTERS.to_vec(), (-0.032_89, 0.25))] {
        let means = resampled_means(&sums(&clusters));
        let found = (means[means.len() / 40], means[means.len() - 1 - means.len() / 40]);
        assert!(is_near(found, expected, 0.015), "{found:?}, Inspect has {expected:?}");
    }
}

/// Our interval is wider than the plain percentiles of so few clusters, as Student's t is.
#[test]
fn intervals_are_wider_than_resamples_and_near_students_t() {
    let plain_and_t = [
        (apart(), (-0.0875, 0.293_75), (-0.101_908_96, 0.314_408_96)),
        (CLUSTERS.to_vec(), (-0.032_89, 0.25), (-0.066_274_17, 0.278_774_17)),
    ];
    for (clusters, plain, students_t) in plain_and_t {
        let found = paired_interval(&DIFFERENCES, &clusters).expect("several clusters");
        assert!(found.0 < plain.0 && plain.1 < found.1, "{found:?} does not contain {plain:?}");
        assert!(is_near(found, students_t, 0.035), "{found:?}, Inspect's t interval is {students_t:?}");
    }
}

#[test]
fn intervals_of_rates_are_those_of_inspect() {
    for (passed, cases, expected) in [
        (20, 20, (0.838_874_841_947_180_8, 1.0)),
        (18, 20, (0.698_966_354_771_512_8, 0.972_133_518_786_231_9)),
        (48, 50, (0.865_399_093_124_929_8, 0.988_961_115_672_380_3)),
        (3, 7, (0.158_219_855_251_469_7, 0.749_541_635_472_342_8)),
    ] {
        let found = wilson_interval(passed, cases).expect("cases");
        assert!(is_near(found, expected, 1e-12), "{passed} of {cases}: {found:?}, Inspect has {expected:?}");
    }
}
