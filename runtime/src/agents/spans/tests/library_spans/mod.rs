//! Spans as libraries made them in a run with a made-up model, which asks for the time in Lima. Each becomes the same transcript. `docs/spans.md`
//! lists the attributes.
//!
//! Versions: rig 0.46.0, genai 0.7.2, adk-rust 2.3.0; in Python `opentelemetry-instrumentation-genai-openai` 1.3b0 and
//! `opentelemetry-instrumentation-openai-v2` 2.4b0; of OpenLLMetry `opentelemetry-instrumentation-openai`, `-openai-agents` and `-langchain`
//! 0.62.4 and 0.40.14; `openinference-instrumentation-openai` 0.1.66, `-langchain` 0.1.80 and `-openai-agents` 2.6.0; pydantic-ai 2.68.0,
//! strands-agents 1.62.0, `agent-framework-core` 1.23.0, google-adk 2.13.0, `mcp` 2.3.0.

mod agent_frameworks;
mod model_clients;

use evalsuite_records::record::Usage;
use evalsuite_schema::Role;
use evalsuite_schema::json::{Value, json};
use tracing::{Level, Span, event, info_span};

use crate::agents::spans::Trace;
use crate::model::agent_report::Captured;
use crate::model::messages::content_text;

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

/// The Python package `mcp` names the tool in the name of its span only; other clients follow the conventions.
#[test]
fn calls_of_mcp() {
    let captured = seen(|| {
        made(&info_span!("", otel.name = "MCP send initialize", mcp.method.name = "initialize"));
        made(&info_span!(
            "",
            otel.name = "MCP send tools/call clock",
            mcp.method.name = "tools/call",
            jsonrpc.request.id = "2"
        ));
        made(
            &info_span!("tools/call", otel.name = "tools/call weather", mcp.method.name = "tools/call", error.type = "tool_error"),
        );
    });
    let messages = captured.messages.unwrap();
    let calls: Vec<(&str, bool)> = messages
        .iter()
        .flat_map(|message| &message.tool_calls)
        .map(|call| (call.tool.as_str(), call.is_error))
        .collect();
    assert_eq!(calls, [("clock", false), ("weather", true)]);
}

/// A tool of an agent that calls a server: both spans are of one call.
#[test]
fn a_tool_around_a_call_of_mcp_is_one_call() {
    let captured = seen(|| {
        let tool = info_span!(
            "execute_tool time_clock",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = "time_clock"
        );
        tool.in_scope(|| {
            made(&info_span!(
                "tools/call clock",
                mcp.method.name = "tools/call",
                gen_ai.operation.name = "execute_tool",
                gen_ai.tool.name = "clock",
                gen_ai.tool.call.arguments = r#"{"zone":"Lima"}"#,
                error.type = "tool_error",
            ));
        });
    });
    let messages = captured.messages.unwrap();
    let [call] = &messages[0].tool_calls[..] else { panic!("expected one call: {messages:#?}") };
    assert_eq!((call.tool.as_str(), &call.input, call.is_error), ("time_clock", &Some(json!({"zone": "Lima"})), true));
}

#[test]
fn tools_that_a_provider_runs_are_calls() {
    let output = json!([{"role": "assistant", "parts": [
        {"type": "server_tool_call", "id": "s1", "name": "web_search", "server_tool_call": {"type": "web_search", "query": "time"}},
        {"type": "server_tool_call_response", "id": "s1", "server_tool_call_response": {"type": "web_search", "results": []}},
        {"type": "compaction", "content": "what was said"},
        {"type": "text", "content": "It is late."},
        {"type": "blob", "mime_type": "image/png", "modality": "image", "content": "aGk="},
    ]}]);
    let captured = seen(|| {
        made(&info_span!("chat", gen_ai.operation.name = "chat", gen_ai.output.messages = output.to_string()));
    });
    let messages = captured.messages.unwrap();
    assert_eq!(messages.len(), 1, "{messages:#?}");
    let [call] = &messages[0].tool_calls[..] else { panic!("expected one call: {messages:#?}") };
    assert_eq!(call.input, Some(json!({"type": "web_search", "query": "time"})));
    assert_eq!(call.output, Some(json!({"type": "web_search", "results": []})));
    assert_eq!(messages[0].reasoning.as_deref(), Some("what was said"));
    assert_eq!(messages[0].content.as_ref().map(content_text).as_deref(), Some("It is late.\n[image/png]"));
}

/// A text that is JSON is not a list of messages.
#[test]
fn an_answer_may_be_json() {
    for text in [r#"{"answer": 3}"#, "[1, 2]", r#"["a"]"#] {
        let captured = seen(|| {
            made(&info_span!(
                "invoke_agent",
                gen_ai.operation.name = "invoke_agent",
                gen_ai.prompt = text,
                gen_ai.completion = text
            ));
            let chat = info_span!("chat", gen_ai.operation.name = "chat");
            chat.in_scope(|| event!(name: "gen_ai.choice", Level::INFO, message = text));
        });
        let messages = captured.messages.unwrap();
        let last = messages.last().unwrap();
        assert_eq!(last.content.as_ref().map(content_text).as_deref(), Some(text));
    }
}

/// One of two messages with calls is without them: the calls are incomplete.
#[test]
fn calls_of_one_message_do_not_stand_for_those_of_another() {
    let captured = seen(|| {
        let chat = |output: Option<&str>| {
            made(&info_span!(
                "chat",
                gen_ai.operation.name = "chat",
                gen_ai.response.finish_reasons = "[\"tool_call\"]",
                gen_ai.output.messages = output
            ));
        };
        chat(Some(CALL));
        chat(None);
    });
    assert!(captured.missing.is_some_and(|missing| missing.lacks_calls));
}
