//! Tests of writing and reading trajectories, and the rules of ATIF v1.8 that its own models check, with no key beside those it knows.

pub(crate) mod reading;
pub(crate) mod round_trip;
pub(crate) mod writing;

use std::collections::BTreeSet;

use evalsuite_records::record::Status;
use evalsuite_schema::{Message, Value, rfc3339};

use crate::platform::redaction::Redactor;
use crate::record::trajectory::{DocumentParts, TrialResult, document};

/// What a transcript is written as.
fn written(transcript: Option<&[Message]>, answer: &str) -> Value {
    written_with(transcript, answer, &Redactor::default(), |_| ())
}

fn written_with(
    transcript: Option<&[Message]>,
    answer: &str,
    redactor: &Redactor,
    change: impl FnOnce(&mut DocumentParts<'_>),
) -> Value {
    let mut work = DocumentParts {
        session: "run/case".into(),
        trial: "trial-000",
        agent: "planner",
        agent_version: "1.2.3",
        model: None,
        tools: &[],
        transcript,
        answer,
        turns: &[],
        first_simulated_turn: None,
        usage: None,
        cost_usd: None,
        result: TrialResult { outcome: Status::Passed, score: Some(1.0), reason: None, graders: &[] },
    };
    change(&mut work);
    evalsuite_schema::json::to_value(&document(&work, redactor)).unwrap()
}

const ROOT: &[&str] = &["schema_version", "session_id", "trajectory_id", "agent", "steps", "final_metrics", "extra"];
const AGENT: &[&str] = &["name", "version", "model_name", "tool_definitions", "extra"];
const STEP: &[&str] = &[
    "step_id",
    "timestamp",
    "source",
    "model_name",
    "reasoning_effort",
    "message",
    "reasoning_content",
    "tool_calls",
    "observation",
    "metrics",
    "extra",
    "llm_call_count",
    "is_copied_context",
];
const AGENT_ONLY: &[&str] = &["model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"];
const CALL: &[&str] = &["tool_call_id", "function_name", "arguments", "extra"];
const RESULT: &[&str] = &["source_call_id", "content", "subagent_trajectory_ref", "extra"];
const METRICS: &[&str] = &["prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd", "extra"];
const TOTALS: &[&str] = &[
    "total_prompt_tokens",
    "total_completion_tokens",
    "total_cached_tokens",
    "total_cost_usd",
    "total_steps",
    "extra",
];

/// Every rule the document breaks.
pub(crate) fn problems(document: &Value) -> Vec<String> {
    let mut problems = Problems(Vec::new());
    problems.keys("", document, ROOT);
    problems.keys("agent", &document["agent"], AGENT);
    problems.keys("final_metrics", &document["final_metrics"], TOTALS);
    problems.check(document["schema_version"] == "ATIF-v1.8", "schema_version");
    problems.check(document["agent"]["name"].is_string() && document["agent"]["version"].is_string(), "agent");
    let steps = document["steps"].as_array().cloned().unwrap_or_default();
    problems.check(!steps.is_empty(), "there are steps");
    problems.check(document["final_metrics"]["total_steps"] == steps.len(), "total_steps");
    let mut ids = BTreeSet::new();
    for (index, step) in steps.iter().enumerate() {
        problems.check(step["step_id"] == index + 1, &format!("step {} is numbered {}", index + 1, step["step_id"]));
        problems.step(index + 1, step, &mut ids);
    }
    problems.0
}

struct Problems(Vec<String>);

impl Problems {
    fn check(&mut self, holds: bool, what: &str) {
        if !holds {
            self.0.push(what.to_owned());
        }
    }

    fn keys(&mut self, place: &str, value: &Value, known: &[&str]) {
        let Some(object) = value.as_object() else { return self.0.push(format!("{place} is no object")) };
        for (key, value) in object {
            self.check(known.contains(&key.as_str()), &format!("{place} has an unknown key {key}"));
            self.check(!value.is_null(), &format!("{place}.{key} is null"));
        }
        if let Some(extra) = object.get("extra") {
            self.check(extra.is_object(), &format!("{place}.extra is no object"));
        }
    }

    fn step(&mut self, id: usize, step: &Value, ids: &mut BTreeSet<String>) {
        let place = format!("step {id}");
        self.keys(&place, step, STEP);
        let source = step["source"].as_str().unwrap_or_default();
        self.check(["system", "user", "agent"].contains(&source), &format!("{place} has source {source}"));
        self.content(&place, &step["message"]);
        if let Some(time) = step.get("timestamp") {
            self.check(time.as_str().and_then(rfc3339::parse).is_some(), &format!("{place} has timestamp {time}"));
        }
        for key in AGENT_ONLY.iter().filter(|key| source != "agent" && step.get(**key).is_some()) {
            self.0.push(format!("{place} of {source} has {key}"));
        }
        if step["llm_call_count"] == 0 {
            self.check(step.get("metrics").is_none(), &format!("{place} without a call of a model has metrics"));
            self.check(step.get("reasoning_content").is_none(), &format!("{place} without one has reasoning"));
        }
        if let Some(metrics) = step.get("metrics") {
            self.keys(&format!("{place} metrics"), metrics, METRICS);
        }
        let mut own = BTreeSet::new();
        for call in step["tool_calls"].as_array().into_iter().flatten() {
            self.keys(&format!("{place} call"), call, CALL);
            let id = call["tool_call_id"].as_str().unwrap_or_default();
            self.check(!id.is_empty() && ids.insert(id.to_owned()), &format!("{place} call id {id} is used twice"));
            own.insert(id.to_owned());
            self.check(call["function_name"].is_string(), &format!("{place} call has no name"));
            self.check(call["arguments"].is_object(), &format!("{place} call has no object of arguments"));
        }
        let Some(observation) = step.get("observation") else { return };
        let results = observation["results"].as_array().cloned().unwrap_or_default();
        self.check(!results.is_empty(), &format!("{place} observes nothing"));
        for result in &results {
            self.keys(&format!("{place} result"), result, RESULT);
            if let Some(source) = result.get("source_call_id") {
                let known = source.as_str().is_some_and(|id| own.contains(id));
                self.check(known, &format!("{place} has a result of another step's call {source}"));
            }
            if let Some(content) = result.get("content") {
                self.content(&format!("{place} result"), content);
            }
        }
    }

    fn content(&mut self, place: &str, content: &Value) {
        let parts = match content {
            Value::String(_) => return,
            Value::Array(parts) => parts,
            other => return self.0.push(format!("{place} has the content {other}")),
        };
        for part in parts {
            let media = part["source"]["media_type"].as_str().unwrap_or_default();
            let holds = match part["type"].as_str() {
                Some("text") => part["text"].is_string() && part.get("source").is_none(),
                Some("image") => ["image/jpeg", "image/png", "image/gif", "image/webp"].contains(&media),
                Some("audio") => media.starts_with("audio/") && part["source"]["path"].is_string(),
                _ => false,
            };
            self.check(holds, &format!("{place} has the part {part}"));
        }
    }
}
