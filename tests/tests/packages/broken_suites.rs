//! A suite with mistakes: one build reports all of them, and nothing else.

use evalsuite_tests::throwaway::{Build, Package, suites};

/// Code that uses everything the macro declares.
const USES: &str = "
pub fn cases() -> Vec<&'static str> {
    let evals: fn() -> evalsuite::Evals = by_case::evals;
    drop(evals().run(&evalsuite::RunOptions::new()));
    by_case::SUITE.find(\"first\").into_iter().chain(by_case::SUITE.cases()).map(|case| case.id()).collect()
}
";

fn broken(name: &str, tracked: bool) -> Package {
    let package = Package::new(name);
    if tracked {
        package.write("build.rs", suites::BUILD_SCRIPT);
    }
    package
        .write("src/lib.rs", &format!("{}evalsuite::include_eval_suite!(\"suites/by_case\");{USES}", suites::AGENT))
        .write("suites/by_case/EVAL.yaml", "execution: { treshold: 0.5, workers: 99 }\n")
        .write("suites/by_case/cases/first/case.yaml", "input: hello\nasserts: []\ncriteria: Says hello.\n")
        .write("suites/by_case/cases/second/case.yaml", "input: \"hello\nassertions: []\n")
        .write(
            "suites/by_case/cases/third/case.yaml",
            "input: hello\nassertions:\n  - { type: regex, value: \"(\" }\n",
        );
    package
}

/// Fails the test unless the build reports every mistake of the suite, in the order of the files, and nothing else.
#[track_caller]
fn reports_every_mistake(build: &Build, target: &str) {
    let expected = [
        ("E019 unknown-key", "suites/by_case/EVAL.yaml:1:14"),
        ("E024 out-of-range", "suites/by_case/EVAL.yaml:1:38"),
        ("E019 unknown-key", "suites/by_case/cases/first/case.yaml:2:1"),
        ("E003 yaml-syntax", "suites/by_case/cases/second/case.yaml:1:8"),
        ("E053 invalid-regex", "suites/by_case/cases/third/case.yaml:3:28"),
    ];
    let errors = build.errors(target);
    for (code, place) in expected {
        let found = errors.iter().filter(|error| error.message.contains(code) && error.message.contains(place)).count();
        assert_eq!(found, 1, "expected {code} at {place} once\n{}", build.transcript());
    }
    let other = errors.iter().filter(|error| !error.message.starts_with("[E0")).count();
    assert_eq!(other, 0, "expected errors of the suite only, none of code that uses it\n{}", build.transcript());
    let order = |error: &str| expected.iter().position(|(_, place)| error.contains(place));
    let positions: Vec<_> = errors.iter().map(|error| order(&error.message)).collect();
    assert!(positions.is_sorted(), "expected errors by file and line\n{}", build.transcript());
}

#[track_caller]
fn compiles_once_the_files_are_fixed(package: &Package) {
    reports_every_mistake(&package.build(["--lib"]).fails("a broken suite is a compile error"), package.name());
    package
        .write("suites/by_case/EVAL.yaml", "execution: { threshold: 0.5 }\n")
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"))
        .write("suites/by_case/cases/second/case.yaml", &suites::case("hello", "hello"));
    let build = package.build(["--lib"]).fails("one file still has a mistake");
    let errors = build.errors(package.name());
    assert_eq!(errors.len(), 1, "expected the error that is left\n{}", build.transcript());
    package.write("suites/by_case/cases/third/case.yaml", &suites::case("hello", "hello"));
    let ran = package.cargo(["test"]).run().succeeds("the suite is fixed");
    ran.says("test by_case::second ... ok").says("test by_case::third ... ok").says("test by_case::suite_check ... ok");
}

#[test]
fn all_mistakes_in_all_files_are_compile_errors_of_one_build_until_they_are_fixed() {
    compiles_once_the_files_are_fixed(&broken("broken_untracked", false));
}

#[test]
fn mistakes_in_a_tracked_suite_are_compile_errors_until_they_are_fixed() {
    compiles_once_the_files_are_fixed(&broken("broken_tracked", true));
}

#[test]
fn a_missing_suite_is_found_once_it_exists() {
    let package = Package::new("appears");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .write("src/lib.rs", &format!("{}evalsuite::include_eval_suite!(\"suites/by_case\");", suites::AGENT))
        .write("suites/by_cases/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_cases/cases/first/case.yaml", &suites::case("hello", "hello"));
    let build = package.build(["--lib"]).fails("there is no such suite");
    let errors = build.errors("appears");
    assert!(
        errors.len() == 1 && errors[0].message.contains("E010") && errors[0].message.contains("by_cases"),
        "expected one error that names the near suite\n{}",
        build.transcript()
    );
    package.rename("suites/by_cases", "suites/by_case");
    package.cargo(["test"]).run().succeeds("the suite exists now").says("test by_case::first ... ok");
}
