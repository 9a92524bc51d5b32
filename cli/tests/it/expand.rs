//! `cargo evalsuite expand`, run as a program.

use crate::package::{Package, TASK};
use evalsuite_schema::json::json;

#[test]
fn the_code_is_printed() {
    let package = Package::new(&[("suites/card_agent/tasks/positive/25-invoice.json", TASK)]);
    let output = package.run(&["expand", "suites/card_agent"]);
    assert_eq!(output.code, 0, "{}", output.err);
    for part in [
        "pub mod card_agent {",
        "pub static SUITE: __evalsuite::EvalSuite",
        "test_name: \"positive::_25_invoice\"",
        "needs_this_function_or_the_argument_agent__card_agent::card_agent,",
        "    mod positive {\n        #[test]\n        fn _25_invoice() {\n            super::__run(0)\n        }",
    ] {
        assert!(output.out.contains(part), "{part} is missing in:\n{}", output.out);
    }
}

#[test]
fn options_are_the_arguments_of_the_macro() {
    let task = TASK.replace("contains", "is_nice");
    let package = Package::new(&[("suites/card_agent/tasks/a.json", &task)]);
    let output = package.run(&[
        "expand",
        "suites/card_agent",
        "--agent",
        "my::agent",
        "--grader",
        "is-nice => graders::nice::<A>",
        "--name",
        "other",
    ]);
    assert_eq!(output.code, 0, "{}", output.err);
    assert!(
        output.out.contains("evals.with_agent(my::agent).with_grader(\"is-nice\", graders::nice::<A>)"),
        "{}",
        output.out
    );
    assert!(output.out.contains("pub mod other {"), "{}", output.out);
    let output = package.run(&["expand", "suites/card_agent", "--agent", "none"]);
    assert!(!output.out.contains("#[test]") && output.out.contains("SUITE"), "{}", output.out);
}

#[test]
fn an_unregistered_grader_is_an_error() {
    let task = TASK.replace("contains", "is_nice");
    let package = Package::new(&[("suites/card_agent/tasks/a.json", &task)]);
    let output = package.run(&["expand", "suites/card_agent", "--grader", "is_nise"]);
    assert_eq!((output.code, output.out.as_str()), (1, ""));
    assert!(output.err.contains("error[E050 unknown-grader]: unknown grader `is_nice`"), "{}", output.err);
    assert!(output.err.contains("did you mean `is_nise`?"), "{}", output.err);
}

#[test]
fn expanding_twice_gives_the_same_text() {
    let package = Package::new(&[("suites/card_agent/tasks/b/a.json", TASK)]);
    package.write("suites/card_agent/tasks/a/c.json", &TASK.replace("\"a\"", "\"c\""));
    let first = package.run(&["expand", "suites/card_agent"]);
    assert_eq!(first.code, 0, "{}", first.err);
    assert_eq!(first.out, package.run(&["expand", "suites/card_agent"]).out);
}

#[test]
fn what_grades_examples_is_a_test_if_there_are_any() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK)]);
    let without = package.run(&["expand", "suites/card_agent"]);
    assert!(!without.out.contains("grader_examples"), "{}", without.out);
    let task = TASK.trim_end().strip_suffix('}').expect("an object");
    package.write("suites/card_agent/tasks/a.json", &format!("{task}, \"examples\": {{\"fail\": [\"no\"]}}}}"));
    let output = package.run(&["expand", "suites/card_agent"]);
    let test = "    #[test]\n    fn grader_examples() {\n        __evalsuite::__private::grader_examples(evals)\n    }";
    assert!(output.out.contains(test), "{}{}", output.out, output.err);
}

#[test]
fn what_measures_judges_is_a_test() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK)]);
    let without = package.run(&["expand", "suites/card_agent"]);
    assert!(!without.out.contains("judge_calibration"), "{}", without.out);
    let sample = |id: &str| format!("- {{id: {id}, input: q, criteria: c, output: o, human_score: 1}}\n");
    package.write("suites/card_agent/calibration.yaml", &format!("samples:\n{}{}", sample("a"), sample("b")));
    let output = package.run(&["expand", "suites/card_agent"]);
    let test =
        "    #[test]\n    fn judge_calibration() {\n        __evalsuite::__private::judge_calibration(evals)\n    }";
    assert!(output.out.contains(test), "{}", output.out);
    let output = package.run(&["expand", "suites/card_agent", "--agent", "none"]);
    assert!(!output.out.contains("fn judge_calibration") && output.out.contains("calibration: "), "{}", output.out);
    package.write("suites/card_agent/calibration.yaml", &format!("samples:\n{}", sample("a")));
    let output = package.run(&["expand", "suites/card_agent"]);
    assert_eq!((output.code, output.out.as_str()), (1, ""));
    assert!(output.err.contains("error[E078 too-few-samples]"), "{}", output.err);
}

#[test]
fn code_and_problems_are_printed_as_json() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", &TASK.replace("contains", "is_nice"))]);
    let output = package.run(&["expand", "suites/card_agent", "--format", "json"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let expanded = package.json("expand", &output.out);
    let code = expanded["code"].as_str().expect("code");
    assert_eq!((code, &expanded["problems"]), (package.run(&["expand", "suites/card_agent"]).out.as_str(), &json!([])));
    let output = package.run(&["expand", "suites/card_agent", "--grader", "is_nise", "--format", "json"]);
    assert_eq!((output.code, output.err.as_str()), (1, ""));
    let expanded = package.json("expand", &output.out);
    assert_eq!((&expanded["code"], &expanded["problems"][0]["code"]), (&json!(null), &json!("E050")), "{expanded}");
}
