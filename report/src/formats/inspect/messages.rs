//! Transcripts as chat messages.

use evalsuite_schema::Role;
use evalsuite_schema::json::{Value, json};

use crate::formats::steps::{Call, Step};

/// The messages of a sample: those of the transcript, after the input if the transcript does not have it.
pub(super) fn messages(input: &[(Role, String)], steps: &[Step<'_>], answer: Option<&str>) -> Vec<Value> {
    let has_input = steps.iter().any(|step| step.source == "user");
    let mut messages: Vec<Value> = Vec::new();
    if !has_input {
        messages.extend(input_messages(input));
    }
    steps.iter().for_each(|step| add_step(step, &mut messages));
    if steps.is_empty() {
        messages.extend(answer.map(assistant));
    }
    messages
}

pub(super) fn input_messages(input: &[(Role, String)]) -> impl Iterator<Item = Value> {
    input.iter().map(|(role, text)| match role {
        Role::Assistant => assistant(text),
        role => json!({ "role": role.as_str(), "content": text, "source": "input" }),
    })
}

/// A message of the agent.
pub(super) fn assistant(text: &str) -> Value {
    json!({ "role": "assistant", "content": text, "source": "generate" })
}

fn add_step(step: &Step<'_>, messages: &mut Vec<Value>) {
    if step.source != "agent" {
        messages.push(json!({ "role": step.source, "content": step.message, "source": "input" }));
    } else {
        let mut message = assistant(&step.message);
        if let Some(reasoning) = step.reasoning {
            let reasoning = json!({ "type": "reasoning", "reasoning": reasoning, "redacted": false });
            message["content"] = json!([reasoning, { "type": "text", "text": step.message }]);
        }
        if !step.calls.is_empty() {
            message["tool_calls"] = step.calls.iter().map(tool_call).collect();
        }
        if let Some(model) = step.model {
            message["model"] = model.into();
        }
        messages.push(message);
    }
    for call in &step.calls {
        if let Some(result) = &call.result {
            let (id, tool, error) = (call.id, call.tool, error(call));
            messages.push(json!({
                "role": "tool", "content": result, "tool_call_id": id, "function": tool, "error": error,
            }));
        }
    }
    messages.extend(step.loose_results.iter().map(|result| json!({ "role": "tool", "content": result })));
}

fn tool_call(call: &Call<'_>) -> Value {
    json!({ "id": call.id, "function": call.tool, "arguments": arguments(call), "type": "function" })
}

/// The arguments of a call as an object.
pub(super) fn arguments(call: &Call<'_>) -> Value {
    match call.arguments {
        Value::Object(_) => call.arguments.clone(),
        Value::Null => json!({}),
        other => json!({ "value": other }),
    }
}

/// The error of a call that failed.
pub(super) fn error(call: &Call<'_>) -> Option<Value> {
    let message = call.result.as_deref().unwrap_or_default();
    call.is_error.then(|| json!({ "type": "unknown", "message": message }))
}
