//! A calibration that is added, changed or deleted, and the next build.

use evalsuite_needs::slow;
use evalsuite_tests::throwaway::{Call, Package};

use super::{CALIBRATION, package};

const FILE: &str = "suites/judged/calibration.yaml";
const TEST: &str = "judged::judge_calibration";

#[track_caller]
fn has_test(package: &Package, expected: bool, what: &str) {
    let build = package.build(["--test", "evals"]).succeeds(what);
    assert_eq!(build.tests(package, "test", "evals").contains(TEST), expected, "{what}");
}

#[slow(builds)]
#[test]
fn every_change_of_a_tracked_calibration_causes_a_rebuild() {
    let package = package("calibration_tracked");
    package.remove(FILE);
    has_test(&package, false, "a suite without a calibration has no test for it");
    package.write(FILE, CALIBRATION);
    has_test(&package, true, "an added calibration is seen");
    package.write(FILE, &CALIBRATION.replace("kappa: 0.6", "kapa: 0.6"));
    let build = package.build(["--test", "evals"]).fails("the calibration has a mistake");
    assert!(build.transcript().contains("unknown key `kapa` in `minimum`"), "{}", build.transcript());
    assert!(build.transcript().contains("did you mean `kappa`?"), "{}", build.transcript());
    package.write(FILE, "minimum: { kappa: 0.6 }\nsamples: labels.jsonl\n");
    let build = package.build(["--test", "evals"]).fails("there are no samples");
    assert!(build.transcript().contains("file `labels.jsonl` not found"), "{}", build.transcript());
    let line = |id: &str, score: f64| {
        format!(r#"{{"id": "{id}", "case": "judged", "output": "worth {score}", "human_score": {score}}}"#) + "\n"
    };
    package.write("suites/judged/labels.jsonl", &(line("a", 0.0) + &line("b", 1.0)));
    let test = || package.cargo(["test", "--test", "evals", "judge_calibration"]).run();
    test().succeeds("added samples are seen").says("2 of 2 samples agree");
    package.write("suites/judged/labels.jsonl", &(line("a", 0.0) + &line("b", 1.0) + &line("c", 0.5)));
    test().succeeds("edited samples are seen").says("3 of 3 samples agree");
    package.rename(FILE, "suites/judged/EVAL.calibration.yml");
    has_test(&package, true, "the calibration of a suite file is found");
    package.remove("suites/judged/EVAL.calibration.yml");
    has_test(&package, false, "a deleted calibration is gone");
}

#[slow(builds)]
#[test]
fn a_calibration_added_to_an_untracked_suite_fails_its_check() {
    for (number, name) in ["calibration.yaml", "calibration.yml", "EVAL.calibration.yaml"].into_iter().enumerate() {
        let package = package(&format!("calibration_untracked_{number}"));
        package.remove("build.rs").remove(FILE);
        let old = package.build(["--test", "evals"]).succeeds("it is built").executable("test", "evals");
        let check = || Call::program(&old, &package).args(["--exact", "judged::suite_check"]).run();
        check().succeeds("nothing was added");
        package.write("suites/judged/other.calibration.yaml", CALIBRATION);
        check().succeeds("the added file is not a calibration of this suite");
        package.write(&format!("suites/judged/{name}"), CALIBRATION);
        let build = package.build(["--test", "evals"]).succeeds("cargo does not see the new file");
        assert_eq!(build.rebuilt(), [""; 0], "if cargo saw new files, the check would not be needed");
        let ran = check().fails("the build does not have the calibration");
        ran.says("E075").says(&format!("added after the build: suites/judged/{name}"));
        ran.says("evalsuite_build::track(\"suites\");");
    }
}

#[slow(builds)]
#[test]
fn a_changed_or_deleted_calibration_of_an_untracked_suite_causes_a_rebuild() {
    let package = package("calibration_untracked_edit");
    package.remove("build.rs");
    package.build(["--test", "evals"]).succeeds("it is built");
    package.write(FILE, &CALIBRATION.replace("worth 1", "worth 0.8"));
    let test = || package.cargo(["test", "--test", "evals", "judge_calibration"]).run();
    test().succeeds("the edited sample is used").says("3 of 4 samples agree, mean error 0.05");
    package.write("suites/judged/samples.md", "Is this good? {{ output }}\n{{ expectd_output }}");
    let build = package.build(["--test", "evals"]).succeeds("a mistake in the prompt is a warning");
    assert!(build.transcript().contains("suites/judged/samples.md:2:"), "{}", build.transcript());
    package.remove(FILE);
    let old = Call::program(build.executable("test", "evals"), &package).args(["--exact", "judged::suite_check"]);
    old.run().fails("the old program contains a deleted calibration").says(&format!("gone since the build: {FILE}"));
    has_test(&package, false, "a deleted calibration is gone");
}
