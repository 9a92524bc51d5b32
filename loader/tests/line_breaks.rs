//! A checkout with `\r\n` loads as one with `\n`: the same cases, with the same digests.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use evalsuite_loader::{Request, load};
use evalsuite_schema::digest::CaseDigests;
use walkdir::WalkDir;

/// Packages of this repository with suites in every layout.
const PACKAGES: [(&str, &[&str]); 5] = [
    ("examples/card-agent", &["suites/card_agent"]),
    ("examples/repair-agent", &["suites/repair"]),
    ("examples/streaming-agent", &["suites/stalled", "suites/support"]),
    ("examples/memory-agent", &["suites/desk"]),
    (
        "tests/campaign/corpus",
        &["suites/calibrated", "suites/combined", "suites/tasks", "suites/lines", "suites/eval-file"],
    ),
];

/// The files of a package, with other line breaks in every text.
fn copy(from: &Path, to: &Path, line_break: &str) {
    for entry in WalkDir::new(from).into_iter().filter_entry(|entry| entry.file_name() != "target").map(Result::unwrap)
    {
        let target = to.join(entry.path().strip_prefix(from).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(target).unwrap();
        } else if entry.file_type().is_file() {
            let content = fs::read(entry.path()).unwrap();
            let content = match String::from_utf8(content) {
                Ok(text) => text.replace("\r\n", "\n").replace('\n', line_break).into_bytes(),
                Err(other) => other.into_bytes(),
            };
            fs::write(target, content).unwrap();
        }
    }
}

/// The cases of a suite as they are compiled, by their tests, and how many problems it has.
fn loaded(package: &Path, suite: &str) -> (BTreeMap<String, String>, usize) {
    let loaded = load(&Request::new(suite, package));
    let suite = loaded.suite.unwrap_or_else(|| panic!("{suite} cannot be loaded"));
    let cases = suite.cases.iter().map(|case| {
        let json = evalsuite_schema::json::to_value(&*case.case).unwrap();
        let test = [&*case.folders, std::slice::from_ref(&case.function)].concat().join("::");
        (test, format!("{json}{}", CaseDigests::of(&case.case)))
    });
    let cases = cases.collect();
    (cases, loaded.diagnostics.iter().count())
}

#[test]
fn cases_and_their_digests_do_not_depend_on_line_breaks() {
    let repository = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut compared = 0;
    for (package, suites) in PACKAGES {
        let directory = tempfile::tempdir().unwrap();
        let [unix, windows] = ["unix", "windows"].map(|name| directory.path().join(name));
        copy(&repository.join(package), &unix, "\n");
        copy(&repository.join(package), &windows, "\r\n");
        for suite in suites {
            let (there, here) = (loaded(&unix, suite), loaded(&windows, suite));
            assert_eq!(there, here, "{package}/{suite}");
            compared += here.0.len();
        }
    }
    assert!(compared > 20, "{compared} cases were compared");
}

#[test]
fn the_texts_of_files_are_embedded_with_line_feeds() {
    let directory = tempfile::tempdir().unwrap();
    let write = |line_break: &str| {
        for (path, text) in [
            (
                "s/EVAL.yaml",
                "name: s\ntests:\n  - id: a\n    input: |\n      one\n      two\n    assertions:\n      - type: llm-grader\n        prompt: file://p.md\n      - type: compare\n        reference: file://r.md\n",
            ),
            ("s/p.md", "Grade\n{{ output }}\n"),
            ("s/r.md", "The\nanswer\n"),
        ] {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.replace('\n', line_break)).unwrap();
        }
        loaded(directory.path(), "s").0
    };
    let unix = write("\n");
    assert!(unix["a"].contains("Grade\\n{{ output }}"), "{unix:?}");
    assert_eq!(write("\r\n"), unix);
}
