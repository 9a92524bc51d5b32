//! Prints the measurements as tables.

mod builds;
mod editing;
mod held;
mod startup;
mod table;
mod whole_runs;

pub(crate) use builds::builds;
pub(crate) use editing::editing;
pub(crate) use held::held;
pub(crate) use startup::startup;
pub(crate) use whole_runs::whole_runs;

/// The competitor that the others are compared with.
const BASE: &str = "by-hand";

/// Shown in place of a missing figure.
const NONE: &str = "-";

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| NONE.to_owned(), |value| format!("{value:.decimals$}"))
}

fn ratio(value: Option<f64>, base: Option<f64>) -> String {
    number(value.zip(base).map(|(value, base)| value / base), 2)
}

/// A count with thousands separators: 20,000.
fn count(value: usize) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_thousands_separators() {
        assert_eq!([count(7), count(100), count(1_000), count(20_000)], ["7", "100", "1,000", "20,000"]);
    }

    #[test]
    fn a_ratio_needs_two_values() {
        assert_eq!(ratio(Some(3.0), Some(2.0)), "1.50");
        assert_eq!(ratio(Some(3.0), None), "-");
    }
}
