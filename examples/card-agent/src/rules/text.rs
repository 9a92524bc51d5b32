//! Normalises, cuts and measures text.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;

/// Normalises a note for the patterns: composed letters, ASCII digits, no invisible characters.
pub(super) fn normalize(note: &str) -> String {
    note.nfc().filter(|c| !is_invisible(*c)).map(|c| ascii_digit(fold_width(c))).collect()
}

/// Text direction marks, byte order marks and the like. Joiners are kept: emoji and some scripts need them.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{feff}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}')
        || (c.is_control() && c != '\n' && c != '\t')
}

/// Full-width forms, common in East Asian text, as their ASCII counterparts.
fn fold_width(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        '\u{3000}' => ' ',
        _ => c,
    }
}

fn ascii_digit(c: char) -> char {
    let zero = match c {
        '\u{660}'..='\u{669}' => 0x660,
        '\u{6f0}'..='\u{6f9}' => 0x6f0,
        '\u{966}'..='\u{96f}' => 0x966,
        _ => return c,
    };
    char::from_digit(u32::from(c) - zero, 10).unwrap_or(c)
}

/// `text` without `ranges`, so that recognised parts are not read again.
pub(super) fn without(text: &str, ranges: &[Range<usize>]) -> String {
    let mut rest = String::new();
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|range| range.start);
    let mut at = 0;
    for range in sorted {
        if range.start > at {
            rest.push_str(&text[at..range.start]);
        }
        rest.push(' ');
        at = at.max(range.end);
    }
    rest.push_str(&text[at..]);
    rest
}

/// `text` with each of `ranges` overwritten by spaces, which preserves positions.
pub(super) fn blanked(text: &str, ranges: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for range in ranges {
        bytes[range.clone()].fill(b' ');
    }
    // Ranges come from matches, which end at character boundaries.
    String::from_utf8_lossy(&bytes).into_owned()
}

/// One line without punctuation at its ends, with a capital first letter.
pub(super) fn title(text: &str) -> String {
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let trimmed = joined.trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(c, ',' | '.' | ';' | ':' | '-' | '–' | '—' | '!' | '?' | '、' | '。' | '，' | '@' | '،')
    });
    let mut chars = trimmed.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// The first `limit` characters, cut between words if possible.
pub(super) fn shortened(text: &str, limit: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(limit) else { return text.to_owned() };
    let cut = &text[..end];
    let cut = cut.rfind(' ').map_or(cut, |space| &cut[..space]);
    format!("{}…", cut.trim_end())
}

/// Number of letters and digits.
pub(super) fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_width_forms_are_normalised() {
        assert_eq!(normalize("１５：３０"), "15:30");
        assert_eq!(normalize("٢٠٢٦"), "2026");
        assert_eq!(normalize("\u{feff}Cafe\u{301}\u{200f}"), "Café");
        assert_eq!(normalize("👩\u{200d}👧"), "👩\u{200d}👧");
    }

    #[test]
    fn overlapping_ranges_are_removed_once() {
        assert_eq!(without("abcdef", &[3..5, 1..4]), "a  f");
        assert_eq!(blanked("é2x3", &[0..3, 4..5]), "   x ");
    }

    #[test]
    fn long_text_is_cut_between_words() {
        assert_eq!(shortened("one two three", 9), "one two…");
        assert_eq!(shortened("一二三四五", 3), "一二三…");
        assert_eq!(shortened("short", 9), "short");
    }
}
