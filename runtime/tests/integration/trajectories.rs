//! The document that every trial leaves, and the one an agent may return.

use std::fs;

use evalsuite::{CaseReport, Evals, Message, Outcome, Role, Status, ToolCall, TrajectoryError, Trial, Usage};
use evalsuite_schema::json::{Value, json};

use crate::common::{case_json, contains, grader, only, run, suite};

fn trajectory(case: &CaseReport) -> Value {
    let directory = case.directory().join("trial-000");
    let result: Value = evalsuite_schema::json::from_slice(&fs::read(directory.join("result.json")).unwrap()).unwrap();
    assert_eq!(result["trajectory"], "trajectory.json");
    evalsuite_schema::json::from_slice(&fs::read(directory.join("trajectory.json")).unwrap()).unwrap()
}

#[test]
fn a_trial_leaves_its_trajectory_and_an_agent_can_return_it() {
    async fn works(trial: &mut Trial<'_>) -> anyhow::Result<Outcome> {
        trial.message(Message::text(Role::User, trial.prompt()));
        let call = ToolCall::new("read").with_input(json!({"path": "a"})).with_output("hello");
        trial.tool_call(call);
        Ok(Outcome::new().with_text("hello world").with_usage(Usage::new(5, 2)).with_cost_usd(0.5).with_model("m-1"))
    }
    let directory = tempfile::tempdir().unwrap();
    let called = grader("called", 8, json!({"tool-trajectory": {"mode": "exact", "expected": [{"tool": "read"}]}}));
    let case = || case_json("a", json!([contains("hello"), called.clone()]), json!({}));
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case()])).with_agent(works);
    let report = run(&evals, directory.path());
    let case_report = only(&report);
    assert_eq!(case_report.status(), Status::Passed, "{:?}", case_report.record().reason);
    let document = trajectory(case_report);
    let key = &case_report.record().case_key;
    assert_eq!(document["schema_version"], "ATIF-v1.8");
    assert_eq!(document["trajectory_id"], format!("{}/{key}/trial-000", report.run_id()));
    assert_eq!(document["agent"]["model_name"], "m-1");
    let sources: Vec<&Value> = document["steps"].as_array().unwrap().iter().map(|step| &step["source"]).collect();
    assert_eq!(sources, ["user", "agent", "agent"]);
    assert_eq!(document["final_metrics"]["total_prompt_tokens"], 5);
    let verdict = &document["extra"]["evalsuite"];
    assert_eq!((&verdict["outcome"], &verdict["graders"][1]["verdict"]), (&json!("passed"), &json!("pass")));
    let reward = &document["extra"]["reward"];
    assert_eq!((&reward["pass"], &reward["score"]), (&json!(true), &json!(1.0)));
    assert_eq!(reward["scorers"][1], json!({"name": "called", "value": 1.0, "pass": true, "reason": null}));

    // Returned by another agent, the document is as good as the work itself.
    let text: &'static str = document.to_string().leak();
    let returns = async move |_: &mut Trial<'_>| -> Result<Outcome, TrajectoryError> { Outcome::from_trajectory(text) };
    let directory = tempfile::tempdir().unwrap();
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case()])).with_agent(returns);
    let report = run(&evals, directory.path());
    let again = only(&report);
    assert_eq!(again.status(), Status::Passed, "{:?}", again.record().reason);
    let (first, second) = (&case_report.trials()[0], &again.trials()[0]);
    assert_eq!((first.usage, first.cost_usd, &first.model), (second.usage, second.cost_usd, &second.model));
    assert_eq!(trajectory(again)["steps"], document["steps"]);
}

#[test]
fn a_trajectory_that_cannot_be_read_is_an_agents_error_that_names_the_place() {
    async fn broken(_: &mut Trial<'_>) -> anyhow::Result<Outcome> {
        Ok(Outcome::from_trajectory(r#"{"schema_version": "ATIF-v1.8", "agent": {}, "steps": [{"step_id": 3}]}"#)?)
    }
    let directory = tempfile::tempdir().unwrap();
    let evals =
        Evals::new(suite("cases", "mixed", directory.path(), &[case_json("a", json!([contains("x")]), json!({}))]));
    let report = run(&evals.with_agent(broken), directory.path());
    let reason = only(&report).record().reason.clone().unwrap();
    assert_eq!(reason.message, "`steps[0].step_id` is 3, expected 1: steps are numbered from 1");
}

#[test]
fn what_was_recorded_before_an_error_is_in_the_trajectory() {
    async fn gives_up(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        trial.tool_call(ToolCall::new("read"));
        Err(anyhow::anyhow!("no more"))
    }
    async fn says_nothing(_: &mut Trial<'_>) -> anyhow::Result<String> {
        Ok("hello".into())
    }
    let directory = tempfile::tempdir().unwrap();
    let case = || case_json("a", json!([contains("hello")]), json!({}));
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case()])).with_agent(gives_up);
    let document = trajectory(only(&run(&evals, directory.path())));
    assert_eq!(document["steps"][0]["tool_calls"][0]["function_name"], "read");
    assert_eq!(document["extra"]["evalsuite"]["reason"]["code"], "agent_error");
    assert!(document["extra"]["reward"].is_null(), "a trial that broke says nothing about the agent");

    let directory = tempfile::tempdir().unwrap();
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case()])).with_agent(says_nothing);
    let document = trajectory(only(&run(&evals, directory.path())));
    assert_eq!((&document["steps"][0]["message"], document["steps"].as_array().unwrap().len()), (&json!("hello"), 1));
    assert_eq!(document["extra"]["transcript_reported"], false);
}
