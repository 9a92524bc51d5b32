/// The first `limit` characters of `text`.
pub fn shorten(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    &text[..limit]
}

#[cfg(test)]
mod tests;
