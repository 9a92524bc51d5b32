/// Whether no line of `text` is longer than `limit` characters.
pub fn fits(text: &str, limit: usize) -> bool {
    text.lines().any(|line| line.chars().count() <= limit)
}

#[cfg(test)]
mod tests;
