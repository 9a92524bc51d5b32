//! Runs the suites with a model on the loopback interface. rig's spans become the transcripts.

use std::error::Error;
use std::sync::LazyLock;

use evalsuite::record::{ReasonCode, Verdict};
use evalsuite::{Assertion, Evals, Evidence, Outcome, Role, RunOptions, Status, Trial, include_eval_suite};
use futures_util::StreamExt;
use rig_agent::Agent;
use rig_agent::agent::MultiTurnStreamItem;
use rig_clock::clock_agent;
use rig_core::streaming::{Item, StreamEvent};

include_eval_suite!("suites/clock", graders = [transcript]);
include_eval_suite!("suites/clock_names", graders = [names_and_numbers]);
include_eval_suite!("suites/stalled", agent = none);
include_eval_suite!("suites/wrong_place", agent = none);

/// An agent and its connections, for all trials.
static AGENT: LazyLock<Agent> = LazyLock::new(|| agent(true));

/// An agent whose spans have names and numbers only.
static DISCREET_AGENT: LazyLock<Agent> = LazyLock::new(|| agent(false));

fn agent(record_contents: bool) -> Agent {
    let base_url = fakes::model::base_url("OPENAI_BASE_URL", "/v1").expect("a port is free");
    clock_agent(&base_url, record_contents).expect("the address is valid")
}

/// Reports the text while it arrives. Tool calls, tokens and the model are in rig's spans.
async fn streaming(trial: &mut Trial<'_>) -> Result<Outcome, Box<dyn Error>> {
    let mut items = AGENT.prompt(trial.prompt()).stream();
    let mut answer = String::new();
    while let Some(item) = items.next().await {
        match item? {
            MultiTurnStreamItem::StreamAssistantItem(Item::Event(StreamEvent::Text { text, .. })) => {
                answer.push_str(&text);
                trial.set_answer(&answer);
            }
            MultiTurnStreamItem::FinalResponse(response) => trial.set_answer(response.output()),
            _ => {}
        }
    }
    Ok(Outcome::new()) // the answer is the one that was set
}

/// Waits for the whole answer. Without recorded contents, the spans have names and numbers.
async fn whole_answer(trial: &mut Trial<'_>) -> Result<String, Box<dyn Error>> {
    Ok(DISCREET_AGENT.prompt(trial.prompt()).await?.output().to_string())
}

fn transcript(evidence: &Evidence<'_>) -> Vec<Assertion> {
    let messages = evidence.transcript().unwrap_or_default();
    let roles: Vec<&str> = messages.iter().map(|message| message.role.as_str()).collect();
    let calls = evidence.tool_calls().unwrap_or_default();
    let zone = evidence.case_id();
    vec![
        Assertion::new("the roles of the messages", roles == ["system", "user", "assistant", "assistant"])
            .with_actual(format!("{roles:?}")),
        Assertion::new(
            "the result of the tool",
            calls.iter().all(|call| call.output == Some(format!("12:30 in {zone}").into())),
        )
        .with_actual(format!("{calls:?}")),
        Assertion::new("the duration of the call", calls.iter().all(|call| call.duration_ms.is_some())),
        Assertion::new(
            "the tokens",
            evidence.usage().is_some_and(|usage| (usage.input, usage.cached, usage.output) == (14, 6, 9)),
        )
        .with_actual(format!("{:?}", evidence.usage())),
    ]
}

fn names_and_numbers(evidence: &Evidence<'_>) -> Vec<Assertion> {
    let answers = evidence.transcript().unwrap_or_default().iter().filter(|message| message.role == Role::Assistant);
    let names: Vec<&str> = evidence.tool_calls().unwrap_or_default().iter().map(|call| call.tool.as_str()).collect();
    vec![
        Assertion::new("the tools", names == ["clock"]).with_actual(format!("{names:?}")),
        Assertion::new("the number of answers", answers.count() == 2),
        Assertion::new("the number of model calls", evidence.llm_calls() == Some(2)),
        Assertion::new("the tokens", evidence.usage().is_some_and(|usage| usage.output == 9)),
    ]
}

#[tokio::test]
async fn what_was_streamed_before_the_time_limit_is_kept() {
    let records = tempfile::tempdir().unwrap();
    let options = RunOptions::new().with_output(records.path());
    let run = Evals::new(&stalled::SUITE).with_agent(streaming);
    let report = run.run(&options).await.unwrap();

    let case = &report.cases()[0];
    let trial = &case.trials()[0];
    assert_eq!(trial.reason.as_ref().map(|reason| reason.code), Some(ReasonCode::Timeout), "{case}");
    assert_eq!(trial.answer.as_deref(), Some("It is half past "));
    assert_eq!(trial.usage.map(|usage| usage.output), Some(4), "of the completion that ended");
    let trajectory = trial.trajectory.as_ref().expect("the agent was called");
    let trajectory = std::fs::read_to_string(case.directory().join("trial-000").join(trajectory)).unwrap();
    assert!(trajectory.contains("12:30 in Lima"), "expected the tool call that had ended: {trajectory}");
}

#[tokio::test]
async fn a_call_with_other_arguments_fails_the_case() {
    let records = tempfile::tempdir().unwrap();
    let options = RunOptions::new().with_output(records.path());
    let report = Evals::new(&wrong_place::SUITE).with_agent(streaming).run(&options).await.unwrap();

    let case = &report.cases()[0];
    assert_eq!(case.status(), Status::Failed, "{case}");
    let failed = case.trials()[0].graders.iter().filter(|grader| grader.verdict == Some(Verdict::Fail));
    assert_eq!(failed.map(|grader| grader.name.as_str()).collect::<Vec<_>>(), ["tool-trajectory"], "{case}");
    assert!(case.to_string().contains(r#"{"zone":"UTC"}"#), "expected the arguments of the call: {case}");
}
