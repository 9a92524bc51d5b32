//! Tests of the statistics of trials.

use crate::trial_statistics::*;

#[track_caller]
fn close(actual: f64, expected: f64) {
    assert!((actual - expected).abs() < 1e-6, "{actual} is not {expected}");
}

#[test]
fn pass_at_k_and_pass_hat_k_follow_the_table() {
    let table = [
        (1, 0, 1, 0.0, 0.0),
        (4, 1, 1, 0.25, 0.25),
        (4, 2, 2, 5.0 / 6.0, 1.0 / 6.0),
        (5, 2, 3, 0.9, 0.0),
        (10, 0, 5, 0.0, 0.0),
        (5, 3, 3, 1.0, 0.1),
        (5, 4, 3, 1.0, 0.4),
        (2, 1, 2, 1.0, 0.0),
        (10, 8, 3, 1.0, 7.0 / 15.0),
    ];
    for (n, c, k, at, hat) in table {
        close(pass_at_k(n, c, k).unwrap(), at);
        close(pass_hat_k(n, c, k).unwrap(), hat);
    }
    assert_eq!((pass_at_k(2, 2, 5), pass_hat_k(2, 2, 5)), (None, None));
}

#[test]
fn spreads_follow_the_vectors() {
    for (scores, mean, stddev) in [
        (&[0.6, 0.8, 1.0][..], 0.8, 0.2),
        (&[0.7, 0.8, 0.8, 0.9, 0.85], 0.81, 0.074_162),
        (&[1.0, 0.0], 0.5, std::f64::consts::FRAC_1_SQRT_2),
        (&[0.7], 0.7, 0.0),
    ] {
        let summary = Summary::of(scores).unwrap();
        close(summary.mean, mean);
        close(summary.stddev, stddev);
    }
    assert_eq!(Summary::of(&[]), None);
}

#[test]
fn every_k_up_to_n_is_reported() {
    let keys = |n| by_k(n, |_| Some(0.0)).into_keys().collect::<Vec<_>>();
    assert_eq!(keys(1), [1]);
    assert_eq!(keys(4), [1, 2, 3, 4]);
    assert_eq!(keys(12), [1, 2, 3, 5, 10, 12]);
    assert!(keys(0).is_empty());
}

#[test]
fn trials_that_disagree_are_flaky() {
    assert_eq!(stability(1, 1), None);
    assert_eq!(stability(3, 3), Some(Stability::StablePass));
    assert_eq!(stability(3, 0), Some(Stability::StableFail));
    assert_eq!(stability(3, 1), Some(Stability::Flaky));
}

/// Number of the ways to draw k of n trials, by drawing them all, and of those without and with nothing but passes.
fn draws(n: usize, c: usize, k: usize) -> (u32, u32, u32) {
    let passes = (1_u32 << c) - 1;
    (0..1_u32 << n).filter(|drawn| drawn.count_ones() as usize == k).fold((0, 0, 0), |(all, none, every), drawn| {
        (all + 1, none + u32::from(drawn & passes == 0), every + u32::from(drawn & passes == drawn))
    })
}

#[test]
fn probabilities_are_those_of_drawing_trials_without_putting_them_back() {
    for n in 1..=10 {
        for c in 0..=n {
            for k in 1..=n {
                let (all, none, every) = draws(n, c, k);
                let at = 1.0 - f64::from(none) / f64::from(all);
                assert!((pass_at_k(n, c, k).unwrap() - at).abs() < 1e-12, "pass@{k} of {c}/{n}");
                let hat = f64::from(every) / f64::from(all);
                assert!((pass_hat_k(n, c, k).unwrap() - hat).abs() < 1e-12, "pass^{k} of {c}/{n}");
            }
        }
    }
}

#[test]
fn one_draw_is_the_pass_rate_and_all_draws_are_certain() {
    for n in 1..=1000 {
        let c = n / 3;
        assert!((pass_at_k(n, c, 1).unwrap() - ratio(c, n)).abs() < 1e-12);
        assert!((pass_hat_k(n, c, 1).unwrap() - ratio(c, n)).abs() < 1e-12);
        assert_eq!(pass_at_k(n, c, n), Some(if c > 0 { 1.0 } else { 0.0 }));
        assert_eq!(pass_hat_k(n, n, n), Some(1.0));
    }
}

/// Mean and deviation by another formula, over all lists of five scores of a lattice.
#[test]
fn spreads_agree_with_another_formula() {
    let lattice = [0.0, 0.25, 0.8, 1.0];
    for code in 0..4_usize.pow(5) {
        let scores: Vec<f64> = (0..5).map(|place| lattice[code / 4_usize.pow(place) % 4]).collect();
        let summary = Summary::of(&scores).unwrap();
        let pairs = scores.iter().enumerate().flat_map(|(i, a)| scores[i + 1..].iter().map(move |b| (a - b).powi(2)));
        // The variance is the mean of half the squared difference over all pairs.
        let deviation = (pairs.sum::<f64>() / 20.0).sqrt();
        assert!((summary.stddev - deviation).abs() < 1e-9, "{scores:?}");
        assert!(summary.min <= summary.mean + 1e-12 && summary.mean <= summary.max + 1e-12);
    }
}

/// `mean` and `stderr` of inspect_ai 0.3.285 (`report/tests/tools/inspect_statistics.py` prints them).
#[test]
fn spreads_are_those_of_inspect() {
    let scores = [1.0, 0.5, 0.75, 0.0, 1.0, 1.0, 0.25, 0.9];
    let summary = Summary::of(&scores).unwrap();
    close(summary.mean, 0.675);
    close(summary.stddev / 8_f64.sqrt(), 0.136_277_028_773_849_37);
}
