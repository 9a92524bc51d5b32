//! Runs the suites with a model and an MCP server on the loopback interface. The agent's own spans become the transcripts, in a
//! program that has a subscriber.

use std::sync::LazyLock;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use evalsuite::record::Verdict;
use evalsuite::{Evals, Evidence, RunOptions, Status, Trial, include_eval_suite};
use mcp_clock::{BoxError, ClockAgent, Session, connect};
use tokio::sync::OnceCell;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::prelude::*;

include_eval_suite!("suites/clock", graders = [clock_result], record = ["MCP_URL"]);
include_eval_suite!("suites/wrong_place", agent = none);

/// A client and its connections, for all trials.
static CLIENT: LazyLock<Client<OpenAIConfig>> = LazyLock::new(|| {
    let base_url = fakes::model::base_url("OPENAI_BASE_URL", "/v1").expect("a port is free");
    let key = std::env::var("OPENAI_API_KEY").unwrap_or_else(|_| "no-key".to_owned());
    Client::with_config(OpenAIConfig::new().with_api_base(base_url).with_api_key(key))
});

/// A session with the MCP server, for all trials. The first one opens it.
async fn session() -> Result<&'static Session, BoxError> {
    static SESSION: OnceCell<Session> = OnceCell::const_new();
    SESSION.get_or_try_init(|| async { connect(&fakes::mcp::url("MCP_URL")?).await }).await
}

/// The program's own subscriber, with a layer that lets evalsuite see the spans.
static TRACING: LazyLock<()> = LazyLock::new(|| {
    let output = tracing_subscriber::fmt::layer().with_test_writer().with_filter(LevelFilter::WARN);
    tracing_subscriber::registry().with(output).with(evalsuite::capture_layer()).init();
});

async fn agent(trial: &mut Trial<'_>) -> Result<String, BoxError> {
    LazyLock::force(&TRACING);
    ClockAgent { model: &CLIENT, session: session().await? }.answer(trial.prompt()).await
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
