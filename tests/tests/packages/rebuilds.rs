//! A suite that changes, and the next build.

use std::collections::BTreeSet;

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Build, Package, Records, suites};

/// Every kind of target that can contain a suite, and its name.
const TARGETS: [(&str, &str); 4] =
    [("lib", "everywhere"), ("bin", "everywhere-bin"), ("test", "evals"), ("example", "demo")];

const CALLS: &str = "
evalsuite::include_eval_suite!(\"suites/by_task\");
evalsuite::include_eval_suite!(\"suites/by_case\");
";

fn everywhere() -> Package {
    let package = Package::new("everywhere");
    let with_main = |agent: &str| {
        format!(
            "{agent}{CALLS}
            fn main() {{
                by_task::SUITE.cases().iter().chain(by_case::SUITE.cases()).for_each(|case| println!(\"{{}}\", case.id()));
            }}"
        )
    };
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .write("src/lib.rs", &format!("{}{CALLS}", suites::AGENT))
        .write("src/bin/everywhere-bin.rs", &with_main(suites::AGENT))
        .write("examples/demo.rs", &with_main("use everywhere::{agent, echo};"))
        .write("tests/evals.rs", &format!("use everywhere::{{agent, echo}};{CALLS}"))
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "hello"))
        .write("suites/by_task/tasks/deep/nested/one.json", &suites::task("one", "hello", "hello"))
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"));
    package
}

fn names(names: &[&str]) -> BTreeSet<String> {
    let always = ["by_task::suite_check", "by_case::suite_check"];
    names.iter().chain(&always).map(|name| (*name).to_owned()).collect()
}

#[track_caller]
fn has_everywhere(package: &Package, build: &Build, what: &str, expected: &[&str]) {
    for (kind, target) in TARGETS {
        assert_eq!(build.tests(package, kind, target), names(expected), "{what}: tests of the {kind} {target}");
    }
}

#[slow(builds)]
#[test]
fn every_change_of_a_tracked_suite_is_in_the_next_build() {
    let package = everywhere();
    let build = |what: &str| package.build(["--all-targets"]).succeeds(what);

    let first = build("the first build succeeds");
    let before = ["by_task::top", "by_task::deep::nested::one", "by_case::first"];
    has_everywhere(&package, &first, "first build", &before);

    package
        .write("suites/by_task/tasks/added.json", &suites::task("added", "hello", "hello"))
        .write("suites/by_task/tasks/deep/nested/two.json", &suites::task("two", "hello", "hello"))
        .write("suites/by_task/tasks/new/folder/three.json", &suites::task("three", "hello", "hello"))
        .write("suites/by_case/cases/second/case.yaml", &suites::case("hello", "hello"));
    let added = build("added cases are built");
    let after = [
        "by_task::top",
        "by_task::added",
        "by_task::deep::nested::one",
        "by_task::deep::nested::two",
        "by_task::new::folder::three",
        "by_case::first",
        "by_case::second",
    ];
    has_everywhere(&package, &added, "after adding", &after);

    package
        .write("suites/by_task/tasks/deep/nested/one.json", &suites::task("one", "hello", "goodbye"))
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "goodbye"));
    let edited = package.cargo(["test", "--all-targets", "--no-fail-fast"]).run().fails("edited cases fail");
    for (_, target) in TARGETS {
        assert!(edited.stderr.contains(target), "expected the {target} to run\n{}", edited.transcript());
    }
    // Once in each test program.
    edited.says_times("test by_task::deep::nested::one ... FAILED", TARGETS.len());
    edited.says_times("test by_case::first ... FAILED", TARGETS.len());
    edited.says_times("test by_task::top ... ok", TARGETS.len());
    edited.says_times("test by_case::suite_check ... ok", TARGETS.len());

    package
        .rename("suites/by_task/tasks/added.json", "suites/by_task/tasks/renamed.json")
        .rename("suites/by_task/tasks/deep/nested", "suites/by_task/tasks/deep/elsewhere")
        .rename("suites/by_case/cases/second", "suites/by_case/cases/other");
    let renamed = build("renamed cases are built");
    let after = [
        "by_task::top",
        "by_task::renamed",
        "by_task::deep::elsewhere::one",
        "by_task::deep::elsewhere::two",
        "by_task::new::folder::three",
        "by_case::first",
        "by_case::other",
    ];
    has_everywhere(&package, &renamed, "after renaming", &after);

    package
        .remove("suites/by_task/tasks/renamed.json")
        .remove("suites/by_task/tasks/deep/elsewhere/two.json")
        .remove("suites/by_task/tasks/new")
        .remove("suites/by_case/cases/other");
    let deleted = build("what is left is built");
    has_everywhere(
        &package,
        &deleted,
        "after deleting",
        &["by_task::top", "by_task::deep::elsewhere::one", "by_case::first"],
    );

    let ran = package.cargo(["run", "--quiet", "--bin", "everywhere-bin"]).run().succeeds("the program runs");
    assert_eq!(
        ran.stdout.lines().collect::<Vec<_>>(),
        ["one", "top", "first"],
        "expected the program to list the cases"
    );
}

#[slow(builds)]
#[test]
fn records_of_tests_cause_no_rebuild() {
    let package = Package::new("unchanged");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(suites::AGENT)
        .write("tests/evals.rs", &format!("use unchanged::{{agent, echo}};{CALLS}"))
        .write("tests/untracked.rs", "use unchanged::agent;\nevalsuite::include_eval_suite!(\"more\");")
        .write("more/EVAL.yaml", suites::EVAL_YAML)
        .write("more/cases/first/case.yaml", &suites::case("hello", "goodbye"))
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "goodbye"))
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"));
    package.build(["--all-targets"]).succeeds("the first build succeeds");

    // Records at their default place, below the package, and at another one.
    let target = package.cargo(["test", "--no-fail-fast"]).without_env("EVALSUITE_OUTPUT").run();
    target.fails("both suites have a case that fails").says("record: ").says_times("... FAILED", 2);
    let below = package.root().join("records");
    package.cargo(["test", "--no-fail-fast"]).env("EVALSUITE_OUTPUT", below).run().fails("cases fail again");
    assert_eq!(Records::below(&package.root().join("records")).results().len(), 3, "one record per trial is written");

    for (what, arguments) in [("all targets", &["--all-targets"][..]), ("what `cargo test` builds", &[])] {
        let again = package.build(arguments.iter().copied()).succeeds("nothing has changed");
        assert!(!again.artifacts.is_empty(), "cargo names what it built");
        assert_eq!(again.rebuilt(), [""; 0], "{what} is fresh when no file changed");
    }
}

#[slow(builds)]
#[test]
fn what_the_macro_stores_while_it_is_expanded_causes_no_rebuild() {
    let package = Package::new("stored");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(suites::AGENT)
        .write("tests/evals.rs", "use stored::agent;\nevalsuite::include_eval_suite!(\"suites/by_case\");")
        .write("suites/by_case/EVAL.yaml", "workspace: { template: ./template }\n")
        .write("suites/by_case/template/note.txt", "one")
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"));
    for content in ["two", "three"] {
        package.write("suites/by_case/template/note.txt", content);
        // A suite whose files changed within the last milliseconds is not stored.
        std::thread::sleep(std::time::Duration::from_millis(100));
        let build = package.build([]).succeeds("the suite is built");
        assert!(build.rebuilt().contains(&"test evals".to_owned()), "an embedded file has changed");
        let stored = build.out_dir(&package).join("evalsuite/loaded");
        let mut files = std::fs::read_dir(stored).expect("the macro has stored the suite");
        let is_archive = |file: std::io::Result<std::fs::DirEntry>| {
            file.is_ok_and(|file| file.path().extension().is_some_and(|extension| extension == "embedded"))
        };
        assert!(files.any(is_archive), "the files that cases need are stored as one file");
        assert_eq!(package.build([]).rebuilt(), [""; 0], "the archive of embedded files is not newer than the build");
    }
}

#[slow(builds)]
#[test]
fn records_are_refused_below_a_tracked_suite() {
    let package = Package::new("records_in_suite");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .write("src/lib.rs", &format!("{}evalsuite::include_eval_suite!(\"suites/by_task\");", suites::AGENT))
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "hello"));
    let inside = package.root().join("suites/by_task/records");
    let ran = package.cargo(["test"]).env("EVALSUITE_OUTPUT", &inside).run();
    ran.fails("records there would cause a rebuild each time").says("EVALSUITE_OUTPUT");
    assert!(!inside.exists(), "nothing is written below a suite");
    package.build([]).succeeds("it is still built");
    assert_eq!(package.build([]).rebuilt(), [""; 0], "the build is fresh");
}

#[slow(builds)]
#[test]
fn changed_files_outside_of_the_tracked_directory_cause_a_rebuild() {
    let package = Package::new("reads_elsewhere");
    package
        .add_generator()
        .write(
            "build.rs",
            "fn main() {
                evalsuite_build::track(\"suites\");
                evalsuite_build::generate(\"suites/by_case\").name(\"written\").write();
            }",
        )
        .library(suites::AGENT)
        .write("tests/by_macro.rs", "use reads_elsewhere::agent;\nevalsuite::include_eval_suite!(\"suites/by_case\");")
        .write(
            "tests/by_file.rs",
            "use reads_elsewhere::agent;\ninclude!(concat!(env!(\"OUT_DIR\"), \"/evalsuite/written.rs\"));",
        )
        .write("suites/by_case/EVAL.yaml", "tests:\n  - file://../../shared/cases.yaml\n  - file://more.yaml\n")
        .write(".evalsuite/templates/polite.yaml", "assertions:\n  - { type: contains, value: hello }\n")
        .write("shared/cases.yaml", "- { id: one, input: hello, assertions: [{ include: polite }] }\n")
        .write("suites/by_case/more.yaml", "- { id: two, input: hello, assertions: [{ include: polite }] }\n");
    let test = || package.cargo(["test", "--no-fail-fast"]).run();
    test().succeeds("all cases pass").says_times("test by_case::one ... ok", 1).says("test written::two ... ok");
    assert_eq!(package.build([]).rebuilt(), [""; 0], "the build is fresh");

    package.write(".evalsuite/templates/polite.yaml", "assertions:\n  - { type: contains, value: goodbye }\n");
    let ran = test().fails("the template has changed");
    ran.says("test by_case::one ... FAILED")
        .says("test written::one ... FAILED")
        .says(".evalsuite/templates/polite.yaml:2:5");

    package
        .write(".evalsuite/templates/polite.yaml", "assertions:\n  - { type: contains, value: hello }\n")
        .write("shared/cases.yaml", "- { id: renamed, input: hello, assertions: [{ include: polite }] }\n");
    let ran = test().succeeds("all cases pass again");
    ran.says("test by_case::renamed ... ok").says("test written::renamed ... ok").is_silent_about("::one");
}

#[slow(builds)]
#[cfg(unix)]
#[test]
fn changed_files_behind_links_cause_a_rebuild() {
    let package = Package::new("linked");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(suites::AGENT)
        .write("tests/evals.rs", "use linked::agent;\nevalsuite::include_eval_suite!(\"suites/by_case\");")
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_case/cases/own/case.yaml", &suites::case("hello", "hello"))
        .write("shared/first/case.yaml", &suites::case("hello", "hello"));
    let link = package.root().join("suites/by_case/cases/behind_link");
    std::os::unix::fs::symlink("../../../shared/first", link).expect("a link");
    let test = || package.cargo(["test", "--no-fail-fast"]).run();
    test().succeeds("all cases pass").says("test by_case::behind_link ... ok");
    assert_eq!(package.build([]).rebuilt(), [""; 0], "the build is fresh");

    package.write("shared/first/case.yaml", &suites::case("hello", "goodbye"));
    test().fails("the case was edited").says("test by_case::behind_link ... FAILED");
    package.remove("suites/by_case/cases/behind_link");
    test().succeeds("the link is gone").is_silent_about("behind_link");
}
