//! Changes of files that `cargo evalsuite check --fix` is certain about.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use evalsuite_records::file_replacement::replace_user_text;
use evalsuite_schema::diagnostics::{Diagnostic, Diagnostics, Fix, Position};

use crate::platform::exit_status::{ErrorContext, Result};
use crate::platform::output::say;

/// The changes that mend one problem.
pub(crate) struct Change {
    /// What it does, for people.
    pub(crate) summary: String,
    /// Changes of different parts of the text.
    pub(crate) edits: Vec<Edit>,
}

/// A change of one place.
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

impl Change {
    fn overlaps(&self, other: &Self) -> bool {
        let apart = |a: &Edit, b: &Edit| a.range.end < b.range.start || b.range.end < a.range.start;
        self.edits.iter().any(|edit| !other.edits.iter().all(|other| apart(edit, other)))
    }
}

/// The problems of a text that can be mended together, with their changes: of two at one place, the first.
pub(crate) fn together<'d>(
    text: &str,
    problems: impl IntoIterator<Item = &'d Diagnostic>,
) -> Vec<(&'d Diagnostic, Change)> {
    let mut chosen: Vec<(&Diagnostic, Change)> = Vec::new();
    for problem in problems {
        if let Some(change) = change(text, problem)
            && chosen.iter().all(|(_, other)| !change.overlaps(other))
        {
            chosen.push((problem, change));
        }
    }
    chosen
}

/// Applies the fixes of problems, which are shown relative to one of `roots`, and prints each. Returns their number.
pub(crate) fn apply(diagnostics: &Diagnostics, roots: &BTreeSet<PathBuf>) -> Result<usize> {
    let mut files: BTreeMap<PathBuf, Vec<&Diagnostic>> = BTreeMap::new();
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.fix.is_some()) {
        if let Some(file) = diagnostic.place.as_ref().and_then(|place| file(&place.file, roots)) {
            files.entry(file).or_default().push(diagnostic);
        }
    }
    let mut count = 0;
    for (path, problems) in files {
        let mut text = fs::read_to_string(&path).at(&path)?;
        let changes = together(&text, problems);
        for (problem, change) in &changes {
            if let Some(place) = &problem.place {
                say!("fixed {place}: {}", change.summary);
            }
        }
        count += changes.len();
        let mut edits: Vec<Edit> = changes.into_iter().flat_map(|(_, change)| change.edits).collect();
        // From the end, so that the other places stay where they are.
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start));
        for edit in &edits {
            text.replace_range(edit.range.clone(), &edit.text);
        }
        if !edits.is_empty() {
            replace_user_text(&path, &text).at(&path)?;
        }
    }
    Ok(count)
}

/// The file that is shown with this path, if only one can be meant.
fn file(shown: &str, roots: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    let mut found = roots.iter().map(|root| root.join(shown)).filter(|path| path.is_file());
    let file = found.next()?;
    let is_same = |other: PathBuf| file.canonicalize().ok() == other.canonicalize().ok();
    found.all(is_same).then_some(file)
}

/// The change that mends a problem. `None` if there is none, or the text is not as the loader has read it.
pub(crate) fn change(text: &str, problem: &Diagnostic) -> Option<Change> {
    let (start, end) = problem.place.as_ref()?.range?;
    let fix = problem.fix.as_deref()?;
    if let Fix::Edits(edits) = fix {
        let edits: Option<Vec<Edit>> = edits.iter().map(|edit| of_positions(text, edit)).collect();
        return Some(Change { summary: problem.message.clone(), edits: edits? });
    }
    let range = offset(text, start)?..offset(text, end)?;
    let old = text.get(range.clone())?;
    let new = of_word(old, fix)?;
    Some(Change { summary: format!("{old} is now {new}"), edits: vec![Edit { range, text: new }] })
}

/// The text in place of `old`, which is one word or number, perhaps in quotes.
fn of_word(old: &str, fix: &Fix) -> Option<String> {
    let quote = old.chars().next().filter(|quote| "\"'".contains(*quote));
    let inner = match quote {
        Some(quote) => old.strip_prefix(quote)?.strip_suffix(quote)?,
        None => old,
    };
    if inner.is_empty() || inner.contains(|c: char| c.is_whitespace() || "\"'\\".contains(c)) {
        return None;
    }
    match (fix, quote) {
        (Fix::Replace(new), Some(quote)) => Some(format!("{quote}{new}{quote}")),
        (Fix::Replace(new), None) => Some(new.clone()),
        (Fix::Quote, None) => Some(format!("\"{inner}\"")),
        _ => None,
    }
}

fn of_positions(text: &str, edit: &evalsuite_schema::diagnostics::Edit) -> Option<Edit> {
    let mut range = offset(text, edit.start)?..offset(text, edit.end)?;
    if range.start > range.end {
        return None;
    }
    if edit.text.is_empty() {
        // A line on which nothing is left.
        let line_start = text[..range.start].rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let line_end = text[range.end..].find('\n').map_or(text.len(), |end| range.end + end + 1);
        if text[line_start..range.start].trim().is_empty() && text[range.end..line_end].trim().is_empty() {
            range = line_start..line_end;
        }
    }
    Some(Edit { range, text: edit.text.clone() })
}

/// The byte at a position, whose column counts characters. Lines and columns are those of the loader: a lone `\r` ends a line too, and a byte
/// order mark is not counted.
fn offset(text: &str, position: Position) -> Option<usize> {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let start = (1..position.line).try_fold(mark, |start, _| {
        let end = start + text[start..].find(['\n', '\r'])?;
        Some(end + if text[end..].starts_with("\r\n") { 2 } else { 1 })
    })?;
    let line = text[start..].split_inclusive(['\n', '\r']).next().unwrap_or_default();
    let column = usize::try_from(position.column).ok()?.checked_sub(1)?;
    let within = line.char_indices().map(|(index, _)| index).chain([line.len()]).nth(column)?;
    Some(start + within)
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::diagnostics::{Code, SourceRange};

    use super::*;

    fn fixed(text: &str, columns: (u32, u32), fix: Fix) -> Option<String> {
        let position = |column| Position { line: 2, column };
        let place = SourceRange::new("a.yaml", position(columns.0), position(columns.1), None);
        let problem = Diagnostic::new(Code::UnknownKey, "unknown").at(place).fix_if(Some(fix));
        let Change { mut edits, .. } = change(text, &problem)?;
        edits.sort_by_key(|edit| std::cmp::Reverse(edit.range.start));
        let mut text = text.to_owned();
        edits.iter().for_each(|edit| text.replace_range(edit.range.clone(), &edit.text));
        Some(text)
    }

    #[test]
    fn quotes_stay_and_columns_count_characters() {
        let replace = || Fix::Replace("input".into());
        assert_eq!(fixed("é:\n  é: inptu\n", (6, 11), replace()).as_deref(), Some("é:\n  é: input\n"));
        assert_eq!(fixed("{\n\"inptu\": 1}", (1, 8), replace()).as_deref(), Some("{\n\"input\": 1}"));
        assert_eq!(fixed("a:\n19.90", (1, 6), Fix::Quote).as_deref(), Some("a:\n\"19.90\""));
    }

    #[test]
    fn lines_and_columns_are_those_of_the_loader() {
        let replace = || Fix::Replace("input".into());
        assert_eq!(fixed("a: 1\rinptu: x\rb: 2\n", (1, 6), replace()).as_deref(), Some("a: 1\rinput: x\rb: 2\n"));
        assert_eq!(fixed("a: 1\r\ninptu: x\r\n", (1, 6), replace()).as_deref(), Some("a: 1\r\ninput: x\r\n"));
        let first = Position { line: 1, column: 1 };
        let name = evalsuite_schema::diagnostics::Edit::new(first, Position { line: 1, column: 3 }, "ab");
        assert_eq!(
            fixed("\u{feff}aa: 1\nb: 2", (1, 2), Fix::Edits(vec![name])).as_deref(),
            Some("\u{feff}ab: 1\nb: 2")
        );
    }

    #[test]
    fn changes_of_several_places_remove_lines_on_which_nothing_is_left() {
        let position = |line, column| Position { line, column };
        let edit = |line, (start, end), text: &str| {
            evalsuite_schema::diagnostics::Edit::new(position(line, start), position(line, end), text)
        };
        let moved = Fix::Edits(vec![edit(2, (1, 5), ""), edit(3, (5, 5), "a: 1, ")]);
        assert_eq!(fixed("x: 1\na: 1\nb: {c: 2}", (1, 2), moved).as_deref(), Some("x: 1\nb: {a: 1, c: 2}"));
        let with_comment = Fix::Edits(vec![edit(2, (1, 5), "")]);
        assert_eq!(fixed("x: 1\na: 1 # one\n", (1, 2), with_comment).as_deref(), Some("x: 1\n # one\n"));
        let gone = Fix::Edits(vec![edit(7, (1, 2), "")]);
        assert_eq!(fixed("x: 1\na: 1", (1, 2), gone), None, "the text has changed");
    }

    #[test]
    fn what_is_not_one_word_stays() {
        for (text, end) in [("a:\n\"a b\"", 6), ("a:\n\"5\"", 4), ("a:\n5", 1), ("a:\n5", 9), ("a:", 1)] {
            assert_eq!(fixed(text, (1, end), Fix::Quote), None, "{text}");
        }
    }
}
