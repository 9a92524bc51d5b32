//! Tests of a configuration and of the files that it names.

use std::path::{Path, PathBuf};

use evalsuite_loader::document::{self, Data, Value};

use super::source_files::{FILE_SCHEME, extension_of, script_of, unreadable};
use super::values::elements;
use super::{csv_tests, foreign};
use crate::error::ConvertError;
use crate::report::{Place, Report};
use crate::source::{MAX_CASES, SourceFiles};

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
    for (item, place) in elements(value, place) {
        match item.as_text().or_else(|| item.get("path").and_then(Value::as_text)) {
            Some(path) => {
                let before = tests.len();
                for file in report.kept(&place, test_files(path, &place, files)).into_iter().flatten() {
                    report.mapped(&place);
                    let read = read_file(&file, path, &place, files, report, &mut tests);
                    report.kept(&place, read);
                }
                if let Some(first) = tests.get_mut(before) {
                    first.value.above.splice(0..0, item.above.iter().cloned());
                }
            }
            None if matches!(item.data, Data::Mapping(_)) => {
                tests.push(WrittenTest { value: item.clone(), place, directory: files.root().to_owned() });
            }
            None => report.dropped(&place, "it is neither a test nor a file of tests"),
        }
    }
    tests
}

/// The files that a path or pattern of `tests` names; the error says why there are none.
fn test_files(path: &str, place: &Place, files: &SourceFiles) -> Result<Vec<PathBuf>, String> {
    let pattern = path.strip_prefix(FILE_SCHEME).unwrap_or(path);
    if pattern.contains("://") {
        return Err(format!("`{path}` is not a file: save its rows as one"));
    }
    if script_of(pattern, files.root()).is_some() {
        return Err(format!("`{pattern}` is a program that writes tests: save them as a file"));
    }
    let found = files.matching(pattern, files.root(), path, place)?;
    if found.is_empty() { Err(format!("there is no file `{pattern}`")) } else { Ok(found) }
}

/// Adds the tests of a file that `reference` at `place` names; the error says why it has none.
fn read_file(
    file: &Path,
    reference: &str,
    place: &Place,
    files: &SourceFiles,
    report: &mut Report,
    tests: &mut Vec<WrittenTest>,
) -> Result<(), String> {
    let shown = files.shown(file);
    let unreadable = |error: ConvertError| unreadable(&shown, &error);
    let place_of = |line: u32, name: &str| Place::new(shown.clone(), line, name);
    let own_directory = file.parent().unwrap_or(files.root()).to_owned();
    // The limit of tests ends the conversion, whatever the error says.
    let mut add = |value: Value, place: Place| {
        if tests.len() == MAX_CASES {
            let message = format!("more than {MAX_CASES} tests: a suite has at most {MAX_CASES} cases");
            files.too_much(&message, &place);
            return Err(message);
        }
        tests.push(WrittenTest { value, place, directory: own_directory.clone() });
        Ok(())
    };
    match extension_of(file).as_str() {
        "csv" => {
            let text = files.text(file, reference, place).map_err(unreadable)?;
            let unreadable = |problem: csv::Error| format!("`{shown}` cannot be read: {problem}");
            for row in csv_tests::read(&text).map_err(unreadable)? {
                let (test, unknown, line) = row.map_err(unreadable)?;
                for column in unknown {
                    report.dropped(&place_of(line, "row").below(1, &column), "promptfoo knows no such column");
                }
                add(test, place_of(line, "test"))?;
            }
        }
        "jsonl" => {
            let text = files.text(file, reference, place).map_err(unreadable)?;
            for (line, number) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
                let place = place_of(number, "test");
                match document::parse(line, &file.with_extension("json")) {
                    Err(_) => report.dropped(&place, "the line is not JSON"),
                    Ok(test) => add(test.root, place)?,
                }
            }
        }
        "yaml" | "yml" | "json" => {
            let mut root = files.js_yaml(file, reference, place).map_err(unreadable)?.root;
            foreign::dates_to_objects(&mut root, &place_of(1, ""), report);
            match root.data {
                Data::List(items) => {
                    for (index, item) in items.into_iter().enumerate() {
                        let place = place_of(item.position.line, &format!("[{index}]"));
                        match item.data {
                            Data::Mapping(_) => add(item, place)?,
                            _ => report.dropped(&place, "it is not a test"),
                        }
                    }
                }
                Data::Mapping(_) => add(root, place_of(1, "test"))?,
                _ => return Err(format!("`{shown}` holds no tests")),
            }
        }
        _ => return Err(format!("tests cannot be read from `{shown}`")),
    }
    Ok(())
}
