//! Spans as libraries made them in a run with a made-up model, which asks for the time in Lima. Each becomes the same transcript. `docs/spans.md`
//! lists the attributes.
//!
//! Versions: rig 0.46.0, genai 0.7.2, adk-rust 2.3.0; in Python `opentelemetry-instrumentation-genai-openai` 1.3b0 and
//! `opentelemetry-instrumentation-openai-v2` 2.4b0; of OpenLLMetry `opentelemetry-instrumentation-openai`, `-openai-agents` and `-langchain`
//! 0.62.4 and 0.40.14; `openinference-instrumentation-openai` 0.1.66, `-langchain` 0.1.80 and `-openai-agents` 2.6.0; pydantic-ai 2.68.0,
//! strands-agents 1.62.0, `agent-framework-core` 1.23.0, google-adk 2.13.0, `mcp` 2.3.0.

mod agent_frameworks;
mod mcp_and_values;
mod model_clients;

use evalsuite_records::record::Usage;
use evalsuite_schema::Role;
use evalsuite_schema::json::{Value, json};
use tracing::Span;

use crate::agents::spans::Trace;
use crate::model::messages::content_text;
use crate::model::recording::Captured;

const CALL: &str = r#"[{"role":"assistant","parts":[{"arguments":{"zone":"Lima"},"name":"clock","id":"call_1","type":"tool_call"}],"finish_reason":"tool_call","name":null}]"#;
const ANSWER: &str =
    r#"[{"role":"assistant","parts":[{"type":"text","content":"It is 12:30 in Lima."}],"finish_reason":"stop"}]"#;
const ASKED: &str = r#"[{"role":"system","parts":[{"content":"be brief","type":"text"}]},{"role":"user","parts":[{"content":"time?","type":"text"}]}]"#;

fn seen(work: impl FnOnce()) -> Captured {
    let trace = Trace::new("case", 0);
    trace.within(work);
    trace.take()
}

fn made(span: &Span) {
    span.in_scope(|| ());
}

/// The input of the second call, with a result of the tool.
fn asked_again(result: Value) -> String {
    let mut messages: Vec<Value> = serde(ASKED);
    messages.extend(serde(CALL));
    messages.push(result);
    json!(messages).to_string()
}

fn serde(text: &str) -> Vec<Value> {
    evalsuite_schema::json::from_str::<Value>(text).unwrap().as_array().unwrap().to_vec()
}

/// Expects the whole transcript. `usage` is that of both calls of the model.
#[track_caller]
fn assert_complete(captured: &Captured, usage: Option<Usage>) {
    let messages = captured.messages.as_ref().expect("a transcript");
    let told: Vec<(Role, String)> = messages
        .iter()
        .map(|message| (message.role, message.content.as_ref().map(content_text).unwrap_or_default()))
        .collect();
    let text = |role, text: &str| (role, text.to_owned());
    assert_eq!(
        told,
        [
            text(Role::System, "be brief"),
            text(Role::User, "time?"),
            text(Role::Assistant, ""),
            text(Role::Assistant, "It is 12:30 in Lima."),
        ]
    );
    assert_called(captured);
    assert_eq!((captured.usage, &captured.missing), (usage, &None));
    assert!(messages[2].model.as_deref().is_none_or(|model| model == "clockwork-1-0101"), "{:?}", messages[2].model);
}

/// Expects one call, with arguments and result.
#[track_caller]
fn assert_called(captured: &Captured) {
    let messages = captured.messages.as_ref().expect("a transcript");
    let calls: Vec<_> = messages.iter().flat_map(|message| &message.tool_calls).collect();
    let [call] = calls[..] else { panic!("expected one call, got {calls:#?}") };
    assert_eq!(call.tool, "clock");
    assert_eq!((&call.input, &call.output), (&Some(json!({"zone": "Lima"})), &Some(json!("12:30 in Lima"))));
    assert!(!call.is_error);
}

fn tokens() -> Option<Usage> {
    Some(Usage::new(24, 14).with_cached(16).with_reasoning(6))
}
