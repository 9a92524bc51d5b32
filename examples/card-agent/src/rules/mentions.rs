//! Searches for words in scripts with and without spaces.

/// Whether `text`, in lower case, contains one of `words`: as a whole word in scripts with spaces, anywhere in others.
pub(super) fn mentions(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| find(text, word).is_some())
}

/// The word in `words` that `text` begins with.
pub(super) fn starts_with<'w>(text: &str, words: &[&'w str]) -> Option<&'w str> {
    words.iter().copied().find(|word| find(text, word) == Some(0))
}

fn find(text: &str, word: &str) -> Option<usize> {
    let whole = !word.chars().any(is_written_without_spaces);
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !whole || (!before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric))
    })
}

/// Han, Kana and Hangul.
pub(super) fn is_written_without_spaces(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_match_in_scripts_with_spaces() {
        assert!(mentions("the call is over", &["call"]));
        assert!(!mentions("recall", &["call"]));
        assert!(mentions("明天和田中开会", &["开会"]));
        assert_eq!(starts_with("buyer's guide", &["buy"]), None);
        assert_eq!(starts_with("buy milk", &["buy"]), Some("buy"));
    }
}
