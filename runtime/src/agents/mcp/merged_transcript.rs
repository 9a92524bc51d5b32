//! The transcript of an agent with the calls that its servers got: each call is there once, as it was made.

use std::time::SystemTime;

use evalsuite_schema::json::json;
use evalsuite_schema::{Message, Role, ToolCall, Value};

use crate::agents::mcp::traced_calls::McpCall;
use crate::record::mcp::same_json;

/// Puts calls into the messages that an agent reported. A reported call of the same tool is the same call: it keeps its id, and the rest is
/// as the server got it. Returns names of calls that were reported and that no server got.
pub(super) fn merge(messages: &mut Vec<Message>, calls: Vec<McpCall>, tools: &[(String, String)]) -> Vec<String> {
    let mut rest: Vec<Option<McpCall>> = calls.into_iter().map(Some).collect();
    let place = |(at, message): (usize, &Message)| (0..message.tool_calls.len()).map(move |index| (at, index));
    let mut unmatched: Vec<(usize, usize)> = messages.iter().enumerate().flat_map(place).collect();
    for is_same in [same_call, same_tool] {
        unmatched.retain(|(at, index)| {
            let reported = &mut messages[*at].tool_calls[*index];
            let found = rest.iter_mut().find(|call| call.as_ref().is_some_and(|call| is_same(reported, call)));
            let Some(call) = found.and_then(Option::take) else { return true };
            let id = reported.id.take();
            *reported = call.call;
            reported.id = id;
            false
        });
    }
    let names = unmatched.iter().map(|(at, index)| messages[*at].tool_calls[*index].tool.clone());
    let of_server = |name: &String| tools.iter().any(|(server, tool)| is_prefixed(name, server, tool));
    let unseen = names.filter(of_server).collect();
    for call in rest.into_iter().flatten() {
        insert(messages, call);
    }
    unseen
}

/// Calls as messages of the assistant, for an agent that reports none itself.
pub(super) fn messages(mut calls: Vec<McpCall>) -> Vec<Message> {
    calls.sort_by_key(|call| call.at);
    calls.into_iter().map(message).collect()
}

fn message(call: McpCall) -> Message {
    let mut mcp = json!({ "server": call.server });
    if let (Some(fault), Value::Object(mcp)) = (&call.fault, &mut mcp) {
        mcp.insert("fault".to_owned(), fault.fault.word().into());
    }
    let mut message = Message::empty(Role::Assistant).with_tool_call(call.call).with_started(call.at);
    message.metadata = Some(json!({ "mcp": mcp }));
    message
}

/// Adds a call that the agent did not report: by time, where messages have one, else before the answer.
fn insert(messages: &mut Vec<Message>, call: McpCall) {
    let times: Vec<Option<SystemTime>> = messages.iter().map(time).collect();
    let before = times.iter().rposition(|time| time.is_some_and(|time| time <= call.at));
    let after = times.iter().position(|time| time.is_some_and(|time| time > call.at));
    let mut at = match (before, after) {
        (Some(before), _) => before + 1,
        (None, Some(after)) => after,
        (None, None) => messages.len() - usize::from(messages.last().is_some_and(is_answer)),
    };
    // The results of calls stay after their calls.
    while messages.get(at).is_some_and(|message| message.role == Role::Tool) {
        at += 1;
    }
    messages.insert(at, message(call));
}

fn is_answer(message: &Message) -> bool {
    message.role == Role::Assistant && message.tool_calls.is_empty()
}

/// When a message was made, or the first of its calls.
fn time(message: &Message) -> Option<SystemTime> {
    message.started().or_else(|| message.tool_calls.iter().find_map(ToolCall::started))
}

/// Whether a reported call has the tool and the arguments of a call.
fn same_call(reported: &ToolCall, call: &McpCall) -> bool {
    let is_named = reported.tool == call.call.tool || is_prefixed(&reported.tool, &call.server, &call.call.tool);
    let arguments = |call: &ToolCall| call.arguments().map(|arguments| Value::Object(arguments.into_owned()));
    let same = match (arguments(reported), arguments(&call.call)) {
        (Some(reported), Some(made)) => same_json(&reported, &made),
        _ => false,
    };
    is_named && (same || reported.input.is_none())
}

/// Whether a reported call is certainly of the same tool: clients name the server in front of it.
fn same_tool(reported: &ToolCall, call: &McpCall) -> bool {
    is_prefixed(&reported.tool, &call.server, &call.call.tool)
}

/// Whether a name is that of a tool with its server in front, as clients write it: `mcp__files__read`, `files.read`, `files-read`.
fn is_prefixed(name: &str, server: &str, tool: &str) -> bool {
    let plain = |text: &str| text.to_ascii_lowercase().replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    let Some(before) = name.strip_suffix(tool) else { return false };
    let before = before.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
    let is_separated = before.len() + tool.len() < name.len();
    let (before, server) = (plain(before), plain(server));
    is_separated && before.strip_suffix(&server).is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use evalsuite_schema::Content;

    use super::*;

    fn made(seconds: u64, tool: &str, arguments: Value) -> McpCall {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds);
        let call = ToolCall::new(tool).with_input(arguments).with_output(format!("result {seconds}")).with_started(at);
        McpCall { server: "my-files".into(), at, call, fault: None }
    }

    fn reported(tool: &str, arguments: Value) -> Message {
        Message::empty(Role::Assistant).with_tool_call(ToolCall::new(tool).with_input(arguments).with_id(tool))
    }

    fn tools(messages: &[Message]) -> Vec<String> {
        let shown = |message: &Message| match message.tool_calls.as_slice() {
            [] => format!("{}:{}", message.role.as_str(), message.plain_text()),
            calls => {
                calls.iter().map(|call| format!("{}={}", call.tool, call.output.clone().unwrap_or_default())).collect()
            }
        };
        messages.iter().map(shown).collect()
    }

    #[test]
    fn a_call_that_is_reported_is_not_counted_twice() {
        for name in ["read", "mcp__my-files__read", "my-files.read", "mcp_my_files_read", "My-Files/read"] {
            let mut messages = vec![reported(name, json!({"n": 1.0})), Message::text(Role::Assistant, "done")];
            let unseen = merge(&mut messages, vec![made(1, "read", json!({"n": 1}))], &[]);
            assert_eq!(
                (tools(&messages), unseen.len()),
                (vec!["read=\"result 1\"".into(), "assistant:done".into()], 0)
            );
            assert_eq!(messages[0].tool_calls[0].id.as_deref(), Some(name), "the result of the tool names it");
        }
    }

    #[test]
    fn tools_of_the_agent_with_similar_names_are_other_tools() {
        for name in ["reread", "unread", "other__read", "bash"] {
            let mut messages = vec![reported(name, json!({"n": 1}))];
            merge(&mut messages, vec![made(1, "read", json!({"n": 1}))], &[]);
            assert_eq!(messages.len(), 2, "{name}");
        }
        let mut messages = vec![reported("read", json!({"n": 2}))];
        merge(&mut messages, vec![made(1, "read", json!({"n": 1}))], &[]);
        assert_eq!(messages.len(), 2, "its own tool, with other arguments");
        let mut messages = vec![reported("my-files__read", json!({"n": 2}))];
        merge(&mut messages, vec![made(1, "read", json!({"n": 1}))], &[]);
        assert_eq!(tools(&messages), ["read=\"result 1\""], "the server got other arguments than the agent says");
    }

    #[test]
    fn equal_calls_keep_their_order_and_unreported_ones_are_between() {
        let mut messages = vec![
            reported("read", json!({})),
            Message::tool_result("read", Content::Text("?".into())),
            reported("read", json!({})),
            Message::text(Role::Assistant, "done"),
        ];
        let calls = vec![made(1, "read", json!({})), made(2, "write", json!({})), made(3, "read", json!({}))];
        merge(&mut messages, calls, &[]);
        let expected = ["read=\"result 1\"", "tool:?", "write=\"result 2\"", "read=\"result 3\"", "assistant:done"];
        assert_eq!(tools(&messages), expected);
    }

    #[test]
    fn without_times_unreported_calls_are_before_the_answer() {
        let mut messages = vec![Message::text(Role::User, "hi"), Message::text(Role::Assistant, "done")];
        merge(&mut messages, vec![made(1, "read", json!({})), made(2, "write", json!({}))], &[]);
        assert_eq!(tools(&messages), ["user:hi", "read=\"result 1\"", "write=\"result 2\"", "assistant:done"]);
    }

    #[test]
    fn a_reported_call_that_no_server_got_is_named() {
        let mut messages = vec![reported("my-files__write", json!({})), reported("bash", json!({}))];
        let known = [("my-files".to_owned(), "write".to_owned())];
        assert_eq!(merge(&mut messages, Vec::new(), &known), ["my-files__write"]);
    }
}
