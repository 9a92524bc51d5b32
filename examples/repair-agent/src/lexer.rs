//! A lexer for Rust, as precise as repairs need.

use std::ops::Range;

/// The kind of a [`Token`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// Identifier or keyword.
    Word,
    Lifetime,
    Integer,
    Float,
    /// String, byte string or character literal.
    Literal,
    /// Operator or bracket, the longest that matches.
    Sign,
}

/// A piece of source other than white space and comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    /// Range in the source, in bytes.
    pub(crate) range: Range<usize>,
}

/// Longer signs come before their prefixes.
const SIGNS: &[&str] = &[
    "..=", "...", "<<=", ">>=", "::", "->", "=>", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "*=", "/=", "%=",
    "^=", "&=", "|=", "<<", ">>", "..",
];

/// The tokens of `source`. Invalid Rust becomes signs of one character; the lexer never fails.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        let (kind, length) = if c.is_whitespace() {
            (None, c.len_utf8())
        } else if rest.starts_with("//") {
            (None, rest.find('\n').unwrap_or(rest.len()))
        } else if rest.starts_with("/*") {
            (None, block_comment(rest))
        } else if let Some(length) = text_literal(rest) {
            (Some(TokenKind::Literal), length)
        } else if c == '\'' {
            character_or_lifetime(rest)
        } else if c.is_ascii_digit() {
            number(rest)
        } else if c == '_' || c.is_alphabetic() {
            (Some(TokenKind::Word), word(rest))
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
            (Some(TokenKind::Sign), sign.map_or(c.len_utf8(), |sign| sign.len()))
        };
        if let Some(kind) = kind {
            tokens.push(Token { kind, range: at..at + length });
        }
        at += length;
    }
    tokens
}

fn word(rest: &str) -> usize {
    rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len())
}

/// Length of a block comment. Block comments nest.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Length of a string or byte literal: plain, raw, byte, C.
fn text_literal(rest: &str) -> Option<usize> {
    let prefix =
        rest.find(['"', '#', '\'']).filter(|end| matches!(&rest[..*end], "" | "r" | "b" | "br" | "c" | "cr"))?;
    let raw = rest[..prefix].ends_with('r');
    let body = &rest[prefix..];
    if rest.as_bytes().get(prefix) == Some(&b'\'') {
        return (&rest[..prefix] == "b").then(|| prefix + quoted(body, '\''));
    }
    if raw {
        let hashes = body.len() - body.trim_start_matches('#').len();
        let inside = body[hashes..].strip_prefix('"')?;
        let end = format!("\"{}", "#".repeat(hashes));
        let length = inside.find(&end).map_or(inside.len(), |at| at + end.len());
        return Some(prefix + hashes + 1 + length);
    }
    body.starts_with('"').then(|| prefix + quoted(body, '"'))
}

/// Length of a quoted literal with escapes.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == quote {
            return at + c.len_utf8();
        }
    }
    rest.len()
}

fn character_or_lifetime(rest: &str) -> (Option<TokenKind>, usize) {
    let mut chars = rest.chars().skip(1);
    let (first, second) = (chars.next(), chars.next());
    if first == Some('\\') || second == Some('\'') {
        (Some(TokenKind::Literal), quoted(rest, '\''))
    } else {
        (Some(TokenKind::Lifetime), 1 + word(&rest[1..]))
    }
}

/// `1..n` and `1.max(2)` begin with an integer, not a float.
fn number(rest: &str) -> (Option<TokenKind>, usize) {
    let whole = word(rest);
    let after = &rest[whole..];
    let mut next = after.chars().skip(1);
    let second = next.next();
    let is_fraction = after.starts_with('.') && !second.is_some_and(|c| c == '.' || c == '_' || c.is_alphabetic());
    if !is_fraction {
        return (
            Some(if rest[..whole].contains(['e', 'E']) && !rest.starts_with("0x") {
                TokenKind::Float
            } else {
                TokenKind::Integer
            }),
            whole,
        );
    }
    let fraction = word(&after[1..]);
    (Some(TokenKind::Float), whole + 1 + fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        tokens(source).into_iter().map(|token| &source[token.range]).collect()
    }

    #[test]
    fn operators_are_single_tokens() {
        assert_eq!(texts("for i in 1..=n {}"), ["for", "i", "in", "1", "..=", "n", "{", "}"]);
        assert_eq!(texts("a+=1.5-x.0"), ["a", "+=", "1.5", "-", "x", ".", "0"]);
        assert_eq!(texts("1.max(2)"), ["1", ".", "max", "(", "2", ")"]);
    }

    #[test]
    fn literals_are_single_tokens_and_comments_are_skipped() {
        assert_eq!(texts(r##"let s = r#"a "+" b"#; // x < y"##), ["let", "s", "=", r##"r#"a "+" b"#"##, ";"]);
        assert_eq!(
            texts(r#""a\"+b" /* a /* < */ b */ 'x' '\'' b'<' 'static"#),
            [r#""a\"+b""#, "'x'", r"'\''", "b'<'", "'static"]
        );
        assert_eq!(texts("break r"), ["break", "r"]);
    }

    #[test]
    fn incomplete_source_does_not_panic() {
        for source in ["\"", "'", "r#", "/*", "é + ∑", "b'", "0x1F", "1e9"] {
            let _ = tokens(source);
        }
    }
}
