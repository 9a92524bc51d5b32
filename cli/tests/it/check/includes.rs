//! The arguments with which sources include suites.

use crate::package::Package;

/// A case of an eval file's suite.
const CASE: &str = "input: hello\nassertions:\n  - { type: contains, value: hello }\n";

#[test]
fn arguments_in_the_sources_of_the_package_are_checked_as_the_compiler_does() {
    let case = "input: hello\nassertions:\n  - { type: contians, config: { value: hello } }\n  - { type: polite }\n";
    let package = Package::new(&[
        ("suites/shop/EVAL.yaml", "name: shop\n"),
        ("suites/shop/cases/a/case.yaml", case),
        ("suites/generated/EVAL.yaml", "name: generated\n"),
        ("suites/generated/cases/a/case.yaml", case),
        ("suites/alone/EVAL.yaml", "name: alone\n"),
        ("suites/alone/cases/a/case.yaml", case),
        (
            "tests/evals.rs",
            "use evalsuite::include_eval_suite as suite;\nmod inner {\n    suite! { \"suites/shop\", agent = shop, graders = [graders::polite] }\n}\n",
        ),
        (
            "build.rs",
            "fn main() {\n    evalsuite_build::generate(\"suites/generated\").graders([\"polite\", \"kind\"]).allow([\"unused-grader\"]).write();\n}\n",
        ),
    ]);
    let output = package.run(&["check"]);
    assert_eq!(output.code, 1, "{}", output.out);
    for suite in ["shop", "generated"] {
        let place = format!("--> suites/{suite}/cases/a/case.yaml:3:13");
        assert!(output.out.contains(&place), "{}", output.out);
    }
    assert_eq!(
        output.out.matches("error[E050 unknown-grader]: unknown grader `contians`").count(),
        2,
        "{}",
        output.out
    );
    assert!(output.out.contains("did you mean `contains`"), "{}", output.out);
    assert!(!output.out.contains("grader `polite`") && !output.out.contains("W016"), "{}", output.out);
    assert!(output.out.contains("2 errors in 3 suites with 1 test\n"), "{}", output.out);
    assert!(!output.err.contains("arguments of a call"), "every call is read: {}", output.err);

    let output = package.run(&["check", "suites/alone"]);
    assert_eq!(output.code, 0, "which graders a suite has is not known without its include: {}", output.out);
}

#[test]
fn targets_warnings_and_agents_of_includes_are_those_of_the_build() {
    let old = "input: hello\nassert:\n  - { type: contains, value: hello }\n";
    let package = Package::new(&[
        ("suites/shop/EVAL.yaml", "name: shop\n"),
        ("suites/shop/cases/a/case.yaml", old),
        ("suites/shop/targets.yaml", "targets:\n  - { name: fast, provider: cli, command: agent }\n"),
        (
            "tests/evals.rs",
            "evalsuite::include_eval_suite!(\"suites/shop\", agent = \"cli\", targets = [\"fast\", \"slow\"], allow = [\"deprecated-key\"]);",
        ),
    ]);
    let output = package.run(&["check"]);
    assert_eq!(output.code, 0, "{}", output.out);
    assert!(!output.out.contains("W001"), "the include allows it: {}", output.out);
    assert!(output.out.contains("undefined-target]: target `slow` of the suite is not defined"), "{}", output.out);
    assert!(output.out.ends_with("1 warning in 1 suite with 2 tests\n"), "a test per target: {}", output.out);
    package.write(
        "tests/evals.rs",
        "evalsuite::include_eval_suite!(\"suites/shop\", agent = \"cli\", targets = [\"fast\"], deny_warnings);",
    );
    let output = package.run(&["check"]);
    assert!(output.out.ends_with("1 warning in 1 suite with 0 tests\n"), "{}", output.out);
    assert_eq!(output.code, 1, "the include denies warnings");
}

#[test]
fn calls_that_cannot_be_read_are_named_with_the_reason() {
    let package = Package::new(&[
        ("suites/shop/EVAL.yaml", "name: shop\n"),
        ("suites/shop/cases/a/case.yaml", CASE),
        (
            "tests/evals.rs",
            "macro_rules! suite {\n    ($path:literal) => {\n        evalsuite::include_eval_suite!($path, agent = agent);\n    };\n}\nsuite!(\"suites/shop\");\n",
        ),
        ("tests/typo.rs", "evalsuite::include_eval_suite!(\"suites/shop\", grader = [polite]);"),
        ("build.rs", "fn main() {\n    let suite = evalsuite_build::generate(path());\n    suite.write();\n}\n"),
        ("src/lib.rs", "// include_eval_suite\nfn f() { \" }"),
    ]);
    let output = package.run(&["check"]);
    assert_eq!((output.code, output.out.as_str()), (0, "no problems in 1 suite with 1 test\n"));
    let notes: Vec<&str> = output.err.lines().collect();
    assert_eq!(notes.len(), 4, "{}", output.err);
    for expected in [
        "build.rs:2: the arguments of `generate` are not literals",
        "src/lib.rs: the file is not valid Rust: ",
        "tests/evals.rs:3: expected the path of a suite as a string literal, found `$`",
        "tests/typo.rs:1: unknown argument `grader`; did you mean `graders`?",
    ] {
        let line = format!("note: cannot read the arguments of a call: {expected}");
        assert!(notes.iter().any(|note| note.starts_with(&line)), "expected {line}\n{}", output.err);
    }
}

#[test]
fn what_the_macro_refuses_is_refused() {
    let package = Package::new(&[("suites/shop/cases/a/case.yaml", CASE)]);
    for arguments in [&["check"][..], &["check", "suites"], &["check", "suites/shop"]] {
        let output = package.run(arguments);
        assert_eq!(output.code, 1, "{arguments:?}: {}", output.out);
        assert!(output.out.contains("error[E011 no-suite-file]"), "{}", output.out);
        assert!(output.out.contains("write `suites/shop/EVAL.yaml` with `name: shop`"), "{}", output.out);
    }
    assert_eq!(package.run(&["check", "suites/shop/cases"]).code, 0, "the macro takes this path");
    package.write("tests/evals.rs", "evalsuite::include_eval_suite!(\"suites/shop/cases\");");
    assert_eq!(package.run(&["check"]).out, "no problems in 1 suite with 1 test\n");
    package.write("tests/evals.rs", "evalsuite::include_eval_suite!(\"suites/shop/gone\");");
    assert!(
        package.run(&["check"]).out.contains("error[E010 entry-not-found]"),
        "an include is checked wherever it is"
    );
}
