//! `evalsuite_build::track` in a build script.

use evalsuite_tests::throwaway::{CommandOutput, Package, suites};

/// A build script that tracks the directories in `TRACK`, so that one compiled script serves many calls.
const TRACKS_LIST: &str = "
fn main() {
    println!(\"cargo::rerun-if-env-changed=TRACK\");
    for directory in std::env::var(\"TRACK\").unwrap_or_default().split(',') {
        evalsuite_build::track(directory);
    }
}
";

fn package(name: &str) -> Package {
    let package = Package::new(name);
    package
        .write("build.rs", TRACKS_LIST)
        .write("src/lib.rs", suites::AGENT)
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "hello"));
    package
}

fn tracking(package: &Package, directories: &str) -> CommandOutput {
    package.cargo(["check"]).env("TRACK", directories).run()
}

#[test]
fn a_directory_that_cannot_be_tracked_fails_the_build_with_a_reason_and_advice() {
    let package = package("refusals");
    let table = [
        ("suits", "cannot track `suits`: it does not exist"),
        (".", "cannot track `.`: this is the whole package"),
        ("suites/..", "cannot track `suites/..`: this is the whole package"),
        ("../..", "cannot track `../..`: it contains cargo's target directory"),
        ("suites,nowhere", "cannot track `nowhere`: it does not exist"),
    ];
    for (directories, expected) in table {
        let ran = tracking(&package, directories).fails("such a directory is refused");
        ran.says(expected).is_silent_about("panicked");
    }
    let ran = tracking(&package, ".");
    ran.says("evalsuite_build::track(\"suites\")");
    tracking(&package, "suites").succeeds("a directory of suites is tracked");
}

#[test]
fn several_directories_can_be_tracked() {
    let package = package("several");
    package
        .write("more/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("more/by_case/cases/first/case.yaml", &suites::case("hello", "hello"))
        .write(
            "tests/evals.rs",
            "use several::{agent, echo};
            evalsuite::include_eval_suite!(\"suites/by_task\");
            evalsuite::include_eval_suite!(\"more/by_case\");",
        );
    let test = |expected: &str| package.cargo(["test"]).env("TRACK", "suites,more").run().succeeds(expected);
    test("both suites pass").says("test by_task::top ... ok").says("test by_case::first ... ok");
    package
        .write("suites/by_task/tasks/next.json", &suites::task("next", "hello", "hello"))
        .write("more/by_case/cases/next/case.yaml", &suites::case("hello", "hello"));
    test("both suites have one case more").says("test by_task::next ... ok").says("test by_case::next ... ok");
}

#[test]
fn warnings_of_tracked_suites_are_shown_by_cargo_once() {
    let package = package("warned");
    package
        .write("suites/by_case/EVAL.yaml", "assert:\n  - { type: contains, value: hello }\n")
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"))
        .write("suites/by_case/cases/draft/notes.md", "No case yet.\n")
        .write("tests/one.rs", "use warned::agent;\nevalsuite::include_eval_suite!(\"suites/by_case\");")
        .write("tests/two.rs", "use warned::agent;\nevalsuite::include_eval_suite!(\"suites/by_case\");");
    // A suite whose files changed within the last milliseconds is loaded again: their times may hide a later change.
    std::thread::sleep(std::time::Duration::from_millis(100));
    let ran = package.cargo(["test"]).env("TRACK", "suites").run().succeeds("warnings fail no build");
    ran.says("warning: warned@0.1.0: suites/by_case/EVAL.yaml:1:1: ").says("[W001 deprecated-key]");
    ran.says("warning: warned@0.1.0: suites/by_case/cases/draft: ").says("[W002 missing-case-file]");
    ran.says_times("W001", 1).says_times("W002", 1);
    ran.says_times("test by_case::first ... ok", 2);
}
