//! Changes of files that `cargo evalsuite check --fix` is certain about.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use evalsuite_diagnostics::{Diagnostic, Diagnostics, Fix, Position};

use crate::platform::cli_error::{AtPath, Result};
use crate::platform::output::say;

/// A change of one place.
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
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
        let mut edits: Vec<(Edit, &Diagnostic)> =
            problems.iter().filter_map(|problem| Some((edit(&text, problem)?, *problem))).collect();
        // From the end, so that the other places stay where they are; of two problems with one place, the first is fixed.
        edits.sort_by_key(|(edit, _)| std::cmp::Reverse((edit.range.start, edit.range.end)));
        edits.dedup_by(|later, earlier| later.0.range.end > earlier.0.range.start);
        for (edit, problem) in edits.iter().rev() {
            if let Some(place) = &problem.place {
                say!("fixed {place}: {} is now {}", &text[edit.range.clone()], edit.text);
            }
        }
        for (edit, _) in &edits {
            text.replace_range(edit.range.clone(), &edit.text);
        }
        if !edits.is_empty() {
            fs::write(&path, &text).at(&path)?;
        }
        count += edits.len();
    }
    Ok(count)
}

/// The file that is shown with this path, if only one can be meant.
fn file(shown: &str, roots: &BTreeSet<PathBuf>) -> Option<PathBuf> {
    let mut found = roots.iter().map(|root| root.join(shown)).filter(|path| path.is_file());
    let file = found.next()?;
    found.all(|other| is_same(&file, &other)).then_some(file)
}

fn is_same(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok() == other.canonicalize().ok()
}

/// The change that mends a problem. `None` if there is none, or the text at the place is not one word or number, perhaps in quotes.
pub(crate) fn edit(text: &str, problem: &Diagnostic) -> Option<Edit> {
    let (start, end) = problem.place.as_ref()?.range?;
    let range = offset(text, start)?..offset(text, end)?;
    let old = text.get(range.clone())?;
    let quote = old.chars().next().filter(|quote| "\"'".contains(*quote));
    let inner = match quote {
        Some(quote) => old.strip_prefix(quote)?.strip_suffix(quote)?,
        None => old,
    };
    if inner.is_empty() || inner.contains(|c: char| c.is_whitespace() || "\"'\\".contains(c)) {
        return None;
    }
    let text = match (problem.fix.as_deref()?, quote) {
        (Fix::Replace(new), Some(quote)) => format!("{quote}{new}{quote}"),
        (Fix::Replace(new), None) => new.clone(),
        (Fix::Quote, None) => format!("\"{inner}\""),
        _ => return None,
    };
    Some(Edit { range, text })
}

/// The byte at a position, whose column counts characters.
fn offset(text: &str, position: Position) -> Option<usize> {
    let line = text.split_inclusive('\n').nth(usize::try_from(position.line).ok()?.checked_sub(1)?)?;
    let column = usize::try_from(position.column).ok()?.checked_sub(1)?;
    let within = line.char_indices().map(|(index, _)| index).chain([line.len()]).nth(column)?;
    Some(line.as_ptr().addr() - text.as_ptr().addr() + within)
}

#[cfg(test)]
mod tests {
    use evalsuite_diagnostics::{Code, SourceRange};

    use super::*;

    fn fixed(text: &str, columns: (u32, u32), fix: Fix) -> Option<String> {
        let position = |column| Position { line: 2, column };
        let place = SourceRange::new("a.yaml", position(columns.0), position(columns.1), None);
        let problem = Diagnostic::new(Code::UnknownKey, "unknown").at(place).fix_if(Some(fix));
        let edit = edit(text, &problem)?;
        let mut text = text.to_owned();
        text.replace_range(edit.range, &edit.text);
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
    fn what_is_not_one_word_stays() {
        for (text, end) in [("a:\n\"a b\"", 6), ("a:\n\"5\"", 4), ("a:\n5", 1), ("a:\n5", 9), ("a:", 1)] {
            assert_eq!(fixed(text, (1, end), Fix::Quote), None, "{text}");
        }
    }
}
