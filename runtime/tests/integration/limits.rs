//! What keeps trials from starting, and what lets them start again.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{fs, thread};

use evalsuite::record::{ReasonCode, Stage};
use evalsuite::{AgentError, Evals, Outcome, Report, RunOptions, Status, Trial, Usage};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, only, run_with, suite, suite_with};

fn cases(ids: &[&str]) -> Vec<Value> {
    ids.iter().map(|id| case_json(id, json!([contains("hello")]), json!({}))).collect()
}

fn evals(directory: &Path, cases: &[Value], suite: Value) -> Evals {
    Evals::new(suite_with("cases", "mixed", directory, cases, suite))
}

/// One case after another, so that they come in the suite's order.
fn in_order() -> RunOptions {
    RunOptions::new().with_concurrency(NonZeroUsize::MIN)
}

fn ends(report: &Report) -> Vec<(Status, Option<ReasonCode>)> {
    assert_eq!(report.problems(), &[] as &[String]);
    report.cases().iter().map(|case| (case.status(), case.record().reason.as_ref().map(|reason| reason.code))).collect()
}

async fn half_a_dollar(_: &mut Trial<'_>) -> Result<Outcome, AgentError> {
    Ok(Outcome::new().with_text("hello").with_cost_usd(0.5))
}

/// Reports everything it can while it runs, and then exceeds its time limit.
async fn reports_and_hangs(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
    trial.cost_usd(0.75);
    trial.cost_usd(0.5);
    trial.usage(Usage::new(9, 3));
    trial.set_answer("hello so far");
    trial.set_model("slow-1");
    trial.set_state("cards", 2);
    trial.set_metadata("region", "eu");
    std::future::pending().await
}

#[test]
fn what_a_trial_reported_before_its_timeout_is_recorded_and_its_cost_counts_in_the_budget() {
    let directory = tempfile::tempdir().unwrap();
    let case = |id: &str| case_json(id, json!([contains("hello")]), json!({"timeout_seconds": 0.2}));
    let suite = evals(directory.path(), &[case("a"), case("b")], json!({"budget_usd": 1.0}));
    let report = run_with(&suite.with_agent(reports_and_hangs), directory.path(), in_order());
    let error = |code| (Status::Error, Some(code));
    assert_eq!(ends(&report), [error(ReasonCode::Timeout), error(ReasonCode::BudgetExceeded)]);
    let trial = &report.cases()[0].trials()[0];
    assert_eq!((trial.cost_usd, trial.usage), (Some(1.25), Some(Usage::new(9, 3))));
    assert_eq!((trial.answer.as_deref(), trial.model.as_deref()), (Some("hello so far"), Some("slow-1")));
    assert_eq!((&trial.state["cards"], &trial.agent_metadata["region"]), (&json!(2), &json!("eu")));
    assert_eq!(report.cases()[0].record().trials[0].cost_usd, Some(1.25));
}

#[test]
fn the_cost_of_an_unfinished_turn_counts_with_that_of_the_turns_before_it() {
    async fn hangs_in_the_second_turn(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
        trial.cost_usd(0.5);
        trial.set_state("turn", trial.turn());
        if trial.turn() == Some(2) {
            std::future::pending::<()>().await;
        }
        Ok("hello".into())
    }
    let directory = tempfile::tempdir().unwrap();
    let turns = ["one", "two"].map(|text| json!({"input": {"role": "user", "content": {"text": text}}}));
    let more = json!({"timeout_seconds": 0.2, "conversation": {"turns": turns}});
    let graders = json!([contains("hello")]);
    let suite = evals(directory.path(), &[case_json("a", graders, more)], json!({}));
    let report = run_with(&suite.with_agent(hangs_in_the_second_turn), directory.path(), in_order());
    let trial = &report.cases()[0].trials()[0];
    assert_eq!((trial.cost_usd, &trial.state["turn"]), (Some(1.0), &json!(2)));
}

#[test]
fn an_outcome_that_was_returned_takes_precedence_over_what_was_reported_before() {
    async fn agent(trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
        trial.cost_usd(0.5);
        trial.set_answer("not yet");
        trial.set_state("tried", 1);
        trial.set_state("saved", false);
        Ok(Outcome::new().with_text("hello").with_state("saved", true))
    }
    let directory = tempfile::tempdir().unwrap();
    let suite = evals(directory.path(), &cases(&["a"]), json!({}));
    let report = run_with(&suite.with_agent(agent), directory.path(), in_order());
    let trial = &report.cases()[0].trials()[0];
    assert_eq!((trial.outcome, trial.cost_usd), (Status::Passed, Some(0.5)));
    assert_eq!(Value::Object(trial.state.clone()), json!({"tried": 1, "saved": true}));
}

#[test]
fn no_trial_starts_once_a_budget_is_spent() {
    let directory = tempfile::tempdir().unwrap();
    let spent = (Status::Error, Some(ReasonCode::BudgetExceeded));
    let passed = (Status::Passed, None);
    let suite = evals(directory.path(), &cases(&["a", "b", "c"]), json!({"budget_usd": 1.0})).with_agent(half_a_dollar);
    let report = run_with(&suite, directory.path(), in_order());
    assert_eq!(ends(&report), [passed, passed, spent]);
    let reason = report.cases()[2].record().reason.as_ref().unwrap();
    assert_eq!(reason.stage, Stage::Budget);
    assert_eq!(reason.message, "the suite has cost 1.0000 US dollars, and `execution.budget_usd` is 1");
    let ledger = directory.path().join("runs").join(report.run_id()).join("spend.jsonl");
    let lines: Vec<Value> = fs::read_to_string(ledger)
        .unwrap()
        .lines()
        .map(|line| evalsuite_schema::json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[0]["trial"], &lines[0]["cost_usd"], &lines[0]["judge_cost_usd"]),
        (&json!(0), &json!(0.5), &Value::Null)
    );
    assert_eq!(lines[0]["case_key"], report.cases()[0].record().case_key);

    let suite = evals(directory.path(), &cases(&["a", "b"]), json!({})).with_agent(half_a_dollar);
    let report = run_with(&suite, directory.path(), in_order().with_budget_usd(0.2));
    assert_eq!(ends(&report), [passed, spent]);
}

#[test]
fn a_case_that_a_budget_ends_is_an_error_unless_it_is_decided() {
    let directory = tempfile::tempdir().unwrap();
    let case = || vec![case_json("a", json!([contains("hello")]), json!({"trials": {"count": 4}}))];
    let run = |kind: &str, run_all: bool| {
        let evals = Evals::new(suite_with("cases", kind, directory.path(), &case(), json!({"budget_usd": 1.0})));
        run_with(&evals.with_agent(half_a_dollar), directory.path(), RunOptions::new().with_run_all(run_all))
    };
    let report = run("regression", false);
    assert_eq!(ends(&report), [(Status::Error, Some(ReasonCode::BudgetExceeded))]);
    let record = only(&report).record();
    assert_eq!((record.planned, record.passed, record.truncated, record.cost_limited), (4, 2, true, true));
    let report = run("capability", true);
    assert_eq!(ends(&report), [(Status::Passed, None)], "one passed trial is enough");
    assert_eq!(only(&report).trials().len(), 2);
}

#[test]
fn an_agent_that_tells_no_cost_makes_a_budget_a_note() {
    let directory = tempfile::tempdir().unwrap();
    let evals = evals(directory.path(), &cases(&["a"]), json!({"budget_usd": 1.0}));
    let report =
        run_with(&evals.with_agent(async |_: &mut Trial<'_>| anyhow::Ok("hello")), directory.path(), in_order());
    let notes = &only(&report).trials()[0].notes;
    assert_eq!(notes.len(), 1);
    assert!(notes[0].code == "cost_unknown" && notes[0].message.contains("execution.budget_usd"), "{notes:?}");
}

#[test]
fn after_the_first_error_no_other_case_starts() {
    async fn broken_at_b(trial: &mut Trial<'_>) -> Result<&'static str, AgentError> {
        if trial.case_id() == "b" { Err(AgentError::new("broken")) } else { Ok("hello") }
    }
    let directory = tempfile::tempdir().unwrap();
    let suite = |stop: bool| {
        evals(directory.path(), &cases(&["a", "b", "c"]), json!({"fail_on_error": stop})).with_agent(broken_at_b)
    };
    let report = run_with(&suite(true), directory.path(), in_order());
    let error = |code| (Status::Error, Some(code));
    let passed = (Status::Passed, None);
    let stopped = error(ReasonCode::ErrorThresholdExceeded);
    assert_eq!(ends(&report), [passed, error(ReasonCode::AgentError), stopped]);
    assert!(report.cases()[2].record().reason.as_ref().unwrap().message.contains("`x::b`"));
    let report = run_with(&suite(false), directory.path(), in_order());
    assert_eq!(ends(&report), [passed, error(ReasonCode::AgentError), passed]);
}

#[test]
fn a_failed_case_is_no_error_that_stops_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let evals = evals(directory.path(), &cases(&["a", "b"]), json!({"fail_on_error": true}));
    let report = run_with(&evals.with_agent(async |_: &mut Trial<'_>| anyhow::Ok("no")), directory.path(), in_order());
    assert!(ends(&report).iter().all(|(outcome, _)| *outcome == Status::Failed));
}

#[test]
fn workers_limit_the_trials_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let (now, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (count, peak) = (Arc::clone(&now), Arc::clone(&most));
    let agent = move |_: &mut Trial<'_>| -> Result<&'static str, AgentError> {
        peak.fetch_max(count.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(20));
        count.fetch_sub(1, Ordering::SeqCst);
        Ok("hello")
    };
    let evals =
        evals(directory.path(), &cases(&["a", "b", "c", "d", "e", "f"]), json!({"workers": 2})).with_agent(agent);
    let report = run_with(&evals, directory.path(), RunOptions::new().with_concurrency(NonZeroUsize::new(6).unwrap()));
    assert!(report.is_success());
    assert!(most.load(Ordering::SeqCst) <= 2, "{most:?} trials ran at once");
}

#[test]
fn a_trial_that_broke_is_repeated_and_every_attempt_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&calls);
    let agent = move |_: &mut Trial<'_>| -> Result<Outcome, AgentError> {
        match count.fetch_add(1, Ordering::SeqCst) {
            0 => Err(AgentError::new("overloaded")),
            _ => Ok(Outcome::new().with_text("hello")),
        }
    };
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &cases(&["a"]))).with_agent(agent);
    let report = run_with(&evals, directory.path(), RunOptions::new().with_retries(2));
    let case = only(&report);
    assert_eq!((case.status(), case.record().errors, calls.load(Ordering::SeqCst)), (Status::Passed, 0, 2));
    assert_eq!((case.trials().len(), case.trials()[0].attempt), (1, 1));
    let path = &case.record().trials[0].path;
    assert_eq!(path, "trial-000.retry-1/result.json");
    let read = |path: &str| -> Value {
        evalsuite_schema::json::from_slice(&fs::read(case.directory().join(path)).unwrap()).unwrap()
    };
    assert_eq!(read(path)["outcome"], "passed");
    assert_eq!(read("trial-000/result.json")["reason"]["message"], "overloaded");
}
