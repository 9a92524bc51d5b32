//! Places, people, and the words that join them to a note.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::vocabulary;

static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?:\b(?:[Aa]t|[Ii]n)\s+(?:the\s+)?|@\s*)(\p{Lu}[\p{L}\p{M}'’.&-]*(?:\s+[\p{Lu}\d][\p{L}\p{M}\d'’.&-]*)*)",
    )
    .expect("a valid pattern")
});
static PEOPLE: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"\p{Lu}[\p{L}\p{M}'’-]*";
    Regex::new(&format!(
        r"\b(?:[Ww]ith|[Mm]it|[Cc]on|[Aa]vec)\s+({name}(?:\s+{name})*(?:(?:,\s*|\s+and\s+|\s+und\s+|\s+y\s+|\s*&\s*){name}(?:\s+{name})*)*)"
    ))
    .expect("a valid pattern")
});

/// The place in a note, with its range including the word before it.
pub(super) fn place(text: &str) -> Option<(Range<usize>, String)> {
    let captures = PLACE.captures(text)?;
    Some((captures.get(0)?.range(), captures.get(1)?.as_str().trim_end_matches('.').to_owned()))
}

/// The people in a note, as written.
pub(super) fn people(text: &str) -> Option<String> {
    Some(PEOPLE.captures(text)?.get(1)?.as_str().to_owned())
}

/// Extends `range` by the joining words before it: "on Friday" instead of "Friday".
pub(super) fn with_joining_words(text: &str, range: Range<usize>) -> Range<usize> {
    let mut start = range.start;
    loop {
        let before = text[..start].trim_end();
        let word_start = before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
        let word = before[word_start..].to_lowercase();
        if word.is_empty() || !vocabulary::JOINING.contains(&word.as_str()) {
            return start..range.end;
        }
        start = word_start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_people_are_capitalised_names() {
        assert_eq!(place("Lunch with Ana at Café Luna").map(|(_, place)| place).as_deref(), Some("Café Luna"));
        assert_eq!(place("meeting in the morning"), None);
        assert_eq!(people("Lunch with Ana López and Bo at noon").as_deref(), Some("Ana López and Bo"));
        assert_eq!(people("lunch with everyone"), None);
    }

    #[test]
    fn joining_words_are_part_of_the_range() {
        let text = "Party on the Friday";
        assert_eq!(&text[with_joining_words(text, 13..19)], "on the Friday");
        assert_eq!(with_joining_words("Friday", 0..6), 0..6);
    }
}
