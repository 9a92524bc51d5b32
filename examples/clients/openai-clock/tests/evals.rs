//! Runs the suites with a model on the loopback interface. async-openai emits no spans, so the tool is recorded.

use std::sync::LazyLock;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use evalsuite::record::Verdict;
use evalsuite::{Evals, Evidence, RunOptions, Status, Trial, include_eval_suite};
use openai_clock::{BoxError, ClockAgent, clock};

include_eval_suite!("suites/clock", graders = [clock_result]);
include_eval_suite!("suites/wrong_place", agent = none);

/// A client and its connections, for all trials.
static CLIENT: LazyLock<Client<OpenAIConfig>> = LazyLock::new(|| {
    let base_url = fakes::model::base_url("OPENAI_BASE_URL", "/v1").expect("a port is free");
    let key = std::env::var("OPENAI_API_KEY").unwrap_or_else(|_| "no-key".to_owned());
    Client::with_config(OpenAIConfig::new().with_api_base(base_url).with_api_key(key))
});

async fn agent(trial: &mut Trial<'_>) -> Result<String, BoxError> {
    let agent = ClockAgent::new(CLIENT.clone()).with_tool("clock", trial.recorder().wrap_tool("clock", clock));
    let answer = agent.answer(trial.prompt()).await?;
    trial.transcript_complete(); // a tool call that was not recorded was not made
    Ok(answer)
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
