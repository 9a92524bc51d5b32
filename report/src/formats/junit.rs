//! JUnit XML, as CI services read it.

use std::io::{self, Write};
use std::time::Duration;

use evalsuite_records::record::{CaseRecord, Status};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestRerun, TestSuite};

use crate::failure_text::FailureText;
use crate::run_data::{CaseData, Problem, RunData, TrialData};

/// The run as JUnit XML: a `testsuite` per suite and target, a `testcase` per case with `suite@target` as its class name.
///
/// A case that failed is a `failure`, one that broke an `error`, each with `file` and `line` of the first grader that did not pass.
/// Trials that did not pass of a case that passed are `flakyFailure`s and `flakyError`s, further ones of a case that did not are
/// `rerunFailure`s and `rerunError`s. Scores, cost and tags are properties. `time` is that of agent, changes of the workspace, and graders,
/// without setup and hooks.
pub(super) fn junit(run: &RunData, out: &mut dyn Write) -> io::Result<Vec<Problem>> {
    let mut report = Report::new("evalsuite");
    let mut all = Duration::ZERO;
    for suite in &run.suites {
        for (target, cases) in suite.by_target() {
            let class = format!("{}@{target}", suite.name);
            let mut tests = TestSuite::new(class.as_str());
            let mut time = Duration::ZERO;
            for case in cases {
                let test = test_case(case, &class);
                time += test.time.unwrap_or_default();
                tests.add_test_case(test);
            }
            all += time;
            tests.set_time(time).add_property(("run_id", run.run_id.as_str()));
            report.add_test_suite(tests);
        }
    }
    report.set_time(all);
    report.serialize(out).map_err(io::Error::other)?;
    Ok(Vec::new())
}

fn test_case(case: &CaseData, class: &str) -> TestCase {
    let record = &case.record;
    let failure = FailureText::of_case(case);
    let mut test = TestCase::new(record.case_id.as_str(), status(case, &failure));
    test.set_classname(class);
    test.set_time(case.trials.iter().map(duration).sum());
    let place = if is_failure(record.outcome) { &failure.location } else { &record.location };
    if !place.file.is_empty() {
        test.extra.insert("file".into(), place.file.as_str().into());
    }
    if place.line > 0 {
        test.extra.insert("line".into(), place.line.to_string().into());
    }
    for (name, value) in properties(record, &case.trials) {
        test.add_property((name, value.as_str()));
    }
    test
}

fn is_failure(outcome: Status) -> bool {
    matches!(outcome, Status::Failed | Status::Error)
}

fn status(case: &CaseData, failure: &FailureText) -> TestCaseStatus {
    let record = &case.record;
    let mut status = match record.outcome {
        Status::Passed => TestCaseStatus::success(),
        Status::Failed => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Status::Error => TestCaseStatus::non_success(NonSuccessKind::Error),
        Status::Skipped => TestCaseStatus::skipped(),
    };
    if record.outcome != Status::Passed {
        status.set_message(failure.message.as_str());
        if let Some(reason) = &record.reason {
            status.set_type(reason.code.as_str());
        }
        if !failure.details.is_empty() {
            status.set_description(failure.details.as_str());
        }
    }
    if record.outcome != Status::Skipped {
        // The status of a case that did not pass is that of its first trial with the same outcome.
        let shown = case.trials.iter().position(|trial| trial.record.outcome == record.outcome);
        let shown = shown.filter(|_| is_failure(record.outcome));
        let failed = case.trials.iter().enumerate().filter(|(_, trial)| is_failure(trial.record.outcome));
        status.add_reruns(failed.filter(|(index, _)| Some(*index) != shown).map(|(_, trial)| rerun(trial)));
    }
    status
}

fn rerun(trial: &TrialData) -> TestRerun {
    let failure = FailureText::of_trial(&trial.record);
    let kind = match trial.record.outcome {
        Status::Error => NonSuccessKind::Error,
        _ => NonSuccessKind::Failure,
    };
    let mut rerun = TestRerun::new(kind);
    rerun.set_time(duration(trial)).set_message(failure.message).set_description(failure.details);
    rerun.set_type(format!("trial {}", trial.record.trial + 1));
    rerun
}

/// Without what comes before the agent is called and after it is graded: workspaces, repositories and hooks.
fn duration(trial: &TrialData) -> Duration {
    let timings = trial.record.timings;
    let around = timings.setup_ms.saturating_add(timings.teardown_ms);
    Duration::from_millis(timings.total_ms.saturating_sub(around))
}

fn properties(record: &CaseRecord, trials: &[TrialData]) -> Vec<(&'static str, String)> {
    let mut properties = vec![("outcome", record.outcome.as_str().to_owned())];
    properties.extend(record.score.map(|score| ("score", format!("{score:.4}"))));
    properties.push(("threshold", format!("{:.4}", record.threshold)));
    properties.push(("trials", format!("{} of {} passed", record.passed, record.trials.len())));
    if record.errors > 0 {
        properties.push(("trial_errors", record.errors.to_string()));
    }
    if !record.failed_graders.is_empty() {
        properties.push(("failed_graders", record.failed_graders.join(", ")));
    }
    let cost: Vec<f64> = trials.iter().filter_map(|trial| trial.record.cost_usd).collect();
    if !cost.is_empty() {
        properties.push(("cost_usd", format!("{:.6}", cost.iter().sum::<f64>())));
    }
    properties.push(("test", record.test_name.clone()));
    if let Some(trial) = trials.first() {
        properties.extend(trial.record.tags.iter().map(|tag| ("tag", tag.clone())));
    }
    properties
}
