//! `tests`, the paths of files, and other values of one case.

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
        Package::new(&[("suite/EVAL.yaml", &format!("tests: [{{id: a, input: Hello, criteria: Greets, {case}}}]\n"))]).report()
    };
    let mode = report("mode: single");
    assert!(mode.contains("invalid-choice") && !mode.contains("conversation-mismatch"), "{mode}");
    let kind = report("workspace: {repos: [{path: a, source: {type: '${{ KIND }}', url: x}}]}");
    assert!(kind.contains("interpolation-not-allowed") && !kind.contains("invalid-repo"), "{kind}");
}
