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
    let split = between_layouts(suite.path(), CasePlacement::Directories).unwrap();
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
    let joined = between_layouts(suite.path(), CasePlacement::File).unwrap();
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
    let joined = between_layouts(&suite.path().join("shop.eval.yaml"), CasePlacement::File).unwrap();
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
    between_layouts(suite.path(), CasePlacement::Directories).unwrap().output.write(suite.path(), true).unwrap();
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
    let split = between_layouts(suite.path(), CasePlacement::Directories).unwrap();
    let files: Vec<_> = split.output.files().keys().map(|path| path.display().to_string()).collect();
    assert_eq!(files, ["EVAL.yaml", "cases/a/case.yaml", "cases/b/case.yaml"]);
    assert_eq!(split.report.entries().last().map(|entry| (entry.file.as_str(), entry.line)), Some(("lines.jsonl", 2)));
}

#[test]
fn a_matrix_goes_with_its_case() {
    let text = "name: shop\ntests:\n  - id: refund\n    vars: { template: ./orders.csv }\n    matrix: { language: [en, de], schema: [./orders.csv] }\n    \
                input: '{{ language }}'\n    criteria: x\n  - id: of a file\n    matrix: ./orders.csv\n    input: '{{ order }}'\n    criteria: x\n";
    let suite = write(&[("EVAL.yaml", text), ("orders.csv", "order\n1182\n1183\n")]);
    let cases = || {
        let loaded = evalsuite_loader::load(&evalsuite_loader::Request::new(".", suite.path()));
        assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
        let cases = loaded.suite.unwrap().cases;
        let mut cases: Vec<_> =
            cases.into_iter().map(|case| (case.case.id.clone(), case.function, case.case.input.clone())).collect();
        cases.sort_by(|one, other| one.0.cmp(&other.0));
        cases
    };
    let before = cases();
    let ids: Vec<&str> = before.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(ids, ["of a file-1182", "of a file-1183", "refund-de-./orders.csv", "refund-en-./orders.csv"]);
    for layout in [CasePlacement::Directories, CasePlacement::File] {
        between_layouts(suite.path(), layout).unwrap().output.write(suite.path(), true).unwrap();
        assert_eq!(cases(), before);
    }
}

/// Tasks as they are written out: in this form they come back from other layouts.
const SUITE_JSON: &str = r#"{
  "name": "shop",
  "agent_name": "agent",
  "kind": "regression"
}
"#;
const TASK: &str = r#"{
  "id": "late",
  "description": "Refuses politely.",
  "input": {
    "prompt": "I want a refund",
    "fixture_dir": "fixtures/orders"
  },
  "metadata": {
    "failure_bucket": "refunds"
  },
  "trials_per_run": 2,
  "timeout_seconds": 240,
  "reference_solution": {
    "expected_outcome": {
      "refund": false
    }
  },
  "graders": [
    {
      "name": "contains",
      "config": {
        "value": "sorry"
      }
    },
    {
      "name": "similar",
      "config": {
        "value": "no",
        "min_score": 0.5
      }
    }
  ]
}
"#;

fn reasons(conversion: &Conversion, outcome: Outcome) -> Vec<&str> {
    let entries = conversion.report.entries().iter().filter(|entry| entry.outcome == outcome);
    entries.flat_map(|entry| &entry.reasons).map(String::as_str).collect()
}

#[test]
fn tasks_become_cases_and_come_back_as_they_were() {
    for layout in [CasePlacement::File, CasePlacement::Directories] {
        let suite = write(&[("suite.json", SUITE_JSON), ("tasks/late.json", TASK), ("fixtures/orders/a.txt", "1")]);
        let cases = between_layouts(suite.path(), layout).unwrap();
        assert_eq!((reasons(&cases, Outcome::Approximated), reasons(&cases, Outcome::Dropped)), (vec![], vec![]));
        cases.output.write(suite.path(), true).unwrap();
        assert!(!suite.path().join("suite.json").exists() && !suite.path().join("tasks").exists());
        let head = read(suite.path(), "EVAL.yaml");
        assert!(head.starts_with("name: shop\nkind: regression\nexecution:\n  threshold: 0.0\n"), "{head}");
        let case = match layout {
            CasePlacement::File => head,
            CasePlacement::Directories => read(suite.path(), "cases/late/case.yaml"),
        };
        for line in [
            "input: I want a refund",
            "template: ./fixtures/orders",
            "required: true",
            "min_score: 1.0",
            "refund: false",
        ] {
            assert!(case.contains(line), "{line} in\n{case}");
        }
        let tasks = to_tasks(suite.path()).unwrap();
        assert_eq!(reasons(&tasks, Outcome::Dropped), [""; 0]);
        tasks.output.write(suite.path(), true).unwrap();
        assert_eq!(read(suite.path(), "suite.json"), SUITE_JSON);
        assert_eq!(read(suite.path(), "tasks/late.json"), TASK);
        assert!(!suite.path().join("EVAL.yaml").exists() && !suite.path().join("cases").exists());
    }
}

#[test]
fn the_mean_of_tasks_decides_where_their_threshold_is_below_1() {
    let head = SUITE_JSON.replace("\"kind\"", "\"taskPassThreshold\": 0.7, \"kind\"");
    let suite = write(&[("suite.json", &head), ("tasks/late.json", TASK)]);
    let text =
        between_layouts(suite.path(), CasePlacement::File).unwrap().output.files()[Path::new("EVAL.yaml")].clone();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("threshold: 0.7") && !text.contains("required") && !text.contains("min_score: 1"), "{text}");
}

#[test]
fn what_tasks_have_and_cases_have_not_is_named() {
    let head = r#"{"name": "Card agent", "agent_name": "card_agent", "require_reference_solution": true}"#;
    let task = r#"{"id": "a", "description": "x", "input": {"photo": 1, "base_fixture": "b", "fixture_dir": "c"},
        "reference_solution": {"expected_outcome": {"x": 1}, "source": "captured"},
        "graders": [{"name": "own", "config": {"type": 1}}, {"name": "llm-grader"}]}"#;
    let suite = write(&[("suite.json", head), ("tasks/deep/b.json", task), ("tasks/deep/workspace/x.json", "{}")]);
    let cases = between_layouts(&suite.path().join("suite.json"), CasePlacement::File).unwrap();
    assert_eq!(
        reasons(&cases, Outcome::Approximated),
        [
            "the name of an eval file has no other characters: `card-agent`",
            "write `agent = card_agent` in the macro: without it, the function is `agent`",
            "the test has the name of the id, where it has that of the file",
        ]
    );
    assert_eq!(
        reasons(&cases, Outcome::Different),
        [
            "the agent gets the object as text",
            "a score above 0 passes, unless the grader says that it fails",
            "the case fails where this grader cannot decide: it is `required`",
            "the case fails where this grader cannot decide: it is `required`",
        ]
    );
    assert_eq!(
        reasons(&cases, Outcome::Dropped),
        [
            "an eval file does not require expected outputs",
            "an expected output does not say where it is from",
            "a workspace has one template",
        ]
    );
    let text = String::from_utf8(cases.output.files()[Path::new("EVAL.yaml")].clone()).unwrap();
    assert!(text.contains("type: own\n        config:\n          type: 1\n"), "{text}");
}

#[test]
fn a_suite_json_with_cases_becomes_an_eval_file() {
    let suite = write(&[("suite.json", SUITE_JSON), ("cases/a/case.yaml", "input: x\ncriteria: y\n")]);
    let tasks = to_tasks(suite.path()).unwrap();
    let copy = write(&[("suite.json", SUITE_JSON), ("cases/a/case.yaml", "input: x\ncriteria: y\n")]);
    tasks.output.write(copy.path(), true).unwrap();
    assert!(read(copy.path(), "tasks/a.json").contains("\"prompt\": \"x\""));
    assert!(!copy.path().join("cases").exists() && copy.path().join("suite.json").exists());
    let joined = between_layouts(suite.path(), CasePlacement::File).unwrap();
    joined.output.write(suite.path(), true).unwrap();
    let text = read(suite.path(), "EVAL.yaml");
    assert!(text.contains("threshold: 0.8\n") && text.contains("- id: a\n    input: x\n"), "{text}");
    assert!(!suite.path().join("suite.json").exists());
}

#[test]
fn what_cases_have_and_tasks_have_not_is_named() {
    let text = "name: shop # a comment\ntags: [fast]\nexecution: { threshold: 0.9, workers: 2, trials: { count: 3, strategy: mean } }\n\
                assertions: [{ type: contains, value: x, weight: 2 }]\ntests:\n  \
                - { id: a, input: '${{ NAME }}', criteria: Greets, assertions: [Is polite, Is short, { include: y }], execution: { threshold: 0.5 } }\n  \
                - { id: b, input: [{ role: system, content: x }], expected_output: hi, execution: { skip_defaults: true } }\n  \
                - { id: c, turns: [{ input: x }], execution: { skip_defaults: true } }\n";
    let suite = write(&[("EVAL.yaml", text)]);
    let tasks = to_tasks(suite.path()).unwrap();
    let has = |outcome: Outcome, entry: &str, reason: &str| {
        let is = |it: &&crate::SourceEntry| {
            it.outcome == outcome && it.name == entry && it.reasons.iter().any(|it| it.contains(reason))
        };
        assert!(tasks.report.entries().iter().any(|it| is(&it)), "{entry}: {reason}\n{}", tasks.report);
    };
    has(Outcome::Approximated, "comments", "JSON has none");
    has(Outcome::Different, "tests[0].assertions[0]", "counts as one grader");
    has(Outcome::Different, "tests[0].input", "nothing is filled in");
    has(Outcome::Different, "tests[0].execution.threshold", "the threshold of the suite, 0.9");
    has(Outcome::Different, "tests[1].input", "the messages as data");
    has(Outcome::Approximated, "tests[1].expected_output", "it is in `text`");
    has(Outcome::Different, "assertions[0]", "all graders count alike");
    for entry in ["tags", "execution.workers", "execution.trials.strategy", "tests[2].turns"] {
        has(Outcome::Dropped, entry, "nothing like it");
    }
    has(Outcome::Dropped, "tests[0].assertions[2]", "no templates");
    has(Outcome::Dropped, "tests[2]", "nothing is left that grades it");
    let json = |path: &str| -> evalsuite_schema::Value {
        evalsuite_schema::json::from_slice(&tasks.output.files()[Path::new(path)]).unwrap()
    };
    let head = evalsuite_schema::json::json!({"name": "shop", "agent_name": "agent", "kind": "capability", "task_pass_threshold": 0.9});
    assert_eq!(json("suite.json"), head);
    let a = json("tasks/a.json");
    assert_eq!((&a["description"], &a["trials_per_run"]), (&"Greets".into(), &3.into()));
    let graders = evalsuite_schema::json::json!([
        {"name": "rubrics", "config": {"criteria": ["Is polite", "Is short"]}}, {"name": "contains", "config": {"value": "x"}},
    ]);
    assert_eq!(a["graders"], graders);
    assert_eq!(json("tasks/b.json")["graders"], evalsuite_schema::json::json!([{"name": "llm-grader"}]));
    assert!(!tasks.output.files().contains_key(Path::new("tasks/c.json")));
}

#[test]
fn a_suite_that_cannot_be_converted_is_refused() {
    for (files, message) in [
        (vec![("suite.json", "{}"), ("tasks/a.json", "{}")], "is not a task"),
        (vec![("suite.json", "[]"), ("tasks/a.json", "{}")], "is not a mapping"),
        (vec![("EVAL.yaml", "name: x"), ("suite.json", "{}")], "several suite files"),
        (vec![("EVAL.yaml", "tests: []")], "has no cases"),
        (vec![("EVAL.yaml", "- a")], "is not a mapping"),
        (vec![("EVAL.yaml", "tests: [")], "the source cannot be read"),
    ] {
        let suite = write(&files);
        let error = between_layouts(suite.path(), CasePlacement::File).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let suite = write(&[("suite.json", SUITE_JSON), ("tasks/late.json", TASK)]);
    assert!(to_tasks(suite.path()).unwrap_err().to_string().contains("is in the tasks layout"));
}
