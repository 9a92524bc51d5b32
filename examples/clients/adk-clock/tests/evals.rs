//! Runs the suites with a model on the loopback interface. One agent records its tool; for the other one, the spans of adk-rust are
//! the transcript.

use std::sync::{Arc, LazyLock};

use adk_clock::{Clock, ClockAgent};
use adk_rust::{Llm, Result, Tool, ToolContext, async_trait};
use evalsuite::record::Verdict;
use evalsuite::{Evals, Evidence, Recorder, RunOptions, Status, Trial, include_eval_suite};
use serde_json::Value;

include_eval_suite!("suites/clock", graders = [clock_result], record = ["OLLAMA_URL"]);
include_eval_suite!("suites/clock_spans", graders = [clock_result], record = ["OLLAMA_URL"]);
include_eval_suite!("suites/wrong_place", agent = none);

/// A model and its connections, for all trials.
static MODEL: LazyLock<Arc<dyn Llm>> = LazyLock::new(|| {
    let base_url = fakes::model::base_url("OLLAMA_URL", "").expect("a port is free");
    adk_clock::model(&base_url).expect("the address is valid")
});

async fn agent(trial: &mut Trial<'_>) -> Result<String> {
    let clock = RecordedTool { tool: Clock, recorder: trial.recorder() };
    let answer = ClockAgent::new(MODEL.clone(), Arc::new(clock))?.answer(trial.prompt()).await?;
    trial.transcript_complete(); // a tool call that was not recorded was not made
    Ok(answer)
}

/// Without a recorder, the spans are the transcript.
async fn unrecorded(trial: &mut Trial<'_>) -> Result<String> {
    ClockAgent::new(MODEL.clone(), Arc::new(Clock))?.answer(trial.prompt()).await
}

/// A tool whose calls are recorded.
struct RecordedTool<T> {
    tool: T,
    recorder: Recorder,
}

#[async_trait]
impl<T: Tool> Tool for RecordedTool<T> {
    fn name(&self) -> &str {
        self.tool.name()
    }

    fn description(&self) -> &str {
        self.tool.description()
    }

    fn parameters_schema(&self) -> Option<Value> {
        self.tool.parameters_schema()
    }

    async fn execute(&self, context: Arc<dyn ToolContext>, arguments: Value) -> Result<Value> {
        self.recorder.call_tool(self.name(), &arguments, self.tool.execute(context, arguments.clone())).await
    }
}

/// The result of the tool, and how long it took.
fn clock_result(evidence: &Evidence<'_>) -> bool {
    let calls = evidence.tool_calls().unwrap_or_default();
    calls.iter().all(|call| call.output == Some("12:30 in Lima".into()) && call.duration_ms.is_some())
}

#[tokio::test]
async fn a_call_with_other_arguments_fails_the_case() {
    let records = tempfile::tempdir().unwrap();
    let options = RunOptions::new().with_output(records.path());
    let report = Evals::new(&wrong_place::SUITE).with_agent(agent).run(&options).await.unwrap();

    let case = &report.cases()[0];
    assert_eq!(case.status(), Status::Failed, "{case}");
    let failed = case.trials()[0].graders.iter().filter(|grader| grader.verdict == Some(Verdict::Fail));
    assert_eq!(failed.map(|grader| grader.name.as_str()).collect::<Vec<_>>(), ["tool-trajectory"], "{case}");
    assert!(case.to_string().contains(r#"{"zone":"UTC"}"#), "expected the arguments of the call: {case}");
}

/// A clock that does not work.
struct Stopped;

#[async_trait]
impl Tool for Stopped {
    fn name(&self) -> &str {
        Clock.name()
    }

    fn description(&self) -> &str {
        Clock.description()
    }

    fn parameters_schema(&self) -> Option<Value> {
        Clock.parameters_schema()
    }

    async fn execute(&self, _: Arc<dyn ToolContext>, _: Value) -> Result<Value> {
        Err(adk_rust::AdkError::tool("the clock has stopped"))
    }
}

/// adk-rust reports it in an event next to the span of the call.
#[tokio::test]
async fn a_failed_call_of_a_tool_is_failed_in_the_transcript() {
    let records = tempfile::tempdir().unwrap();
    let options = RunOptions::new().with_output(records.path());
    let is_failed = |evidence: &Evidence<'_>| {
        let calls = evidence.tool_calls().unwrap_or_default();
        calls.len() == 1 && calls.iter().all(|call| call.is_error)
    };
    let agent =
        async |trial: &mut Trial<'_>| ClockAgent::new(MODEL.clone(), Arc::new(Stopped))?.answer(trial.prompt()).await;
    let evals = Evals::new(&clock_spans::SUITE).with_agent(agent).with_grader("clock_result", is_failed);
    let report = evals.run(&options).await.unwrap();
    let case = &report.cases()[0];
    let graders = &case.trials()[0].graders;
    let of_calls = graders.iter().find(|grader| grader.name == "clock_result").unwrap();
    assert_eq!(of_calls.verdict, Some(Verdict::Pass), "{case}");
}
