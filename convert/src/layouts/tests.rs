//! A suite goes from one layout to the other and back.

use std::fs;
use std::path::Path;

use super::*;
use crate::report::Outcome;
use crate::test_files::write;

const INLINE: &str = "\
# The suite.
name: shop
execution:
  threshold: 0.9 # strict

# All cases.
tests:
  # The first case.
  - id: refund-small # stable
    input: I want a refund
    assertions:
      # The amount matters.
      - type: contains
        value: '19.90'
  - id: a/b
    input: hello
    criteria: Greets
# end
";

fn read(directory: &Path, path: &str) -> String {
    fs::read_to_string(directory.join(path)).unwrap()
}

#[test]
fn cases_move_to_directories_and_back_with_their_comments() {
    let suite = write(&[("EVAL.yaml", INLINE)]);
    let split = between_layouts(suite.path(), Layout::Directories).unwrap();
    split.output.write(suite.path(), true).unwrap();
    assert_eq!(
        read(suite.path(), "EVAL.yaml"),
        "# The suite.\nname: shop\nexecution:\n  threshold: 0.9 # strict\n\n# All cases.\ntests: ./cases/\n# end\n"
    );
    assert_eq!(
        read(suite.path(), "cases/refund-small/case.yaml"),
        "# The first case.\ninput: I want a refund # stable\nassertions:\n  # The amount matters.\n  - type: contains\n    value: '19.90'\n"
    );
    assert_eq!(read(suite.path(), "cases/a-b/case.yaml"), "id: a/b\ninput: hello\ncriteria: Greets\n");
    let reasons: Vec<&str> =
        split.report.entries().iter().flat_map(|entry| &entry.reasons).map(String::as_str).collect();
    assert_eq!(reasons, ["cases are in the order of their names", "the directory is called `a-b`"]);
    let joined = between_layouts(suite.path(), Layout::File).unwrap();
    assert_eq!(joined.report.count(Outcome::Dropped), 0);
    joined.output.write(suite.path(), true).unwrap();
    assert!(!suite.path().join("cases").join("a-b").exists());
    let text = read(suite.path(), "EVAL.yaml");
    for comment in
        ["# The suite.", "# strict", "# All cases.", "# The first case.", "# stable", "# The amount matters.", "# end"]
    {
        assert_eq!(text.matches(comment).count(), 1, "{comment} in\n{text}");
    }
}

#[test]
fn files_of_a_case_directory_are_found_from_the_suite() {
    let case = "input:\n  - role: user\n    content:\n      - type: file\n        value: brief.md\nassertions:\n  - type: code-grader\n    command: [sh, ./check.sh, --strict]\n";
    let suite = write(&[
        ("shop.eval.yaml", "name: shop\n"),
        ("cases/a/case.yaml", case),
        ("cases/a/brief.md", "x"),
        ("cases/a/check.sh", "true"),
        ("cases/a/workspace/file.txt", "x"),
        ("cases/_shared/case.yaml", "input: x"),
    ]);
    let joined = between_layouts(&suite.path().join("shop.eval.yaml"), Layout::File).unwrap();
    joined.output.write(suite.path(), true).unwrap();
    let text = read(suite.path(), "shop.eval.yaml");
    for path in
        ["value: ./cases/a/brief.md\n", "- ./cases/a/check.sh\n", "- '--strict'\n", "template: cases/a/workspace\n"]
    {
        assert!(
            text.contains(path) || text.contains(&path.replace("./", "'./").replace('\n', "'\n")),
            "{path} in\n{text}"
        );
    }
    assert!(!text.contains("_shared"), "{text}");
    assert!(!suite.path().join("cases/a/case.yaml").exists() && suite.path().join("cases/a/brief.md").exists());
}

#[test]
fn a_directory_is_the_same_from_deeper_down() {
    let text = "name: x\ntests:\n  - id: a\n    input: x\n    assertions:\n      - type: code-grader\n        command: [sh, ./check.sh]\n        cwd: .\n";
    let suite = write(&[("EVAL.yaml", text), ("check.sh", "true")]);
    between_layouts(suite.path(), Layout::Directories).unwrap().output.write(suite.path(), true).unwrap();
    let case = read(suite.path(), "cases/a/case.yaml");
    assert!(case.contains("cwd: ../../\n") && case.contains("- ./check.sh\n"), "{case}");
}

#[test]
fn lines_and_lists_become_cases() {
    let suite = write(&[
        ("EVAL.yaml", "name: shop\ntests:\n  - file://more/*.yaml\n  - file://lines.jsonl\n"),
        ("more/list.yaml", "# one\n- id: a\n  input: x\n  criteria: y\n"),
        ("lines.jsonl", "\n{\"id\": \"b\", \"input\": \"x\", \"criteria\": \"y\"}\n"),
    ]);
    let split = between_layouts(suite.path(), Layout::Directories).unwrap();
    let files: Vec<_> = split.output.files().keys().map(|path| path.display().to_string()).collect();
    assert_eq!(files, ["EVAL.yaml", "cases/a/case.yaml", "cases/b/case.yaml"]);
    assert_eq!(split.report.entries().last().map(|entry| (entry.file.as_str(), entry.line)), Some(("lines.jsonl", 2)));
}

#[test]
fn a_suite_of_another_layout_is_refused() {
    for (files, message) in [
        (vec![("suite.json", "{}")], "has a suite.json"),
        (vec![("EVAL.yaml", "name: x"), ("b.eval.yaml", "name: x")], "several eval files"),
        (vec![("EVAL.yaml", "tests: []")], "has no cases"),
        (vec![("EVAL.yaml", "- a")], "is not a mapping"),
        (vec![("EVAL.yaml", "tests: [")], "the source cannot be read"),
    ] {
        let suite = write(&files);
        let error = between_layouts(suite.path(), Layout::File).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}
