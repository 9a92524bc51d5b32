//! Tests of a configuration and of the files that it names.

use std::path::{Path, PathBuf};

use evalsuite_loader::document;
use evalsuite_loader::document::{Data, Value};

use super::csv_tests;
use super::source_files::{FILE_SCHEME, script_of, unreadable};
use crate::report::{Place, Report};
use crate::source::{MAX_CASES, SourceFiles};
use crate::source_problem::SourceProblem;

/// A test as it is written.
#[derive(Debug, Clone)]
pub(super) struct WrittenTest {
    /// A mapping.
    pub(super) value: Value,
    pub(super) place: Place,
    /// The directory of its file.
    pub(super) directory: PathBuf,
}

/// Reads `tests`: a list of tests and files, or one file. Paths are relative to the directory of the configuration.
pub(super) fn read(value: &Value, place: &Place, files: &SourceFiles, report: &mut Report) -> Vec<WrittenTest> {
    let mut tests = Vec::new();
    match &value.data {
        Data::List(items) => {
            for (index, item) in items.iter().enumerate() {
                element(item, &place.below(item.position.line, &format!("[{index}]")), files, report, &mut tests);
            }
        }
        _ => element(value, place, files, report, &mut tests),
    }
    tests
}

fn element(value: &Value, place: &Place, files: &SourceFiles, report: &mut Report, tests: &mut Vec<WrittenTest>) {
    let path = value.as_text().or_else(|| value.get("path").and_then(Value::as_text));
    match path {
        Some(path) => {
            let before = tests.len();
            from_files(path, place, files, report, tests);
            if let Some(first) = tests.get_mut(before) {
                first.value.above.splice(0..0, value.above.iter().cloned());
            }
        }
        None if matches!(value.data, Data::Mapping(_)) => {
            tests.push(WrittenTest { value: value.clone(), place: place.clone(), directory: files.root().to_owned() });
        }
        None => report.dropped(place, "it is neither a test nor a file of tests"),
    }
}

fn from_files(path: &str, place: &Place, files: &SourceFiles, report: &mut Report, tests: &mut Vec<WrittenTest>) {
    let pattern = path.strip_prefix(FILE_SCHEME).unwrap_or(path);
    if pattern.contains("://") {
        report.dropped(place, format!("`{path}` is not a file: save its rows as one"));
        return;
    }
    if script_of(pattern, files.root()).is_some() {
        report.dropped(place, format!("`{pattern}` is a program that writes tests: save them as a file"));
        return;
    }
    let found = match files.matching(pattern, files.root(), path, place) {
        Ok(found) => found,
        Err(problem) => return report.dropped(place, problem),
    };
    if found.is_empty() {
        report.dropped(place, format!("there is no file `{pattern}`"));
        return;
    }
    report.mapped(place);
    for file in found {
        read_file(&file, path, place, files, report, tests);
    }
}

/// Adds the tests of a file that `reference` at `place` names.
fn read_file(
    file: &Path,
    reference: &str,
    place: &Place,
    files: &SourceFiles,
    report: &mut Report,
    tests: &mut Vec<WrittenTest>,
) {
    let shown = files.shown(file);
    let extension = file.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    let place_of = |line: u32, name: String| Place::new(shown.clone(), line, name);
    let own_directory = file.parent().unwrap_or(files.root()).to_owned();
    // False at the limit of tests.
    let mut add = |value: Value, place: Place| {
        let is_allowed = tests.len() < MAX_CASES;
        if is_allowed {
            tests.push(WrittenTest { value, place, directory: own_directory.clone() });
        } else {
            let message = format!("more than {MAX_CASES} tests: a suite has at most {MAX_CASES} cases");
            files.problem(SourceProblem::too_much(message, &place));
        }
        is_allowed
    };
    match extension.as_str() {
        "csv" => {
            let read =
                files.text(file, reference, place).map_err(|error| unreadable(&shown, &error)).and_then(|text| {
                    csv_tests::read(&text, |row, line| {
                        csv_tests::unknown_columns(&row, &place_of(line, "row".to_owned()), report);
                        add(row.test, place_of(line, "test".to_owned()))
                    })
                    .map_err(|problem| format!("`{shown}` cannot be read: {problem}"))
                });
            if let Err(reason) = read {
                report.dropped(place, reason);
            }
        }
        "jsonl" => {
            let text = match files.text(file, reference, place) {
                Ok(text) => text,
                Err(error) => return report.dropped(place, unreadable(&shown, &error)),
            };
            for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
                match document::parse(line, &file.with_extension("json")) {
                    Ok(test) => {
                        if !add(test.root, place_of(number, "test".to_owned())) {
                            break;
                        }
                    }
                    Err(_) => report.dropped(&place_of(number, "test".to_owned()), "the line is not JSON"),
                }
            }
        }
        "yaml" | "yml" | "json" => match files.document(file, reference, place) {
            Ok(document) => match document.root.data {
                Data::List(items) => {
                    for (index, item) in items.into_iter().enumerate() {
                        let place = place_of(item.position.line, format!("[{index}]"));
                        if !matches!(item.data, Data::Mapping(_)) {
                            report.dropped(&place, "it is not a test");
                        } else if !add(item, place) {
                            break;
                        }
                    }
                }
                Data::Mapping(_) => drop(add(document.root, place_of(1, "test".to_owned()))),
                _ => report.dropped(place, format!("`{shown}` holds no tests")),
            },
            Err(error) => report.dropped(place, unreadable(&shown, &error)),
        },
        _ => report.dropped(place, format!("tests cannot be read from `{shown}`")),
    }
}
