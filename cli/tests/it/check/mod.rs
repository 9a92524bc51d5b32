//! `cargo evalsuite check`, run as a program.

mod features;
mod formats;
mod includes;
mod searching;
mod uncalled_tools;

use crate::package::{Package, TASK};

#[test]
fn a_good_package_has_no_problems() {
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK)]);
    let output = package.run(&["check"]);
    assert_eq!((output.code, output.out.as_str()), (0, "no problems in 1 suite with 1 test\n"));
}

#[test]
fn every_problem_is_shown_and_counted() {
    let wrong = TASK.replace("\"description\"", "\"descripton\"");
    let package = Package::new(&[("suites/card_agent/tasks/a.json", TASK), ("suites/card_agent/tasks/b.json", &wrong)]);
    let output = package.run(&["check", "suites"]);
    assert_eq!(output.code, 1);
    let places = output.out.matches("--> suites/card_agent/tasks/b.json:1:").count();
    assert!(places >= 2, "a place for each problem:\n{}", output.out);
    assert!(output.out.contains("error[E019 unknown-key]: unknown key `descripton`"), "{}", output.out);
    assert!(output.out.contains("error[E030 duplicate-id]"), "{}", output.out);
    assert!(output.out.contains(" errors in 1 suite with 0 tests\n"), "{}", output.out);
    assert!(!output.out.contains('\u{1b}'), "no colors where there is no terminal");
}

#[test]
fn graders_that_no_program_registers_are_named() {
    let suite = "tests:\n  - id: a\n    input: Hello\n    assertions: [{ type: isjson }, { type: not-contains }]\n";
    let package = Package::new(&[("suites/x/EVAL.yaml", suite)]);
    let output = package.run(&["check"]);
    assert_eq!((output.code, output.out.as_str()), (0, "no problems in 1 suite with 1 test\n"));
    for line in [
        "note: no Rust code includes these suites, so their own graders were not checked:",
        "  `isjson` (suites/x/EVAL.yaml:4:26): did you mean `is-json`?",
        "): write `type: contains` with `negate: true`",
    ] {
        assert!(output.err.contains(line), "{}", output.err);
    }
}

#[test]
fn what_a_suite_would_drop_is_reported() {
    let case = |text: &str| {
        let package =
            Package::new(&[("suites/x/EVAL.yaml", &format!("tests:\n  - {{ id: a, criteria: c, {text} }}\n"))]);
        package.run(&["check"])
    };
    for (text, code, words) in [
        ("input: file://missing.md", 1, "input_files: [missing.md]"),
        ("input: 'Where is {{ order }}?'", 0, "`{{ order }}` is not filled in"),
        ("input: Hello, assertions: [contains x]", 0, "it is not the grader `contains`"),
        ("input: Hello, execution: { trials: 3 }", 1, "write `trials: { count: 3 }`"),
        ("input: Hello, depends_on: [b]", 1, "name the id of a case of this suite"),
    ] {
        let output = case(text);
        assert_eq!(output.code, code, "{text}: {}", output.out);
        assert!(output.out.contains(words), "{text}: {}", output.out);
    }
    let list = "tests:\n  - { id: a, input: Hello, criteria: c }\n";
    let package =
        Package::new(&[("suites/x/EVAL.yaml", list), ("suites/x/cases/b/case.yaml", "input: Hi\ncriteria: c\n")]);
    let output = package.run(&["check"]);
    assert_eq!(output.code, 1);
    assert!(
        output.out.contains("error[E042 invalid-tests]: `tests` leaves out 1 case in `suites/x/cases`"),
        "{}",
        output.out
    );
}

#[test]
fn warnings_count_only_when_denied() {
    let yaml = "tests:\n  - id: a\n    input: Hello\n    assert:\n      - type: contains\n        value: hello\n";
    let package = Package::new(&[("suites/greet/EVAL.yaml", yaml)]);
    let output = package.run(&["check", "suites/greet"]);
    assert_eq!(output.code, 0, "{}", output.out);
    assert!(output.out.contains("warning[W001 deprecated-key]"), "{}", output.out);
    assert!(output.out.ends_with("1 warning in 1 suite with 1 test\n"), "{}", output.out);
    assert_eq!(package.run(&["check", "suites/greet", "--deny-warnings"]).code, 1);
}

#[test]
fn a_wrong_command_line_exits_with_2() {
    let package = Package::new(&[]);
    for arguments in [&["check", "--format", "xml"][..], &["chek"], &[], &["expand"]] {
        assert_eq!(package.run(arguments).code, 2, "for {arguments:?}");
    }
}

#[test]
fn what_is_certain_is_fixed_in_both_layouts() {
    let task = TASK.replace("\"description\"", "\"descripton\"").replace("\"hello\" }", "5 }");
    let case = "# mine\ninput: Pay 19.90 €   # here\nassert:\n  - { type: contains, vaule: 19.90 }\n  - { type: execution-metrics, max_tool_cals: 3 }\n  - { type: tool-trajectory, mode: exactt, expected: [{ tool: pay }] }\n";
    let package = Package::new(&[
        ("suites/card_agent/tasks/a.json", &task),
        ("suites/shop/EVAL.yaml", "name: shop\n"),
        ("suites/shop/cases/a/case.yaml", case),
        ("tests/evals.rs", "include_eval_suite!(\"suites/shop\", agent = a);"),
    ]);
    let output = package.run(&["check", "--fix", "--deny-warnings"]);
    assert_eq!((output.code, output.out.as_str()), (0, "no problems in 2 suites with 2 tests\n"), "{}", output.err);
    let read = |path: &str| std::fs::read_to_string(package.root().join(path)).expect(path);
    assert_eq!(read("suites/card_agent/tasks/a.json"), TASK.replace("\"hello\" }", "\"5\" }"));
    assert_eq!(
        read("suites/shop/cases/a/case.yaml"),
        "# mine\ninput: Pay 19.90 €   # here\nassertions:\n  - { type: contains, value: \"19.90\" }\n  - { type: execution-metrics, max_tool_calls: 3 }\n  - { type: tool-trajectory, mode: exact, expected: [{ tool: pay }] }\n"
    );
    assert!(
        output.err.contains("fixed suites/shop/cases/a/case.yaml:3:1: assert is now assertions\n"),
        "{}",
        output.err
    );
    assert!(
        output.err.contains("fixed suites/shop/cases/a/case.yaml:4:30: 19.90 is now \"19.90\"\n"),
        "{}",
        output.err
    );
}

#[test]
fn what_is_not_certain_is_not_fixed() {
    let case = "input: hello\nasserts:\n  - { type: contains, value: hello }\n";
    let package = Package::new(&[("suites/shop/EVAL.yaml", "name: shop\n"), ("suites/shop/cases/a/case.yaml", case)]);
    let output = package.run(&["check", "--fix"]);
    assert_eq!((output.code, output.err.as_str()), (1, ""));
    assert!(output.out.contains("help: did you mean `assertions`?"), "{}", output.out);
    let written = std::fs::read_to_string(package.root().join("suites/shop/cases/a/case.yaml")).expect("the case");
    assert_eq!(written, case);
}
