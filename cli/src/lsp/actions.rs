//! Changes that mend problems: those of `cargo evalsuite check --fix`.

use std::collections::HashMap;
use std::ops::Range;

use evalsuite_schema::diagnostics::Diagnostic;
use gen_lsp_types::{CodeAction, CodeActionKind, TextEdit, Uri, WorkspaceEdit};

use super::positions::Lines;
use super::workspace::Found;
use crate::check::fixes;

/// The changes for the problems of a file that touch a range of bytes, and one for all problems of the file.
pub(super) fn of_file<'f>(
    uri: &Uri,
    text: &str,
    lines: &Lines<'_>,
    range: Range<usize>,
    found: impl Iterator<Item = &'f Found>,
) -> Vec<CodeAction> {
    let changes = fixes::together(text, found.map(|found| &found.diagnostic));
    let text_edit =
        |edit: &fixes::Edit| TextEdit { range: lines.range(edit.range.clone()), new_text: edit.text.clone() };
    let action = |title: String, kind: CodeActionKind, edits: Vec<TextEdit>| CodeAction {
        title,
        kind: Some(kind),
        edit: Some(WorkspaceEdit { changes: Some(HashMap::from([(uri.clone(), edits)])), ..WorkspaceEdit::default() }),
        ..CodeAction::default()
    };
    let touches = |edit: &fixes::Edit| edit.range.start <= range.end && range.start <= edit.range.end;
    let mut actions: Vec<CodeAction> = changes
        .iter()
        .filter(|(_, change)| change.edits.iter().any(touches))
        .map(|(problem, change)| {
            let edits = change.edits.iter().map(text_edit).collect();
            let action = action(title(problem, change), CodeActionKind::QuickFix, edits);
            CodeAction { is_preferred: Some(true), ..action }
        })
        .collect();
    if !changes.is_empty() {
        let title = "Apply all safe fixes".to_owned();
        let edits = changes.iter().flat_map(|(_, change)| &change.edits).map(text_edit).collect();
        actions.push(action(title, CodeActionKind::SourceFixAll, edits));
    }
    actions
}

fn title(problem: &Diagnostic, change: &fixes::Change) -> String {
    match (&change.edits[..], &problem.help) {
        ([edit], _) => format!("Write {}", edit.text),
        (_, Some(help)) => {
            let mut letters = help.chars();
            letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
        }
        (_, None) => problem.message.clone(),
    }
}
