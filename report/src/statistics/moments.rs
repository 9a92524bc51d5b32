//! Mean and standard deviation.

/// The mean; 0 of nothing.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / count(values) }
}

/// The standard deviation (n − 1); `None` of fewer than two.
pub(crate) fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() > 1).then(|| (squares / (count(values) - 1.0)).sqrt())
}

#[allow(clippy::cast_precision_loss, reason = "far fewer than 2^53 values")]
fn count(values: &[f64]) -> f64 {
    values.len() as f64
}
