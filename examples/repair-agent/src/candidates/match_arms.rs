//! Candidates for missing match arms.

use std::ops::Range;

use super::Collector;
use super::operators::confusable;
use crate::diagnosis::CompilerError;
use crate::lexer::TokenKind;
use crate::program::{Edit, Program};

/// The code of "non-exhaustive patterns".
const NOT_COVERED: &str = "E0004";

/// Collects arms for patterns that a `match` does not cover, modelled on its existing arms.
pub(super) fn collect(collector: &mut Collector<'_>, tests: &Program, errors: &[CompilerError]) {
    let program = collector.program;
    for error in errors.iter().filter(|error| error.code == NOT_COVERED) {
        let Some(open) = opening_brace(program, error.bytes.start) else { continue };
        let Some(close) = program.closing(open) else { continue };
        let arms = arms(program, open, close);
        // Several missing patterns are in one message: "patterns `A` and `B` not covered".
        for pattern in error.message.split('`').skip(1).step_by(2) {
            let mut bodies: Vec<(String, u8)> = Vec::new();
            for (_, body) in &arms {
                bodies.extend(variations(program, body.clone()));
            }
            bodies.extend(literals_near(tests, pattern).into_iter().map(|literal| (literal, 4)));
            for (body, cost) in bodies {
                let end = program.range(close).start;
                let comma = if program.token(close - 1) == "," || program.token(close - 1) == "}" { "" } else { "," };
                let text = format!("{comma}    {pattern} => {body},\n    ");
                let edit = Edit { range: end..end, text };
                let what = format!("the `match` gets an arm `{pattern} => {body}`");
                collector.add_anywhere(edit, what, error.line, cost);
            }
        }
    }
}

/// The opening brace of the `match` whose value is at `byte`.
fn opening_brace(program: &Program, byte: usize) -> Option<usize> {
    let value = (0..program.len()).find(|index| program.range(*index).start >= byte)?;
    (value..program.len()).find(|index| program.token(*index) == "{")
}

/// Pattern and body of each arm, as token ranges.
fn arms(program: &Program, open: usize, close: usize) -> Vec<(Range<usize>, Range<usize>)> {
    let mut arms = Vec::new();
    let mut at = open + 1;
    while at < close {
        let Some(arrow) = (at..close).find(|index| program.token(*index) == "=>") else { break };
        let mut end = arrow + 1;
        if program.token(end) == "{" {
            end = program.closing(end).map_or(close, |brace| brace + 1);
        } else {
            while end < close && program.token(end) != "," {
                let inside = matches!(program.token(end), "(" | "[" | "{").then(|| program.closing(end)).flatten();
                end = inside.unwrap_or(end) + 1;
            }
        }
        arms.push((at..arrow, arrow + 1..end.min(close)));
        at = if program.token(end) == "," { end + 1 } else { end };
    }
    arms
}

/// A body unchanged, and with one operator replaced.
fn variations(program: &Program, body: Range<usize>) -> Vec<(String, u8)> {
    let whole = program.between(body.clone());
    let start = program.range(body.start).start;
    let mut variations = vec![(whole.to_owned(), 3)];
    for index in body {
        if program.kind(index) != Some(TokenKind::Sign) || !program.has_spaces_around(index) {
            continue;
        }
        for (other, cost) in confusable(program.token(index)) {
            let range = program.range(index);
            let mut text = whole.to_owned();
            text.replace_range(range.start - start..range.end - start, other);
            variations.push((text, *cost));
        }
    }
    variations
}

/// Literals in lines of the tests that mention the last name of `pattern`.
fn literals_near(tests: &Program, pattern: &str) -> Vec<String> {
    let name = pattern.rsplit("::").next().unwrap_or(pattern);
    let lines: Vec<usize> =
        (0..tests.len()).filter(|index| tests.token(*index) == name).map(|index| tests.line(index)).collect();
    (0..tests.len())
        .filter(|index| matches!(tests.kind(*index), Some(TokenKind::Literal | TokenKind::Integer | TokenKind::Float)))
        .filter(|index| lines.contains(&tests.line(*index)))
        .map(|index| tests.token(index).to_owned())
        .collect()
}
