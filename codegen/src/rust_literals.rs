//! String literals of generated code, as text.
//!
//! Code as text that becomes tokens.
//!
//! The shell around a suite is built with `quote!`. Cases, tests, embedded files and trackers, of which a suite has thousands, are text
//! that is parsed once: the cache of the build script holds text anyway, and for 2,000 cases of 400 bytes an unoptimised macro needs
//! 0.02 s through one text and 0.04 s through `quote!`.

use proc_macro2::TokenStream;
use quote::quote;

/// Characters that change the direction of text: rustc refuses them in literals as they are.
const BIDIRECTIONAL: &[char] =
    &['\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}'];

/// First byte of all of them in UTF-8.
const BIDIRECTIONAL_LEAD: u8 = 0xe2;

/// A string literal with this text.
pub(crate) fn string_literal(text: &str) -> String {
    // Searches for bytes are compiled into the standard library, and fast also where this crate is not optimised.
    let bytes = text.as_bytes();
    let is_plain = text.is_ascii()
        && !bytes.contains(&b'"')
        && !bytes.contains(&b'\\')
        && !bytes.iter().any(|byte| byte.is_ascii_control());
    if is_plain {
        return format!("\"{text}\"");
    }
    let mut literal = "\"".to_owned();
    for character in text.chars() {
        if matches!(character, '"' | '\\') || character.is_control() || BIDIRECTIONAL.contains(&character) {
            literal.extend(character.escape_default());
        } else {
            literal.push(character);
        }
    }
    literal + "\""
}

/// JSON without characters that change the direction of text. Outside of its strings JSON has none, so the escape of JSON strings means
/// the same.
pub(crate) fn escape_bidirectional(json: String) -> String {
    if !json.as_bytes().contains(&BIDIRECTIONAL_LEAD) || !json.contains(BIDIRECTIONAL) {
        return json;
    }
    let escape =
        |json: String, character: &char| json.replace(*character, &format!("\\u{:04x}", u32::from(*character)));
    BIDIRECTIONAL.iter().fold(json, escape)
}

/// Adds text of several lines, as a raw string literal where that can be.
pub(crate) fn push_lines(out: &mut String, text: &str) {
    if text.as_bytes().contains(&b'\r') || text.as_bytes().contains(&BIDIRECTIONAL_LEAD) {
        out.push_str(&string_literal(text));
    } else {
        push_raw(out, text);
    }
}

/// Adds text that a raw string literal can hold as such a literal, which leaves it readable and is cheap.
pub(crate) fn push_raw(out: &mut String, text: &str) {
    // One more `#` than any quote in the text is followed by.
    let after_quotes = text.match_indices('#').filter(|(at, _)| text.as_bytes()[..*at].ends_with(b"\""));
    let run = |at: usize| text[at..].bytes().take_while(|byte| *byte == b'#').count();
    let longest = after_quotes.map(|(at, _)| run(at)).max().unwrap_or(0);
    let hashes = "#".repeat(longest + 1);
    for part in ["r", &hashes, "\"", text, "\"", &hashes] {
        out.push_str(part);
    }
}

/// `Some("text")` or `None`, written as the two paths that name them in the code around.
pub(crate) fn option_literal(text: Option<&str>, (some, none): (&str, &str)) -> String {
    text.map_or_else(|| none.to_owned(), |text| format!("{some}({})", string_literal(text)))
}

/// The tokens of `text`, with call-site spans: no lint looks at them as the user's code.
pub(crate) fn tokens(text: &str) -> TokenStream {
    parse(text).unwrap_or_else(|error| {
        let message = format!("evalsuite generated code that is not Rust ({error}); please report it");
        quote!(::core::compile_error!(#message);)
    })
}

/// In a macro the compiler's lexer is called directly: it is optimised in every profile, and proc_macro2 would read the text once more
/// by itself.
fn parse(text: &str) -> Result<TokenStream, String> {
    if proc_macro::is_available() {
        let tokens: proc_macro::TokenStream = text.parse().map_err(|error: proc_macro::LexError| error.to_string())?;
        return Ok(tokens.into());
    }
    text.parse().map_err(|error: proc_macro2::LexError| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::{escape_bidirectional, push_lines, push_raw, string_literal};

    fn json(text: &str) -> String {
        let mut out = String::new();
        push_raw(&mut out, &escape_bidirectional(text.to_owned()));
        out
    }

    #[test]
    fn a_string_literal_means_the_text() {
        for text in ["", "a/b", "a\"b\\c", "line\nline\r\t\0", "Ünï 🦀", "\u{202e}abc\u{2066}", "\u{7f}\u{1b}[1m"] {
            let literal: syn::LitStr = syn::parse_str(&string_literal(text)).expect("a string literal");
            assert_eq!(literal.value(), text);
        }
    }

    #[test]
    fn lines_mean_the_text() {
        for text in ["", "a\nb\n", "a\"#b\n", "a\r\nb", "\u{202e}a\n", "Ünï\0\n"] {
            let mut out = String::new();
            push_lines(&mut out, text);
            let literal: syn::LitStr = syn::parse_str(&out).expect("a string literal");
            assert_eq!(literal.value(), text, "{out}");
        }
    }

    #[test]
    fn json_is_readable_and_means_the_same() {
        assert_eq!(json(r#"{"a":"b"}"#), "r#\"{\"a\":\"b\"}\"#");
        for value in ["plain", "\"#", "\"##x\"###", "\u{202e}b", "\r\n\t", "Ünï"] {
            let text = serde_json::to_string(&evalsuite_schema::json::json!({ "key": value })).expect("JSON");
            let literal: syn::LitStr = syn::parse_str(&json(&text)).expect("a string literal");
            let back: evalsuite_schema::Value = evalsuite_schema::json::from_str(&literal.value()).expect("JSON");
            assert_eq!(back["key"], value);
            assert!(!json(&text).contains('\u{202e}'));
        }
    }
}
