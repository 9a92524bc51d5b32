//! `calibration.yaml` in users' packages: measuring a judge against human ratings.

mod archive;
mod rebuilds;

use std::fs;

use evalsuite_needs::{needs, slow};
use evalsuite_schema::Value;
use evalsuite_tests::throwaway::{Call, CommandOutput, Package, read_json, suites};

/// An agent, and a judge that logs what it is asked. The variable `JUDGE` makes it unfair or fail.
const LIB: &str = r##"
use std::io::Write;

pub fn agent(_: &mut evalsuite::Trial<'_>) -> Result<String, std::convert::Infallible> {
    Ok("worth 0.9, says the agent".to_owned())
}

pub fn judge(request: evalsuite::JudgeRequest) -> Result<evalsuite::JudgeReply, Box<dyn std::error::Error>> {
    let worth = request.user().split("worth ").nth(1).and_then(|rest| rest.split([',', ' ', '\n', '<']).next()).unwrap_or("1");
    if let Some(path) = std::env::var_os("ASKED") {
        let who = if request.user().contains("says the agent") { "case" } else { "sample" };
        // In one write, so that lines of several processes do not mix.
        std::fs::OpenOptions::new().create(true).append(true).open(path)?.write_all(format!("{who} {worth}\n").as_bytes())?;
    }
    let score = match std::env::var("JUDGE").as_deref() {
        Ok("harsh") => "0",
        Ok("kind") => "1",
        Ok("broken") => {
            let ill = evalsuite::JudgeError::new("the judge is ill");
            return Err(ill.with_retry_after(std::time::Duration::ZERO).into());
        }
        _ => worth,
    };
    Ok(evalsuite::JudgeReply::new(format!(r#"{{"score": {score}}}"#)).with_model("fair-1").with_cost_usd(0.25))
}
"##;

/// Cases with a judge, with a judge and a text grader, and with a text grader.
const CASES: [(&str, &str); 3] = [
    ("judged", "input: Hello\ncriteria: Names a number\n"),
    (
        "both",
        "input: Hello\nassertions:\n  - { type: llm-grader, name: tone, prompt: 'file://prompt.md' }\n  \
         - { type: contains, value: worth }\n",
    ),
    ("plain", "input: Hello\nassertions: [{ type: contains, value: worth }]\n"),
];

const PROMPT: &str = "How much is this worth?\n\n{{ output }}\n";

/// Four samples. Two of them fail, and the judge is asked to confirm each failure.
const CALIBRATION: &str = "
minimum: { kappa: 0.6 }
grader: { type: llm-grader, prompt: 'file://samples.md' }
samples:
  - { id: of the case, case: judged, output: 'worth 0', human_score: 0, rationale: It says nothing. }
  - { id: of a grader, case: both, grader: tone, output: 'worth 0.3', human_score: 0.3 }
  - { id: of its own, input: Hello, output: 'worth 0.9', human_score: 0.9 }
  - { id: good, case: judged, output: 'worth 1', human_score: 1 }
";

/// How often the judge is asked about samples in one calibration.
const ASKED: usize = 6;

fn package(name: &str) -> Package {
    let package = Package::new(name);
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(LIB)
        .write(
            "tests/evals.rs",
            &format!(
                "evalsuite::include_eval_suite!(\"suites/judged\", agent = {name}::agent, judge = {name}::judge);"
            ),
        )
        .write("suites/judged/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/judged/samples.md", PROMPT)
        .write("suites/judged/cases/both/prompt.md", PROMPT)
        .write("suites/judged/calibration.yaml", CALIBRATION);
    for (case, text) in CASES {
        package.write(&format!("suites/judged/cases/{case}/case.yaml"), text);
    }
    package
}

fn with_log(package: &Package, call: Call) -> Call {
    let log = package.records_directory().join("asked");
    // The log of earlier runs.
    let _ = fs::remove_file(&log);
    fs::create_dir_all(package.records_directory()).expect("a folder");
    call.env("ASKED", log)
}

fn test(package: &Package) -> Call {
    with_log(package, package.cargo(["test", "--test", "evals", "--no-fail-fast"]))
}

fn nextest(package: &Package) -> Call {
    with_log(package, package.cargo(["nextest", "run", "--test", "evals", "--no-fail-fast"]))
}

/// How often the judge was asked about samples in the last run.
fn asked(package: &Package) -> usize {
    let log = fs::read_to_string(package.records_directory().join("asked")).unwrap_or_default();
    log.lines().filter(|line| line.starts_with("sample")).count()
}

/// The record of the only calibration in all runs on disk.
#[track_caller]
fn calibration(package: &Package) -> Value {
    let files = package.records().named("calibration.json");
    let [only] = files.as_slice() else { panic!("one calibration: {files:?}") };
    read_json(only)
}

#[track_caller]
fn outcome_of(package: &Package, case: &str) -> Value {
    let cases = package.records().cases();
    let found: Vec<&Value> = cases.iter().filter(|record| record["case_id"] == case).collect();
    let [only] = found.as_slice() else { panic!("one record of {case}: {cases:?}") };
    only["outcome"].clone()
}

#[track_caller]
fn ended(ran: &CommandOutput, test: &str, how: &str) {
    ran.says(&format!("test judged::{test} ... {how}"));
}

#[test]
fn a_judge_that_agrees_with_people_is_measured_once_and_its_verdicts_count() {
    let package = package("calibrated");
    let ran = test(&package).run().succeeds("people and judge agree");
    for name in ["judge_calibration", "suite_check", "judged", "both", "plain"] {
        ended(&ran, name, "ok");
    }
    ran.says_times("evalsuite: CALIBRATED judged: κ 1.00, Spearman 1.00, 4 of 4 samples agree, mean error 0.00", 1);
    assert_eq!(asked(&package), ASKED, "expected one calibration for all tests");
    let record = calibration(&package);
    assert_eq!(record["test_name"], "judged::judge_calibration", "{record}");
    assert_eq!(record["counts"]["valid"], 4, "{record}");
    assert_eq!(record["models"], evalsuite_schema::json::json!(["fair-1"]));
    assert_eq!(record["cost_usd"], evalsuite_schema::json::json!(1.5));
    let tone = &record["samples"][1]["grader"];
    assert_eq!((&tone["name"], &tone["type"]), (&Value::from("tone"), &Value::from("llm-grader")), "{record}");
    assert!(ran.text().contains("test result: ok. 5 passed; 0 failed; 0 ignored"), "{}", ran.transcript());

    // The calibration alone, with its output.
    package.records().clear();
    let call = package.cargo(["test", "--test", "evals", "judge_calibration", "--", "--nocapture"]);
    let ran = with_log(&package, call).run().succeeds("the judge alone is measured");
    ran.says("judge calibration (judged): the judge is good enough").says("  suites/judged/calibration.yaml:2:1");
    ran.says("repeat: cargo test -p calibrated -- --exact judged::judge_calibration");
    assert_eq!(asked(&package), ASKED);
    let call = package.cargo(["test", "--test", "evals", "plain"]);
    with_log(&package, call).run().succeeds("a case without a judge");
    assert_eq!(asked(&package), 0, "expected no calibration without a judged case");
}

#[test]
fn a_judge_below_the_minimum_fails_its_own_test_and_its_verdicts_do_not_count() {
    let package = package("uncalibrated");
    let below = "Cohen's κ 0.00 < 0.60";
    for (judge, misjudged) in [("kind", "of the case"), ("harsh", "good")] {
        package.records().clear();
        let ran = test(&package).env("JUDGE", judge).run().fails("the judge is not good enough");
        ended(&ran, "judge_calibration", "FAILED");
        for name in ["judged", "both", "plain", "suite_check"] {
            ended(&ran, name, "ok");
        }
        ran.says(&format!("evaluation failed: judge calibration (judged): {below}"));
        ran.says("  4 of 4 samples judged, 0 undecided, 0 with an error");
        ran.says("    Cohen's κ   0.00  pass and fail at 0.8  below 0.6");
        ran.says(&format!("{misjudged}  suites/judged/calibration.yaml:"));
        ran.says("repeat: cargo test -p uncalibrated -- --exact judged::judge_calibration");
        ran.says(&format!(
            "SKIPPED judged::judged: every grader that counts asks a judge that is below the suite's `minimum`: {below}"
        ));
        assert_eq!(outcome_of(&package, "judged"), "skipped");
        assert_eq!(outcome_of(&package, "both"), "passed", "expected the text grader to decide");
        assert_eq!(outcome_of(&package, "plain"), "passed");
        let [result] = package.records().of_case("both").try_into().expect("one trial");
        assert_eq!(result["graders"][0]["advisory"], below, "{result}");
        assert_eq!(calibration(&package)["shortfalls"][0]["measure"], "kappa");
    }
    let ran =
        test(&package).env("JUDGE", "harsh").env("EVALSUITE_REQUIRE", "1").run().fails("skipped cases are errors");
    ended(&ran, "judged", "FAILED");
    ended(&ran, "both", "ok");
    ran.says("and EVALSUITE_REQUIRE=1 turns skipped cases into errors").is_silent_about("SKIPPED");

    // Without a minimum the judge is measured and its verdicts count.
    package.write("suites/judged/calibration.yaml", &CALIBRATION.replace("minimum: { kappa: 0.6 }", ""));
    package.records().clear();
    let ran = test(&package).env("JUDGE", "harsh").run().fails("the judge fails everything");
    ended(&ran, "judge_calibration", "ok");
    ended(&ran, "both", "FAILED");
    ended(&ran, "judged", "FAILED");
    assert_eq!(calibration(&package)["shortfalls"], evalsuite_schema::json::json!([]));
}

#[test]
fn a_failing_judge_is_an_error_and_a_missing_one_is_skipped() {
    let package = package("unmeasured");
    let ran = test(&package).env("JUDGE", "broken").run().fails("the judge fails");
    ended(&ran, "judge_calibration", "FAILED");
    ended(&ran, "plain", "ok");
    ran.says("evaluation error (grading/judge_error): judge calibration (judged): too few samples were judged");
    ran.says("the judge is ill");

    let alone = "evalsuite::include_eval_suite!(\"suites/judged\", agent = unmeasured::agent);";
    package.write("tests/evals.rs", alone);
    let ran = test(&package).run().succeeds("what cannot be measured is skipped");
    ended(&ran, "judge_calibration", "ok");
    ran.says("SKIPPED judge calibration of judged: needs a judge").says("SKIPPED judged::judged: needs a judge");
    let ran = test(&package).env("EVALSUITE_REQUIRE", "1").run().fails("skipped cases are errors");
    ended(&ran, "judge_calibration", "FAILED");
    ran.says("judge calibration (judged) needs a judge, and EVALSUITE_REQUIRE=1 turns skipped cases into errors");
}

#[test]
fn replies_about_samples_are_replayed_and_asked_again_when_a_run_is_graded_again() {
    let package = package("calibrated_replay");
    let ran = test(&package).env("EVALSUITE_MODE", "replay").run().fails("nothing is recorded yet");
    ended(&ran, "judge_calibration", "FAILED");
    ran.says("recording_missing");
    ran.says("EVALSUITE_MODE=record cargo test -p calibrated_replay -- --exact judged::judge_calibration");
    test(&package).env("EVALSUITE_MODE", "record").run().succeeds("everything is recorded");
    assert_eq!(asked(&package), ASKED);

    let build = package.build(["--test", "evals"]).succeeds("nothing has changed");
    assert_eq!(build.rebuilt(), [""; 0], "cassettes are not inputs of the build");
    package.records().clear();
    let ran = test(&package)
        .env("EVALSUITE_MODE", "replay")
        .env("JUDGE", "broken")
        .run()
        .succeeds("the replies are replayed");
    ran.says("CALIBRATED judged: κ 1.00");
    assert_eq!(asked(&package), 0, "the judge is not asked");
    assert_eq!(calibration(&package)["counts"]["valid"], 4);

    // Grading an earlier run again takes its answers, but asks the judge.
    let again = || test(&package).env("EVALSUITE_REGRADE", "latest");
    let ran = again().run().succeeds("the earlier run is graded again");
    ran.says("CALIBRATED judged: κ 1.00");
    assert_eq!(asked(&package), ASKED);
    let ran = again().env("JUDGE", "harsh").run().fails("the judge is harsh now");
    ended(&ran, "judge_calibration", "FAILED");
    ended(&ran, "both", "ok");

    // Another sample is another request.
    package.write("suites/judged/calibration.yaml", &CALIBRATION.replace("worth 0.9", "worth 0.95"));
    let ran = test(&package).env("EVALSUITE_MODE", "replay").run().fails("one recording is stale");
    ended(&ran, "judge_calibration", "FAILED");
    ended(&ran, "both", "ok");
    ran.says("evaluation error (grading/recording_stale)").says("recordings are missing or stale");
    ran.says("3 of 4 samples judged, 0 undecided, 1 with an error");
    assert_eq!(asked(&package), 0, "the judge is not asked");
}

#[needs(nextest)]
#[test]
fn under_nextest_all_processes_share_one_calibration() {
    let package = package("calibrated_nextest");
    let ran = nextest(&package).run().succeeds("people and judge agree");
    ran.says("5 tests run: 5 passed");
    assert_eq!(asked(&package), ASKED, "expected one calibration for all processes");
    assert_eq!(package.records().runs().len(), 1);
    assert_eq!(calibration(&package)["counts"]["valid"], 4);

    package.records().clear();
    let ran = nextest(&package).env("JUDGE", "harsh").run();
    assert_eq!(ran.code, Some(100), "{}", ran.transcript());
    ran.says("5 tests run: 4 passed, 1 failed");
    ran.says("evaluation failed: judge calibration (judged): Cohen's κ 0.00 < 0.60");
    ran.says("repeat: cargo nextest run -p calibrated_nextest -E 'test(=judged::judge_calibration)'");
    assert_eq!((outcome_of(&package, "judged"), outcome_of(&package, "both")), ("skipped".into(), "passed".into()));
    assert_eq!(asked(&package), 8, "every failing verdict is confirmed");

    // The case alone: its judge is measured first.
    package.records().clear();
    let call = package.cargo(["nextest", "run", "--test", "evals", "-E", "test(=judged::judged)"]);
    with_log(&package, call).env("JUDGE", "harsh").run().succeeds("the case is skipped").says("1 test run: 1 passed");
    assert_eq!(outcome_of(&package, "judged"), "skipped");
    assert_eq!(calibration(&package)["shortfalls"][0]["measure"], "kappa");

    // Another runner attempt belongs to the same run.
    package.records().clear();
    let ran =
        nextest(&package).args(["--retries", "1"]).env("JUDGE", "harsh").run().fails("the second attempt fails, too");
    ran.says("TRY 2 FAIL");
    assert_eq!(package.records().named("calibration.json").len(), 1);
}

#[slow(builds)]
#[test]
fn examples_and_calibrations_without_their_feature_are_compile_errors_that_name_it() {
    let package = Package::with_features("without_grader_tests", &[]);
    package
        .write("build.rs", suites::BUILD_SCRIPT)
        .library(LIB)
        .write(
            "tests/evals.rs",
            "evalsuite::include_eval_suite!(\"suites/judged\", agent = without_grader_tests::agent, judge = without_grader_tests::judge);",
        )
        .write("suites/judged/EVAL.yaml", suites::EVAL_YAML)
        .write("suites/judged/samples.md", PROMPT)
        .write("suites/judged/cases/judged/case.yaml", "input: Hello\ncriteria: Names a number\n");
    let both = CALIBRATION.replace("case: both, grader: tone,", "case: judged,");
    package.write("suites/judged/calibration.yaml", &both);
    let ran = package.cargo(["test", "--no-run"]).run().fails("the calibration needs a feature");
    ran.says("[E079 missing-feature] calibrations of judges need the feature `grader-tests` of evalsuite")
        .says("suites/judged/calibration.yaml:")
        .says("`cargo add evalsuite --features grader-tests`");
    package.remove("suites/judged/calibration.yaml").write(
        "suites/judged/cases/plain/case.yaml",
        "input: Hello\nassertions:\n  - { type: contains, value: worth, examples: { pass: [worth 1], fail: [nothing] } }\n",
    );
    let ran = package.cargo(["test", "--no-run"]).run().fails("examples need it as well");
    ran.says("[E079 missing-feature] examples of results need the feature `grader-tests` of evalsuite")
        .says("suites/judged/cases/plain/case.yaml:3:");
    let check = "suites/judged/cases/plain/case.yaml";
    package.write(check, "input: Hello\nassertions: [{ type: contains, value: worth }]\n");
    let probe =
        package.cargo(["test", "suite_check"]).env("EVALSUITE_PROBE", "deny").run().fails("there are no probes");
    probe.says("EVALSUITE_PROBE needs the feature `probe` of evalsuite");
    let asked = package.cargo(["test", "suite_check"]).env("EVALSUITE_PROBE_REQUEST", "{}").run();
    asked.fails("nobody would reply").says("EVALSUITE_PROBE_REQUEST needs the feature `probe` of evalsuite");
}
