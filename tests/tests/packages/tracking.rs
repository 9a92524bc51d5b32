//! `evalsuite_build::track` in a build script.

use std::fs;
#[cfg(unix)]
use std::time::{Duration, Instant};

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Call, CommandOutput, Package, suites};

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
        .library(suites::AGENT)
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "hello"));
    package
}

fn tracking(package: &Package, directories: &str) -> CommandOutput {
    // What the other tests have built is enough for a build, but not for a check.
    package.cargo(["build"]).env("TRACK", directories).run()
}

#[slow(builds)]
#[test]
fn a_directory_that_cannot_be_tracked_fails_the_build_with_a_reason_and_advice() {
    let package = package("refusals");
    let table = [
        (".", "cannot track `.`: this is the whole package"),
        ("suites/..", "cannot track `suites/..`: this is the whole package"),
        ("suites,../..", "cannot track `../..`: it contains cargo's target directory"),
    ];
    for (directories, expected) in table {
        let ran = tracking(&package, directories).fails("such a directory is refused");
        ran.says(expected).is_silent_about("panicked");
    }
    let ran = tracking(&package, ".");
    ran.says("evalsuite_build::track(\"suites\")");
    tracking(&package, "suites").succeeds("a directory of suites is tracked");
}

#[slow(builds)]
#[cfg(unix)]
#[test]
fn a_link_that_leads_out_of_the_package_fails_the_build_before_cargo_follows_it() {
    let package = package("leads_out");
    let link = package.root().join("suites/by_task/everything");
    std::os::unix::fs::symlink("/usr", &link).expect("a link");
    let ran = tracking(&package, "suites").fails("such a link is refused");
    ran.says(&format!("cannot track `suites`: {} is a link to /usr: this is outside of the package", link.display()));
    package.remove("suites/by_task/everything");
    tracking(&package, "suites").succeeds("the link is gone");
}

/// Ends with the exit status of a call that may not take longer than cargo takes for a build.
#[cfg(unix)]
fn status_within_limit(call: Call, what: &str) -> std::process::ExitStatus {
    let mut child = call.spawn();
    let end = Instant::now() + Duration::from_secs(300);
    loop {
        match child.try_wait().expect("the state of the process") {
            Some(status) => return status,
            None if Instant::now() > end => {
                child.kill().expect("the process ends");
                panic!("{what}: cargo did not end");
            }
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

#[slow(builds)]
#[cfg(unix)]
#[test]
fn links_inside_of_the_package_and_links_in_circles_are_tracked() {
    let package = package("linked_inside");
    let link = |target: &str, path: &str| {
        std::os::unix::fs::symlink(target, package.root().join(path)).expect("a link");
    };
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .write(
            "tests/evals.rs",
            "use linked_inside::{agent, echo};\nevalsuite::include_eval_suite!(\"suites/by_case\");",
        )
        .write("shared/template/notes.md", "one\n")
        .write("suites/by_case/EVAL.yaml", &format!("{}workspace: {{ template: ./template }}\n", suites::EVAL_YAML))
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"));
    link("../../shared/template", "suites/by_case/template");
    link("..", "suites/by_case/up");
    let test = |what: &str| status_within_limit(package.cargo(["test"]), what);
    assert!(test("links inside").success(), "links inside of the package are tracked");
    assert_eq!(package.build([]).succeeds("nothing has changed").rebuilt(), [""; 0]);
    package.write("shared/template/notes.md", "two\n");
    let build = package.build([]).succeeds("a file behind the link has changed");
    assert_ne!(build.rebuilt(), [""; 0], "cargo sees changes behind the link");
}

#[slow(builds)]
#[cfg(unix)]
#[test]
fn a_link_to_the_whole_machine_is_an_error_of_the_macro() {
    let package = package("whole_machine");
    package.remove("build.rs").write(
        "tests/evals.rs",
        "use whole_machine::{agent, echo};\nevalsuite::include_eval_suite!(\"suites/by_task\");",
    );
    std::os::unix::fs::symlink("/", package.root().join("suites/by_task/everything")).expect("a link");
    assert!(!status_within_limit(package.cargo(["test"]), "a link to /").success());
    let ran = package.cargo(["test"]).run().fails("such a link is refused");
    ran.says("[E081 linked-directory] `")
        .says("suites/by_task/everything` is a link to /, which is outside of the package");
}

/// A package that uses evalsuite in its tests only, as agents do.
fn agent(name: &str) -> Package {
    let package = package(name);
    let manifest = fs::read_to_string(package.root().join("Cargo.toml")).expect("a manifest");
    let manifest = manifest.replace("[dependencies]", "[dev-dependencies]");
    package
        .write("Cargo.toml", &manifest)
        .write("build.rs", suites::BUILD_SCRIPT)
        .library("pub fn answer() -> String { String::from(\"hello\") }\n")
        .write(
            "tests/evals.rs",
            &format!(
                "fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {{ Ok({name}::answer()) }}
                use agent as echo;
                evalsuite::include_eval_suite!(\"suites/by_task\");"
            ),
        );
    package
}

#[slow(builds)]
#[test]
fn a_release_build_compiles_a_helper_without_dependencies() {
    let package = agent("slim");
    let edges = ["tree", "--edges", "normal,build", "--prefix", "none", "--no-dedupe"];
    let ran = package.cargo(edges).run().succeeds("cargo lists what a build compiles");
    ran.says_times("evalsuite", 1).says("evalsuite-build v0.1.0");
    let ran = package.cargo(["tree", "--package", "evalsuite-build", "--edges", "all", "--prefix", "none"]).run();
    let ran = ran.succeeds("cargo lists what the helper needs");
    assert_eq!(ran.stdout.lines().count(), 1, "expected the helper alone\n{}", ran.transcript());
}

#[slow(builds)]
#[test]
fn tests_and_other_builds_have_the_same_build_script_so_the_agent_is_compiled_once() {
    let package = agent("compiled_once");
    package.cargo(["build"]).run().succeeds("the agent is built");
    let build = package.build(["--test", "evals"]).succeeds("its tests are built");
    assert_eq!(build.rebuilt(), ["test evals"], "the build script and the library are those of `cargo build`");
}

#[slow(builds)]
#[test]
fn a_missing_directory_is_a_warning_of_a_build_and_an_error_of_a_test() {
    let package = agent("without_suites");
    package.remove("suites");
    let ran = package.cargo(["build", "--release"]).run().succeeds("a release build needs no suites");
    ran.says("warning: without_suites@0.1.0: `suites` is not tracked: it does not exist in ");
    assert_eq!(package.cargo(["build", "--release"]).build().rebuilt(), [""; 0], "it is fresh");
    let build = package.build([]).fails("a test needs its suite");
    let errors = build.errors("evals");
    assert!(
        errors.len() == 1 && errors[0].message.contains("[E010 entry-not-found]"),
        "expected one error about the suite\n{}",
        build.transcript()
    );

    package
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "hello"));
    let ran = package.cargo(["test"]).run().succeeds("the suite is there now");
    ran.says("test by_task::top ... ok").is_silent_about("is not tracked");
    package.write("suites/by_task/tasks/next.json", &suites::task("next", "hello", "hello"));
    package.cargo(["test"]).run().succeeds("it is tracked").says("test by_task::next ... ok");
}

#[slow(builds)]
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

#[slow(builds)]
#[test]
fn warnings_are_shown_once_for_each_call_of_the_macro() {
    let package = package("warned");
    let call = "evalsuite::include_eval_suite!(\"suites/by_case\");";
    package
        .write("suites/by_case/EVAL.yaml", "assert:\n  - { type: contains, value: hello }\n")
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"))
        .write("suites/by_case/cases/draft/notes.md", "No case yet.\n")
        .write("tests/one.rs", &format!("use warned::agent;\n{call}"))
        .write("tests/two.rs", &format!("use warned::agent;\n{call}"));
    // A suite whose files changed within the last milliseconds is not stored: their times may hide a later change.
    std::thread::sleep(std::time::Duration::from_millis(100));
    for what in ["loaded by one of them", "fresh"] {
        let ran = package.cargo(["test"]).env("TRACK", "suites").run().succeeds("warnings fail no build");
        ran.says("suites/by_case/EVAL.yaml:1:1").says("suites/by_case/cases/draft");
        for (code, expected) in [("W001 deprecated-key", 2), ("W002 missing-case-file", 2)] {
            let found = ran.text().matches(code).count();
            assert_eq!(found, expected, "{what}: expected {code} for each of the calls\n{}", ran.transcript());
        }
        ran.is_silent_about("warned@0.1.0: ").says_times("test by_case::first ... ok", 2);
    }
    // The library is compiled twice, for itself and with its own tests.
    let manifest = format!("{}\n[workspace]\n", Package::manifest("warned"));
    package.remove("tests").write("Cargo.toml", &manifest);
    package.write("src/lib.rs", &format!("{}{call}", suites::AGENT));
    let ran = package.cargo(["test"]).env("TRACK", "suites").run().succeeds("warnings fail no build");
    ran.says_times("W001 deprecated-key", 1).says_times("W002 missing-case-file", 1);
}
