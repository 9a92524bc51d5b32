//! What an error of the regex engine says, and where in the pattern.

use fancy_regex::{CompileError, Error, ParseError};

/// The problem in words.
pub(super) fn explain(pattern: &str, error: &Error) -> String {
    match error {
        // The parser stops at a surplus parenthesis without naming it.
        Error::ParseError(position, _) if pattern.get(*position..).is_some_and(|rest| rest.starts_with(')')) => {
            "closing parenthesis without opening parenthesis".to_owned()
        }
        Error::ParseError(_, ParseError::GeneralParseError(problem)) => lower_first(problem),
        Error::ParseError(_, problem) => lower_first(&problem.to_string()),
        Error::CompileError(problem) => match problem.as_ref() {
            CompileError::InnerError(problem) => innermost(problem),
            other => lower_first(&other.to_string()),
        },
        other => other.to_string(),
    }
}

/// The byte of a pattern that an error is about. Where the parser stops at the end, that is what was not closed.
pub(super) fn fault(pattern: &str, error: &Error) -> Option<usize> {
    let offset = match error {
        Error::ParseError(position, _) => *position,
        Error::CompileError(problem) => match problem.as_ref() {
            CompileError::InnerError(problem) => return drawn_fault(pattern, problem),
            _ => return None,
        },
        _ => return None,
    };
    if offset < pattern.len() {
        return Some(offset);
    }
    opened(pattern).or_else(|| pattern.char_indices().next_back().map(|(last, _)| last))
}

/// The last bracket or parenthesis that a pattern does not close.
fn opened(pattern: &str) -> Option<usize> {
    let (mut open, mut class) = (Vec::new(), None);
    let mut characters = pattern.char_indices();
    while let Some((index, character)) = characters.next() {
        match (character, class) {
            ('\\', _) => drop(characters.next()),
            (']', Some(start)) if index > start + 1 => class = None,
            ('[', None) => class = Some(index),
            ('(', None) => open.push(index),
            (')', None) => drop(open.pop()),
            _ => {}
        }
    }
    class.or(open.pop())
}

/// What the regex engine draws a caret below, in a line of its explanation after the part of the pattern that it was given.
fn drawn_fault(pattern: &str, mut error: &dyn std::error::Error) -> Option<usize> {
    while let Some(source) = error.source() {
        error = source;
    }
    let text = error.to_string();
    let mut lines = text.lines();
    let (mut part, mut carets) = ("", "");
    while carets.is_empty() {
        let line = lines.next()?;
        match line.trim_start().starts_with('^') {
            true => carets = line,
            false => part = line,
        }
    }
    let indent = part.len() - part.trim_start().len();
    let column = carets.chars().take_while(|character| *character == ' ').count().checked_sub(indent)?;
    let part = part.trim_start();
    // The names of properties are drawn in small letters.
    let (in_small, part_in_small) = (pattern.to_ascii_lowercase(), part.to_ascii_lowercase());
    let mut places = in_small.match_indices(&part_in_small);
    let (start, _) = places.next().filter(|_| places.next().is_none())?;
    Some(start + part.char_indices().nth(column)?.0)
}

/// The explanation at the end of a chain of causes. Explanations of the regex engine draw the pattern before they state
/// the problem in their last line.
fn innermost(mut error: &dyn std::error::Error) -> String {
    while let Some(source) = error.source() {
        error = source;
    }
    let text = error.to_string();
    let line = text.lines().last().unwrap_or_default();
    lower_first(line.trim_start_matches("error: "))
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
