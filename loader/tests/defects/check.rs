//! What the loader says about a project, and whether that is what was expected.

use std::fmt::Write as _;
use std::path::Path as FilePath;

use evalsuite_loader::{Request, load};
use evalsuite_schema::diagnostics::Code;

use crate::breaks::{Expected, Place};
use crate::project::Project;

/// A diagnostic. Line and column are 0 for a file as a whole.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) code: Code,
    pub(crate) message: String,
}

/// Loads the project that was written to `package`.
pub(crate) fn diagnostics(project: &Project, package: &FilePath) -> Vec<Found> {
    let mut request = Request::new(&project.entry, package);
    request.workspace_root = package.to_path_buf();
    let loaded = load(&request);
    let found: Vec<Found> = loaded
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let place = diagnostic.place.as_ref().expect("problems of files have a place");
            let start = place.start();
            Found {
                file: place.file.clone(),
                line: start.map_or(0, |start| start.line),
                column: start.map_or(0, |start| start.column),
                code: diagnostic.code,
                message: diagnostic.message.clone(),
            }
        })
        .collect();
    assert_eq!(loaded.suite.is_none(), loaded.diagnostics.has_errors(), "a suite is there unless there are errors");
    found
}

/// Diagnostics and the files they point into, for a failure message.
pub(crate) fn describe(project: &Project, found: &[Found]) -> String {
    let mut text = String::new();
    let mut files: Vec<&str> = Vec::new();
    for found in found {
        let _ = writeln!(text, "  {}:{}:{} {} {}", found.file, found.line, found.column, found.code, found.message);
        if !files.contains(&found.file.as_str()) {
            files.push(&found.file);
        }
    }
    for file in files {
        text.push_str(&listing(project, file));
    }
    text
}

/// A file with line numbers.
pub(crate) fn listing(project: &Project, file: &str) -> String {
    let Some(data) = project.data(file) else { return String::new() };
    let mut text = format!("--- {file}\n");
    for (index, line) in data.render().text.lines().enumerate() {
        let _ = writeln!(text, "{:4} {line}", index + 1);
    }
    text
}

/// Whether exactly what is expected was found, beside what may follow from it; else what is wrong.
pub(crate) fn compare(
    project: &Project,
    expected: &[Expected],
    follow_ups: &[Code],
    found: &[Found],
) -> Result<(), String> {
    let mut open: Vec<&Found> = found.iter().collect();
    for expected in expected {
        let place = resolve(project, expected);
        let is_it = |found: &&Found| {
            found.code == expected.code
                && found.file == expected.file
                && match place {
                    (line, 0) => found.line == line,
                    // It is at the fault in the pattern.
                    (line, _) if found.code == Code::InvalidRegex => found.line == line,
                    (line, column) => found.line == line && found.column == column,
                }
        };
        match open.iter().position(is_it) {
            Some(index) => drop(open.remove(index)),
            None => return Err(format!("{} is not at {}:{}:{}", expected.code, expected.file, place.0, place.1)),
        }
    }
    match open.iter().find(|found| !follow_ups.contains(&found.code) && !may_be_anywhere(found.code)) {
        Some(surplus) => {
            Err(format!("unexpected {} at {}:{}:{}", surplus.code, surplus.file, surplus.line, surplus.column))
        }
        None => Ok(()),
    }
}

/// Whether valid suites have this warning: the generator puts graders together without regard to who judges the criteria, and any limits.
pub(crate) fn may_be_anywhere(code: Code) -> bool {
    matches!(code, Code::UnjudgedCriteria | Code::UnlikelyLimit)
}

/// Line and column; 0 and 0 for a file as a whole, column 0 where it does not matter.
fn resolve(project: &Project, expected: &Expected) -> (u32, u32) {
    match &expected.place {
        Place::Whole => (0, 0),
        Place::Line(line) => (*line, 0),
        Place::Text(line, column) => (*line, *column),
        Place::At(path, part, shift) => {
            let places = project.data(&expected.file).expect("the file has values").render().places;
            let (line, column) = places[&(path.clone(), *part)];
            (line, column + shift)
        }
    }
}

/// Diagnostics are sorted by file and position.
pub(crate) fn assert_sorted(found: &[Found]) {
    let place = |found: &Found| (found.file.clone(), found.line, found.column);
    for pair in found.windows(2) {
        assert!(place(&pair[0]) <= place(&pair[1]), "{:?} is before {:?}", pair[0], pair[1]);
    }
}
