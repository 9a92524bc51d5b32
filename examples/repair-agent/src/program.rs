//! Source files with tokens and functions.

use std::ops::Range;

use crate::lexer::{Token, TokenKind, tokens};

/// A source file.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    text: String,
    tokens: Vec<Token>,
    functions: Vec<Function>,
}

/// A function with a body. Ranges are token indices.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// From the name up to the opening brace of the body.
    pub(crate) signature: Range<usize>,
    /// The body, including its braces.
    pub(crate) body: Range<usize>,
}

/// A replacement of a byte range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

impl Program {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let tokens = tokens(&text);
        let functions = functions(&text, &tokens);
        Self { text, tokens, functions }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn functions(&self) -> &[Function] {
        &self.functions
    }

    pub(crate) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Text of a token; empty after the last token.
    pub(crate) fn token(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| &self.text[token.range.clone()])
    }

    pub(crate) fn kind(&self, index: usize) -> Option<TokenKind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    /// Byte range of a token; after the last token, the end of the file.
    pub(crate) fn range(&self, index: usize) -> Range<usize> {
        self.tokens.get(index).map_or(self.text.len()..self.text.len(), |token| token.range.clone())
    }

    /// Source of a range of tokens.
    pub(crate) fn between(&self, tokens: Range<usize>) -> &str {
        if tokens.is_empty() {
            return "";
        }
        &self.text[self.range(tokens.start).start..self.range(tokens.end - 1).end]
    }

    /// Whether there is white space on both sides. In formatted code, this distinguishes operators from type brackets and
    /// references.
    pub(crate) fn has_spaces_around(&self, index: usize) -> bool {
        let range = self.range(index);
        self.text[..range.start].ends_with(char::is_whitespace)
            && self.text[range.end..].starts_with(char::is_whitespace)
    }

    /// Line of a byte, from 1.
    pub(crate) fn line_at(&self, byte: usize) -> usize {
        self.text[..byte.min(self.text.len())].matches('\n').count() + 1
    }

    /// Line of a token, from 1.
    pub(crate) fn line(&self, index: usize) -> usize {
        self.line_at(self.range(index).start)
    }

    /// The innermost function whose body contains a token.
    pub(crate) fn function_at(&self, index: usize) -> Option<&Function> {
        self.functions
            .iter()
            .filter(|function| function.body.contains(&index))
            .min_by_key(|function| function.body.len())
    }

    /// Index of the closing bracket for the one at `open`.
    pub(crate) fn closing(&self, open: usize) -> Option<usize> {
        closing(&self.text, &self.tokens, open)
    }

    /// The source with `edits` applied; `None` if they overlap.
    pub(crate) fn with(&self, edits: &[Edit]) -> Option<String> {
        let mut edits: Vec<&Edit> = edits.iter().collect();
        edits.sort_by_key(|edit| edit.range.start);
        let mut text = String::with_capacity(self.text.len() + 64);
        let mut at = 0;
        for edit in edits {
            text.push_str(self.text.get(at..edit.range.start)?);
            text.push_str(&edit.text);
            at = edit.range.end;
        }
        text.push_str(self.text.get(at..)?);
        Some(text)
    }
}

fn functions(text: &str, tokens: &[Token]) -> Vec<Function> {
    let word = |index: usize| tokens.get(index).map_or("", |token| &text[token.range.clone()]);
    let mut functions = Vec::new();
    for index in 0..tokens.len() {
        if word(index) != "fn" || tokens.get(index + 1).map(|token| token.kind) != Some(TokenKind::Word) {
            continue;
        }
        let mut open = index + 2;
        while !matches!(word(open), "{" | ";" | "") {
            // A `;` in brackets, such as in `[u8; 2]`, does not end the signature.
            let inside = if matches!(word(open), "(" | "[") { closing(text, tokens, open) } else { None };
            open = inside.unwrap_or(open) + 1;
        }
        if word(open) == "{"
            && let Some(close) = closing(text, tokens, open)
        {
            functions.push(Function {
                name: word(index + 1).to_owned(),
                signature: index + 1..open,
                body: open..close + 1,
            });
        }
    }
    functions
}

fn closing(text: &str, tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, token) in tokens.iter().enumerate().skip(open) {
        match &text[token.range.clone()] {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_with_bodies_are_found() {
        let program = Program::new("trait T { fn a(); }\nfn b(x: [u8; 2]) -> u8 {\n    fn c() {}\n    x[0]\n}\n");
        let names: Vec<&str> = program.functions().iter().map(|function| function.name.as_str()).collect();
        assert_eq!(names, ["b", "c"]);
    }

    #[test]
    fn overlapping_edits_are_rejected() {
        let program = Program::new("a + b");
        let edit = |range, text: &str| Edit { range, text: text.into() };
        assert_eq!(program.with(&[edit(4..5, "c"), edit(0..1, "x")]).as_deref(), Some("x + c"));
        assert_eq!(program.with(&[edit(0..3, "x"), edit(2..5, "y")]), None);
    }
}
