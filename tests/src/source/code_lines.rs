//! Lines of code: those that hold a token other than a documentation comment, outside of test code.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};

use super::test_lines;

/// Counts the lines of code of a Rust file. Comments, blank lines and items that exist only in test builds do not count.
///
/// # Panics
///
/// If the text is not valid Rust.
pub fn count_code_lines(path: &str, text: &str) -> usize {
    let file = super::parse_file(path, text);
    let tests = test_lines(&file);
    let tokens: TokenStream = text.parse().expect("a parsed file has tokens");
    let mut lines = BTreeSet::new();
    collect(tokens, &mut lines);
    let source: Vec<&str> = text.lines().collect();
    let is_blank = |line: usize| source.get(line - 1).is_none_or(|line| line.trim().is_empty());
    lines.retain(|line| !is_blank(*line) && !tests.iter().any(|range| range.contains(line)));
    lines.len()
}

fn collect(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut index = 0;
    while index < tokens.len() {
        if let Some(length) = documentation(&tokens[index..]) {
            index += length;
            continue;
        }
        match &tokens[index] {
            TokenTree::Group(group) => {
                if group.delimiter() != Delimiter::None {
                    add(group.span_open(), lines);
                    add(group.span_close(), lines);
                }
                collect(group.stream(), lines);
            }
            token => add(token.span(), lines),
        }
        index += 1;
    }
}

fn add(span: Span, lines: &mut BTreeSet<usize>) {
    lines.extend(span.start().line..=span.end().line);
}

/// The number of tokens of the documentation comment at the start: `#`, for inner ones `!`, and `[doc = "…"]`.
fn documentation(tokens: &[TokenTree]) -> Option<usize> {
    let is_punctuation =
        |token: &TokenTree, wanted| matches!(token, TokenTree::Punct(found) if found.as_char() == wanted);
    if !is_punctuation(tokens.first()?, '#') {
        return None;
    }
    let start = if is_punctuation(tokens.get(1)?, '!') { 2 } else { 1 };
    let TokenTree::Group(group) = tokens.get(start)? else { return None };
    let mut content = group.stream().into_iter();
    let is_doc = matches!(content.next(), Some(TokenTree::Ident(name)) if name == "doc");
    (is_doc && content.next().is_some_and(|token| is_punctuation(&token, '='))).then_some(start + 1)
}

#[cfg(test)]
mod tests {
    use super::count_code_lines;

    #[test]
    fn only_lines_with_code_count() {
        let text = r#"//! What the file holds.

use std::fmt; // one

/* a block
   comment */
/// Documentation.
#[derive(Debug)] // two
#[doc(hidden)] // three
struct Text(&'static str); // four

const TEXT: Text = Text("five
six

and the end"); // seven
"#;
        assert_eq!(count_code_lines("small.rs", text), 7);
    }

    #[test]
    fn test_code_does_not_count() {
        let text = "fn one() {\n    two();\n}\n\n#[cfg(test)]\nfn fixture() {\n}\n\nimpl Four {\n    #[cfg(all(test, unix))]\n    \
                    fn helper() {}\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn works() {}\n}\n";
        assert_eq!(count_code_lines("small.rs", text), 5);
    }
}
