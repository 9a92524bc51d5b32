//! Calls of MCP, and values where a wrong reading would go unnoticed.

use evalsuite_schema::json::json;
use tracing::{Level, event, info_span};

use crate::agents::spans::tests::library_spans::{CALL, made, seen};
use crate::model::messages::content_text;

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
