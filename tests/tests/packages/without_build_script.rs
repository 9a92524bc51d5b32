//! Suites without a build script: an edited file causes a rebuild, an added file fails `suite_check`.

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Call, Package, suites};

fn package(name: &str) -> Package {
    let package = Package::new(name);
    package
        .library(suites::AGENT)
        .write(
            "tests/evals.rs",
            &format!(
                "use {name}::{{agent, echo}};
                evalsuite::include_eval_suite!(\"suites/by_task\");
                evalsuite::include_eval_suite!(\"suites/by_case\");"
            ),
        )
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/top.json", &suites::task("top", "hello", "hello"))
        .write("suites/by_task/tasks/deep/one.json", &suites::task("one", "hello", "hello"))
        .write("suites/by_case/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "hello"));
    package
}

#[slow(builds)]
#[test]
fn an_edited_file_of_an_untracked_suite_causes_a_rebuild() {
    let package = package("untracked_edit");
    package.cargo(["test"]).run().succeeds("all cases pass");
    package
        .write("suites/by_task/tasks/deep/one.json", &suites::task("one", "hello", "goodbye"))
        .write("suites/by_case/cases/first/case.yaml", &suites::case("hello", "goodbye"));
    let edited = package.cargo(["test", "--no-fail-fast"]).run().fails("edited cases fail");
    edited.says("test by_task::deep::one ... FAILED").says("test by_case::first ... FAILED");
    edited.says("test by_task::top ... ok").says("test by_task::suite_check ... ok");

    package.write("suites/by_task/suite.json", &suites::SUITE_JSON.replace("echo_tasks", "renamed_suite"));
    let edited = package.cargo(["test", "--no-fail-fast"]).run().fails("a case still fails");
    edited.says("one (renamed_suite)");
}

#[slow(builds)]
#[test]
fn a_case_added_to_an_untracked_suite_fails_its_check_which_says_what_to_do() {
    let package = package("untracked_add");
    package.build([]).succeeds("the first build succeeds");
    package
        .write("suites/by_task/tasks/deep/two.json", &suites::task("two", "hello", "hello"))
        .write("suites/by_case/cases/second/case.yaml", &suites::case("hello", "hello"));
    let build = package.build([]).succeeds("cargo does not see the new files");
    assert_eq!(build.rebuilt(), [""; 0], "if cargo saw new files, the check would not be needed");

    let ran = package.cargo(["test", "--no-fail-fast"]).run().fails("the check of each suite fails");
    ran.says("test by_task::suite_check ... FAILED").says("test by_case::suite_check ... FAILED");
    ran.says("added after the build: suites/by_task/tasks/deep/two.json");
    ran.says("added after the build: suites/by_case/cases/second/case.yaml");
    ran.says("E075").says("evalsuite_build::track(\"suites\");").says("build.rs");
    ran.says("test by_task::top ... ok").is_silent_about("gone since the build");

    // With the build script that the message recommends.
    package.write("build.rs", suites::BUILD_SCRIPT);
    let ran = package.cargo(["test"]).run().succeeds("the new cases run");
    ran.says("test by_task::deep::two ... ok").says("test by_case::second ... ok");
}

#[slow(builds)]
#[test]
fn a_case_deleted_from_an_untracked_suite_is_gone_in_the_next_build_and_fails_the_check_of_an_old_one() {
    let package = package("untracked_delete");
    let old = package.build([]).succeeds("the first build succeeds").executable("test", "evals");
    package.remove("suites/by_task/tasks/deep/one.json");
    let ran = Call::program(&old, &package).run().fails("the old program contains a deleted case");
    ran.says("test by_task::suite_check ... FAILED");
    ran.says("gone since the build: suites/by_task/tasks/deep/one.json");
    ran.says("evalsuite_build::track(\"suites\");").is_silent_about("added after the build");

    let ran = package.cargo(["test"]).run().succeeds("the next build has the change");
    ran.is_silent_about("by_task::deep::one").says("test by_task::suite_check ... ok");

    package.rename("suites/by_case/cases/first", "suites/by_case/cases/renamed");
    let ran = package.cargo(["test"]).run().succeeds("the next build has the change");
    ran.is_silent_about("by_case::first").says("test by_case::renamed ... ok");
}
