//! The official JSON-Schema-Test-Suite, as schemas and answers of a suite: `json-schema` says what each test says, or `docs/json-schema.md`
//! names the difference.
//!
//! `.ci/release` runs it with the suite in the package jsonschema 4.26.0 of PyPI:
//! `EVALSUITE_SCHEMA_SUITE=DIRECTORY/json/tests cargo test -p evalsuite-grading-tests --test schema_suite -- --ignored --nocapture`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use evalsuite::__private::{AgentWork, GradableEvidence};
use evalsuite::Verdict;
use evalsuite::record::GraderState;
use evalsuite_loader::{Request, load};
use evalsuite_schema::Grader;
use evalsuite_schema::json::{Value, from_str, json};

/// The drafts, and the `$schema` of schemas that name none.
const DRAFTS: [(&str, &str); 4] = [
    ("draft6", "http://json-schema.org/draft-06/schema#"),
    ("draft7", "http://json-schema.org/draft-07/schema#"),
    ("draft2019-09", "https://json-schema.org/draft/2019-09/schema"),
    ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
];

/// What came of tests.
#[derive(Debug, Default)]
struct Results {
    right: usize,
    /// Tests with another verdict, by file and name.
    different: Vec<(String, String)>,
    /// Messages that refuse a schema, and its number of tests.
    refused: Vec<(Vec<String>, usize)>,
}

#[test]
#[ignore = "needs the official tests: EVALSUITE_SCHEMA_SUITE names their directory"]
fn verdicts_are_those_of_the_official_tests() {
    let root = PathBuf::from(std::env::var("EVALSUITE_SCHEMA_SUITE").expect("EVALSUITE_SCHEMA_SUITE names the tests"));
    let mut results = Results::default();
    for (draft, uri) in DRAFTS {
        let mut files = Vec::new();
        files_below(&root.join(draft), &mut files);
        for file in files {
            let name = file.strip_prefix(root.join(draft)).expect("below the root").display().to_string();
            grade(&file, &name, uri, &mut results);
        }
    }
    let refused: usize = results.refused.iter().map(|(_, tests)| tests).sum();
    let different = results.different.len();
    println!("{} tests as they say, {different} with another verdict, {refused} of refused schemas", results.right);

    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json-schema.md")).expect("the page");
    let [verdicts, refusals] = ["\n## Other verdicts\n", "\n## Refused schemas\n"].map(|title| rows(&page, title));
    for (file, test) in &results.different {
        let is_listed = verdicts.iter().any(|row| file.ends_with(&row[0]) && test.contains(&row[1]));
        assert!(is_listed, "docs/json-schema.md does not list {file}: {test}");
    }
    for message in results.refused.iter().flat_map(|(messages, _)| messages) {
        let is_listed = refusals.iter().any(|row| message.contains(&row[0]));
        assert!(is_listed, "docs/json-schema.md does not list: {message}");
    }
    let figures = [results.right, different, refused].map(|number| number.to_string());
    let measured = rows(&page, "\n## Figures\n");
    assert!(measured.iter().any(|row| row[2..] == figures), "docs/json-schema.md has no such figures: {figures:?}");
}

/// The cells of the rows below a heading, without the marks of code.
fn rows(page: &str, title: &str) -> Vec<Vec<String>> {
    let (_, section) = page.split_once(title).expect("the section");
    let table = section.split("\n## ").next().expect("a section");
    let rows = table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| ---")).skip(1);
    let cells =
        |row: &str| row.trim_matches(['|', ' ']).split(" | ").map(|cell| cell.trim().replace(['`', ','], "")).collect();
    rows.map(cells).collect()
}

fn files_below(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory of the suite") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Grades the data of the tests of a file by its schemas.
fn grade(file: &Path, name: &str, uri: &str, results: &mut Results) {
    let groups: Value = from_str(&fs::read_to_string(file).expect("a text")).expect("JSON");
    for group in groups.as_array().expect("groups") {
        let tests = group["tests"].as_array().expect("tests");
        let grader = match grader_of(group["schema"].clone(), uri) {
            Ok(grader) => grader,
            Err(messages) => {
                results.refused.push((messages, tests.len()));
                continue;
            }
        };
        for test in tests {
            let work = AgentWork { answer: test["data"].to_string(), ..AgentWork::default() };
            let record = GradableEvidence::new(work).grade(&grader);
            let expected = Verdict::from_passed(test["valid"].as_bool().expect("a verdict"));
            match (record.state, record.verdict) {
                (GraderState::Decided, Some(verdict)) if verdict == expected => results.right += 1,
                (GraderState::Decided, _) => {
                    let test = format!("{}: {}", text(group, "description"), text(test, "description"));
                    results.different.push((name.to_owned(), test));
                }
                _ => results.refused.push((vec![format!("{:?}", record.error)], 1)),
            }
        }
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().expect("a text")
}

/// The grader of a suite with a schema, or why there is none: messages without what they quote.
fn grader_of(mut schema: Value, uri: &str) -> Result<Grader, Vec<String>> {
    if let Value::Object(object) = &mut schema
        && object.get("$schema").is_none()
    {
        object.insert("$schema".to_owned(), json!(uri));
    }
    let directory = tempfile::tempdir().expect("a directory");
    let write = |file: &str, text: &str| fs::write(directory.path().join(file), text).expect("a file");
    write("schema.json", &schema.to_string());
    write(
        "EVAL.yaml",
        "tests:\n- { id: one, input: q, criteria: c, assertions: [{ type: json-schema, schema: ./schema.json }] }\n",
    );
    let loaded = load(&Request::new("EVAL.yaml", directory.path()));
    match loaded.suite {
        Some(suite) if !loaded.diagnostics.has_errors() => Ok(suite.cases[0].case.graders[0].clone()),
        _ => {
            let messages = loaded.diagnostics.iter().map(|it| it.message.split('`').step_by(2).collect::<String>());
            Err(messages.collect::<BTreeSet<_>>().into_iter().collect())
        }
    }
}
