//! Runs `suites/support` with a model on the loopback interface, and shows what remains of an answer that never ends.

mod model;

use std::sync::LazyLock;

use evalsuite::record::ReasonCode;
use evalsuite::{Evals, Outcome, RunOptions, Status, ToolCall, Trial, Usage, include_eval_suite};
use streaming_agent::{Event, SupportAgent};

include_eval_suite!("suites/support");
include_eval_suite!("suites/stalled", agent = none);

/// The endpoint that the environment names, else the one on the loopback interface.
static BASE_URL: LazyLock<String> =
    LazyLock::new(|| std::env::var("OPENAI_BASE_URL").unwrap_or_else(|_| model::serve().expect("a port is free")));

/// Reports each event when it arrives: after a timeout, this is what is left.
async fn agent(trial: &mut Trial<'_>) -> anyhow::Result<Outcome> {
    let name = trial.env("OPENAI_MODEL").unwrap_or_else(|| "loopback".to_owned());
    let mut events = SupportAgent::new(&BASE_URL, name).answer(trial.prompt());
    let mut answer = String::new();
    while let Some(event) = events.recv().await {
        match event? {
            Event::Text(text) => {
                answer.push_str(&text);
                trial.set_answer(&answer);
            }
            Event::ToolCall { name, input, output, duration, .. } => {
                trial.tool_call(ToolCall::new(name).with_input(input).with_output(output).with_duration(duration));
            }
            Event::Usage(usage) => trial.usage(Usage::new(usage.input, usage.output)),
            _ => {}
        }
    }
    trial.transcript_complete(); // a tool call that was not recorded was not made
    Ok(Outcome::new()) // the answer is the one that was set
}

#[test]
fn what_was_streamed_before_the_time_limit_is_kept() {
    let records = tempfile::tempdir().unwrap();
    let options = RunOptions::new().with_output(records.path());
    let run = Evals::new(&stalled::SUITE).with_agent(agent);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let report = runtime.block_on(run.run(&options)).unwrap();

    let case = &report.cases()[0];
    assert_eq!(case.status(), Status::Error, "{case}");
    let trial = &case.trials()[0];
    assert_eq!(trial.reason.as_ref().map(|reason| reason.code), Some(ReasonCode::Timeout));
    assert_eq!(trial.answer.as_deref(), Some("Your teapot is in Lyon."));
    assert_eq!(trial.usage.map(|usage| (usage.input, usage.output)), Some((50, 10)), "of the completion that ended");
    let trajectory = trial.trajectory.as_ref().expect("the agent was called");
    let trajectory = std::fs::read_to_string(case.directory().join("trial-000").join(trajectory)).unwrap();
    assert!(trajectory.contains("find_order"), "expected the tool call that had ended: {trajectory}");
}
