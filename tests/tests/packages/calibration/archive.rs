//! Nextest archives: test programs on a machine without the sources.

use evalsuite_needs::needs;
use evalsuite_tests::throwaway::Archive;

use super::{ASKED, asked, calibration, package, with_log};

#[needs(nextest)]
#[test]
fn judges_are_measured_in_an_archive_without_the_suite() {
    let package = package("calibrated_archive");
    let archive = Archive::of(&package);
    package.rename("suites", "moved/suites");

    let ran = with_log(&package, archive.call(&package)).run().succeeds("the program contains all files");
    ran.says("5 tests run: 5 passed");
    assert_eq!(asked(&package), ASKED);
    let record = calibration(&package);
    assert_eq!(record["counts"]["valid"], 4, "{record}");
    assert!(!archive.root().join("suites").exists(), "nothing is written where the package would be");
}
