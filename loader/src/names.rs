//! Names of modules and test functions.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Keywords of every edition.
const KEYWORDS: &[&str] = &[
    "Self", "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super",
    "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// The names that generated modules use themselves.
const GENERATED: &[&str] = &[
    "SUITE",
    "evals",
    "suite_check",
    "judge_calibration",
    "grader_examples",
    "__Case",
    "__Json",
    "__None",
    "__Some",
    "__evalsuite",
    "__run",
    "__texts",
];

/// Makes an identifier of any text: the total rule for every segment of a test's path.
///
/// Normalised to NFC; characters that cannot be in an identifier become `_`; a leading digit gets `_` in front; a text of
/// only `_` gets one more; keywords and reserved names get `_` at the end.
pub fn segment(text: &str) -> String {
    let normalized: String = match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => text.to_owned(),
        _ => text.nfc().collect(),
    };
    let mut name = String::with_capacity(normalized.len() + 1);
    for character in normalized.chars() {
        let continues = character == '_' || unicode_ident::is_xid_continue(character);
        if name.is_empty() && continues && character != '_' && !unicode_ident::is_xid_start(character) {
            name.push('_');
        }
        name.push(if continues { character } else { '_' });
    }
    if name.chars().all(|character| character == '_') {
        name.push('_');
    }
    if KEYWORDS.contains(&name.as_str()) || GENERATED.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::segment;

    #[test]
    fn every_text_becomes_an_identifier() {
        let table = [
            ("refund-small", "refund_small"),
            ("25-invoice", "_25_invoice"),
            ("", "_"),
            ("_", "__"),
            ("--", "___"),
            ("type", "type_"),
            ("SUITE", "SUITE_"),
            ("evals", "evals_"),
            ("Ünïcode Fall", "Ünïcode_Fall"),
            ("e\u{301}t\u{e9}", "\u{e9}t\u{e9}"),
            ("日本語", "日本語"),
            ("🦀", "__"),
            ("a.b/c", "a_b_c"),
            ("\u{301}x", "_\u{301}x"),
        ];
        for (text, expected) in table {
            assert_eq!(segment(text), expected, "for {text:?}");
        }
    }
}
