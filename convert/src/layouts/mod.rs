//! Between the layouts of suites: all cases in one file, one directory per case, or `suite.json` with one JSON file per case.

mod case_paths;
mod case_sources;
mod copy;
mod new_suite;
mod skill_reader;
mod task_graders;
mod task_writer;
mod tasks_reader;

use std::collections::BTreeSet;
use std::mem;
use std::path::{Path, PathBuf};

use evalsuite_discovery::{SKILL_EVALS, SuiteFile, is_skill, skill_directory};
use evalsuite_loader::document::{self, Data, Document, Value};
use evalsuite_schema::json::json;

use self::case_paths::Move;
use self::case_sources::{CaseSource, case_sources};
use self::task_writer::TaskWriter;
use crate::case_ids::CaseIds;
use crate::error::ConvertError;
use crate::output::Conversion;
use crate::report::{Place, Report};
use crate::source::{self, Source, SourceFiles};
use crate::suite_draft::{CaseDraft, CasePlacement, SuiteDraft, entry};

pub use self::copy::copy_suite;
pub use self::new_suite::NewSuite;

/// Most bytes of the name of a directory.
const LONGEST_NAME: usize = 200;

/// Moves the cases of the suite `source`, an eval file, `suite.json`, an Agent Skill or its directory, to where `layout` has them.
///
/// The files are relative to the directory of the suite and belong there: paths that cases name are those of files that stay. A file of a
/// case that moved, and a `suite.json`, is removed.
///
/// # Errors
///
/// If the suite cannot be read, is of another kind, or has no cases.
pub fn between_layouts(source: impl Into<Source>, layout: CasePlacement) -> Result<Conversion, ConvertError> {
    let SuiteSource { mut report, copied_from_outside, mut draft, eval_file, tests, place, .. } =
        SuiteSource::read(&source.into(), layout)?;
    let is_sorted = draft.cases.is_sorted_by(|(one, _), (next, _)| one <= next);
    if layout == CasePlacement::Directories && !is_sorted {
        let line = tests.as_ref().map_or(0, |tests| tests.position.line);
        report.approximated(&Place::new(place.file, line, "tests"), "cases are in the order of their names");
    }
    let mut directories = Directories::default();
    for (id, case) in &mut draft.cases {
        report.mapped(&case.place);
        let directory = if layout == CasePlacement::File { id.clone() } else { directories.name(id) };
        if directory != *id {
            report.approximated(&case.place, format!("the directory is called `{directory}`"));
            case.entries.insert(0, ("id".to_owned(), Value::text(mem::replace(id, directory))));
        }
    }
    Ok(Conversion { output: draft.write_as(layout, &eval_file), report, copied_from_outside })
}

/// Writes the suite `source`, an eval file or its directory, as `suite.json` with a JSON file per case in `tasks/`.
///
/// The files are relative to the directory of the suite and belong there. The eval file, and each `case.yaml`, is removed.
///
/// # Errors
///
/// If the suite cannot be read, is in that layout already, has no cases, or has none that can be a task.
pub fn to_tasks(source: impl Into<Source>) -> Result<Conversion, ConvertError> {
    let source = source.into();
    let path = &source.path;
    if suite_files(path)?.has_tasks() {
        return Err(ConvertError::unsupported(format!("{} is in the tasks layout", path.display())));
    }
    // Paths of tasks are relative to the directory of the suite, as those of an eval file.
    let SuiteSource { mut report, copied_from_outside, mut draft, tests, place, default_name, .. } =
        SuiteSource::read(&source, CasePlacement::File)?;
    if !place.file.is_empty() {
        draft.output.remove(&place.file);
    }
    let output = TaskWriter::write(draft, tests.as_ref(), &place, &default_name, &mut report);
    Conversion::of_tasks(output, report, copied_from_outside)
}

/// A suite as it was read.
struct SuiteSource {
    /// What was read of it is mapped.
    report: Report,
    copied_from_outside: Vec<PathBuf>,
    /// Its settings and cases. The files that hold cases are removed.
    draft: SuiteDraft,
    /// Name of the eval file.
    eval_file: PathBuf,
    /// The value of `tests`.
    tests: Option<Value>,
    /// The file of the suite.
    place: Place,
    /// Name of the suite where none is written.
    default_name: String,
}

impl SuiteSource {
    /// `layout`: where its cases are going to be.
    fn read(source: &Source, layout: CasePlacement) -> Result<Self, ConvertError> {
        let path = &*source.path;
        let files = suite_files(path)?;
        let root = &files.root;
        let source_files = SourceFiles::new(root, source)?;
        let shown = files.suite_file.as_deref().map_or_else(String::new, |file| source::shown(file, root));
        let head = match &files.suite_file {
            // A link that was named on purpose may lead anywhere.
            Some(file) if path.is_file() => document::read(file, root).map_err(ConvertError::unreadable)?,
            Some(file) => source_files.document(file, &shown, &Place::new(shown.clone(), 0, ""))?,
            None => Document { root: Value::new(Data::Mapping(Vec::new())), end: Vec::new() },
        };
        let Data::Mapping(entries) = head.root.data else {
            return Err(ConvertError::unsupported(format!("{shown} is not a mapping")));
        };
        let eval_file = files.suite_file.as_deref().filter(|_| !files.has_suite_json && !files.is_skill());
        let mut read = Self {
            report: Report::default(),
            copied_from_outside: Vec::new(),
            draft: SuiteDraft { end: head.end, ..SuiteDraft::default() },
            eval_file: eval_file.and_then(Path::file_name).unwrap_or("EVAL.yaml".as_ref()).into(),
            tests: None,
            place: Place::new(shown.clone(), 1, ""),
            default_name: files.default_name(),
        };
        if files.is_skill() {
            read.draft.output.remove(&shown);
            read.skill(entries)?;
        } else if files.has_suite_json {
            read.draft.output.remove(&shown);
            let every_verdict = read.task_settings(entries, files.has_tasks());
            if files.has_tasks() {
                read.tasks(&source_files, every_verdict)?;
            }
        } else {
            for (key, value) in entries {
                match key.as_str() {
                    "tests" | "eval_cases" | "evalcases" => read.tests = Some(value),
                    _ => {
                        read.report.mapped(&Place::new(shown.clone(), value.position.line, key.clone()));
                        read.draft.settings.push((key, value));
                    }
                }
            }
        }
        let tests = read.tests.as_ref();
        if !files.has_tasks() && !files.is_skill() {
            let place = Place::new(shown, tests.map_or(0, |tests| tests.position.line), "tests");
            for case in case_sources(&source_files, files.suite_file.is_some(), tests, &place)? {
                if case.is_own_file {
                    read.draft.output.remove(source::shown(&case.file, root));
                }
                read.draft.cases.push((case.id(), moved_case(&case, root, layout)));
            }
        }
        read.draft.above = tests.map(|tests| tests.above.clone()).unwrap_or_default();
        read.copied_from_outside = source_files.finish()?;
        if read.draft.cases.is_empty() {
            return Err(ConvertError::unsupported(format!("{} has no cases", path.display())));
        }
        Ok(read)
    }
}

/// The directory of a suite and its file.
struct SuiteFiles {
    root: PathBuf,
    /// None for case directories without one.
    suite_file: Option<PathBuf>,
    has_suite_json: bool,
}

impl SuiteFiles {
    fn of_skill(root: &Path) -> Self {
        Self { root: root.to_owned(), suite_file: Some(root.join(SKILL_EVALS)), has_suite_json: false }
    }

    /// Whether the suite is in the tasks layout.
    fn has_tasks(&self) -> bool {
        self.has_suite_json && self.root.join("tasks").is_dir()
    }

    /// Whether the suite is an Agent Skill.
    fn is_skill(&self) -> bool {
        self.suite_file.as_deref().is_some_and(|file| file.ends_with(SKILL_EVALS))
    }

    /// Name of a suite whose eval file has none.
    fn default_name(&self) -> String {
        let name =
            self.suite_file.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().to_lowercase());
        let stem = name.as_deref().and_then(|name| name.strip_suffix(".eval.yaml").or(name.strip_suffix(".eval.yml")));
        let directory = self.root.canonicalize().unwrap_or_else(|_| self.root.clone());
        let directory = || directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        stem.map_or_else(directory, str::to_owned)
    }
}

fn suite_files(path: &Path) -> Result<SuiteFiles, ConvertError> {
    if let Some(root) = skill_directory(path).filter(|root| path.is_file() && is_skill(root)) {
        return Ok(SuiteFiles::of_skill(root));
    }
    if path.is_file() {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let has_suite_json = SuiteFile::named(&name) == Some(SuiteFile::Json);
        if !(has_suite_json || name.ends_with(".yaml") || name.ends_with(".yml")) {
            return Err(ConvertError::unsupported(format!("{} is not the file of a suite", path.display())));
        }
        let root = path.parent().unwrap_or(path).to_owned();
        return Ok(SuiteFiles { root, suite_file: Some(path.to_owned()), has_suite_json });
    }
    let mut found = evalsuite_discovery::suite_files(path).map_err(|error| ConvertError::io(path, error))?;
    if found.is_empty() && is_skill(path) {
        return Ok(SuiteFiles::of_skill(path));
    }
    if found.len() > 1 {
        return Err(ConvertError::unsupported(format!("{} has several suite files: name one of them", path.display())));
    }
    let (suite_file, kind) = found.pop().unzip();
    Ok(SuiteFiles { root: path.to_owned(), suite_file, has_suite_json: kind == Some(SuiteFile::Json) })
}

/// The case as another file of the suite has it.
fn moved_case(case: &CaseSource, root: &Path, layout: CasePlacement) -> CaseDraft {
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
    let stays = case.is_own_file && layout == CasePlacement::Directories;
    let way = Move { from: directory, root, to_directory: layout == CasePlacement::Directories };
    for (key, value) in entries.iter_mut().filter(|_| !stays) {
        case_paths::rebase(key, value, way);
    }
    let template = directory.join("workspace");
    let has_workspace = entries.iter().any(|(key, _)| key == "workspace");
    if case.is_own_file && !has_workspace && template.is_dir() {
        entries.push(entry("workspace", json!({"template": source::shown(&template, root)})));
    }
    let place = Place::new(source::shown(&case.file, root), case.value.position.line, case.name.clone());
    CaseDraft { entries, above, place }
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
