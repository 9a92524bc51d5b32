//! A model that works by rules. It has to tell the time in a place, asks the tool `clock` once, and answers.
//!
//! Asked about a place that it does not know, such as Atlantis, it takes UTC. Asked to take its time, it stops in the middle
//! of its answer.

use std::{env, io};

use serde_json::{Value, json};

use crate::http::{self, Request, Response};

/// The places that the model knows. The first one stands in for all others.
const PLACES: [&str; 3] = ["UTC", "Oslo", "Lima"];

/// The base URL of the model: the value of a variable, else that of a model that is started, which ends with `path`.
pub fn base_url(variable: &str, path: &str) -> io::Result<String> {
    env::var(variable).or_else(|_| Ok(format!("{}{path}", serve()?)))
}

/// Starts the model and returns its address. It speaks OpenAI's protocol below `/v1`, and Ollama's.
pub fn serve() -> io::Result<String> {
    http::serve(answer)
}

/// Answers a request.
pub fn answer(request: &Request) -> Response {
    match request.route.as_str() {
        "POST /v1/chat/completions" => chat_completion(&request.body),
        "POST /api/chat" => ollama_chat(&request.body),
        _ => Response::Status("404 Not Found"),
    }
}

/// What the model says to a conversation.
enum Reply {
    Call { arguments: Value },
    Text { words: Vec<String>, stalls: bool },
}

impl Reply {
    fn to(request: &Value) -> Self {
        let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let asked = messages.iter().rev().find(|message| message["role"] == "user").map(text).unwrap_or_default();
        let place = PLACES.into_iter().find(|place| asked.contains(place)).unwrap_or(PLACES[0]);
        match messages.iter().rev().find(|message| message["role"] == "tool").map(text) {
            Some(told) => {
                let said = match told.contains("12:30") {
                    true => format!("It is half past twelve in {place}."),
                    false => format!("The clock does not work: {told}"),
                };
                let words = said.split_inclusive(' ').map(str::to_owned).collect();
                Self::Text { words, stalls: asked.contains("Take your time") }
            }
            None => Self::Call { arguments: json!({"zone": place}) },
        }
    }

    /// Input, cached input and output.
    fn tokens(&self) -> (u64, u64, u64) {
        match self {
            Self::Call { .. } => (10, 3, 4),
            Self::Text { .. } => (10, 3, 5),
        }
    }
}

/// The text of a message, in whichever form the client sends it.
fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn chat_completion(request: &Value) -> Response {
    let reply = Reply::to(request);
    let (input, cached, output) = reply.tokens();
    let usage = json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": {"cached_tokens": cached},
    });
    let (content, call, reason) = match &reply {
        Reply::Call { arguments } => {
            let function = json!({"name": "clock", "arguments": arguments.to_string()});
            (Value::Null, Some(json!({"id": "call_1", "type": "function", "function": function})), "tool_calls")
        }
        Reply::Text { words, .. } => (json!(words.concat()), None, "stop"),
    };
    if request["stream"] != true {
        let mut message = json!({"role": "assistant", "content": content});
        if let Some(call) = call {
            message["tool_calls"] = json!([call]);
        }
        let choice = json!({"index": 0, "message": message, "finish_reason": reason});
        return Response::Json(completion("chat.completion", json!([choice]), usage));
    }
    let part = |delta: Value, reason: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        completion("chat.completion.chunk", json!([choice]), Value::Null)
    };
    let mut parts = Vec::new();
    let mut stalled = false;
    if let Reply::Text { words, stalls } = &reply {
        stalled = *stalls;
        let sent = if stalled { &words[..words.len() - 3] } else { words };
        parts.extend(sent.iter().map(|word| part(json!({"content": word}), None)));
    }
    if let Some(mut call) = call {
        call["index"] = json!(0);
        parts.push(part(json!({"tool_calls": [call]}), None));
    }
    let mut chunks: Vec<String> = parts.iter().map(|part| format!("data: {part}\n\n")).collect();
    if !stalled {
        chunks.push(format!("data: {}\n\n", part(json!({}), Some(reason))));
        chunks.push(format!("data: {}\n\n", completion("chat.completion.chunk", json!([]), usage)));
        chunks.push("data: [DONE]\n\n".to_owned());
    }
    Response::Stream { content_type: "text/event-stream", chunks, stalls: stalled }
}

fn completion(object: &str, choices: Value, usage: Value) -> Value {
    let (id, model) = ("chatcmpl-1", "clockwork-1-2026");
    json!({"id": id, "object": object, "created": 1, "model": model, "choices": choices, "usage": usage})
}

fn ollama_chat(request: &Value) -> Response {
    let reply = Reply::to(request);
    let (input, _, output) = reply.tokens();
    let part = |message: Value, done: bool| {
        let mut part = json!({"model": "clockwork-1", "created_at": "2026-01-01T00:00:00Z"});
        part["message"] = message;
        part["done"] = json!(done);
        if done {
            part["done_reason"] = json!("stop");
            for (name, value) in [
                ("total_duration", 1),
                ("load_duration", 1),
                ("prompt_eval_count", input),
                ("prompt_eval_duration", 1),
                ("eval_count", output),
                ("eval_duration", 1),
            ] {
                part[name] = json!(value);
            }
        }
        part
    };
    let content = |text: &str| json!({"role": "assistant", "content": text});
    let mut parts = match &reply {
        Reply::Call { arguments } => {
            let mut message = content("");
            message["tool_calls"] = json!([{"function": {"name": "clock", "arguments": arguments}}]);
            vec![part(message, false)]
        }
        Reply::Text { words, .. } => words.iter().map(|word| part(content(word), false)).collect(),
    };
    if request["stream"] != true {
        let mut whole = part(content(""), true);
        if let Reply::Text { words, .. } = &reply {
            whole["message"] = content(&words.concat());
        } else {
            whole["message"] = parts[0]["message"].take();
        }
        return Response::Json(whole);
    }
    parts.push(part(content(""), true));
    let chunks = parts.iter().map(|part| format!("{part}\n")).collect();
    Response::Stream { content_type: "application/x-ndjson", chunks, stalls: false }
}
