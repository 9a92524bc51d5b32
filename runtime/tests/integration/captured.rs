//! Transcripts made of spans, and what goes before them.

use evalsuite::{Evals, Evidence, IntoAgent, Message, Outcome, Report, Role, Status, ToolCall, Trial, Usage};
use evalsuite_schema::json::json;
use tracing::info_span;

use crate::common::{case_json, contains, grader, in_own_process, only, run, suite};

/// An agent that is instrumented, and says nothing itself.
fn call_tool(name: &str) {
    let chat =
        info_span!("chat", gen_ai.operation.name = "chat", gen_ai.request.model = "m-1", gen_ai.usage.input_tokens = 3);
    chat.in_scope(|| ());
    info_span!("execute_tool", gen_ai.operation.name = "execute_tool", gen_ai.tool.name = name).in_scope(|| ());
}

/// Runs a case that wants one call, of `tool`.
fn wants<Marker>(tool: &str, agent: impl IntoAgent<Marker>) -> (Report, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let called = grader("called", 8, json!({"tool-trajectory": {"mode": "exact", "expected": [{"tool": tool}]}}));
    let calls = grader("calls", 9, json!({"execution-metrics": {"max_llm_calls": 1}}));
    let case = case_json("a", json!([contains("hello"), called, calls]), json!({}));
    let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case])).with_agent(agent);
    (run(&evals, directory.path()), directory)
}

fn assert_passed(report: &Report) {
    let case = only(report);
    let graders = &case.trials()[0].graders;
    assert_eq!(case.status(), Status::Passed, "{:?} {graders:#?}", case.record().reason);
}

#[test]
fn spans_are_the_transcript_of_an_agent_that_reports_none() {
    async fn agent(_: &mut Trial<'_>) -> anyhow::Result<String> {
        tokio::spawn(async { call_tool("read") }).await?;
        Ok("hello".into())
    }
    in_own_process("captured::spans_are_the_transcript_of_an_agent_that_reports_none", || {
        let (report, _directory) = wants("read", agent);
        assert_passed(&report);
        let trial = &only(&report).trials()[0];
        assert_eq!((trial.usage, trial.model.as_deref()), (Some(Usage::new(3, 0)), Some("m-1")));
    });
}

#[test]
fn tokens_and_cost_of_some_calls_are_not_recorded_as_those_of_the_trial() {
    async fn agent(_: &mut Trial<'_>) -> anyhow::Result<String> {
        let chat = |cost: Option<f64>| {
            let span = info_span!(
                "chat",
                gen_ai.operation.name = "chat",
                gen_ai.usage.cost = cost,
                gen_ai.usage.output_tokens = cost.map(|_| 3)
            );
            span.in_scope(|| ());
        };
        chat(Some(0.5));
        chat(None);
        Ok("hello".into())
    }
    fn is_unknown(evidence: &Evidence<'_>) -> bool {
        (evidence.usage(), evidence.cost_usd()) == (None, None)
    }
    in_own_process("captured::tokens_and_cost_of_some_calls_are_not_recorded_as_those_of_the_trial", || {
        let directory = tempfile::tempdir().unwrap();
        let case = case_json("a", json!([grader("unknown", 8, json!({"user": {"grader": "is_unknown"}}))]), json!({}));
        let evals = Evals::new(suite("cases", "mixed", directory.path(), &[case]));
        let report = run(&evals.with_agent(agent).with_grader("is_unknown", is_unknown), directory.path());
        assert_passed(&report);
        let trial = &only(&report).trials()[0];
        assert_eq!((trial.usage, trial.cost_usd), (None, None));
        let trajectory = std::fs::read_to_string(only(&report).directory().join("trial-000/trajectory.json")).unwrap();
        assert!(trajectory.contains("\"completion_tokens\": 3"), "of its message: {trajectory}");
        assert!(!trajectory.contains("total_completion_tokens"), "{trajectory}");
    });
}

#[test]
fn recorded_messages_go_before_spans_and_returned_ones_before_both() {
    async fn records(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        call_tool("read");
        trial.tool_call(ToolCall::new("write"));
        Ok("hello".into())
    }
    async fn returns(trial: &mut Trial<'_>) -> anyhow::Result<Outcome> {
        call_tool("read");
        trial.tool_call(ToolCall::new("write"));
        let mut message = Message::text(Role::Assistant, "hello");
        message.tool_calls.push(ToolCall::new("list"));
        Ok(Outcome::new().with_messages(vec![message]))
    }
    async fn complete(trial: &mut Trial<'_>) -> anyhow::Result<String> {
        call_tool("read");
        trial.transcript_complete();
        Ok("hello".into())
    }
    let tools = |report: &Report| -> Vec<String> {
        let path = only(report).directory().join("trial-000/trajectory.json");
        let document: evalsuite_schema::Value =
            evalsuite_schema::json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let calls = document["steps"].as_array().unwrap().iter().flat_map(|step| step["tool_calls"].as_array());
        calls.flatten().map(|call| call["function_name"].as_str().unwrap().to_owned()).collect()
    };
    let (report, _directory) = wants("write", records);
    assert_eq!(tools(&report), ["write"]);
    let (report, _directory) = wants("list", returns);
    assert_eq!(tools(&report), ["list"]);
    assert_passed(&report);
    let (report, _directory) = wants("read", complete);
    assert_eq!(tools(&report), Vec::<String>::new());
    assert_eq!(only(&report).status(), Status::Failed);
}

#[test]
fn what_spans_told_before_an_error_is_kept() {
    async fn breaks(_: &mut Trial<'_>) -> anyhow::Result<String> {
        call_tool("read");
        Err(anyhow::anyhow!("no more"))
    }
    let (report, _directory) = wants("read", breaks);
    let case = only(&report);
    assert_eq!((case.status(), case.trials()[0].usage), (Status::Error, Some(Usage::new(3, 0))));
    let text = std::fs::read_to_string(case.directory().join("trial-000/trajectory.json")).unwrap();
    assert!(text.contains("\"function_name\": \"read\""), "{text}");
}
