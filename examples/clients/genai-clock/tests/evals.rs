//! Runs the suites with a model on the loopback interface. genai's spans become the transcripts.
//!
//! Their contents are recorded because of `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` in `.cargo/config.toml`.

use std::sync::LazyLock;

use evalsuite::record::Verdict;
use evalsuite::{Evals, Evidence, RunOptions, Status, Trial, include_eval_suite};
use genai::Client;
use genai_clock::BoxError;

include_eval_suite!("suites/clock", graders = [clock_result], record = ["MODEL_URL"]);
include_eval_suite!("suites/wrong_place", agent = none);

/// A client and its connections, for all trials.
static CLIENT: LazyLock<Client> = LazyLock::new(|| {
    let base_url = fakes::model::base_url("MODEL_URL", "/v1/").expect("a port is free");
    genai_clock::client(base_url).expect("there is no TLS to set up")
});

async fn agent(trial: &mut Trial<'_>) -> Result<String, BoxError> {
    genai_clock::answer(&CLIENT, trial.prompt()).await
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
