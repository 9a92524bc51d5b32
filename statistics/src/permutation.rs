//! The sign-flip permutation test of paired differences.
//!
//! Holm's adjustment of the p-values of several comparisons.

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

/// The p-values adjusted so that the probability of a single wrong one among those below a level is at most that level (Holm 1979), in
/// the same order. Unlike Bonferroni's, the adjustment needs no more than that either, and is never weaker.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|left, right| p_values[*left].total_cmp(&p_values[*right]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, index) in order.into_iter().enumerate() {
        let others = (p_values.len() - rank) as f64;
        largest = largest.max(p_values[index] * others).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
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

    #[test]
    fn values_are_those_of_r() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") and p.adjust(c(0.5, 0.9), "holm")
        let close = |found: Vec<f64>, expected: &[f64]| {
            assert_eq!(found.len(), expected.len());
            assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-12), "{found:?}");
        };
        close(holm(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        close(holm(&[0.5, 0.9]), &[1.0, 1.0]);
        close(holm(&[0.03]), &[0.03]);
        close(holm(&[]), &[]);
    }
}
