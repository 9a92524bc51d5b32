//! Renaming of a case: its id, and where `depends_on` and calibrations name it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use evalsuite_schema::diagnostics::Code;

use super::documents::Documents;
use super::file_tree::{FileTree, scalar, unquoted};
use super::open_suite::OpenSuite;

/// New texts for bytes of files.
pub(super) type Edits = BTreeMap<PathBuf, Vec<(Range<usize>, String)>>;

/// The id at a byte of a file, without its quotes, and its bytes.
pub(super) fn id_at(tree: &FileTree, text: &str, offset: usize) -> Option<(String, Range<usize>)> {
    let spot = tree.at(offset);
    let id = spot.node.scalar().filter(|id| !id.is_empty() && !spot.is_key)?;
    if !spot.names_case() && !spot.is_case_id() {
        return None;
    }
    Some((unquoted(id), inner(text, spot.node.range.clone())))
}

/// The bytes between quotes.
fn inner(text: &str, range: Range<usize>) -> Range<usize> {
    let has_quotes = range.len() >= 2 && text[range.clone()].starts_with(['"', '\'']);
    if has_quotes { range.start + 1..range.end - 1 } else { range }
}

/// What has to be changed to call the case `id` of these suites `new`.
pub(super) fn edits(id: &str, new: &str, suites: &[&OpenSuite], documents: &Documents) -> Result<Edits, String> {
    if new.trim().is_empty() || new.chars().any(char::is_control) {
        return Err("an id cannot contain control characters".to_owned());
    }
    let is_syntax = |code: Code| matches!(code, Code::YamlSyntax | Code::JsonSyntax);
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    for suite in suites {
        if let Some(found) = suite.found.iter().find(|found| is_syntax(found.diagnostic.code)) {
            return Err(format!("{} has a syntax error and may refer to the case", found.file.display()));
        }
        for case in suite.session.cases() {
            if case.id == new {
                return Err(format!("the suite already has a case `{new}`"));
            }
            if case.id == id && case.id_range.is_none() {
                let file = case.file.display();
                return Err(format!("the id is the name of the directory of {file}: rename it, or add an `id`"));
            }
            if case.id == id || case.dependencies.iter().any(|(dependency, _)| dependency == id) {
                files.insert(case.file);
            }
        }
        files.extend(suite.calibration_files());
    }
    let mut edits = Edits::new();
    for file in files {
        let Some(text) = documents.text(&file) else { continue };
        let Some(tree) = FileTree::read(&file, &text) else { continue };
        let is_json = tree.is_json;
        let of_file: Vec<(Range<usize>, String)> = tree
            .case_names(id)
            .into_iter()
            .map(|range| {
                let is_quoted = text[range.clone()].starts_with(['"', '\'']);
                (range, scalar(new, is_quoted || is_json))
            })
            .collect();
        if !of_file.is_empty() {
            edits.insert(file, of_file);
        }
    }
    Ok(edits)
}
