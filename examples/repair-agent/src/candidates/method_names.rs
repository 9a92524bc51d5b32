//! Candidates with a different method or order.

use super::Collector;
use crate::lexer::TokenKind;
use crate::program::Edit;

/// Methods that are easily confused.
const CONFUSABLE: &[(&str, &str)] = &[
    ("any", "all"),
    ("min", "max"),
    ("min_by_key", "max_by_key"),
    ("first", "last"),
    ("is_some", "is_none"),
    ("is_ok", "is_err"),
    ("push_front", "push_back"),
    ("pop_front", "pop_back"),
    ("take", "skip"),
    ("take_while", "skip_while"),
    ("starts_with", "ends_with"),
    ("trim_start", "trim_end"),
    ("to_lowercase", "to_uppercase"),
    ("find", "rfind"),
    ("Less", "Greater"),
    ("split_once", "rsplit_once"),
];

/// Methods that return an ordering, which can be reversed.
const ORDERINGS: &[&str] = &["cmp", "partial_cmp", "total_cmp"];

/// Collects replacements of methods, and reversed orderings.
pub(super) fn collect(collector: &mut Collector<'_>) {
    for index in collector.suspicious() {
        let program = collector.program;
        let name = program.token(index);
        let is_called =
            program.kind(index) == Some(TokenKind::Word) && matches!(program.token(index.wrapping_sub(1)), "." | "::");
        if !is_called {
            continue;
        }
        for (one, other) in CONFUSABLE {
            if name == *one {
                collector.replace(index..index + 1, *other, 2);
            } else if name == *other {
                collector.replace(index..index + 1, *one, 2);
            }
        }
        if ORDERINGS.contains(&name)
            && program.token(index + 1) == "("
            && let Some(close) = program.closing(index + 1)
        {
            let end = program.range(close).end;
            let reversed = if name == "partial_cmp" { ".map(std::cmp::Ordering::reverse)" } else { ".reverse()" };
            let edit = Edit { range: end..end, text: reversed.to_owned() };
            collector.add(vec![edit], format!("the order of `{name}` is reversed"), 2);
        }
    }
}
