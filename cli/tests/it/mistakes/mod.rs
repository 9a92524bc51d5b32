//! What is answered to mistakes of people who write their first suites, and what `--fix` makes of them.
//!
//! Each line of a table is a mistake: a title, and the files of the suite `suites/s` in which it is made.

/// A case with these lines.
macro_rules! case {
    ($text:expr) => {
        &[SUITE, ("cases/a/case.yaml", $text)]
    };
}

/// A suite with these lines.
macro_rules! suite {
    ($text:expr) => {
        &[("EVAL.yaml", $text), CASE]
    };
}

mod first_hour;
mod notation;

use std::fmt::Write as _;

use crate::package::Package;

type Mistake<'a> = (&'a str, &'a [(&'a str, &'a str)]);

/// The suite of mistakes in a case.
const SUITE: (&str, &str) = ("EVAL.yaml", "name: s\n");

/// A case for mistakes in the suite.
const CASE: (&str, &str) = ("cases/a/case.yaml", "input: Hello\ncriteria: Greets.\n");

/// The files, the answer, and the files as `--fix` leaves them, of each mistake.
fn answers(mistakes: &[Mistake<'_>]) -> String {
    let mut text = String::new();
    for (title, files) in mistakes {
        let package = Package::new(&[]);
        writeln!(text, "# {title}\n").unwrap();
        let path = |name: &str| format!("suites/s/{name}");
        for (name, content) in *files {
            package.write(&path(name), content);
            if (*name, *content) != SUITE && (*name, *content) != CASE {
                writeln!(text, "{}", shown(name, content)).unwrap();
            }
        }
        let answer = package.run(&["check", "suites/s"]);
        writeln!(text, "{}{}", answer.out, answer.err).unwrap();
        let fixed = package.run(&["check", "suites/s", "--fix"]);
        for (name, content) in *files {
            let now = std::fs::read_to_string(package.root().join(path(name))).unwrap();
            if now != *content {
                let rest = if fixed.code == 0 { "" } else { ", and problems remain" };
                writeln!(text, "{}", shown(&format!("--fix{rest}: {name}"), &now)).unwrap();
            }
        }
    }
    text
}

fn shown(name: &str, content: &str) -> String {
    let lines: String = content.lines().map(|line| format!("    {line}\n")).collect();
    format!("{name}:\n\n{lines}")
}

fn check(name: &str, mistakes: &[Mistake<'_>]) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots/mistakes");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, answers(mistakes)));
}

#[test]
fn keys_in_another_place_are_told_where_they_belong() {
    check(
        "places",
        &[
            ("trials is a number", suite!("execution:\n  trials: 3\n")),
            (
                "settings of execution at the root of a case",
                case!("input: Hello\ncriteria: Greets.\nthreshold: 0.5\ntrials: 3\ntimeout: 5\n"),
            ),
            (
                "settings of execution next to it",
                case!("input: Hello\ncriteria: Greets.\nthreshold: 0.5\nexecution:\n  trials: { count: 3 }\n"),
            ),
            (
                "settings of execution next to it, in braces",
                suite!("timeout_seconds: 5   # of a case\nexecution: { workers: 3 }\n"),
            ),
            (
                "settings of execution in a list of cases",
                &[(
                    "EVAL.yaml",
                    "tests:\n  - { id: a, input: Hello, criteria: Greets., threshold: 1 }\n  - id: b\n    target: large\n    input: Hello\n    criteria: Greets.\n  - threshold: 0.5\n    id: c\n    input: Hello\n    criteria: Greets.\n    execution: { skip_defaults: true }\n",
                )],
            ),
            (
                "hooks at the root of a suite",
                suite!(
                    "hooks:\n  before_each: echo hello\n\n  # last\n  after_all:\n    command: echo bye\nkind: capability\n"
                ),
            ),
            ("one hook at the root of a suite", suite!("before_each: echo hello\n")),
            (
                "hooks next to workspace",
                &[
                    ("EVAL.yaml", "workspace:\n  template: ./files\nbefore_each: [echo, hello]\n"),
                    ("files/a.txt", ""),
                    CASE,
                ],
            ),
            ("a setting of the suite in a case", case!("input: Hello\ncriteria: Greets.\nworkers: 3\n")),
            (
                "keys of a case below execution",
                case!("input: Hello\ncriteria: Greets.\nexecution:\n  metadata: { team: a }\n"),
            ),
        ],
    );
}

#[test]
fn graders_of_other_tools_are_translated() {
    check(
        "graders",
        &[
            (
                "not-",
                case!(
                    "input: Hello\nassertions:\n  - { type: not-contains, value: sorry }\n  - type: not_equals\n    value: Bye\n  - { type: not-is-json }\n"
                ),
            ),
            (
                "promptfoo",
                case!(
                    "input: Hello\nassertions:\n  - { type: llm-rubric, value: Is polite }\n  - type: model-graded-closedqa\n    value: \"Greets, and is polite\"\n  - { type: g-eval, value: Is polite }\n  - { type: not-llm-rubric, value: Is rude }\n  - { type: javascript, value: output.length > 3 }\n  - { type: levenshtein, value: Hello }\n"
                ),
            ),
            (
                "Inspect and OpenAI's evals",
                case!(
                    "input: Hello\nassertions:\n  - { type: includes, value: Hello }\n  - { type: model_graded_qa, value: Is polite }\n  - { type: string_check, input: x, reference: y, operation: eq }\n"
                ),
            ),
            (
                "DeepEval",
                case!(
                    "input: Hello\nassertions:\n  - { type: GEval, value: Is polite }\n  - { type: AnswerRelevancyMetric, threshold: 0.5 }\n  - { type: ToolCorrectnessMetric, value: [refund] }\n"
                ),
            ),
            (
                "name in place of tool",
                case!(
                    "input: Hello\nassertions:\n  - { type: tool-trajectory, mode: in_order, expected: [{ name: refund }] }\n"
                ),
            ),
            (
                "an inline schema",
                case!(
                    "input: Hello\nassertions:\n  - { type: json-schema, schema: { type: object } }\n  - { type: contains-json, schema: { type: objekt } }\n  - { type: json-schema, schema: 5 }\n"
                ),
            ),
        ],
    );
}

#[test]
fn values_that_mean_something_else_are_told() {
    check(
        "values",
        &[
            ("the id is a number", &[("EVAL.yaml", "tests:\n  - { id: 5, input: Hello, criteria: Greets. }\n")]),
            (
                "a dependency that is not there",
                &[("EVAL.yaml", "tests:\n  - { id: a, input: Hello, criteria: Greets., depends_on: [b] }\n")],
            ),
            ("two commands in a list", suite!("workspace:\n  hooks: { before_each: [\"npm i\", \"npm run seed\"] }\n")),
            (
                "a command line in a list",
                suite!(
                    "workspace:\n  hooks:\n    before_each:\n      - npm run seed\n    after_each: [npm run, seed]\n"
                ),
            ),
        ],
    );
}

#[test]
fn files_that_are_missing_are_told_with_what_is_there() {
    check(
        "files",
        &[
            ("a template that is not there", suite!("workspace: { template: ./ws }\n")),
            ("a template that is called like the suite", suite!("workspace: { template: ./suite }\n")),
            (
                "a template with a typo",
                &[("EVAL.yaml", "workspace: { template: ./workspce }\n"), ("workspace/a.txt", ""), CASE],
            ),
            ("no suite file beside cases", &[CASE]),
            ("cases that are files", &[("cases/a.yaml", "input: Hello\n")]),
            ("a suite file of another name", &[("suite.yaml", "tests: []\n")]),
            ("the directory of suites", &[("one/EVAL.yaml", "tests: []\n"), ("two/EVAL.yaml", "tests: []\n")]),
            ("a list of cases", &[("cases.jsonl", "{}\n")]),
            ("something else", &[("README.md", ""), ("notes/a.txt", "")]),
        ],
    );
}
