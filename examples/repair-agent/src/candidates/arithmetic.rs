//! Candidates for arithmetic overflow.

use super::Collector;
use crate::lexer::TokenKind;
use crate::program::{Edit, Program};

/// Methods that replace an operator that overflows.
const METHODS: &[(&str, &str)] =
    &[("+", "add"), ("-", "sub"), ("*", "mul"), ("+=", "add"), ("-=", "sub"), ("*=", "mul")];

/// Integer types that may be too small, and wider types to replace them.
const WIDER: &[(&str, &str)] =
    &[("u8", "u64"), ("u16", "u64"), ("u32", "u64"), ("i8", "i64"), ("i16", "i64"), ("i32", "i64")];

/// Collects sums and products that saturate or wrap, and wider types.
pub(super) fn collect(collector: &mut Collector<'_>) {
    for index in collector.suspicious() {
        let program = collector.program;
        if let Some((_, method)) = METHODS.iter().find(|(sign, _)| *sign == program.token(index))
            && program.has_spaces_around(index)
            && let Some((left, right)) = operands(program, index)
        {
            let assigned = program.token(index).ends_with('=');
            for (how, cost) in [("saturating", 1), ("wrapping", 1)] {
                let call = format!("{left}.{how}_{method}({right})");
                let text = if assigned { format!("{left} = {call}") } else { call };
                collector.replace(left_start(program, index)..right_end(program, index), text, cost);
            }
        }
        midpoint(collector, index);
    }
    widen(collector);
}

/// `(a + b) / 2` becomes `a + (b - a) / 2`.
fn midpoint(collector: &mut Collector<'_>, index: usize) {
    let program = collector.program;
    let shape = [
        program.token(index) == "(",
        program.kind(index + 1) == Some(TokenKind::Word),
        program.token(index + 2) == "+",
        program.kind(index + 3) == Some(TokenKind::Word),
        program.token(index + 4) == ")",
        program.token(index + 5) == "/",
        program.token(index + 6) == "2",
    ];
    if shape.into_iter().all(|holds| holds) {
        let (a, b) = (program.token(index + 1), program.token(index + 3));
        collector.replace(index..index + 7, format!("{a} + ({b} - {a}) / 2"), 0);
    }
}

/// A wider integer type in the whole body of a function, with the signature unchanged.
fn widen(collector: &mut Collector<'_>) {
    let program = collector.program;
    for function in program.functions() {
        for (narrow, wide) in WIDER {
            let edits: Vec<Edit> = function
                .body
                .clone()
                .filter(|index| program.token(*index) == *narrow)
                .map(|index| Edit { range: program.range(index), text: (*wide).to_owned() })
                .collect();
            if !edits.is_empty() {
                collector.add(edits, format!("`{narrow}` becomes `{wide}` in `{}`", function.name), 2);
            }
        }
    }
}

/// The operands of an operator, if both are simple: a name, a field, a number, a dereference.
fn operands(program: &Program, index: usize) -> Option<(String, String)> {
    let left = program.between(left_start(program, index)..index);
    let right = program.between(index + 1..right_end(program, index));
    let is_plain =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '*'));
    (is_plain(left) && is_plain(right)).then(|| (left.to_owned(), right.to_owned()))
}

fn is_operand(program: &Program, index: usize) -> bool {
    matches!(program.kind(index), Some(TokenKind::Word | TokenKind::Integer)) || program.token(index) == "."
}

fn left_start(program: &Program, index: usize) -> usize {
    let mut start = index;
    while start > 0 && is_operand(program, start - 1) && !matches!(program.token(start - 1), "return" | "in" | "if") {
        start -= 1;
    }
    start
}

fn right_end(program: &Program, index: usize) -> usize {
    let mut end = index + 1;
    if program.token(end) == "*" {
        end += 1;
    }
    while is_operand(program, end) {
        end += 1;
    }
    end
}
