//! What people get wrong in their first hour.

use super::{SUITE, check};

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
