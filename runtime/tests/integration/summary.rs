//! The aggregates of a suite, with numbers computed by hand.

use std::time::Duration;

use evalsuite::record::SuiteSummary;
use evalsuite::{AgentError, Evals, Evidence, Outcome, RunOptions, Status, Trial, Usage};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, grader, run_with, suite};

/// Says what the case's metadata says for each trial: a score, `null` for no decision, `"broken"` for a failed agent.
async fn recorded(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
    let says = trial.metadata("says").and_then(Value::as_array).unwrap()[trial.index() as usize].clone();
    if says == "broken" {
        return Err(AgentError::new("no answer"));
    }
    let outcome = Outcome::new()
        .with_text(says.to_string())
        .with_usage(Usage::new(10, 1))
        .with_duration(Duration::from_secs_f64(says.as_f64().unwrap_or(0.0) / 10.0));
    Ok(match trial.metadata("cost").and_then(Value::as_f64) {
        Some(cost) => outcome.with_cost_usd(cost),
        None => outcome,
    })
}

fn value(evidence: &Evidence<'_>) -> Option<f64> {
    evidence.answer().parse().ok()
}

fn case(id: &str, says: Value, more: Value) -> Value {
    let mut metadata = json!({"says": says});
    metadata.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let count = metadata["says"].as_array().unwrap().len();
    let graders =
        json!([grader("value", 7, json!({"user": {"grader": "value"}})), grader("is-json", 8, json!("is-json")),]);
    let mut graders = graders;
    graders[1]["weight"] = json!(0.0);
    case_json(id, graders, json!({"trials": {"count": count}, "metadata": metadata}))
}

fn summary() -> (SuiteSummary, String) {
    summary_with(RunOptions::new().with_run_all(true))
}

fn summary_with(options: RunOptions) -> (SuiteSummary, String) {
    let directory = tempfile::tempdir().unwrap();
    let cases = [
        // n = 4, c = 2, mean 0.7
        case(
            "a",
            json!([1.0, 0.9, 0.5, 0.4]),
            json!({"failure_bucket": "dates", "level": 1, "topics": ["x", "y"], "cost": 0.5}),
        ),
        // n = 3, c = 0, mean 0.2
        case("b", json!([0.1, 0.2, 0.3]), json!({"failure_bucket": "dates", "level": 2, "topics": ["y", "y"]})),
        // n = 2, c = 1, one error, mean 0.9
        case("c", json!(["broken", 1.0, 0.7999]), json!({"failure_bucket": "names", "level": 1})),
        case("d", json!(["broken"]), json!({"level": 2, "nested": {"a": 1}})),
        case("e", json!([null]), json!({})),
    ];
    let evals = Evals::new(suite("cases", "capability", directory.path(), &cases))
        .with_agent(recorded)
        .with_grader("value", value);
    let report = run_with(&evals, directory.path(), options);
    (report.summary(), report.to_string())
}

#[track_caller]
fn close(actual: Option<f64>, expected: f64) {
    let actual = actual.unwrap();
    assert!((actual - expected).abs() < 1e-9, "{actual} is not {expected}");
}

#[test]
fn rates_count_what_they_say() {
    let (summary, _) = summary();
    assert_eq!(
        (summary.schema.as_str(), summary.cases.len(), summary.targets.len()),
        ("evalsuite.suite_summary/1", 5, 1)
    );
    let target = &summary.targets[0];
    // a passes, b fails, c has a trial in error, which is missing evidence, d breaks, nothing is decided in e.
    assert_eq!((target.cases.passed, target.cases.failed, target.cases.error, target.cases.skipped), (1, 1, 3, 0));
    assert_eq!((target.trials.passed, target.trials.failed, target.trials.error), (3, 6, 3));
    close(target.case_pass_rate, 1.0 / 5.0);
    close(target.completed_pass_rate, 1.0 / 2.0);
    close(target.trial_pass_rate, 3.0 / 12.0);
}

#[test]
fn the_mean_is_clustered_by_case() {
    let (summary, _) = summary();
    let target = &summary.targets[0];
    // Case means: 0.7, 0.2 and 0.89995; d and e have no completed trial.
    let means = [0.7, 0.2, 0.899_95];
    let mean = (0.7 + 0.2 + 0.899_95) / 3.0;
    let spread = (means.iter().map(|m: &f64| (m - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
    assert_eq!(target.scored_cases, 3);
    close(target.mean_score, mean);
    close(target.stderr, spread / 3.0_f64.sqrt());
    // The interval is that of the three scores and 0, 0, 1, 1, with Student's quantile of 6 degrees of freedom.
    let with_ends = [&means[..], &[0.0, 0.0, 1.0, 1.0]].concat();
    let center = with_ends.iter().sum::<f64>() / 7.0;
    let spread = (with_ends.iter().map(|m| (m - center).powi(2)).sum::<f64>() / 6.0).sqrt();
    let half = 2.447 * spread / 7.0_f64.sqrt();
    let is_near = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found - expected).abs() < 1e-3);
    assert!(is_near(target.ci95_lower, center - half) && is_near(target.ci95_upper, center + half), "{target:?}");
}

#[test]
fn pass_at_k_tells_how_many_cases_it_is_about() {
    let (summary, _) = summary();
    let target = &summary.targets[0];
    let at = |k: u32| (target.pass_at_k[&k].value, target.pass_at_k[&k].cases);
    let hat = |k: u32| (target.pass_hat_k[&k].value, target.pass_hat_k[&k].cases);
    // Completed trials: a 2 of 4, b 0 of 3, c 1 of 2.
    assert_eq!(at(1), ((0.5 + 0.0 + 0.5) / 3.0, 3));
    let (value, cases) = at(2);
    close(Some(value), (5.0 / 6.0 + 0.0 + 1.0) / 3.0);
    assert_eq!(cases, 3);
    let (value, cases) = hat(2);
    close(Some(value), (1.0 / 6.0) / 3.0);
    assert_eq!(cases, 3);
    assert_eq!((at(3).1, at(4), hat(4)), (2, (1.0, 1), (0.0, 1)));
    assert_eq!(target.pass_at_k.keys().copied().collect::<Vec<_>>(), [1, 2, 3, 4]);
}

/// The only case whose trials all ran is one that failed: its pass@3 of 0 says nothing about the suite.
#[test]
fn pass_at_k_is_not_known_where_trials_stop_as_soon_as_they_decide_a_case() {
    let (summary, text) = summary_with(RunOptions::new());
    let (target, a) = (&summary.targets[0], &summary.cases[0]);
    assert_eq!((a.passed, a.completed, a.truncated, a.stability), (1, 1, true, None));
    assert!(target.pass_at_k.is_empty() && target.pass_hat_k.is_empty(), "{target:?}");
    let line = "\n  pass@k is not known: the trials of 2 of 5 cases stopped early\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn graders_buckets_and_metadata_are_summed() {
    let (summary, _) = summary();
    let target = &summary.targets[0];
    let value = target.grader_mean["value"];
    assert_eq!((value.decided, value.undecided, value.errors), (9, 1, 0));
    close(value.mean, (1.0 + 0.9 + 0.5 + 0.4 + 0.1 + 0.2 + 0.3 + 1.0 + 0.7999) / 9.0);
    assert_eq!(target.grader_mean["is-json"].mean, Some(1.0));
    let rate = |rates: &std::collections::BTreeMap<String, evalsuite::record::PassRate>, name: &str| {
        (rates[name].passed, rates[name].cases, rates[name].rate)
    };
    assert_eq!(rate(&target.bucket, "dates"), (1, 2, Some(0.5)));
    assert_eq!(rate(&target.bucket, "names"), (0, 1, Some(0.0)));
    assert_eq!(rate(&target.metadata["level"], "1"), (1, 2, Some(0.5)));
    assert_eq!(rate(&target.metadata["level"], "2"), (0, 2, Some(0.0)));
    assert_eq!(rate(&target.metadata["topics"], "y"), (1, 2, Some(0.5)));
    assert!(!target.metadata.contains_key("nested"), "objects are no groups");
}

#[test]
fn what_trials_took_is_summed() {
    let (summary, shown) = summary();
    let target = &summary.targets[0];
    // Of 12 trials, 2 broke before they could report anything.
    assert_eq!(target.usage, Some(Usage::new(100, 10)));
    assert_eq!((target.cost_usd, target.judge_cost_usd), (Some(2.0), None));
    assert!(target.duration_ms.p50 <= target.duration_ms.p95);
    let lines = shown.lines().collect::<Vec<_>>();
    assert_eq!(lines[0], "x: 1 passed, 1 failed, 3 error, 0 skipped, 2 flaky");
    assert_eq!(lines[1], "  errors   3 of 12 trials ended in an error", "{shown}");
    let unknown = "  cost     not known of the agent in 8 of 12 trials: what is shown is a lower bound";
    assert_eq!(lines[2], unknown, "{shown}");
    let unknown = "  tokens   not known of the agent in 2 of 12 trials: what is shown is a lower bound";
    assert_eq!(lines[3], unknown, "{shown}");
    assert_eq!(lines[4], "  target   passed  failed  error  score  95 % interval", "{shown}");
    assert_eq!(lines[5], "  default       1       1      3   0.60   0.12 to 0.97", "{shown}");
    assert!(lines[6].starts_with("  target   tokens       USD"), "{shown}");
    assert!(lines[7].starts_with("  default   ≥ 110  ≥ 2.0000"), "{shown}");
    assert_eq!(lines[8], "  pass@4 1.00, pass^4 0.00 (over 1 of 5 cases; left out: 4 with fewer than 4 graded trials)");
    assert_eq!(lines[10], "  is-json  1.00       10          0       0");
}

#[test]
fn a_summary_is_read_as_it_was_written() {
    let (summary, _) = summary();
    let text = serde_json::to_string(&summary).unwrap();
    assert_eq!(evalsuite_schema::json::from_str::<SuiteSummary>(&text).unwrap(), summary);
}

#[test]
fn errors_in_trials_are_no_pass_unless_they_are_tolerated() {
    let directory = tempfile::tempdir().unwrap();
    let says = json!(["broken", 1.0, 1.0, 1.0]);
    let strict = case("strict", says.clone(), json!({}));
    let mut tolerant = case("tolerant", says, json!({}));
    tolerant["trials"]["errors"] = json!(1);
    let evals = Evals::new(suite("cases", "capability", directory.path(), &[strict, tolerant]))
        .with_agent(recorded)
        .with_grader("value", value);
    let report = run_with(&evals, directory.path(), RunOptions::new().with_run_all(true));
    let [strict, tolerant] = report.cases() else { panic!("{report}") };
    assert_eq!((strict.status(), tolerant.status()), (Status::Error, Status::Passed), "{report}");
    assert_eq!((tolerant.record().errors, tolerant.record().tolerated_errors), (1, 1));
    let shown = report.to_string();
    assert!(
        shown.starts_with("x: 1 passed, 0 failed, 1 error, 0 skipped\n  errors   2 of 8 trials ended in an error\n"),
        "{shown}"
    );
}

#[test]
fn a_pass_with_a_failed_grader_is_counted_and_named_and_one_case_has_no_standard_error() {
    let directory = tempfile::tempdir().unwrap();
    let graders = json!([
        grader("says-hello", 7, json!({"contains": {"value": "hello"}})),
        grader("says-bye", 8, json!({"contains": {"value": "bye"}})),
        {"name": "advice", "weight": 0.0, "location": {"file": "suites/x/tasks/a.json", "line": 9, "column": 5}, "config": {"contains": {"value": "bye"}}},
    ]);
    let polite = case_json("polite", graders, json!({"threshold": 0.5}));
    let evals = Evals::new(suite("cases", "capability", directory.path(), &[polite]))
        .with_agent(|_: &mut Trial<'_>| Ok::<_, AgentError>("hello"));
    let report = run_with(&evals, directory.path(), RunOptions::new());
    let [polite] = report.cases() else { panic!("{report}") };
    assert_eq!((polite.status(), &polite.record().failed_graders[..]), (Status::Passed, &["says-bye".to_owned()][..]));
    let summary = report.summary();
    assert_eq!((summary.targets[0].passed_with_failed_grader, summary.targets[0].stderr), (1, None));
    let shown = report.to_string();
    assert!(shown.contains("\n  graders  1 case passed although a grader failed: x::polite (says-bye)\n"), "{shown}");
}
