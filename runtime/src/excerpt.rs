//! Parts of long texts.

/// The longest beginning that is at most `limit` bytes long.
pub(crate) fn first_bytes(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// The first `limit` characters, with a mark where something is left out.
pub(crate) fn first_chars(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The last `limit` characters, with a mark where something is left out.
pub(crate) fn last_chars(text: &str, limit: usize) -> String {
    match text.char_indices().rev().nth(limit.saturating_sub(1)) {
        Some((start, _)) if start > 0 => format!("…{}", &text[start..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_never_split() {
        assert_eq!(first_bytes("aä", 2), "a");
        assert_eq!(first_bytes("aä", 3), "aä");
        assert_eq!(first_chars("äbc", 2), "äb…");
        assert_eq!(first_chars("äb", 2), "äb");
        assert_eq!(last_chars("äbc", 2), "…bc");
        assert_eq!(last_chars("abc", 3), "abc");
    }
}
