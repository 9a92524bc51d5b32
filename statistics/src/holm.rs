//! Holm's adjustment of the p-values of several comparisons.

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
