//! Test programs without their sources.

use evalsuite_tests::throwaway::{Call, Package, has_nextest, suites};

#[test]
fn tests_of_an_archive_run_elsewhere_as_far_as_they_need_no_files() {
    if !has_nextest("tests_of_an_archive_run_elsewhere_as_far_as_they_need_no_files") {
        return;
    }
    let package = Package::new("archived");
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .write("src/lib.rs", suites::AGENT)
        .write("tests/evals.rs", "use archived::echo;\nevalsuite::include_eval_suite!(\"suites/by_task\");")
        .write("suites/by_task/suite.json", suites::SUITE_JSON)
        .write("suites/by_task/tasks/plain.json", &suites::task("plain", "hello", "hello"))
        .write("suites/by_task/tasks/files/with_files.json", &suites::task("with-files", "hello", "hello"))
        .write("suites/by_task/tasks/files/workspace/note.txt", "A fixture.");
    let archive = package.records_directory().join("archive.tar.zst");
    let elsewhere = package.records_directory().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a folder");
    // nextest wants to see that this is the package.
    std::fs::copy(package.root().join("Cargo.toml"), elsewhere.join("Cargo.toml")).expect("a manifest");
    let path = |path: &std::path::Path| path.to_str().expect("UTF-8").to_owned();
    let (archive, new_root) = (path(&archive), path(&elsewhere));
    package.cargo(["nextest", "archive", "--archive-file", &archive]).run().succeeds("the tests are packed");

    // As on a machine that never had the sources.
    package.rename("suites", "moved/suites");
    let run = ["nextest", "run", "--no-fail-fast", "--archive-file", &archive, "--workspace-remap", &new_root];
    let ran = Call::program("cargo", &package).args(run).in_directory(&elsewhere).run();
    assert_eq!(ran.code, Some(100), "the case with files cannot pass\n{}", ran.transcript());
    let ended = |status: &str, test: &str| {
        let shown = ran.stderr.lines().any(|line| line.trim_start().starts_with(status) && line.ends_with(test));
        assert!(shown, "expected {status} for {test}\n{}", ran.transcript());
    };
    ended("PASS", "by_task::plain");
    ended("PASS", "by_task::suite_check");
    ended("FAIL", "by_task::files::with_files");
    ran.says("evaluation error (").says("suites/by_task");
}
