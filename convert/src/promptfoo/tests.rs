//! Configurations in temporary directories.

use evalsuite_schema::json::json;

use super::*;
use crate::output::Conversion;
use crate::report::Outcome;
use crate::suite_draft::CasePlacement;
use crate::tests::write;

/// Converts `promptfooconfig.yaml` among other files.
fn convert(files: &[(&str, &str)]) -> Result<(Conversion, String), ConvertError> {
    let directory = write(files);
    let conversion = from_promptfoo(directory.path())?.in_layout(CasePlacement::File);
    let text = String::from_utf8(conversion.output.files()[Path::new("EVAL.yaml")].clone()).unwrap();
    Ok((conversion, text))
}

fn lines(conversion: &Conversion, outcome: Outcome) -> Vec<String> {
    let entries = conversion.report.entries().iter().filter(|entry| entry.outcome == outcome);
    entries.map(|entry| format!("{}:{} {}: {}", entry.file, entry.line, entry.name, entry.reasons.join("; "))).collect()
}

#[test]
fn comments_stay_with_their_entries() {
    let config = "\
# yaml-language-server: $schema=https://promptfoo.dev/config-schema.json
# Riddles.
description: Riddles # of all kinds
# The model.
providers: [openai:gpt-5]
prompts:
  # Short.
  - 'Answer: {{q}}'
# All tests.
tests:
  # The first.
  - vars:
      q: [a, b]
    assert:
      # Must say so.
      - type: contains # exactly
        value: a
# The end.
";
    let (conversion, text) = convert(&[("promptfooconfig.yaml", config)]).unwrap();
    let comments = [
        "# Riddles.",
        "# of all kinds",
        "# The model.",
        "# Short.",
        "# All tests.",
        "# The first.",
        "# Must say so.",
        "# exactly",
        "# The end.",
    ];
    for comment in comments {
        assert_eq!(text.matches(comment).count(), 1, "{comment} in\n{text}");
    }
    assert!(!text.contains("yaml-language-server"), "{text}");
    assert_eq!(conversion.report.count(Outcome::Dropped), 0, "{}", conversion.report);
}

#[test]
fn what_is_dropped_is_named_with_its_line() {
    let config = "\
prompts:
  - exec:./prompt.sh
  - Hi {{name}}
env:
  KEY: x
evaluateOptions: { maxConcurrency: 80, repeat: 2, delay: 5 }
defaultTest:
  options: { rubricPrompt: judge }
tests:
  - https://docs.google.com/spreadsheets/x
  - file://none.yaml
  - assert:
      - type: bleu
        value: x
      - type: contains
        value: Hi
        rubricPrompt: mine
  - assert: [{ type: perplexity, threshold: 1 }]
  - provider: other
    assertScoringFunction: file://score.js
    vars: { name: file://none.txt }
";
    let (conversion, text) = convert(&[("promptfooconfig.yaml", config)]).unwrap();
    let dropped: Vec<String> = lines(&conversion, Outcome::Dropped)
        .into_iter()
        .map(|line| line.split(": ").next().unwrap().to_owned())
        .collect();
    assert_eq!(
        dropped,
        [
            "promptfooconfig.yaml:2 prompts[0]",
            "promptfooconfig.yaml:4 env",
            "promptfooconfig.yaml:6 evaluateOptions.delay",
            "promptfooconfig.yaml:8 defaultTest.options.rubricPrompt",
            "promptfooconfig.yaml:10 tests[0]",
            "promptfooconfig.yaml:11 tests[1]",
            "promptfooconfig.yaml:20 tests[4].assertScoringFunction",
            "promptfooconfig.yaml:13 tests[2].assert[0]",
            "promptfooconfig.yaml:17 tests[2].assert[1].rubricPrompt",
            "promptfooconfig.yaml:18 tests[3].assert[0]",
            "promptfooconfig.yaml:18 tests[3]",
            "promptfooconfig.yaml:21 tests[4].vars.name",
        ],
        "{}",
        conversion.report
    );
    assert!(text.contains("kind: regression") && text.contains("count: 2") && text.contains("workers: 50"), "{text}");
}

#[test]
fn cases_of_prompts_that_programs_write_have_the_variables_as_their_input() {
    let config = "\
prompts:
  - file://prompts.js:first
  - { id: prompts.py, label: second }
tests:
  - { description: one, vars: { topic: Tea }, assert: [{ type: contains, value: tea }] }
  - { description: many, prompts: [second], vars: { topic: '{{Milk}}', size: 2 }, assert: [{ type: contains, value: milk }] }
  - { description: none, assert: [{ type: contains, value: x }] }
";
    let (conversion, text) = convert(&[("promptfooconfig.yaml", config)]).unwrap();
    let said = "is a program that writes prompts: the input of a case is the variables of its test";
    let different = lines(&conversion, Outcome::Different);
    assert_eq!(
        different,
        [
            format!("promptfooconfig.yaml:2 prompts[0]: `prompts.js` {said}"),
            format!("promptfooconfig.yaml:3 prompts[1]: `prompts.py` {said}"),
        ]
    );
    assert_eq!(
        lines(&conversion, Outcome::Dropped),
        ["promptfooconfig.yaml:7 tests[2]: its prompt is empty"],
        "{}",
        conversion.report
    );
    assert!(text.contains("  - id: one\n    input: Tea\n"), "{text}");
    assert!(text.contains("\n      {\n        \"topic\": \"{{Milk}}\",\n        \"size\": 2\n      }\n"), "{text}");
}

#[test]
fn cases_without_a_prompt_have_the_variables_as_their_input() {
    let config = "\
prompts: ['{{message}}', 'ignore this']
providers: [{ id: https, config: { body: '{\"question\": \"{{ question }}\", \"text\": \"{{prompt}}\"}' } }]
tests:
  - { prompts: ['{{message}}'], vars: { message: hi }, assert: [{ type: contains, value: x }] }
  - { prompts: ['{{message}}'], vars: { turns: { a: 1 } }, assert: [{ type: contains, value: x }] }
  - { prompts: ['ignore this'], vars: { question: why? }, assert: [{ type: contains, value: x }] }
  - { prompts: ['ignore this'], vars: { expected: x }, assert: [{ type: contains, value: x }] }
  - { prompts: ['{{message}}'], assert: [{ type: contains, value: x }] }
";
    let (conversion, text) = convert(&[("promptfooconfig.yaml", config)]).unwrap();
    assert_eq!(
        lines(&conversion, Outcome::Different),
        [
            "promptfooconfig.yaml:5 tests[1]: its prompt is empty: its input is its variables",
            "promptfooconfig.yaml:6 tests[2]: its prompt has no variables, and the provider fills in `question`: its input is its variables",
        ]
    );
    let dropped = lines(&conversion, Outcome::Dropped);
    assert_eq!(dropped.last().map(String::as_str), Some("promptfooconfig.yaml:8 tests[4]: its prompt is empty"));
    let cases = text.split("  - id: ").skip(1).map(|case| case.split("    assertions:").next().unwrap());
    let inputs: Vec<&str> = cases.map(|case| case.split_once("input: ").unwrap().1).collect();
    let json = "|-\n      {\n        \"turns\": {\n          \"a\": 1\n        }\n      }\n";
    assert_eq!(inputs, ["hi\n", json, "why?\n", "ignore this\n"]);
}

#[test]
fn a_configuration_without_tests_has_one_of_its_default_test() {
    let start = "prompts: [go]\ndefaultTest: { assert: [{ type: contains, value: x }] }\n";
    for tests in ["", "tests:\n", "tests: []\n"] {
        let (_, text) = convert(&[("promptfooconfig.yaml", &format!("{start}{tests}"))]).unwrap();
        assert_eq!(text.matches("input: go").count(), 1, "{tests}{text}");
    }
}

#[test]
fn a_variable_of_the_environment_is_seen_in_what_stands_around_a_prompt() {
    let config = "prompts: [x]\ntests:\n  - options: { prefix: 'as ${{ WHO }}: ' }\n    \
                  assert: [{ type: contains, value: x }]\n";
    let (conversion, _) = convert(&[("promptfooconfig.yaml", config)]).unwrap();
    assert_eq!(
        lines(&conversion, Outcome::Different),
        [
            "promptfooconfig.yaml:1 prompts[0]: the variable `WHO` has no value and is left out; `${{ NAME }}` is filled in from the environment"
        ]
    );
}

#[test]
fn a_reason_is_one_line_whatever_a_path_is() {
    let config = "prompts: ['{{context}} x']\ntests:\n  - vars:\n      context: |\n        file://none.txt\n        and more\n    \
                  assert: [{ type: contains, value: x }]\n";
    let (conversion, _) = convert(&[("promptfooconfig.yaml", config)]).unwrap();
    assert_eq!(
        lines(&conversion, Outcome::Dropped),
        ["promptfooconfig.yaml:4 tests[0].vars.context: `none.txt…` cannot be read: it does not exist"]
    );
}

#[test]
fn tools_and_judged_assertions_have_graders() {
    let config = "\
prompts: [go]
tests:
  - assert:
      - { type: 'trajectory:tool-used', value: { pattern: 'find_*', min: 1, max: 2 } }
      - { type: 'not-trajectory:tool-used', value: [delete, drop] }
      - { type: 'trajectory:tool-sequence', value: { mode: exact, steps: [a, { name: b }] } }
      - { type: 'trajectory:tool-args-match', value: { name: a, args: { id: 1 }, ignore: [trace] } }
      - { type: 'trajectory:step-count', value: { type: tool, max: 3 } }
      - { type: similar, value: tea, threshold: 0.9 }
      - { type: llm-rubric, value: polite, threshold: 0.6, metric: tone }
      - { type: skill-used, value: refunds }
";
    let (conversion, text) = convert(&[("promptfooconfig.yaml", config)]).unwrap();
    assert_eq!(conversion.report.count(Outcome::Dropped), 0, "{}", conversion.report);
    let root = evalsuite_loader::document::parse(&text, Path::new("EVAL.yaml")).unwrap().root.to_json();
    let case = &root["tests"][0];
    assert_eq!(case["execution"]["threshold"], 0);
    let mark = |mark: evalsuite_schema::Value, mut settings: evalsuite_schema::Value| {
        settings["required"] = json!(true);
        settings["min_score"] = mark;
        settings
    };
    let expected = [
        mark(
            json!(1),
            json!({"type": "tool-trajectory", "mode": "any_order", "minimums": {"find_*": 1}, "maximums": {"find_*": 2}}),
        ),
        mark(json!(1), json!({"type": "tool-trajectory", "mode": "any_order", "maximums": {"delete": 0, "drop": 0}})),
        mark(json!(1), json!({"type": "tool-trajectory", "mode": "exact", "expected": [{"tool": "a"}, {"tool": "b"}]})),
        mark(
            json!(1),
            json!({"type": "tool-trajectory", "mode": "superset", "expected": [{"tool": "a", "args": {"id": 1}, "args_match": "superset", "ignore_args": ["trace"]}]}),
        ),
        mark(json!(1), json!({"type": "execution-metrics", "max_tool_calls": 3})),
        mark(json!(1), json!({"type": "rubrics", "criteria": ["Means the same as: tea"]})),
        mark(json!(0.6), json!({"type": "llm-grader", "name": "tone", "prompt": "polite"})),
        mark(json!(1), json!({"type": "skill-trigger", "skill": "refunds", "should_trigger": true})),
    ];
    assert_eq!(case["assertions"], json!(expected));
}

#[test]
fn sources_that_cannot_be_read_are_errors() {
    for (files, message) in [
        (vec![("promptfooconfig.yaml", "prompts: [")], "the source cannot be read"),
        (vec![("promptfooconfig.yaml", "a: 1")], "is not a promptfoo configuration"),
        (vec![("other.yaml", "prompts: [a]")], "has no promptfooconfig.yaml"),
    ] {
        let error = convert(&files).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let error = from_promptfoo(Path::new("promptfooconfig.js")).unwrap_err().to_string();
    assert!(error.contains("is a program"), "{error}");
}

#[test]
fn transforms_are_steps_of_graders_or_run_as_javascript() {
    let text = "prompts: [x]\nproviders: [echo]\ntests:\n  - options: { transform: JSON.parse(output).city }\n    assert:\n      \
                - { type: llm-rubric, value: A city }\n      \
                - { type: is-json, value: { type: object }, transform: output.name }\n      \
                - { type: is-json }\n      \
                - { type: levenshtein, value: Paris, threshold: 2 }\n  - assert:\n      \
                - { type: contains, value: x, transform: \"output.split(',')[0]\" }\n      \
                - { type: llm-rubric, value: polite, transform: \"output.replaceAll('x', '')\" }\n      \
                - { type: equals, value: { a: 1 }, transform: 'JSON.parse(output).b' }\n      \
                - { type: llm-rubric, value: polite, transform: 'output.split(sep)[0]' }\n      \
                - { type: is-json, value: { type: object }, transform: output.map(String) }\n      \
                - { type: equals, value: { a: 1 }, transform: output + 1 }\n";
    let (conversion, suite) = convert(&[("promptfooconfig.yaml", text)]).unwrap();
    let dropped = conversion.report.entries().iter().filter(|entry| entry.outcome == Outcome::Dropped);
    let reasons: Vec<&str> = dropped.flat_map(|entry| &entry.reasons).map(String::as_str).collect();
    assert_eq!(
        reasons,
        [
            "it checks what `output.split(sep)[0]` makes of the answer",
            "nothing checks the schema of what its transform makes",
            "its value is not text"
        ]
    );
    let parts = [
        "- json: city\n",
        "- json: city.name\n",
        "return distance(text, \"Paris\") <= 2;",
        "JSON.parse(text);",
        "- replace: x\n",
        "- json: b\n",
    ];
    for part in parts {
        assert!(suite.contains(part), "{part} in {suite}");
    }
}

#[test]
fn an_answer_that_a_transform_takes_for_an_object_is_read_as_json() {
    let text = "prompts: [x]\nproviders: [echo]\ntests:\n  - assert:\n      \
                - { type: similar, value: Paris, transform: 'JSON.parse(output[0].arguments).city' }\n      \
                - { type: contains, value: x, transform: output.city }\n      \
                - { type: contains, value: x, transform: JSON.parse(output) }\n";
    let (conversion, suite) = convert(&[("promptfooconfig.yaml", text)]).unwrap();
    let reason = "the answer has to be JSON, where a provider of promptfoo returns an object";
    let different = lines(&conversion, Outcome::Different);
    let of_objects: Vec<&String> = different.iter().filter(|line| line.contains(reason)).collect();
    assert_eq!(of_objects.len(), 2, "{different:?}");
    for part in ["- json: '0.arguments'\n", "- json: city\n", "- JSON.parse(output)\n", "- output.city\n"] {
        assert!(suite.contains(part), "{part} in {suite}");
    }
}

#[test]
fn what_a_template_cannot_fill_in_is_dropped_and_named() {
    let text = "prompts:\n  - 'Say {{word}}'\n  - '{{ word | allcaps }}'\nproviders: [echo]\ntests:\n  - vars: { word: x }\n    assert:\n      \
                - { type: contains, value: x }\n      - { type: contains, value: '{{ word | allcaps }}' }\n";
    let (conversion, suite) = convert(&[("promptfooconfig.yaml", text)]).unwrap();
    assert_eq!(
        lines(&conversion, Outcome::Dropped),
        [
            "promptfooconfig.yaml:3 prompts[1]: its template cannot be filled in: filter allcaps is unknown",
            "promptfooconfig.yaml:9 tests[0].assert[1]: its template cannot be filled in: filter allcaps is unknown",
            "promptfooconfig.yaml:6 tests[0]: it has no case with a prompt that cannot be filled in",
        ]
    );
    assert!(!suite.contains("allcaps") && suite.contains("Say x"), "{suite}");
}

#[test]
fn answers_that_are_trimmed_first_need_no_program() {
    let text = "prompts: [x]\nproviders: [echo]\ndefaultTest: { options: { transform: output.trim() } }\ntests:\n  - assert:\n      \
                - { type: llm-rubric, value: polite }\n      - { type: similar, value: tea }\n      - { type: is-json }\n      \
                - { type: icontains, value: ice }\n      - { type: starts-with, value: The }\n      - { type: latency, threshold: 5 }\n";
    let (conversion, suite) = convert(&[("promptfooconfig.yaml", text)]).unwrap();
    assert_eq!(lines(&conversion, Outcome::Dropped), Vec::<String>::new());
    assert!(!suite.contains("code-grader") && suite.matches("type: ").count() == 6, "{suite}");
}

#[test]
fn a_default_test_and_variables_in_other_files_are_reported_there() {
    let files = [
        (
            "promptfooconfig.yaml",
            "prompts: ['{{a}} {{b}}']\nproviders: [echo]\ndefaultTest: file://default.yaml\ntests:\n  - vars: file://vars.yaml\n",
        ),
        (
            "default.yaml",
            "\nvars:\n  a: [x, y]\n  c: file://none.txt\noptions:\n  rubricPrompt: mine\nassert:\n  - type: bleu\n    value: x\n  - type: contains\n    value: x\n",
        ),
        ("vars.yaml", "\n\nb: file://also-none.txt\n"),
    ];
    let (conversion, _) = convert(&files).unwrap();
    let named: Vec<String> = lines(&conversion, Outcome::Dropped)
        .into_iter()
        .map(|line| line.split(": ").next().unwrap().to_owned())
        .collect();
    assert_eq!(
        named,
        [
            "default.yaml:6 defaultTest.options.rubricPrompt",
            "default.yaml:4 defaultTest.vars.c",
            "vars.yaml:3 vars.b",
            "default.yaml:8 defaultTest.assert[0]",
        ]
    );
    let mapped = lines(&conversion, Outcome::Mapped);
    assert!(mapped.contains(&"default.yaml:3 defaultTest.vars.a: ".to_owned()), "{mapped:?}");
    assert!(conversion.report.entries().iter().all(|entry| !entry.name.is_empty()), "{}", conversion.report);
}

#[test]
fn sets_of_which_all_or_one_has_to_pass_are_composites() {
    let text = "prompts: [x]\nproviders: [echo]\ntests:\n  - assert:\n      \
                - { type: or, assert: [{ type: contains, value: tea }, { type: llm-rubric, value: polite, threshold: 0.6 }] }\n      \
                - { type: and, value: [{ type: contains, value: tea }, { type: is-json }] }\n";
    let (conversion, suite) = convert(&[("promptfooconfig.yaml", text)]).unwrap();
    assert_eq!(lines(&conversion, Outcome::Dropped), Vec::<String>::new());
    let root = evalsuite_loader::document::parse(&suite, Path::new("EVAL.yaml")).unwrap().root.to_json();
    let expected = json!([
        {
            "type": "composite",
            "aggregator": {"type": "threshold", "threshold": 0.001},
            "assertions": [
                {"type": "contains", "value": "tea"},
                {"type": "llm-grader", "prompt": "polite", "min_score": 0.6},
            ],
            "required": true,
            "min_score": 0.001,
        },
        {
            "type": "composite",
            "aggregator": {"type": "weighted_average"},
            "assertions": [
                {"type": "contains", "value": "tea", "required": true, "min_score": 1},
                {"type": "is-json", "required": true, "min_score": 1},
            ],
            "required": true,
            "min_score": 1,
        },
    ]);
    assert_eq!(root["tests"][0]["assertions"], expected);
}

#[test]
fn values_that_json_does_not_have_are_named() {
    let files = [
        (
            "promptfooconfig.yaml",
            "prompts: ['{{a}}']\nproviders: [echo]\ndefaultTest: file://default.yaml\ntests:\n  - vars: { a: .inf, b: [2024-01-01] }\n    assert:\n      \
             - { type: contains, value: x, threshold: .inf, weight: '2' }\n      - { type: equals, value: file://value.yaml }\n      \
             - { type: assert-set, assert: [{ type: assert-set, assert: [{ type: is-json }] }] }\n",
        ),
        ("default.yaml", "vars: { c: 2024-01-01 }\n"),
        ("value.yaml", "- 2024-01-01\n"),
    ];
    let (conversion, suite) = convert(&files).unwrap();
    let object = "promptfooconfig.yaml:5 tests[0].vars.b[0]: promptfoo takes a date without quotes for an object without entries";
    assert_eq!(lines(&conversion, Outcome::Approximated)[0], object);
    let date = "promptfoo takes `2024-01-01` for a date, and not for text: quote it";
    let refuses = "promptfoo refuses the configuration, because";
    assert_eq!(
        lines(&conversion, Outcome::Different),
        [
            format!("default.yaml:1 defaultTest.vars.c: {date}"),
            "promptfooconfig.yaml:5 tests[0].vars.a: JSON has no such number: the variable is the text `Infinity`"
                .to_owned(),
            format!(
                "promptfooconfig.yaml:7 tests[0].assert[0]: {refuses} `threshold` is not a finite number; {refuses} `weight` is not a finite number"
            ),
            format!("promptfooconfig.yaml:8 tests[0].assert[1]: {date}"),
            "promptfooconfig.yaml:9 tests[0].assert[2]: promptfoo has no sets in sets and reports an error".to_owned(),
        ]
    );
    assert!(suite.contains("input: Infinity") && suite.contains("- {}\n"), "{suite}");
}
