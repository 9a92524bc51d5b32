//! What runs with a calibration leave behind, and what becomes of them.

use std::fs;
use std::time::Duration;

use evalsuite::record::{Mode, ReasonCode};
use evalsuite::tooling::finish_run;
use evalsuite::{Evals, JudgeError, JudgeReply, JudgeRequest, RunOptions, Status};
use evalsuite_schema::json::json;

use crate::calibration::{agent, calibrate, calibrated, calibration, fair, judge_grader, lenient, samples};
use crate::common::{contains, only, run_with};

#[test]
fn a_run_is_finished_and_summed_up_whatever_its_judge_is_worth() {
    let directory = tempfile::tempdir().unwrap();
    let bar = || calibration(json!({"kappa": 0.6}), samples());
    let suite = calibrated(directory.path(), json!([judge_grader()]), &bar());
    let evals = Evals::new(suite).with_agent(agent).with_judge(lenient);
    let options = || RunOptions::new().with_run_id("r");
    calibrate(&evals, directory.path(), options()).unwrap();
    let run = directory.path().join("out/runs/r");
    let finished = finish_run(&run).unwrap();
    assert_eq!((finished.hooks, finished.problems.len()), (0, 0), "{:?}", finished.problems);
    let [alone] = finished.summary.suites.as_slice() else { panic!("{:?}", finished.summary) };
    assert_eq!((alone.suite.as_str(), alone.cases.len(), alone.problems.len()), ("x", 0, 0), "nothing but the judge");

    let kept = fs::read_dir(run.join("suites")).unwrap().next().unwrap().unwrap().path().join("calibration.json");
    let before = fs::read_to_string(&kept).unwrap();
    let report = run_with(&evals, &directory.path().join("out"), options());
    let case = only(&report);
    assert_eq!(case.record().reason.as_ref().map(|reason| reason.code), Some(ReasonCode::JudgeBelowBar));
    let summary = report.summary();
    assert_eq!(summary.targets[0].cases.skipped, 1, "{report}");
    assert_eq!(summary.targets[0].mean_score, None, "what nobody decides has no score");
    let finished = finish_run(&run).unwrap();
    assert!(finished.problems.is_empty(), "{:?}", finished.problems);
    assert_eq!(finished.summary.suites[0].targets[0].cases.skipped, 1);
    assert_eq!(finished.summary.suites[0].problems, [""; 0]);
    assert_eq!(fs::read_to_string(&kept).unwrap(), before, "it was measured once");
    let spent = fs::read_to_string(run.join("spend.jsonl")).unwrap_or_default();
    assert!(!spent.contains("\"case_key\":\"calibration\""), "that judge costs nothing: {spent}");
}

#[test]
fn what_agents_did_is_graded_again_by_judges_that_are_measured_again() {
    let directory = tempfile::tempdir().unwrap();
    let graders = json!([judge_grader(), contains("good")]);
    let suite = calibrated(directory.path(), graders, &calibration(json!({"kappa": 0.6}), samples()));
    let run = |judge: fn(JudgeRequest) -> Result<JudgeReply, std::fmt::Error>, options: RunOptions| {
        run_with(&Evals::new(suite).with_agent(agent).with_judge(judge), directory.path(), options)
    };
    run(fair, RunOptions::new().with_run_id("first"));
    let again = || RunOptions::new().with_mode(Mode::Regrade).with_regrade("first");
    let report = run(fair, again());
    assert_eq!(only(&report).status(), Status::Passed, "{report}");
    assert_eq!(only(&report).trials()[0].graders[0].advisory, None, "the judge is as good as it was");
    let report = run(|_| Ok(JudgeReply::new(r#"{"score": 0}"#)), again());
    assert_eq!(only(&report).status(), Status::Passed, "the text decides: {report}");
    assert_eq!(only(&report).trials()[0].graders[0].advisory.as_deref(), Some("Cohen's κ 0.00 < 0.60"));
}

#[test]
fn a_judge_that_panics_has_measured_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let graders = json!([judge_grader(), contains("good")]);
    let suite = calibrated(directory.path(), graders, &calibration(json!({"kappa": 0.6}), samples()));
    fn panics(request: JudgeRequest) -> Result<JudgeReply, std::fmt::Error> {
        panic!("nobody judges {}", request.user().len())
    }
    let evals = Evals::new(suite).with_agent(agent).with_judge(panics);
    let report = calibrate(&evals, directory.path(), RunOptions::new()).unwrap();
    assert!(!report.is_measured() && !report.is_trusted(), "{report}");
    assert_eq!(report.record().counts.errors, 4, "{report}");
    assert!(report.to_string().contains("nobody judges"), "{report}");
    let report = run_with(&evals, directory.path(), RunOptions::new());
    assert_eq!(only(&report).status(), Status::Error, "a judge that was asked and does not answer: {report}");
}

#[test]
fn a_judge_that_does_not_answer_is_an_error_that_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let suite = calibrated(directory.path(), json!([judge_grader()]), &calibration(json!({"kappa": 0.6}), samples()));
    let refused = || JudgeError::new("connection refused").with_retry_after(Duration::ZERO);
    let unreachable = move |_: JudgeRequest| Err::<JudgeReply, _>(refused());
    let report =
        run_with(&Evals::new(suite).with_agent(agent).with_judge(unreachable), directory.path(), RunOptions::new());
    let reason = only(&report).record().reason.clone().unwrap();
    assert_eq!(only(&report).status(), Status::Error, "not a skip: {report}");
    assert!(reason.message.contains("connection refused"), "{reason:?}");

    // It answers the case, and not one of the rated samples.
    let moody = move |request: JudgeRequest| match request.user().contains("worth") {
        true => Err(refused()),
        false => Ok(JudgeReply::new(r#"{"score": 1}"#)),
    };
    let report = run_with(&Evals::new(suite).with_agent(agent).with_judge(moody), directory.path(), RunOptions::new());
    let reason = only(&report).record().reason.clone().unwrap();
    assert_eq!(only(&report).status(), Status::Error, "nobody knows what its verdict is worth: {report}");
    let expected = "grader `tone`: the judge cannot be measured: ";
    assert!(reason.message.starts_with(expected) && reason.message.contains("connection refused"), "{reason:?}");
}
