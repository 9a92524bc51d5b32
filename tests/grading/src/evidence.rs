//! Reports the evidence of a record as an agent would.

use evalsuite::{AgentError, Content, Message, Outcome, Part, PathRef, Role, ToolCall, Trial, Usage};
use evalsuite_schema::Value;

/// Reports the recorded messages, usage, cost and duration.
///
/// # Errors
///
/// If the record says that the provider failed.
pub fn report(evidence: &Value, trial: &mut Trial<'_>) -> Result<Outcome, AgentError> {
    if evidence["provider_error"] == true {
        return Err(AgentError::new("the provider failed"));
    }
    let mut outcome = Outcome::new();
    match (evidence.get("messages"), text(evidence, "output")) {
        (Some(Value::Array(messages)), _) => outcome = outcome.with_messages(messages.iter().map(message).collect()),
        // The provider returned nothing at all: neither an answer nor a transcript.
        (Some(_), _) => {}
        (None, answer) => {
            trial.transcript_complete();
            outcome = outcome.with_text(answer.unwrap_or_default());
        }
    }
    if let Some(usage) = evidence["token_usage"].as_object() {
        let tokens = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or(0);
        outcome = outcome.with_usage(
            Usage::new(tokens("input"), tokens("output"))
                .with_cached(tokens("cached"))
                .with_reasoning(tokens("reasoning")),
        );
    }
    if let Some(cost) = evidence["cost_usd"].as_f64() {
        outcome = outcome.with_cost_usd(cost);
    }
    if let Some(duration) = evidence["duration_ms"].as_f64() {
        outcome = evalsuite::__private::with_duration_ms(outcome, duration);
    }
    Ok(outcome)
}

/// A string of a record. A long run of one character is recorded as character and count.
pub fn text(object: &Value, key: &str) -> Option<String> {
    if let Some(text) = object[key].as_str() {
        return Some(text.to_owned());
    }
    let repeat = &object[format!("{key}_repeat")];
    let count = usize::try_from(repeat["count"].as_u64()?).ok()?;
    Some(repeat["char"].as_str()?.repeat(count))
}

fn message(json: &Value) -> Message {
    let role = match json["role"].as_str() {
        Some("user") => Role::User,
        Some("system") => Role::System,
        None | Some("assistant") => Role::Assistant,
        // Any other role is not the agent.
        Some(_) => Role::Tool,
    };
    let mut message = match (text(json, "content"), &json["content"]) {
        (Some(text), _) => Message::text(role, text),
        (None, Value::Null) => Message::empty(role),
        (None, Value::Array(parts)) => Message::new(role, Content::Parts(parts.iter().filter_map(part).collect())),
        (None, data) => Message::new(role, Content::Data(data.clone())),
    };
    message.name = json["name"].as_str().map(str::to_owned);
    message.tool_calls = json["tool_calls"].as_array().into_iter().flatten().map(call).collect();
    message.llm_call_count = json["llm_call_count"].as_u64();
    message.start_time = json["start_time"].as_str().map(str::to_owned);
    message.end_time = json["end_time"].as_str().map(str::to_owned);
    message.duration_ms = json["duration_ms"].as_f64();
    message.metadata = json.get("metadata").cloned();
    message
}

/// Only text is part of an answer; files are shown to judges.
fn part(json: &Value) -> Option<Part> {
    let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
    match json["type"].as_str()? {
        "text" => Some(Part::Text(text("text"))),
        "file" => Some(Part::File(PathRef::new(text("path")))),
        _ => None,
    }
}

fn call(json: &Value) -> ToolCall {
    let mut call = ToolCall::new(json["tool"].as_str().unwrap_or_default());
    call.input = json.get("input").cloned();
    call.output = json.get("output").cloned();
    call.id = json["id"].as_str().map(str::to_owned);
    call.start_time = json["start_time"].as_str().map(str::to_owned);
    call.end_time = json["end_time"].as_str().map(str::to_owned);
    call.duration_ms = json["duration_ms"].as_f64();
    call
}
