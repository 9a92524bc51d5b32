//! Between the layouts of suites: all cases in one file, or one directory per case.

mod case_paths;
mod case_sources;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_loader::document::{Data, Document, Value};

use self::case_paths::Move;
use self::case_sources::{CaseSource, case_sources};
use crate::case_ids::CaseIds;
use crate::error::ConvertError;
use crate::report::{Place, Report};
use crate::suite_draft::{CaseDraft, SuiteDraft};
use crate::{Conversion, source};

/// Where a suite has its cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// In `tests` of EVAL.yaml.
    File,
    /// In `cases/ID/case.yaml`.
    Directories,
}

/// Most bytes of the name of a directory.
const LONGEST_NAME: usize = 200;

/// Moves the cases of the suite at `path`, an eval file or its directory, to where `layout` has them.
///
/// The files are relative to the directory of the suite and belong there: paths that cases name are those of files that stay. A `case.yaml` whose case
/// moved is removed.
///
/// # Errors
///
/// If the suite cannot be read, is not an eval file, or has no cases.
pub fn between_layouts(path: &Path, layout: Layout) -> Result<Conversion, ConvertError> {
    let (root, eval_file) = suite_files(path)?;
    let mut report = Report::default();
    let mut draft = SuiteDraft::default();
    let head = match &eval_file {
        Some(file) => source::document(file, &root)?,
        None => Document { root: Value::new(Data::Mapping(Vec::new())), end: Vec::new() },
    };
    let shown = eval_file.as_deref().map_or_else(String::new, |file| source::shown(file, &root));
    let Data::Mapping(entries) = head.root.data else {
        return Err(ConvertError::unsupported(format!("{shown} is not a mapping")));
    };
    let mut tests = None;
    for (key, value) in entries {
        match key.as_str() {
            "tests" | "eval_cases" | "evalcases" => tests = Some(value),
            _ => {
                report.mapped(&Place::new(shown.clone(), value.position.line, key.clone()));
                draft.settings.push((key, value));
            }
        }
    }
    draft.end = head.end;
    let sources = case_sources(&root, eval_file.is_some(), tests.as_ref())?;
    if sources.is_empty() {
        return Err(ConvertError::unsupported(format!("{} has no cases", path.display())));
    }
    let is_sorted = sources.iter().zip(sources.iter().skip(1)).all(|(one, next)| one.id() <= next.id());
    if layout == Layout::Directories && !is_sorted {
        let line = tests.as_ref().map_or(0, |tests| tests.position.line);
        report.approximated(&Place::new(shown, line, "tests"), "cases are in the order of their names");
    }
    let mut directories = Directories::default();
    for case in sources {
        let place = Place::new(source::shown(&case.file, &root), case.value.position.line, case.name.clone());
        let draft_of_case = moved_case(&case, &root, layout);
        if case.is_own_file {
            draft.output.remove(source::shown(&case.file, &root));
        }
        let id = case.id();
        match layout {
            Layout::File => {
                report.mapped(&place);
                draft.cases.push((id, draft_of_case));
            }
            Layout::Directories => {
                let directory = directories.name(&id);
                let mut draft_of_case = draft_of_case;
                if directory == id {
                    report.mapped(&place);
                } else {
                    report.approximated(&place, format!("the directory is called `{directory}`"));
                    draft_of_case.entries.insert(0, ("id".to_owned(), Value::text(id)));
                }
                draft.cases.push((directory, draft_of_case));
            }
        }
    }
    let above = tests.map_or_else(Vec::new, |tests| tests.above);
    let name = eval_file.as_deref().and_then(Path::file_name).unwrap_or("EVAL.yaml".as_ref());
    Ok(Conversion { output: draft.write_as(layout, name.as_ref(), above), report })
}

/// The directory of a suite and its eval file; none for case directories without one.
fn suite_files(path: &Path) -> Result<(PathBuf, Option<PathBuf>), ConvertError> {
    if path.is_file() {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        if !(name.ends_with(".yaml") || name.ends_with(".yml")) {
            return Err(ConvertError::unsupported(format!("{} is not an eval file", path.display())));
        }
        return Ok((path.parent().unwrap_or(path).to_owned(), Some(path.to_owned())));
    }
    let listing = fs::read_dir(path).map_err(|error| ConvertError::io(path, error))?;
    let mut found = BTreeSet::new();
    for entry in listing {
        let entry = entry.map_err(|error| ConvertError::io(path, error))?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let is_eval_file = matches!(name.as_str(), "eval.yaml" | "eval.yml")
            || name.ends_with(".eval.yaml")
            || name.ends_with(".eval.yml");
        if name == "suite.json" {
            return Err(ConvertError::unsupported(format!(
                "{} has a suite.json: only suites with an eval file have both layouts",
                path.display()
            )));
        }
        if is_eval_file {
            found.insert(entry.path());
        }
    }
    if found.len() > 1 {
        return Err(ConvertError::unsupported(format!("{} has several eval files: name one of them", path.display())));
    }
    Ok((path.to_owned(), found.pop_first()))
}

/// The case as another file of the suite has it.
fn moved_case(case: &CaseSource, root: &Path, layout: Layout) -> CaseDraft {
    let mut entries: Vec<(String, Value)> = case.value.entries().to_vec();
    let mut above = case.value.above.clone();
    if let Some(index) = entries.iter().position(|(key, _)| key == "id") {
        let (_, id) = entries.remove(index);
        above.extend(id.above);
        let comment = id.beside.or_else(|| case.value.beside.clone());
        if let (Some(comment), Some((_, next))) = (comment, entries.get_mut(index))
            && next.beside.is_none()
        {
            next.beside = Some(comment);
        }
    }
    let directory = case.file.parent().unwrap_or(root);
    // A directory that stays the same needs no other paths.
    let stays = case.is_own_file && layout == Layout::Directories;
    let way = Move { from: directory, root, to_directory: layout == Layout::Directories };
    for (key, value) in entries.iter_mut().filter(|_| !stays) {
        case_paths::rebase(key, value, way);
    }
    let template = directory.join("workspace");
    let has_workspace = entries.iter().any(|(key, _)| key == "workspace");
    if case.is_own_file && !has_workspace && template.is_dir() {
        let template = Value::text(source::shown(&template, root));
        let workspace = Value::new(Data::Mapping(vec![("template".to_owned(), template)]));
        entries.push(("workspace".to_owned(), workspace));
    }
    CaseDraft { entries, above }
}

/// Names of the directories of cases.
#[derive(Default)]
struct Directories {
    taken: BTreeSet<String>,
    ids: CaseIds,
}

impl Directories {
    /// The id where it can be the name of a directory. The test of the case keeps its name: what is replaced is a `_` in it.
    fn name(&mut self, id: &str) -> String {
        let is_kept = |character: char| character.is_alphanumeric() || "-_.".contains(character);
        let name: String = id.chars().map(|character| if is_kept(character) { character } else { '-' }).collect();
        let is_usable = !name.starts_with(['.', '_', '-']) && name.len() <= LONGEST_NAME;
        if is_usable && self.taken.insert(name.to_lowercase()) {
            return name;
        }
        loop {
            let name = self.ids.next(id, "case");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests;
