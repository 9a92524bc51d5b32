//! Values of single keys: `tests`, paths, choices and numbers.

use evalsuite_loader::{Request, load};
use evalsuite_schema::diagnostics::Fix;

use super::{Package, shows};

#[test]
fn a_suite_without_cases_is_an_error() {
    let report = |eval: &str| Package::new(&[("suite/EVAL.yaml", eval)]).report();
    shows("tests-without-a-value", &report("name: a\ntests:\n"));
    let own = report("x-tests: &greeting {id: a, input: Hello, criteria: Answers}\n");
    assert!(own.contains("no `tests` and no directory `cases`"), "{own}");
    // One error is enough.
    let misspelled = report("test:\n- {id: a, input: Hello, criteria: Answers}\n");
    assert!(!misspelled.contains("missing-tests"), "{misspelled}");
}

#[test]
fn a_path_that_is_spelled_as_elsewhere_is_corrected() {
    let eval =
        "tests:\n- id: a\n  input: Hello\n  criteria: Greets\n  input_files: ['file://notes/a.txt', 'notes\\a.txt']\n";
    let report = Package::new(&[("suite/EVAL.yaml", eval), ("suite/notes/a.txt", "a")]).report();
    assert!(report.contains("help: leave out `file://`: `notes/a.txt`"), "{report}");
    assert!(report.contains("help: write `/` between directories: `notes/a.txt`"), "{report}");
    let eval = "tests: ['file://lists\\a.yaml']\n";
    let list = "- {id: a, input: Hello, criteria: Greets}\n";
    let problems = Package::new(&[("suite/EVAL.yaml", eval), ("suite/lists/a.yaml", list)]).load().diagnostics;
    let Some(Fix::Edits(edits)) = problems.iter().next().and_then(|problem| problem.fix.as_deref()) else {
        panic!("{problems:?}")
    };
    assert_eq!(edits[0].text, "\"file://lists/a.yaml\"");
}

#[test]
fn files_next_to_messages_are_an_error_beside_those_of_the_messages() {
    let eval =
        "tests:\n- id: a\n  input: [{role: human, content: Hello}]\n  criteria: Greets\n  input_files: [a.txt]\n";
    let report = Package::new(&[("suite/EVAL.yaml", eval), ("suite/a.txt", "a")]).report();
    assert!(
        report.contains("[E037 invalid-message]") && report.contains("[E036 input-files-with-messages]"),
        "{report}"
    );
}

#[test]
fn a_wrong_choice_has_no_further_consequences() {
    let report = |case: &str| {
        Package::new(&[("suite/EVAL.yaml", &format!("tests: [{{id: a, input: Hello, criteria: Greets, {case}}}]\n"))])
            .report()
    };
    let mode = report("mode: single");
    assert!(mode.contains("invalid-choice") && !mode.contains("conversation-mismatch"), "{mode}");
    let kind = report("workspace: {repos: [{path: a, source: {type: '${{ KIND }}', url: x}}]}");
    assert!(kind.contains("interpolation-not-allowed") && !kind.contains("invalid-repo"), "{kind}");
}

#[test]
fn a_conversation_needs_a_grader_or_criteria_as_any_case_does() {
    let report = |case: &str| {
        let eval = format!("tests:\n- {{id: a, mode: conversation, {case}}}\n");
        Package::new(&[("suite/EVAL.yaml", &eval)]).report()
    };
    let is_ungraded = |report: &str| report.contains("nothing-to-grade");
    let fixed = report("turns: [{input: Hello}, {input: And my refund?}]");
    assert!(fixed.contains("E034 nothing-to-grade") && fixed.contains("and no turn has graders"), "{fixed}");
    let simulated = "conversation: {user: {goal: A refund.}}";
    assert!(is_ungraded(&report(simulated)));
    for graded in [
        "turns: [{input: Hello}], criteria: Is polite",
        "turns: [{input: Hello}], assertions: [Is polite]",
        "turns: [{input: Hello, assertions: [Is polite]}, {input: Bye}]",
        "turns: [{input: Hello, expected_output: Hi}]",
        "conversation: {user: {goal: A refund.}, turn_assertions: [Is polite]}",
        "conversation: {user: {goal: A refund.}}, criteria: Is polite",
    ] {
        assert_eq!(report(graded), "no problems", "{graded}");
    }
    let broken = report("turns: [{input: Hello, assertions: Is polite}]");
    assert!(!broken.is_empty() && !is_ungraded(&broken), "one error is enough: {broken}");
}

#[test]
fn only_a_share_that_is_certainly_a_percentage_is_corrected() {
    let help = |threshold: &str| {
        let eval =
            format!("execution: {{threshold: {threshold}}}\ntests: [{{id: a, input: Hello, criteria: Greets}}]\n");
        let problems = Package::new(&[("suite/EVAL.yaml", &eval)]).load().diagnostics;
        let problem = problems.iter().next().expect("the threshold is out of range");
        (problem.help.clone().unwrap_or_default(), problem.fix.is_some())
    };
    assert_eq!(help("80"), ("write `0.8`".to_owned(), true));
    // Of ten points, or of a hundred?
    assert_eq!(help("7"), ("write a number within 0..1".to_owned(), false));
    assert_eq!(help("10"), ("write a number within 0..1".to_owned(), false));
}

#[test]
fn a_key_that_was_replaced_by_something_elsewhere_is_not_renamed() {
    let eval = "target: small\nevaluator: llm-grader\nexecution: {assert: [Is polite]}\ntests:\n\
                - {id: a, input: Hello, rubrics: [Greets], execution: {assertions: [Is short]}}\n";
    let package = Package::new(&[("suite/EVAL.yaml", eval)]);
    shows("keys-written-elsewhere", &package.report());
    assert!(package.load().diagnostics.iter().all(|problem| problem.fix.is_none()));
}

#[test]
fn a_key_is_moved_or_renamed_only_to_where_it_certainly_belongs() {
    let problems = |keys: &str| {
        let eval = format!("{keys}\ntests: [{{id: a, input: Hello, criteria: Greets}}]\n");
        Package::new(&[("suite/EVAL.yaml", &eval)]).load().diagnostics
    };
    // Each of the four hooks has a `cwd`.
    let hook = problems("workspace: {cwd: notes}");
    let problem = hook.iter().next().expect("`cwd` is not a key of `workspace`");
    assert!(
        problem.fix.is_none() && !problem.help.as_deref().unwrap_or_default().contains("before_all"),
        "{problem:?}"
    );
    assert!(problems("workers: 2").iter().any(|problem| problem.fix.is_some()));
    let twice = problems("assert: [Is polite]\nassertions: null");
    assert!(twice.iter().all(|problem| problem.fix.is_none()), "{twice:?}");
}

/// Each answer was said to be wrong.
#[test]
fn a_reference_that_cannot_be_compared_is_an_error_of_the_case() {
    let fields = "[{path: due, match: date}, {path: day, match: date, formats: [DD/MM/YYYY]},\
                  \n    {path: total, match: numeric_tolerance, tolerance: 1}, {path: name, match: exact}]";
    let case = |id: &str, expected: &str, fields: &str| {
        format!(
            "- id: {id}\n  input: Hello\n  expected_output: {expected}\n  assertions:\n  - {{type: field-accuracy, fields: {fields}}}\n"
        )
    };
    let good = case("good", "{due: 2025-01-31, day: 31/01/2025, total: '19.90', name: null}", fields);
    let known_later = case("later", "{due: '${{ DUE }}', day: 1/2/2025, total: '${{ TOTAL }}', name: x}", fields);
    let bad = case("bad", "{due: soon, day: 31/31/2025, total: 19 EUR, name: x}", fields);
    let of_suite = "assertions:\n- {type: field-accuracy, fields: [{path: paid, match: date}]}\n";
    let unpaid = "- {id: unpaid, input: Hello, expected_output: {paid: never}}\n";
    let report = |eval: &str| Package::new(&[("suite/EVAL.yaml", eval)]).report();
    assert_eq!(report(&format!("tests:\n{good}{known_later}")), "no problems");
    shows("references-that-cannot-be-compared", &report(&format!("tests:\n{bad}")));
    shows("references-of-suite-graders", &report(&format!("{of_suite}tests:\n{unpaid}")));
}

#[test]
fn a_file_of_another_kind_is_called_what_it_is() {
    for (file, what) in
        [("targets.yaml", "a targets file"), ("case.yml", "a case"), ("calibration.yaml", "a calibration file")]
    {
        let entry = format!("suite/{file}");
        let package = Package::new(&[(&entry, "targets: []\n")]);
        let loaded = load(&Request::new(&entry, package.root()));
        let messages: Vec<&str> = loaded.diagnostics.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(messages, [format!("`{entry}` is {what}, not a suite")]);
    }
}

/// A key that is written was said to be missing.
#[test]
fn a_null_in_place_of_a_value_is_named_with_its_place() {
    let eval = "tests:\n\
                - id: rows\n  matrix: {question: [Hello, null]}\n  input: '{{ question }}'\n  criteria: Greets\n\
                - {id: message, vars: {text: null}, input: [{role: user, content: '{{ text }}'}], criteria: Greets}\n\
                - {id: grader, input: Hello, assertions: [{type: contains, value: '{{ word }}'}], vars: {word: null}}\n\
                - id: written\n  input:\n  criteria: Greets\n\
                - {id: parts, vars: {parts: [null]}, input: '{{ parts.0 }}', criteria: Greets}\n";
    let package = Package::new(&[("suite/EVAL.yaml", eval)]);
    shows("null-values", &package.report());
    // A setting that is optional would have no effect.
    let eval = "tests:\n\
                - id: reference\n  vars: {x: null, call: {tool: pay}}\n  input: Hello\n  expected_output: '{{ x }}'\n  criteria: '{{x}}'\n  \
                  input_files: '{{ x }}'\n\
                - id: graders\n  vars: {x: null}\n  input: Hello\n  assertions:\n  \
                  - {type: tool-trajectory, mode: superset, expected: [{tool: pay, args: '{{ x }}', max_duration_ms: '{{x}}'}]}\n  \
                  - {type: token-usage, max_total: 9, max_output: '{{ x }}', min_score: '{{ x }}'}\n  \
                  - {type: rubrics, criteria: [{outcome: Greets, weight: '{{ x }}'}]}\n  \
                  - {type: code-grader, command: [check], config: '{{ x }}', level: '{{ x }}'}\n  \
                  - {type: own, config: {level: '{{ x }}'}, negate: '{{ x }}'}\n\
                - {id: turn, vars: {x: null}, mode: conversation, turns: [{input: Hi, expected_output: '{{ x }}', assertions: [Greets]}]}\n";
    shows("null-variables", &Package::new(&[("suite/EVAL.yaml", eval)]).report());
    // Where null is written, or is data, it says what it says.
    let eval = "tests:\n\
                - id: a\n  vars: {x: null}\n  input: Hello\n  criteria:\n  expected_output: {total: '{{ x }}', due: null}\n  assertions:\n  \
                  - {type: tool-trajectory, mode: superset, expected: [{tool: pay, args: {to: '{{ x }}'}, max_duration_ms: ~}]}\n  \
                  - type: token-usage\n    max_total: 9\n    min_score:\n    max_output:\n  \
                  - {type: field-accuracy, fields: [{path: total, match: exact, weight: null}]}\n  \
                  - {type: contains-json, schema: {properties: {total: {const: '{{ x }}'}}}}\n";
    assert_eq!(Package::new(&[("suite/EVAL.yaml", eval)]).report(), "no problems");
    let of_files = "tests:\n- {id: rows, matrix: ./rows.jsonl, input: '{{ question }}', criteria: Greets}\n";
    let rows = "{\"question\": \"Hello\"}\n{\"question\": null}\n";
    let report = Package::new(&[("suite/EVAL.yaml", of_files), ("suite/rows.jsonl", rows)]).report();
    assert!(report.contains("`input` in a case is null") && report.contains("rows.jsonl:2:14"), "{report}");
}

#[test]
fn a_misspelled_key_of_a_grader_or_a_template_is_named() {
    let report = |assertion: &str| {
        let eval = format!("tests: [{{id: a, input: Hello, assertions: [{assertion}]}}]\n");
        let files = [("suite/EVAL.yaml", eval.as_str()), ("suite/polite.yaml", "assert: [Is polite]\n")];
        Package::new(&files).report()
    };
    let kind = report("{Type: contains, value: Hello}");
    assert!(kind.contains("unknown key `Type` in an assertion") && kind.contains("did you mean `type`?"), "{kind}");
    let template = report("{include: ./polite.yaml}");
    assert!(template.contains("unknown key `assert`") && template.contains("did you mean `assertions`?"), "{template}");
}

#[test]
fn a_short_limit_is_taken_for_seconds_unless_it_is_none() {
    let help = |threshold: &str| {
        let grader = format!("{{type: latency, threshold: {threshold}}}");
        let eval = format!("tests: [{{id: a, input: Hello, assertions: [{grader}]}}]\n");
        let problems = Package::new(&[("suite/EVAL.yaml", &eval)]).load().diagnostics;
        problems.iter().next().and_then(|problem| problem.help.clone())
    };
    let seconds = help("2.5").expect("no model answers in 2.5 ms");
    assert!(seconds.starts_with("if seconds are meant, write `threshold: 2500`;"), "{seconds}");
    let nothing = "write the longest duration that passes, such as `threshold: 5000`";
    assert_eq!([help("0"), help("-0.0")], [Some(nothing.to_owned()), Some(nothing.to_owned())]);
    assert_eq!(help("100"), None);
}
