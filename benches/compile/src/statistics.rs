//! Minimum and median of samples.

/// The smallest sample.
pub(crate) fn minimum(samples: impl IntoIterator<Item = f64>) -> Option<f64> {
    samples.into_iter().min_by(f64::total_cmp)
}

/// The middle sample, or the mean of the two in the middle.
pub(crate) fn median(samples: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut samples: Vec<f64> = samples.into_iter().collect();
    samples.sort_by(f64::total_cmp);
    let upper = *samples.get(samples.len() / 2)?;
    if samples.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(samples[samples.len() / 2 - 1], upper))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
        assert_eq!(minimum([2.0, 1.0]), Some(1.0));
    }
}
