//! Test programs without their sources.

use std::path::Path;

use evalsuite_tests::throwaway::{Call, has_nextest};

use super::{ASKED, asked, calibration, package, with_log};

#[test]
fn judges_are_measured_where_the_suite_never_was() {
    if !has_nextest("judges_are_measured_where_the_suite_never_was") {
        return;
    }
    let package = package("calibrated_archive");
    let elsewhere = package.records_directory().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a folder");
    std::fs::copy(package.root().join("Cargo.toml"), elsewhere.join("Cargo.toml")).expect("a manifest");
    let path = |path: &Path| path.to_str().expect("UTF-8").to_owned();
    let (archive, new_root) = (path(&package.records_directory().join("archive.tar.zst")), path(&elsewhere));
    package.cargo(["nextest", "archive", "--archive-file", &archive]).run().succeeds("the tests are packed");
    package.rename("suites", "moved/suites");

    let call = ["nextest", "run", "--archive-file", &archive, "--workspace-remap", &new_root];
    let call = Call::program("cargo", &package).args(call).in_directory(&elsewhere);
    let ran = with_log(&package, call).run().succeeds("everything is in the program");
    ran.says("5 tests run: 5 passed");
    assert_eq!(asked(&package), ASKED);
    let record = calibration(&package);
    assert_eq!(record["counts"]["valid"], 4, "{record}");
    assert!(!elsewhere.join("suites").exists(), "nothing is written where the package would be");
}
