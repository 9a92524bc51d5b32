//! Candidates with different operators, bounds and constants.

use super::Collector;
use crate::lexer::TokenKind;
use crate::program::Edit;

/// Operators that are easily confused, with the cost of each change.
const CONFUSABLE: &[(&str, &[(&str, u8)])] = &[
    ("<", &[("<=", 1), (">", 2)]),
    ("<=", &[("<", 1), (">=", 2)]),
    (">", &[(">=", 1), ("<", 2)]),
    (">=", &[(">", 1), ("<=", 2)]),
    ("==", &[("!=", 2)]),
    ("!=", &[("==", 2)]),
    ("&&", &[("||", 2)]),
    ("||", &[("&&", 2)]),
    ("+", &[("-", 2), ("*", 3)]),
    ("-", &[("+", 2)]),
    ("*", &[("/", 2), ("+", 3)]),
    ("/", &[("*", 2), ("%", 2)]),
    ("%", &[("/", 2)]),
    ("+=", &[("-=", 2), ("*=", 3)]),
    ("-=", &[("+=", 2)]),
    ("*=", &[("+=", 3)]),
];

/// Collects replacements of operators, bounds and constants.
pub(super) fn collect(collector: &mut Collector<'_>) {
    for index in collector.suspicious() {
        operator(collector, index);
        range(collector, index);
        constant(collector, index);
        one_off(collector, index);
        negation(collector, index);
    }
}

/// The operators that `sign` is easily confused with.
pub(super) fn confusable(sign: &str) -> &'static [(&'static str, u8)] {
    CONFUSABLE.iter().find(|(known, _)| *known == sign).map_or(&[], |(_, others)| others)
}

fn operator(collector: &mut Collector<'_>, index: usize) {
    let program = collector.program;
    if program.kind(index) != Some(TokenKind::Sign) || !program.has_spaces_around(index) {
        return;
    }
    for (other, cost) in confusable(program.token(index)) {
        collector.replace(index..index + 1, *other, *cost);
    }
}

fn range(collector: &mut Collector<'_>, index: usize) {
    let program = collector.program;
    match program.token(index) {
        ".." if !matches!(program.token(index + 1), "]" | ")" | "}" | "," | "" | ";") => {
            collector.replace(index..index + 1, "..=", 1);
        }
        "..=" => collector.replace(index..index + 1, "..", 1),
        _ => {}
    }
}

fn constant(collector: &mut Collector<'_>, index: usize) {
    let program = collector.program;
    let text = program.token(index);
    match text {
        "true" => collector.replace(index..index + 1, "false", 3),
        "false" => collector.replace(index..index + 1, "true", 3),
        _ if program.kind(index) == Some(TokenKind::Integer) => {
            // The index of a tuple field is not a constant.
            if program.token(index.wrapping_sub(1)) == "." {
                return;
            }
            if let Ok(number) = text.parse::<u64>() {
                for other in [number.checked_add(1), number.checked_sub(1)].into_iter().flatten() {
                    collector.replace(index..index + 1, other.to_string(), 3);
                }
            }
        }
        _ => {}
    }
}

/// Off-by-one changes of a length or an index.
fn one_off(collector: &mut Collector<'_>, index: usize) {
    let program = collector.program;
    if matches!(program.token(index), "+" | "-") && program.has_spaces_around(index) && program.token(index + 1) == "1"
    {
        let from = program.range(index.wrapping_sub(1)).end;
        let edit = Edit { range: from..program.range(index + 1).end, text: String::new() };
        collector.add(vec![edit], format!("`{} 1` is left out", program.token(index)), 2);
    }
    let is_length = program.token(index) == "len" && program.token(index + 1) == "(" && program.token(index + 2) == ")";
    if is_length && !matches!(program.token(index + 3), "+" | "-") {
        collector.replace(index..index + 3, "len() - 1", 2);
        collector.replace(index..index + 3, "len() + 1", 3);
    }
    let is_index = program.token(index) == "["
        && index > 0
        && (program.kind(index - 1) == Some(TokenKind::Word) || matches!(program.token(index - 1), ")" | "]"));
    if is_index
        && let Some(close) = program.closing(index)
        && close > index + 1
        && !program.between(index + 1..close).contains("..")
    {
        let inside = program.between(index + 1..close).to_owned();
        collector.replace(index + 1..close, format!("{inside} - 1"), 3);
        collector.replace(index + 1..close, format!("{inside} + 1"), 3);
    }
}

/// `if x {` becomes `if !(x) {`.
fn negation(collector: &mut Collector<'_>, index: usize) {
    let program = collector.program;
    if !matches!(program.token(index), "if" | "while") || program.token(index + 1) == "let" {
        return;
    }
    let mut end = index + 1;
    while !matches!(program.token(end), "{" | "" | "=>") {
        let inside = if matches!(program.token(end), "(" | "[") { program.closing(end) } else { None };
        end = inside.unwrap_or(end) + 1;
    }
    if end > index + 1 && program.token(end) == "{" {
        let condition = program.between(index + 1..end).to_owned();
        collector.replace(index + 1..end, format!("!({condition})"), 4);
    }
}
