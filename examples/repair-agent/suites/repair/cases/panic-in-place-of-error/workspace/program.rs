use std::num::ParseIntError;

/// Sum of the numbers in `text`, one a line; blank lines are skipped.
pub fn total(text: &str) -> Result<i64, ParseIntError> {
    let mut sum = 0;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        sum += line.parse::<i64>().unwrap();
    }
    Ok(sum)
}

#[cfg(test)]
mod tests;
