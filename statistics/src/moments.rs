//! Mean and standard deviation.

use evalsuite_records::sums;

/// The mean; 0 of nothing.
pub fn mean(values: &[f64]) -> f64 {
    sums::mean(values).unwrap_or_default()
}

/// The standard deviation (n − 1); `None` of fewer than two.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (values.len() > 1).then(|| (squares / (values.len() as f64 - 1.0)).sqrt())
}
