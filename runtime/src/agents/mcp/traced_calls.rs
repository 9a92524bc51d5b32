//! The traces of proxies, read as requests with their answers, and the transcript of an agent with them: each call is there once, as it was
//! made.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use evalsuite_schema::json::json;
use evalsuite_schema::{Message, Object, Role, ToolCall, Value};

use crate::model::evidence::OF_SERVER;
use crate::record::mcp::{
    InjectedFault, JsonRpc, RecordedExchange, Sender, TraceEvent, TraceLine, messages_of_line, same_json,
};

/// The method that calls a tool.
const CALL: &str = "tools/call";
/// The method that lists tools.
const LIST: &str = "tools/list";
const PROGRESS: &str = "notifications/progress";
const PROGRESS_TOKEN: &str = "progressToken";

/// What one proxy saw.
#[derive(Debug, Default)]
pub(super) struct TracedServer {
    /// Name of the server.
    pub(super) server: String,
    pub(super) exchanges: Vec<TracedExchange>,
    /// In a replay: why requests were not answered.
    pub(super) unknown: Vec<String>,
    /// Why calls may be missing.
    pub(super) incomplete: Option<String>,
    /// How the server ended.
    pub(super) ended: Option<String>,
    /// Number of lines that are not messages of JSON-RPC, by sender.
    pub(super) invalid: [usize; 2],
}

/// A request of the agent, and what became of it.
#[derive(Debug)]
pub(super) struct TracedExchange {
    at_us: u64,
    /// When the agent got the answer.
    answered_us: Option<u64>,
    /// What the agent got.
    answer: Option<Result<Value, Value>>,
    pub(super) fault: Option<InjectedFault>,
    /// What the server answered.
    pub(super) recorded: RecordedExchange,
    progress_token: Option<Value>,
}

/// A call of a tool, as it was made.
#[derive(Debug, Clone)]
pub(crate) struct McpCall {
    pub(crate) server: String,
    pub(crate) at: SystemTime,
    pub(crate) call: ToolCall,
    pub(crate) fault: Option<InjectedFault>,
}

impl TracedServer {
    /// Reads a trace, of which the last line may have been cut when its proxy was killed.
    pub(super) fn read(server: &str, trace: &[u8]) -> Self {
        let mut traced = Self { server: server.to_owned(), ..Self::default() };
        let mut pending = BTreeMap::new();
        let mut lines = trace.split(|byte| *byte == b'\n').peekable();
        while let Some(line) = lines.next() {
            match evalsuite_schema::json::from_slice::<TraceLine>(line) {
                Ok(line) => traced.add(line, &mut pending),
                // What follows the last line break is the beginning of a line, or nothing.
                Err(_) if lines.peek().is_none() => {}
                Err(error) => {
                    traced.lacks(format!("the trace of the server `{server}` cannot be read: {error}"));
                }
            }
        }
        traced
    }

    fn lacks(&mut self, reason: String) {
        self.incomplete.get_or_insert(reason);
    }

    fn add(&mut self, line: TraceLine, pending: &mut BTreeMap<String, usize>) {
        let TraceLine { at_us, event } = line;
        match event {
            TraceEvent::Started(_) => {}
            TraceEvent::Unknown(message) => self.unknown.push(message),
            TraceEvent::Lost(message) => self.lacks(message),
            TraceEvent::Ended(status) => self.ended = Some(status),
            TraceEvent::Fault(fault) => {
                if let Some(exchange) = pending.get(&fault.id).and_then(|index| self.exchanges.get_mut(*index)) {
                    exchange.fault = Some(fault);
                }
            }
            TraceEvent::Message(message) => {
                let messages = message.text.as_ref().and_then(|text| messages_of_line(text.as_bytes()));
                let is_blank = message.text.as_ref().is_some_and(|text| text.trim().is_empty());
                match messages {
                    Some(messages) if message.cut.is_none() => {
                        for message_in_line in messages {
                            self.add_message(at_us, message.from, message_in_line, pending);
                        }
                    }
                    _ if message.cut.is_some() => {
                        let bytes = message.cut.unwrap_or_default();
                        let server = &self.server;
                        self.lacks(format!(
                            "a message of {bytes} bytes to or from the server `{server}` is too large to be recorded"
                        ));
                    }
                    _ if is_blank => {}
                    _ => self.invalid[usize::from(message.from != Sender::Client)] += 1,
                }
            }
        }
    }

    fn add_message(&mut self, at_us: u64, from: Sender, message: JsonRpc, pending: &mut BTreeMap<String, usize>) {
        match (from, message) {
            (Sender::Client, JsonRpc::Request { id, method, params }) => {
                let (params, progress_token) = without_meta(params);
                let recorded = RecordedExchange { method, params, ..RecordedExchange::default() };
                pending.insert(id, self.exchanges.len());
                let exchange =
                    TracedExchange { at_us, answered_us: None, answer: None, fault: None, recorded, progress_token };
                self.exchanges.push(exchange);
            }
            (Sender::Client, _) | (Sender::Server | Sender::Proxy, JsonRpc::Request { .. }) => {}
            (from, JsonRpc::Response { id, result }) => {
                let Some(exchange) = pending.get(&id).and_then(|index| self.exchanges.get_mut(*index)) else { return };
                if from == Sender::Server {
                    match &result {
                        Ok(result) => exchange.recorded.result = Some(result.clone()),
                        Err(error) => exchange.recorded.error = Some(error.clone()),
                    }
                }
                // With a fault, the agent gets what the proxy made of the answer.
                if from == Sender::Proxy || exchange.fault.is_none() {
                    (exchange.answer, exchange.answered_us) = (Some(result), Some(at_us));
                    pending.remove(&id);
                }
            }
            (_, JsonRpc::Notification { method, params }) => self.add_notification(method, params),
        }
    }

    /// Adds a notification of the server to the request that it is about, or to the last one.
    fn add_notification(&mut self, method: String, params: Option<Value>) {
        let mut notification = Object::new();
        let token = params.as_ref().and_then(|params| params.get(PROGRESS_TOKEN)).cloned();
        let is_progress = method == PROGRESS;
        let about = match (&token, is_progress) {
            (Some(_), true) => self.exchanges.iter_mut().rev().find(|exchange| exchange.progress_token == token),
            _ => self.exchanges.last_mut(),
        };
        let Some(exchange) = about else { return };
        notification.insert("method".to_owned(), method.into());
        if let Some(mut params) = params {
            if let (true, Value::Object(params)) = (is_progress, &mut params) {
                params.retain(|key, _| key != PROGRESS_TOKEN);
            }
            notification.insert("params".to_owned(), params);
        }
        let is_answered = exchange.recorded.result.is_some() || exchange.recorded.error.is_some();
        let list = if is_answered { &mut exchange.recorded.then } else { &mut exchange.recorded.notifications };
        list.push(notification.into());
    }

    /// The calls of tools, in order.
    pub(super) fn calls(&self) -> impl Iterator<Item = McpCall> {
        let calls = self.exchanges.iter().filter(|exchange| exchange.recorded.method == CALL);
        calls.map(|exchange| exchange.call(&self.server))
    }

    /// The tools that the server listed.
    pub(super) fn tools(&self) -> impl Iterator<Item = &Value> {
        let lists = self.exchanges.iter().filter(|exchange| exchange.recorded.method == LIST);
        lists.filter_map(|exchange| exchange.answer.as_ref()?.as_ref().ok()?.get("tools")?.as_array()).flatten()
    }
}

impl TracedExchange {
    fn call(&self, server: &str) -> McpCall {
        let params = self.recorded.params.as_ref();
        let name = params.and_then(|params| params.get("name")).and_then(Value::as_str).unwrap_or_default();
        let at = time_at(self.at_us);
        let mut call = ToolCall::new(name).with_started(at);
        call.input = params.and_then(|params| params.get("arguments")).cloned();
        if let Some(answered) = self.answered_us {
            let took = Duration::from_micros(answered.saturating_sub(self.at_us));
            call = call.with_ended(time_at(answered)).with_duration(took);
        }
        match &self.answer {
            Some(Ok(result)) => {
                call.is_error = result.get("isError").and_then(Value::as_bool).unwrap_or_default();
                call.output = Some(output(result));
            }
            Some(Err(error)) => (call.is_error, call.output) = (true, Some(error.clone())),
            None => {}
        }
        McpCall { server: server.to_owned(), at, call, fault: self.fault.clone() }
    }
}

/// What graders see of a result: its structured content, else its text, else all of it.
fn output(result: &Value) -> Value {
    if let Some(structured) = result.get("structuredContent").filter(|content| !content.is_null()) {
        return structured.clone();
    }
    let text = |part: &Value| match part.get("type").and_then(Value::as_str) {
        Some("text") => part.get("text").and_then(Value::as_str).map(str::to_owned),
        _ => None,
    };
    let content = result.get("content").and_then(Value::as_array);
    match content.map(|content| content.iter().map(text).collect::<Option<Vec<_>>>()) {
        Some(Some(texts)) => texts.join("\n").into(),
        _ => result.clone(),
    }
}

/// Parameters without `_meta`, and the token of progress in it.
fn without_meta(params: Option<Value>) -> (Option<Value>, Option<Value>) {
    let Some(Value::Object(mut params)) = params else { return (params, None) };
    let token = params.get("_meta").and_then(|meta| meta.get(PROGRESS_TOKEN)).cloned();
    params.retain(|key, _| key != "_meta");
    (Some(params.into()), token)
}

fn time_at(at_us: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_micros(at_us)
}

/// Puts calls into the messages that an agent reported. A reported call of the same tool is the same call: it keeps its id, and the rest is
/// as the server got it. Returns names of calls that were reported and that no server got.
pub(super) fn merge_into_transcript(
    messages: &mut Vec<Message>,
    calls: Vec<McpCall>,
    tools: &[(String, String)],
) -> Vec<String> {
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
    message.metadata = Some(Object::from([(OF_SERVER, mcp)]).into());
    message
}

/// Adds a call that the agent did not report: by time, where messages have one, else before the answer.
fn insert(messages: &mut Vec<Message>, call: McpCall) {
    let times: Vec<Option<SystemTime>> = messages.iter().map(time_of).collect();
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

/// When a message was made, or the first of its calls, of which some agents only report the end.
fn time_of(message: &Message) -> Option<SystemTime> {
    let of_call = |call: &ToolCall| call.started().or_else(|| call.ended());
    message.started().or_else(|| message.tool_calls.iter().find_map(of_call))
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

    use evalsuite_schema::json::json;
    use evalsuite_schema::{Content, McpFaultKind};

    use super::*;
    use crate::model::evidence::{Evidence, Facts};
    use crate::record::mcp::TracedMessage;

    fn trace(lines: &[(u64, TraceEvent)]) -> Vec<u8> {
        let line = |(at_us, event): &(u64, TraceEvent)| {
            evalsuite_schema::json::to_string(&TraceLine { at_us: *at_us, event: event.clone() }).unwrap() + "\n"
        };
        lines.iter().map(line).collect::<String>().into_bytes()
    }

    fn sent(from: Sender, message: Value) -> TraceEvent {
        TraceEvent::Message(TracedMessage::new(from, message.to_string().as_bytes()))
    }

    fn call(id: u64, tool: &str, arguments: Value) -> TraceEvent {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
        sent(Sender::Client, json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
    }

    #[test]
    fn requests_get_their_answers_whatever_the_order() {
        let text = |text: &str| json!({"content": [{"type": "text", "text": text}], "isError": text == "bad"});
        let answer = |id: u64, result: Value| sent(Sender::Server, json!({"id": id, "result": result}));
        let progress = json!({"method": PROGRESS, "params": {"progressToken": 1, "progress": 0.5}});
        let lines = [
            (1_000, call(1, "read", json!({"path": "a"}))),
            (2_000, call(2, "write", json!({}))),
            (2_500, sent(Sender::Server, progress)),
            (3_000, answer(2, text("bad"))),
            (4_000, answer(1, json!({"content": [], "structuredContent": {"size": 1}}))),
            (5_000, call(3, "read", json!({}))),
            (6_000, sent(Sender::Server, json!({"id": 3, "error": {"code": -32602, "message": "no"}}))),
            (7_000, call(4, "read", json!({}))),
        ];
        let mut bytes = trace(&lines);
        bytes.extend_from_slice(b"{\"at_us\":8000,\"ev");
        let traced = TracedServer::read("files", &bytes);
        let calls: Vec<ToolCall> = traced.calls().map(|call| call.call).collect();
        assert_eq!(calls[0].output, Some(json!({"size": 1})));
        assert_eq!((calls[0].duration_ms, calls[0].is_error), (Some(3.0), false));
        assert_eq!((&calls[1].output, calls[1].is_error), (&Some("bad".into()), true));
        assert_eq!((calls[2].is_error, calls[3].output.clone()), (true, None));
        let first = &traced.exchanges[0].recorded;
        assert_eq!(first.params, Some(json!({"name": "read", "arguments": {"path": "a"}})));
        assert_eq!(first.notifications, [json!({"method": PROGRESS, "params": {"progress": 0.5}})]);
        assert_eq!(traced.incomplete, None, "only the end is cut");
    }

    #[test]
    fn with_a_fault_the_agent_sees_what_the_proxy_sent() {
        let fault = InjectedFault { id: "1".into(), tool: "read".into(), fault: McpFaultKind::Garbled, call: 1 };
        let answer = |text: &str| json!({"id": 1, "result": {"content": [{"type": "text", "text": text}]}});
        let traced = TracedServer::read(
            "files",
            &trace(&[
                (1, call(1, "read", json!({}))),
                (2, TraceEvent::Fault(fault.clone())),
                (3, sent(Sender::Server, answer("whole"))),
                (4, sent(Sender::Proxy, answer("wh"))),
            ]),
        );
        let made: Vec<McpCall> = traced.calls().collect();
        assert_eq!((&made[0].call.output, &made[0].fault), (&Some("wh".into()), &Some(fault)));
        assert_eq!(traced.exchanges[0].recorded.result, Some(answer("whole")["result"].clone()));
    }

    #[test]
    fn what_cannot_be_read_is_counted_and_what_is_missing_is_said() {
        let cut = TracedMessage { cut: Some(99), ..TracedMessage::new(Sender::Client, b"{\"id\":1,") };
        let traced = TracedServer::read(
            "files",
            &trace(&[
                (1, TraceEvent::Message(TracedMessage::new(Sender::Server, b"log line"))),
                (2, TraceEvent::Message(TracedMessage::new(Sender::Server, b""))),
                (3, TraceEvent::Message(cut)),
            ]),
        );
        assert_eq!(traced.invalid, [0, 1]);
        assert!(traced.incomplete.unwrap().contains("99 bytes"));
    }

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
            let unseen = merge_into_transcript(&mut messages, vec![made(1, "read", json!({"n": 1}))], &[]);
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
            merge_into_transcript(&mut messages, vec![made(1, "read", json!({"n": 1}))], &[]);
            assert_eq!(messages.len(), 2, "{name}");
        }
        let mut messages = vec![reported("read", json!({"n": 2}))];
        merge_into_transcript(&mut messages, vec![made(1, "read", json!({"n": 1}))], &[]);
        assert_eq!(messages.len(), 2, "its own tool, with other arguments");
        let mut messages = vec![reported("my-files__read", json!({"n": 2}))];
        merge_into_transcript(&mut messages, vec![made(1, "read", json!({"n": 1}))], &[]);
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
        merge_into_transcript(&mut messages, calls, &[]);
        let expected = ["read=\"result 1\"", "tool:?", "write=\"result 2\"", "read=\"result 3\"", "assistant:done"];
        assert_eq!(tools(&messages), expected);
    }

    #[test]
    fn without_times_unreported_calls_are_before_the_answer() {
        let mut messages = vec![Message::text(Role::User, "hi"), Message::text(Role::Assistant, "done")];
        merge_into_transcript(&mut messages, vec![made(1, "read", json!({})), made(2, "write", json!({}))], &[]);
        assert_eq!(tools(&messages), ["user:hi", "read=\"result 1\"", "write=\"result 2\"", "assistant:done"]);
    }

    #[test]
    fn calls_that_only_servers_show_are_not_calls_of_models() {
        let llm_calls = |messages: Vec<Message>| {
            Evidence::new(Facts { transcript: Some(messages), ..Facts::default() }).llm_calls()
        };
        let calls = || vec![made(1, "read", json!({})), made(2, "write", json!({}))];
        let mut messages = vec![reported("read", json!({})), Message::text(Role::Assistant, "done")];
        merge_into_transcript(&mut messages, calls(), &[]);
        assert_eq!((messages.len(), llm_calls(messages)), (3, Some(2)), "one that the model asked for, and the answer");
        let mut counted = Message::text(Role::Assistant, "done");
        counted.llm_call_count = Some(5);
        let mut messages = vec![counted];
        merge_into_transcript(&mut messages, calls(), &[]);
        assert_eq!(llm_calls(messages), Some(5));
    }

    #[test]
    fn a_reported_call_that_no_server_got_is_named() {
        let mut messages = vec![reported("my-files__write", json!({})), reported("bash", json!({}))];
        let known = [("my-files".to_owned(), "write".to_owned())];
        assert_eq!(merge_into_transcript(&mut messages, Vec::new(), &known), ["my-files__write"]);
    }
}
