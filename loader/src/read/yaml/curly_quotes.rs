//! Typographic quotes around a text, as word processors and chat programs make them of straight ones: YAML takes them as characters.

use crate::diagnostic::{Code, Diagnostic, Edit, Fix};
use crate::source::Span;

/// Opening and closing quotes. German texts open with the low ones and close with those that open an English text.
const PAIRS: [(char, &[char]); 5] =
    [('“', &['”', '“']), ('”', &['”']), ('„', &['“', '”']), ('‘', &['’', '‘']), ('’', &['’'])];

/// A warning, if one pair of quotes surrounds all of a text that is written without other quotes.
pub(super) fn problem(text: &str, span: Span) -> Option<Diagnostic> {
    let first = text.chars().next()?;
    let (_, closing) = PAIRS.iter().find(|(open, _)| *open == first)?;
    let inner = text[first.len_utf8()..].strip_suffix(*closing)?;
    let last = text.chars().next_back()?;
    // `“Yes,” she said, “of course”` is a text with quotes in it. An apostrophe is no quote.
    let has_more = inner.chars().any(|c| c == first || (c == last && c != '’'));
    if inner.is_empty() || has_more {
        return None;
    }
    let straight = evalsuite_schema::Value::from(inner).to_string();
    let message = format!("the quotes `{first}` and `{last}` are part of the text");
    let help = format!("write `{straight}`; if the text contains them, quote it: `'{text}'`");
    let fix = span.range.map(|(start, end)| Fix::Edits(vec![Edit::new(start, end, straight)]));
    Some(Diagnostic::new(Code::CurlyQuotes, message).at(span).help(help).fix_if(fix))
}
