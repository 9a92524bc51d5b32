//! The steps of a transcript, read from its ATIF document. What is not there is empty: documents may be of any program.

use std::time::{Duration, SystemTime};

use evalsuite_records::record::Usage;
use evalsuite_schema::Value;

/// A step of a transcript.
#[derive(Debug)]
pub(super) struct Step<'a> {
    /// `system`, `user` or `agent`.
    pub(super) source: &'a str,
    pub(super) message: String,
    pub(super) reasoning: Option<&'a str>,
    pub(super) model: Option<&'a str>,
    pub(super) usage: Option<Usage>,
    pub(super) cost_usd: Option<f64>,
    pub(super) times: Times,
    pub(super) calls: Vec<Call<'a>>,
    /// Results that do not say which call of this step they are of.
    pub(super) loose_results: Vec<String>,
}

/// A call of a tool.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) id: &'a str,
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Value,
    pub(super) result: Option<String>,
    pub(super) is_error: bool,
    pub(super) times: Times,
}

/// What a document says about when something happened.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) start: Option<SystemTime>,
    pub(super) end: Option<SystemTime>,
    pub(super) duration: Option<Duration>,
}

/// The steps of a document.
pub(super) fn steps(document: &Value) -> Vec<Step<'_>> {
    elements(&document["steps"]).iter().map(step).collect()
}

fn step(step: &Value) -> Step<'_> {
    let results = elements(&step["observation"]["results"]);
    let calls: Vec<Call<'_>> = elements(&step["tool_calls"]).iter().map(|value| call(value, results)).collect();
    let is_loose = |result: &&Value| calls.iter().all(|call| result["source_call_id"] != call.id);
    let loose_results = results.iter().filter(is_loose).map(|result| content_text(&result["content"])).collect();
    let metrics = &step["metrics"];
    let count = |key: &str| metrics[key].as_u64().unwrap_or_default();
    let usage = metrics.is_object().then(|| {
        let cached = count("cached_tokens");
        Usage::new(count("prompt_tokens").saturating_sub(cached), count("completion_tokens")).with_cached(cached)
    });
    Step {
        source: step["source"].as_str().unwrap_or("agent"),
        message: content_text(&step["message"]),
        reasoning: step["reasoning_content"].as_str().filter(|text| !text.is_empty()),
        model: step["model_name"].as_str(),
        usage,
        cost_usd: metrics["cost_usd"].as_f64(),
        times: times(&step["timestamp"], &step["extra"]),
        calls,
        loose_results,
    }
}

fn call<'a>(call: &'a Value, results: &[Value]) -> Call<'a> {
    let id = call["tool_call_id"].as_str().unwrap_or_default();
    let mut found =
        results.iter().filter(|result| result["source_call_id"] == id).map(|result| content_text(&result["content"]));
    Call {
        id,
        tool: call["function_name"].as_str().unwrap_or("unknown"),
        arguments: &call["arguments"],
        result: found.next().map(|first| found.fold(first, |all, next| all + "\n" + &next)),
        is_error: call["extra"]["is_error"] == true,
        times: times(&call["extra"]["start_time"], &call["extra"]),
    }
}

fn times(start: &Value, extra: &Value) -> Times {
    let time = |value: &Value| humantime::parse_rfc3339(value.as_str()?).ok();
    Times {
        start: time(start).or_else(|| time(&extra["start_time"])),
        end: time(&extra["end_time"]),
        duration: extra["duration_ms"].as_f64().and_then(|ms| Duration::try_from_secs_f64(ms / 1e3).ok()),
    }
}

fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The content of a message of an ATIF transcript as text: the texts of its parts, and type and path of other parts.
pub fn content_text(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(content_text).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => match (part.get("text").and_then(Value::as_str), part.get("type")) {
            (Some(text), _) => text.to_owned(),
            (None, Some(kind)) => {
                let path = content["source"]["path"].as_str().unwrap_or_default();
                format!("[{}: {path}]", kind.as_str().unwrap_or_default())
            }
            (None, None) => content.to_string(),
        },
        other => other.to_string(),
    }
}
