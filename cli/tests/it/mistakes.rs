//! What is answered to mistakes of people who write their first suites, and what `--fix` makes of them.
//!
//! Each line of a table is a mistake: a title, and the files of the suite `suites/s` in which it is made.

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
    settings.set_snapshot_path("snapshots/mistakes");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, answers(mistakes)));
}

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

#[test]
fn mistakes_of_a_first_hour_are_answered() {
    check(
        "first_hour",
        &[
            ("a tab", &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n\t- {type: contains, value: x}\n")]),
            (
                "a key between two levels",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - type: contains\n   value: x\n")],
            ),
            (
                "a key below a value",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - type: contains\n      value: x\n")],
            ),
            (
                "one grader without a dash",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  type: contains\n  value: x\n")],
            ),
            (
                "the type of a grader as key",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - contains: x\n")],
            ),
            (
                "no space after a colon",
                &[SUITE, ("cases/a/case.yaml", "input:hi\nassertions:\n  - {type: contains, value: x}\n")],
            ),
            (
                "a colon in a text",
                &[
                    SUITE,
                    ("cases/a/case.yaml", "input: Reply: yes or no\nassertions:\n  - {type: contains, value: x}\n"),
                ],
            ),
            ("a text that starts with @", &[SUITE, ("cases/a/case.yaml", "input: @user hello\ncriteria: c\n")]),
            ("a text that starts with braces", &[SUITE, ("cases/a/case.yaml", "input: {{ question }}\ncriteria: c\n")]),
            ("a text that starts with *", &[SUITE, ("cases/a/case.yaml", "input: *hello\ncriteria: c\n")]),
            (
                "a version as a number",
                &[
                    ("EVAL.yaml", "name: s\nversion: 1.0\n"),
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: x}\n"),
                ],
            ),
            (
                "a name with blanks",
                &[
                    ("EVAL.yaml", "name: My Suite\n"),
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: x}\n"),
                ],
            ),
            (
                "a key without value",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: }\n")],
            ),
            (
                "several texts for contains",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: [a, b]}\n")],
            ),
            (
                "values",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains-any, values: [a, b]}\n")],
            ),
            (
                "any text",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains-any, value: a}\n")],
            ),
            (
                "negate str",
                &[
                    SUITE,
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: a, negate: \"yes\"}\n"),
                ],
            ),
            (
                "weight neg",
                &[
                    SUITE,
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: a, weight: high}\n"),
                ],
            ),
            (
                "required yes",
                &[
                    SUITE,
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: a, required: yes}\n"),
                ],
            ),
            (
                "threshold pct",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: contains, value: x}\nexecution: {threshold: 80}\n",
                    ),
                ],
            ),
            (
                "threshold pct2",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: contains, value: x}\nexecution: {threshold: 80%}\n",
                    ),
                ],
            ),
            (
                "timeout unit",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: contains, value: x}\nexecution: {timeout_seconds: 30s}\n",
                    ),
                ],
            ),
            (
                "kind",
                &[
                    ("EVAL.yaml", "kind: smoke\n"),
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: x}\n"),
                ],
            ),
            ("no input", &[SUITE, ("cases/a/case.yaml", "criteria: c\n")]),
            ("empty case", &[SUITE, ("cases/a/case.yaml", "")]),
            ("case list", &[SUITE, ("cases/a/case.yaml", "- input: hi\n  criteria: c\n")]),
            ("tests map", &[("EVAL.yaml", "tests:\n  a:\n    input: hi\n    criteria: c\n")]),
            ("tests missing", &[("EVAL.yaml", "tests: ./casess\n")]),
            ("tests file", &[("EVAL.yaml", "tests:\n  - ./cases/a.yaml\n")]),
            ("expect", &[SUITE, ("cases/a/case.yaml", "input: hi\nexpect: hello\n")]),
            ("ideal", &[SUITE, ("cases/a/case.yaml", "input: hi\nideal: hello\ntarget: x\n")]),
            ("messages", &[SUITE, ("cases/a/case.yaml", "messages:\n  - {role: user, content: hi}\ncriteria: c\n")]),
            ("role", &[SUITE, ("cases/a/case.yaml", "input:\n  - {role: human, content: hi}\ncriteria: c\n")]),
            ("content missing", &[SUITE, ("cases/a/case.yaml", "input:\n  - {role: user, text: hi}\ncriteria: c\n")]),
            ("input map", &[SUITE, ("cases/a/case.yaml", "input: {question: hi}\ncriteria: c\n")]),
            ("input num", &[SUITE, ("cases/a/case.yaml", "input: 5\ncriteria: c\n")]),
            ("assert str", &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions: contains hello\n")]),
            (
                "regex bad",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: regex, value: \"([a-z\"}\n")],
            ),
            (
                "regex pat",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: regex, pattern: \"[a-z]\"}\n")],
            ),
            (
                "regex esc",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: regex, value: \"\\d+\"}\n")],
            ),
            ("lat", &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: latency, max_ms: 500}\n")]),
            ("cost", &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: cost, threshold: 0.5}\n")]),
            (
                "tools min",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: tool-trajectory, mode: any_order, minimums: [search]}\n",
                    ),
                ],
            ),
            (
                "tools expected any",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: tool-trajectory, mode: any_order, expected: [{tool: a}]}\n",
                    ),
                ],
            ),
            (
                "tools nomode",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: tool-trajectory, expected: [{tool: a}]}\n",
                    ),
                ],
            ),
            (
                "tools tools",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: tool-trajectory, mode: strict, tools: [a]}\n",
                    ),
                ],
            ),
            (
                "args list",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: tool-trajectory, mode: exact, expected: [{tool: a, args: [1]}]}\n",
                    ),
                ],
            ),
            (
                "rubrics rub",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: rubrics, rubrics: [Is nice]}\n")],
            ),
            (
                "rubric w",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: rubrics, criteria: [{name: tone, description: Polite}]}\n",
                    ),
                ],
            ),
            (
                "codegrader",
                &[
                    SUITE,
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: code-grader, script: ./check.py}\n"),
                ],
            ),
            (
                "composite",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: composite, graders: [{type: is-json}]}\n",
                    ),
                ],
            ),
            (
                "weighted",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: composite, aggregator: weighted, assertions: [{type: is-json}]}\n",
                    ),
                ],
            ),
            (
                "workspace str",
                &[
                    ("EVAL.yaml", "workspace: ./ws\n"),
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: x}\n"),
                    ("ws/a.txt", "x"),
                ],
            ),
            ("files", &[SUITE, ("cases/a/case.yaml", "input: hi\nfiles: [a.txt]\ncriteria: c\n")]),
            (
                "input files str",
                &[SUITE, ("cases/a/case.yaml", "input: hi\ninput_files: a.txt\ncriteria: c\n"), ("cases/a/a.txt", "x")],
            ),
            (
                "requires env str",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: contains, value: x}\nrequires: {env: API_KEY}\n",
                    ),
                ],
            ),
            (
                "depends str",
                &[
                    SUITE,
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: x}\ndepends_on: b\n"),
                ],
            ),
            (
                "metadata list",
                &[
                    SUITE,
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: x}\nmetadata: [a]\n"),
                ],
            ),
            (
                "tags num",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: x}\ntags: [1]\n")],
            ),
            (
                "gate",
                &[
                    ("EVAL.yaml", "gates: [\"pass rate > 0.9\"]\n"),
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: x}\n"),
                ],
            ),
            (
                "gate2",
                &[
                    ("EVAL.yaml", "gates: pass_rate >= 90%\n"),
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: x}\n"),
                ],
            ),
            (
                "description",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: contains, value: x}\ndescription: what\n",
                    ),
                ],
            ),
            (
                "name case",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: x}\nname: what\n")],
            ),
            (
                "skip",
                &[SUITE, ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: x}\nskip: true\n")],
            ),
            (
                "judge",
                &[
                    ("EVAL.yaml", "judge: gpt-4\nmodel: gpt-4\nproviders: [openai]\nprompts: [hi]\ndefaultTest: {}\n"),
                    ("cases/a/case.yaml", "input: hi\nassertions:\n  - {type: contains, value: x}\n"),
                ],
            ),
            ("turns text", &[SUITE, ("cases/a/case.yaml", "mode: conversation\nturns: [hello, bye]\ncriteria: c\n")]),
            (
                "trials k",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: contains, value: x}\nexecution: {trials: {n: 3}}\n",
                    ),
                ],
            ),
            (
                "trials str",
                &[
                    SUITE,
                    (
                        "cases/a/case.yaml",
                        "input: hi\nassertions:\n  - {type: contains, value: x}\nexecution: {trials: \"3\"}\n",
                    ),
                ],
            ),
            ("quote2", &[SUITE, ("cases/a/case.yaml", "input: 'it's'\ncriteria: c\n")]),
            ("doc", &[SUITE, ("cases/a/case.yaml", "input: hi\n---\ncriteria: c\n")]),
            ("json comma", &[("suite.json", "{\"name\": \"s\", \"agent_name\": \"a\",}"), ("tasks/a.json", "{}")]),
            ("task yaml", &[("suite.json", "{\"name\": \"s\", \"agent_name\": \"a\"}"), ("tasks/a.yaml", "id: a\n")]),
            (
                "task keys",
                &[
                    ("suite.json", "{\"name\": \"s\", \"agent_name\": \"a\"}"),
                    (
                        "tasks/a.json",
                        "{\"id\": \"a\", \"description\": \"d\", \"input\": \"hello\", \"trials\": 3, \"graders\": [{\"type\": \"contains\", \"value\": \"x\"}]}",
                    ),
                ],
            ),
            (
                "task grader",
                &[
                    ("suite.json", "{\"name\": \"s\", \"agentName\": \"a\"}"),
                    (
                        "tasks/a.json",
                        "{\"id\": \"a\", \"description\": \"d\", \"graders\": [{\"name\": \"contains\", \"value\": \"x\"}]}",
                    ),
                ],
            ),
        ],
    );
}
