//! A server whose recorded answers take its place. A request that is not recorded fails, with the nearest one that is.

use std::fs;
use std::io::{self, BufRead};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use evalsuite::tooling::{
    JsonRpc, McpRecording, RECORDING, RecordedExchange, RecordedServer, Sender, TraceEvent, TracedMessage, same_json,
};
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::diagnostics::suggest::{did_you_mean_or_known, listed, quoted};
use evalsuite_schema::json::{from_slice, json};
use evalsuite_schema::{McpFaultKind, Object, Value};

use super::faults::{Claims, Faults, garbled};
use super::passed_lines::{ArrivingLine, Outbox, each_line};
use crate::platform::json_difference::each_difference;

/// The error of a request that is not in the recording.
const NOT_RECORDED: i64 = -32_001;
/// The error of a method that a server does not know.
const METHOD_NOT_FOUND: i64 = -32_601;
/// The first request since protocol 2026-07-28, in place of `initialize`.
const DISCOVER: &str = "server/discover";
/// Methods that are answered by their recorded answer whatever their parameters are: those name the client.
const ANY_PARAMS: [&str; 1] = ["initialize"];

/// A server in a replay.
pub(super) struct ReplayedServer {
    name: String,
    /// What was recorded; the error is why nothing is known of the server.
    recorded: Result<RecordedServer, String>,
    /// Exchanges that this proxy knows to be claimed.
    claimed: Mutex<Vec<bool>>,
    claims: Claims,
    faults: Faults,
    outbox: Arc<Outbox>,
}

impl ReplayedServer {
    pub(super) fn open(session: &Path, name: &str, outbox: Arc<Outbox>, faults: Faults) -> io::Result<Self> {
        let recording: McpRecording = from_slice(&fs::read(session.join(RECORDING))?)?;
        let names: Vec<&str> = recording.servers.keys().map(String::as_str).collect();
        let unknown = match names.as_slice() {
            [] => format!("the recording has no server, and so not `{name}`"),
            names => format!("the server `{name}` is not in the recording, which has {}", quoted(names, "and")),
        };
        let recorded = recording.servers.get(name).cloned().ok_or(unknown);
        let claimed = vec![false; recorded.as_ref().map_or(0, |server| server.exchanges.len())];
        let claims = Claims::of(session);
        Ok(Self { name: name.to_owned(), recorded, claimed: Mutex::new(claimed), claims, faults, outbox })
    }

    /// Answers until the agent leaves.
    pub(super) fn serve(&self, from: impl BufRead) -> io::Result<()> {
        let mut long = ArrivingLine::of(Sender::Client);
        let with = |line: &[u8]| {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            self.outbox.trace.write(TraceEvent::Message(TracedMessage::new(Sender::Client, text)));
            match from_slice(text) {
                Ok(Value::Array(batch)) => self.answer_batch(&batch),
                Ok(message) => match self.answer(&message)? {
                    Some((response, then)) => {
                        self.outbox.send_message(&response)?;
                        then.iter().try_for_each(|notification| self.outbox.send_message(notification))
                    }
                    None => Ok(()),
                },
                Err(_) => Ok(()),
            }
        };
        let without = |bytes: &[u8]| {
            long.trace(bytes, &self.outbox.trace);
            Ok(())
        };
        let served = each_line(from, with, without);
        long.end(&self.outbox.trace);
        served
    }

    fn answer_batch(&self, batch: &[Value]) -> io::Result<()> {
        let (mut responses, mut after) = (Vec::new(), Vec::new());
        for message in batch {
            if let Some((response, then)) = self.answer(message)? {
                responses.push(response);
                after.extend(then);
            }
        }
        if !responses.is_empty() {
            self.outbox.send_message(&Value::Array(responses))?;
        }
        after.iter().try_for_each(|notification| self.outbox.send_message(notification))
    }

    /// The response to a message, and notifications after it. Notifications before it, and answers with a fault, are sent here.
    fn answer(&self, message: &Value) -> io::Result<Option<(Value, Vec<Value>)>> {
        let Some(JsonRpc::Request { id: key, method, params }) = JsonRpc::of(message) else { return Ok(None) };
        let id = message.get("id").cloned().unwrap_or_default();
        let fault = self.faults.of_call(&key, &method, params.as_ref())?;
        if let Some(fault) = &fault {
            self.outbox.trace.write(TraceEvent::Fault(fault.record.clone()));
            if !fault.is_made() {
                if let Some(answer) = fault.answer(&id) {
                    self.outbox.send_after(fault.after, answer.to_string() + "\n")?;
                }
                return Ok(None);
            }
        }
        let (params, token) = without_meta(params);
        let exchange = match self.find(&method, params.as_ref())? {
            Ok(Some(exchange)) => exchange,
            Ok(None) => return Ok(Some((response(&id, "result", json!({})), Vec::new()))),
            // A client of a later protocol looks whether the server speaks it, and then speaks the one that was recorded.
            Err(_) if method == DISCOVER && self.has_handshake() => {
                let error = json!({"code": METHOD_NOT_FOUND, "message": "Method not found"});
                return Ok(Some((response(&id, "error", error), Vec::new())));
            }
            Err(problem) => {
                self.outbox.trace.write(TraceEvent::Unknown(problem.clone()));
                let error = json!({"code": NOT_RECORDED, "message": problem});
                return Ok(Some((response(&id, "error", error), Vec::new())));
            }
        };
        for notification in
            exchange.notifications.iter().filter_map(|notification| notified(notification, token.as_ref()))
        {
            self.outbox.send_message(&notification)?;
        }
        let answer = match (&exchange.result, &exchange.error) {
            (_, Some(error)) => response(&id, "error", error.clone()),
            (Some(result), None) => response(&id, "result", result.clone()),
            // It was not answered either.
            (None, None) => return Ok(None),
        };
        let then = exchange.then.iter().filter_map(|notification| notified(notification, token.as_ref())).collect();
        let Some(fault) = fault else { return Ok(Some((answer, then))) };
        let answer = if fault.record.fault == McpFaultKind::Garbled { garbled(answer) } else { answer };
        self.outbox.send_after(fault.after, answer.to_string() + "\n")?;
        Ok(None)
    }

    /// The recorded exchange of a request; `None` for one that needs none. The inner error says what is recorded.
    fn find(&self, method: &str, params: Option<&Value>) -> io::Result<Result<Option<&RecordedExchange>, String>> {
        if method == "ping" {
            return Ok(Ok(None));
        }
        let server = match &self.recorded {
            Ok(server) => server,
            Err(unknown) => return Ok(Err(unknown.clone())),
        };
        let is_same = |exchange: &RecordedExchange| {
            exchange.method == method && (ANY_PARAMS.contains(&method) || same_params(exchange.params.as_ref(), params))
        };
        let same = || server.exchanges.iter().enumerate().filter(|(_, exchange)| is_same(exchange));
        for (index, exchange) in same() {
            if self.claim(index)? {
                return Ok(Ok(Some(exchange)));
            }
        }
        let count = same().count();
        Ok(match same().next_back() {
            // Lists and the like may be asked for again.
            Some((_, exchange)) if method != "tools/call" => Ok(Some(exchange)),
            Some(_) => {
                let (label, times) = (label(method, params), counted(count, "time"));
                Err(format!("{label} of the MCP server `{}` is in the recording only {times}", self.name))
            }
            None => Err(nearest(&self.name, &server.exchanges, method, params)),
        })
    }

    /// Whether the recorded client began as clients before protocol 2026-07-28.
    fn has_handshake(&self) -> bool {
        self.recorded
            .as_ref()
            .is_ok_and(|server| server.exchanges.iter().any(|exchange| exchange.method == "initialize"))
    }

    /// Claims an exchange; `false` if another request has claimed it.
    fn claim(&self, index: usize) -> io::Result<bool> {
        let mut claimed = self.claimed.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut claimed[index], true) {
            return Ok(false);
        }
        self.claims.claim(&format!("{}.{index}", self.name))
    }
}

fn same_params(recorded: Option<&Value>, made: Option<&Value>) -> bool {
    let empty = Value::Object(Object::new());
    // A call without arguments is one with none.
    let plain = |params: Option<&Value>| {
        let mut params = params.cloned().unwrap_or_else(|| empty.clone());
        if let Value::Object(params) = &mut params {
            params.retain(|key, value| key != "arguments" || !value.is_null() && *value != empty);
        }
        params
    };
    same_json(&plain(recorded), &plain(made))
}

fn response(id: &Value, key: &str, value: Value) -> Value {
    let mut response = Object::new();
    response.insert("jsonrpc".to_owned(), "2.0".into());
    response.insert("id".to_owned(), id.clone());
    response.insert(key.to_owned(), value);
    response.into()
}

/// A recorded notification as it is sent; one of progress needs the token of the request.
fn notified(recorded: &Value, token: Option<&Value>) -> Option<Value> {
    let mut notification = recorded.clone();
    let object = notification.as_object_mut()?;
    object.insert("jsonrpc".to_owned(), "2.0".into());
    if object.get("method").and_then(Value::as_str) == Some("notifications/progress") {
        let token = token?.clone();
        object.get_mut("params")?.as_object_mut()?.insert("progressToken".to_owned(), token);
    }
    Some(notification)
}

/// Parameters without `_meta`, and the token of progress in it.
fn without_meta(params: Option<Value>) -> (Option<Value>, Option<Value>) {
    let Some(Value::Object(mut params)) = params else { return (params, None) };
    let token = params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned();
    params.retain(|key, _| key != "_meta");
    (Some(params.into()), token)
}

/// Length of the part of a value that a message shows, in characters.
const SHOWN: usize = 80;

/// Why a request has no answer.
pub(super) fn nearest(server: &str, recorded: &[RecordedExchange], method: &str, params: Option<&Value>) -> String {
    let made = label(method, params);
    let not_recorded = format!("{made} of the MCP server `{server}` is not in the recording");
    let same_method = || recorded.iter().filter(|exchange| exchange.method == method);
    let tool = tool_of(params).filter(|_| method == "tools/call");
    let same_tool = || same_method().filter(|exchange| tool.is_none() || tool_of(exchange.params.as_ref()) == tool);
    let empty = Value::Object(Object::new());
    let of_call = |params: Option<&Value>| match (tool, params) {
        (Some(_), Some(params)) => params.get("arguments").cloned().unwrap_or_else(|| empty.clone()),
        (_, params) => params.cloned().unwrap_or_else(|| empty.clone()),
    };
    let made = of_call(params);
    let differences = same_tool().map(|exchange| Differences::between(&of_call(exchange.params.as_ref()), &made));
    if let Some(nearest) = differences.min_by_key(|differences| differences.places) {
        return format!("{not_recorded}; the nearest recorded one differs at {}", nearest.first);
    }
    if let Some(tool) = tool {
        let mut tools: Vec<&str> = same_method().filter_map(|exchange| tool_of(exchange.params.as_ref())).collect();
        tools.sort_unstable();
        tools.dedup();
        return match tools.as_slice() {
            [] => format!("{not_recorded}, which has no calls of tools"),
            tools => format!("{not_recorded}, which has no call of this tool; {}", did_you_mean_or_known(tool, tools)),
        };
    }
    let mut methods: Vec<&str> = recorded.iter().map(|exchange| exchange.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    format!(
        "{not_recorded}, which has {}",
        if methods.is_empty() { "no requests".to_owned() } else { listed(&methods) }
    )
}

/// A request for messages: a call of `read_file`, or `resources/read`.
pub(super) fn label(method: &str, params: Option<&Value>) -> String {
    match tool_of(params).filter(|_| method == "tools/call") {
        Some(tool) => format!("call of `{tool}`"),
        None => format!("request `{method}`"),
    }
}

fn tool_of(params: Option<&Value>) -> Option<&str> {
    params?.get("name")?.as_str()
}

/// Where two values differ.
#[derive(Debug, Default)]
struct Differences {
    places: usize,
    first: String,
}

impl Differences {
    fn between(recorded: &Value, made: &Value) -> Self {
        let mut differences = Self::default();
        each_difference(recorded, made, same_json, &mut |pointer, recorded, made| {
            differences.places += 1;
            if differences.first.is_empty() {
                let place = if pointer.is_empty() { "the arguments" } else { pointer };
                differences.first = format!("`{place}`: expected {}, got {}", shown(recorded), shown(made));
            }
        });
        differences
    }
}

fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let text = value.to_string();
    let end = if text.chars().count() > SHOWN { "…" } else { "" };
    format!("`{}{end}`", text.chars().take(SHOWN).collect::<String>())
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    fn call(tool: &str, arguments: Value) -> RecordedExchange {
        let params = Some(json!({"name": tool, "arguments": arguments}));
        RecordedExchange { method: "tools/call".into(), params, ..RecordedExchange::default() }
    }

    fn shown(recorded: &[RecordedExchange], made: &RecordedExchange) -> String {
        nearest("notes", recorded, &made.method, made.params.as_ref())
    }

    #[test]
    fn the_recorded_call_with_the_fewest_differences_is_shown() {
        let recorded =
            [call("read", json!({"path": "x", "lines": [1, 9]})), call("read", json!({"path": "a", "lines": [1, 2]}))];
        assert_eq!(
            shown(&recorded, &call("read", json!({"path": "a", "lines": [1, 3]}))),
            "call of `read` of the MCP server `notes` is not in the recording; the nearest recorded one differs at `/lines/1`: expected `2`, \
             got `3`"
        );
        let other = shown(&recorded, &call("raed", json!({})));
        assert!(other.contains("no call of this tool; did you mean `read`?"), "{other}");
        let request = RecordedExchange { method: "resources/list".into(), ..RecordedExchange::default() };
        assert!(
            shown(&recorded, &request).ends_with("is not in the recording, which has `tools/call`"),
            "{}",
            shown(&recorded, &request)
        );
        assert!(shown(&[], &call("read", json!({}))).ends_with("which has no calls of tools"));
    }
}
