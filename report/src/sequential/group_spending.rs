//! Boundaries for looks at a number of trials that is fixed: the error that O'Brien and Fleming's spending function allows at each look
//! (Lan & DeMets 1983). No crate has them: they take a numerical integration of a few lines.

use evalsuite_statistics::normal_at_most;

/// Points of the grid on which the density of the paths that have not crossed is kept.
const POINTS: usize = 120;
/// So many standard deviations below 0, the density ends.
const LOWEST: f64 = 7.0;

/// Looks at a Brownian motion that starts at 0: after each, the smallest standardised value that is called a change.
#[derive(Debug, Clone)]
pub(super) struct Spending {
    level: f64,
    spent: f64,
    /// Share of all information at the last look.
    fraction: f64,
    /// Values of the motion and the density of the paths there that have not crossed. Empty before the first look.
    density: Vec<(f64, f64)>,
}

impl Spending {
    /// `level`: probability to cross at any look if nothing changed.
    pub(super) fn new(level: f64) -> Self {
        Self { level, spent: 0.0, fraction: 0.0, density: Vec::new() }
    }

    /// The boundary of a look at this share of all observations, which is larger than that of the look before, at most 1.
    pub(super) fn boundary(&mut self, fraction: f64) -> f64 {
        let allowed = 2.0 * upper_tail(quantile(self.level / 2.0) / fraction.sqrt());
        let share = (allowed - self.spent).max(f64::MIN_POSITIVE);
        let step = (fraction - self.fraction).sqrt();
        let crossed = |value: f64| match self.density.as_slice() {
            [] => upper_tail(value / step),
            density => integral(density, |from| upper_tail((value - from) / step)),
        };
        let value = bisect(0.0, 40.0, |value| crossed(value) > share);
        let lowest = -LOWEST * fraction.sqrt();
        let point = |index: usize| lowest + (value - lowest) * index as f64 / (POINTS - 1) as f64;
        let normal =
            |distance: f64| (-0.5 * (distance / step).powi(2)).exp() / (step * (2.0 * std::f64::consts::PI).sqrt());
        let at = |to: f64| match self.density.as_slice() {
            [] => normal(to),
            density => integral(density, |from| normal(to - from)),
        };
        let density = (0..POINTS).map(|index| (point(index), at(point(index)))).collect();
        (self.spent, self.fraction, self.density) = (allowed, fraction, density);
        value / fraction.sqrt()
    }
}

/// The integral of a function over the density, by trapezoids.
fn integral(density: &[(f64, f64)], of: impl Fn(f64) -> f64) -> f64 {
    let [(first, _), (second, _), ..] = density else { return 0.0 };
    let ends = [0, density.len() - 1];
    let value = |(index, (from, weight)): (usize, &(f64, f64))| {
        let part = if ends.contains(&index) { 0.5 } else { 1.0 };
        part * weight * of(*from)
    };
    density.iter().enumerate().map(value).sum::<f64>() * (second - first)
}

/// Probability that a standard normal number is larger.
fn upper_tail(value: f64) -> f64 {
    normal_at_most(-value)
}

/// The number that a standard normal number exceeds with this probability, at most one half.
fn quantile(tail: f64) -> f64 {
    bisect(0.0, 40.0, |value| upper_tail(value) > tail)
}

/// Where a condition that holds at `low` stops to hold.
fn bisect(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if holds(middle) { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_those_of_the_tables() {
        // Five equal looks, one-sided 0.025: Lan & DeMets, computed with `gsDesign::sfLDOF`.
        let mut spending = Spending::new(0.025);
        let found: Vec<f64> = (1..=5).map(|look| spending.boundary(f64::from(look) / 5.0)).collect();
        for (found, expected) in found.iter().zip([4.877, 3.357, 2.680, 2.290, 2.031]) {
            assert!((found - expected).abs() < 0.01, "{found} is not {expected}");
        }
        let one = Spending::new(0.05).boundary(1.0);
        assert!((one - 1.645).abs() < 0.001, "one look is the usual test, found {one}");
    }
}
