//! Tests of a configuration and of the files that it names.

use std::path::{Path, PathBuf};

use evalsuite_loader::document;
use evalsuite_loader::document::{Data, Value};

use super::csv_tests;
use super::source_files::{files, script_of};
use crate::report::{Place, Report};
use crate::source;

/// A test as it is written.
#[derive(Debug, Clone)]
pub(super) struct WrittenTest {
    /// A mapping.
    pub(super) value: Value,
    pub(super) place: Place,
    /// The directory of its file.
    pub(super) directory: PathBuf,
}

/// Reads `tests`: a list of tests and files, or one file. Paths are relative to `directory`, that of the configuration.
pub(super) fn read(value: &Value, place: &Place, directory: &Path, report: &mut Report) -> Vec<WrittenTest> {
    let mut tests = Vec::new();
    match &value.data {
        Data::List(items) => {
            for (index, item) in items.iter().enumerate() {
                element(item, &place.below(item.position.line, &format!("[{index}]")), directory, report, &mut tests);
            }
        }
        _ => element(value, place, directory, report, &mut tests),
    }
    tests
}

fn element(value: &Value, place: &Place, directory: &Path, report: &mut Report, tests: &mut Vec<WrittenTest>) {
    let path = value.as_text().or_else(|| value.get("path").and_then(Value::as_text));
    match path {
        Some(path) => {
            let before = tests.len();
            from_files(path, place, directory, report, tests);
            if let Some(first) = tests.get_mut(before) {
                first.value.above.splice(0..0, value.above.iter().cloned());
            }
        }
        None if matches!(value.data, Data::Mapping(_)) => {
            tests.push(WrittenTest { value: value.clone(), place: place.clone(), directory: directory.to_owned() });
        }
        None => report.dropped(place, "it is neither a test nor a file of tests"),
    }
}

fn from_files(path: &str, place: &Place, directory: &Path, report: &mut Report, tests: &mut Vec<WrittenTest>) {
    let pattern = path.strip_prefix("file://").unwrap_or(path);
    if pattern.contains("://") {
        report.dropped(place, format!("`{path}` is not a file: save its rows as one"));
        return;
    }
    if script_of(pattern, directory).is_some() {
        report.dropped(place, format!("`{pattern}` is a program that writes tests: save them as a file"));
        return;
    }
    let found = files(pattern, directory);
    if found.is_empty() {
        report.dropped(place, format!("there is no file `{pattern}`"));
        return;
    }
    report.mapped(place);
    for file in found {
        read_file(&file, place, directory, report, tests);
    }
}

fn read_file(file: &Path, place: &Place, directory: &Path, report: &mut Report, tests: &mut Vec<WrittenTest>) {
    let shown = source::shown(file, directory);
    let extension = file.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    let place_of = |line: u32, name: String| Place::new(shown.clone(), line, name);
    let own_directory = file.parent().unwrap_or(directory).to_owned();
    let mut add = |value: Value, place: Place| {
        tests.push(WrittenTest { value, place, directory: own_directory.clone() });
    };
    match extension.as_str() {
        "csv" => match csv_tests::read(file) {
            Ok(rows) => rows.into_iter().for_each(|(row, line)| {
                csv_tests::unknown_columns(&row, &place_of(line, "row".to_owned()), report);
                add(row.test, place_of(line, String::new()));
            }),
            Err(problem) => report.dropped(place, format!("`{shown}` cannot be read: {problem}")),
        },
        "jsonl" => {
            let Ok(text) = source::text(file) else {
                report.dropped(place, format!("`{shown}` is not text"));
                return;
            };
            for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
                match document::parse(line, &file.with_extension("json")) {
                    Ok(test) => add(test.root, place_of(number, String::new())),
                    Err(_) => report.dropped(&place_of(number, String::new()), "the line is not JSON"),
                }
            }
        }
        "yaml" | "yml" | "json" => match document::read(file, directory) {
            Ok(document) => match document.root.data {
                Data::List(items) => {
                    for (index, item) in items.into_iter().enumerate() {
                        let place = place_of(item.position.line, format!("[{index}]"));
                        match item.data {
                            Data::Mapping(_) => add(item, place),
                            _ => report.dropped(&place, "it is not a test"),
                        }
                    }
                }
                Data::Mapping(_) => add(document.root, place_of(1, String::new())),
                _ => report.dropped(place, format!("`{shown}` holds no tests")),
            },
            Err(problems) => {
                let first = problems.iter().next().map(|problem| problem.message.clone()).unwrap_or_default();
                report.dropped(place, format!("`{shown}` cannot be read: {first}"));
            }
        },
        _ => report.dropped(place, format!("tests cannot be read from `{shown}`")),
    }
}
