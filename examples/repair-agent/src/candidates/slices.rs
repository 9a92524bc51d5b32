//! Candidates for slices inside a character.

use super::Collector;
use crate::lexer::TokenKind;

/// Collects replacements of string slices by byte, `&text[..n]` and `&text[n..]`, with slices by character.
pub(super) fn collect(collector: &mut Collector<'_>) {
    for index in collector.suspicious() {
        let program = collector.program;
        let is_slice = program.token(index) == "&"
            && program.kind(index + 1) == Some(TokenKind::Word)
            && program.token(index + 2) == "[";
        let Some(close) = is_slice.then(|| program.closing(index + 2)).flatten() else { continue };
        let name = program.token(index + 1);
        if program.token(index + 3) == ".." && close > index + 4 {
            let count = program.between(index + 4..close);
            let text = format!("{name}.char_indices().nth({count}).map_or({name}, |(end, _)| &{name}[..end])");
            collector.replace(index..close + 1, text, 0);
        } else if program.token(close - 1) == ".." && close > index + 4 {
            let count = program.between(index + 3..close - 1);
            let text = format!("{name}.char_indices().nth({count}).map_or(\"\", |(start, _)| &{name}[start..])");
            collector.replace(index..close + 1, text, 0);
        }
    }
}
