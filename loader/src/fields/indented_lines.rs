//! The changes that indent an entry of several lines, below a new key or as the element of a list.

use crate::diagnostic::Edit;
use crate::source::Position;

/// Lines that are indented, at most.
const MOST_LINES: u32 = 200;

/// The changes that put `indent` before each line but the first of what is written from `start` to `end`; `None` if it is too long.
pub(super) fn after_first(start: Position, end: Position, indent: &str) -> Option<Vec<Edit>> {
    let last = if end.column == 1 { end.line - 1 } else { end.line };
    let edit = |line| {
        let at = Position { line, column: 1 };
        Edit::new(at, at, indent)
    };
    (last <= start.line + MOST_LINES).then(|| (start.line + 1..=last).map(edit).collect())
}
