//! The sign-flip permutation test of paired differences.

use fastrand::Rng;

/// Most differences other than 0 for which every combination of signs is tried.
const EXACT: usize = 20;
/// Random combinations of signs where there are more.
const FLIPS: u32 = 100_000;
const SEED: u64 = 0x5eed_f11b;

/// Two-sided p-value of the hypothesis that a difference is as likely as its opposite: the share of all combinations of signs whose
/// sum is at least as far from 0. Exact up to 20 differences other than 0, else from 100,000 combinations. With one trial per case
/// and scores of 0 and 1 it is McNemar's exact test. 1 without a difference.
pub fn sign_flip_p_value(differences: &[f64]) -> f64 {
    let differences: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    if differences.is_empty() {
        return 1.0;
    }
    // Sums of the same numbers in another order differ by rounding.
    let scale: f64 = differences.iter().map(|difference| difference.abs()).sum();
    let observed = differences.iter().sum::<f64>().abs() - 1e-12 * scale;
    if differences.len() <= EXACT { exact(&differences, observed) } else { sampled(&differences, observed) }
}

fn exact(differences: &[f64], observed: f64) -> f64 {
    // The opposite of a combination has the opposite sum, so the sign of the last difference can be fixed.
    let Some((last, others)) = differences.split_last() else { return 1.0 };
    let combinations = 1_u32 << others.len();
    let mut extreme = 0_u32;
    for signs in 0..combinations {
        let mut sum = *last;
        for (index, difference) in others.iter().enumerate() {
            sum += if signs >> index & 1 == 0 { *difference } else { -difference };
        }
        extreme += u32::from(sum.abs() >= observed);
    }
    f64::from(extreme) / f64::from(combinations)
}

fn sampled(differences: &[f64], observed: f64) -> f64 {
    let mut random = Rng::with_seed(SEED);
    let mut extreme = 0_u32;
    for _ in 0..FLIPS {
        let sum: f64 = differences.iter().map(|difference| if random.bool() { *difference } else { -difference }).sum();
        extreme += u32::from(sum.abs() >= observed);
    }
    // The observed combination is one of them, so the value is never 0.
    f64::from(extreme + 1) / f64::from(FLIPS + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(regressed: usize, improved: usize, equal: usize) -> Vec<f64> {
        [vec![-1.0; regressed], vec![1.0; improved], vec![0.0; equal]].concat()
    }

    #[test]
    fn of_single_trials_it_is_the_exact_test_of_mcnemar() {
        let expected = [(5, 0, 0.0625), (6, 0, 0.031), (7, 1, 0.070), (8, 1, 0.039), (9, 2, 0.065), (10, 3, 0.092)];
        for (regressed, improved, p) in expected {
            let found = sign_flip_p_value(&outcomes(regressed, improved, 7));
            assert!((found - p).abs() < 5e-4, "({regressed}, {improved}): {found}");
        }
    }

    #[test]
    fn samples_agree_with_the_exact_test() {
        let differences: Vec<f64> = (0..20).map(|index| f64::from(index % 7) - 2.1).collect();
        let observed = differences.iter().sum::<f64>().abs() - 1e-9;
        assert!((exact(&differences, observed) - sampled(&differences, observed)).abs() < 0.006);
        assert_eq!(sign_flip_p_value(&outcomes(15, 15, 0)), 1.0);
        let many = sign_flip_p_value(&outcomes(30, 0, 0));
        assert!(many > 0.0 && many < 1e-4, "{many}");
    }

    #[test]
    fn equal_runs_are_no_evidence() {
        assert_eq!(sign_flip_p_value(&[]), 1.0);
        assert_eq!(sign_flip_p_value(&[0.0, 0.0]), 1.0);
        assert_eq!(sign_flip_p_value(&[0.5]), 1.0);
    }
}
