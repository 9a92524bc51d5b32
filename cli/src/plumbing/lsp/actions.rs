//! Changes that mend problems: those of `cargo evalsuite check --fix`.

use std::collections::HashMap;
use std::ops::Range;

use gen_lsp_types::{CodeAction, CodeActionKind, TextEdit, Uri, WorkspaceEdit};

use super::open_suite::Found;
use super::text_lines::Lines;
use crate::writing::fixes;

/// The changes for the problems of a file that touch a range of bytes, and one for all problems of the file.
pub(super) fn of_file<'f>(
    uri: &Uri,
    text: &str,
    lines: &Lines<'_>,
    range: Range<usize>,
    found: impl Iterator<Item = &'f Found>,
) -> Vec<CodeAction> {
    let mut edits: Vec<fixes::Edit> = Vec::new();
    for edit in found.filter_map(|found| fixes::edit(text, &found.diagnostic)) {
        // Of two problems with one place, the first is mended.
        if edits.iter().all(|known| known.range.end <= edit.range.start || edit.range.end <= known.range.start) {
            edits.push(edit);
        }
    }
    let text_edit =
        |edit: &fixes::Edit| TextEdit { range: lines.range(edit.range.clone()), new_text: edit.text.clone() };
    let action = |title: String, kind: CodeActionKind, edits: Vec<TextEdit>| CodeAction {
        title,
        kind: Some(kind),
        edit: Some(WorkspaceEdit { changes: Some(HashMap::from([(uri.clone(), edits)])), ..WorkspaceEdit::default() }),
        ..CodeAction::default()
    };
    let touches = |edit: &&fixes::Edit| edit.range.start <= range.end && range.start <= edit.range.end;
    let mut actions: Vec<CodeAction> = edits
        .iter()
        .filter(touches)
        .map(|edit| {
            let title = format!("Write {}", edit.text);
            let action = action(title, CodeActionKind::QuickFix, vec![text_edit(edit)]);
            CodeAction { is_preferred: Some(true), ..action }
        })
        .collect();
    if !edits.is_empty() {
        let title = "Apply all safe fixes".to_owned();
        actions.push(action(title, CodeActionKind::SourceFixAll, edits.iter().map(text_edit).collect()));
    }
    actions
}
