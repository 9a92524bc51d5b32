//! A trial as a sample, with its events, which the viewer shows as its transcript: calls of tools, changes of the workspace, scores.

use evalsuite_records::record::{ReasonCode, Status, TrialRecord};
use evalsuite_schema::Role;
use evalsuite_schema::json::{Object, Value, json};

use super::messages::{TotalUsage, arguments, assistant, error, input_messages, lower_bounds, messages, usage_json};
use super::scores::{TRIAL, scores};
use crate::formats::ids::{id, trial_path};
use crate::formats::steps::{self, Call, Interval, Step, Timeline, rfc3339, steps};
use crate::markdown_text::fence;
use crate::run_data::{TrialData, TrialFiles};

/// The sample of a trial; `model` is that of trials which report none.
pub(super) fn sample(model: &str, case_id: &str, trial: &TrialData, files: &TrialFiles) -> Value {
    let record = &trial.record;
    let asked = steps::input_messages(files);
    let steps = files.trajectory.as_ref().map(steps).unwrap_or_default();
    let scores = scores(record);
    let mut usage = TotalUsage::default();
    usage.add(record, model);
    let (error, limit) = error_and_limit(record);
    json!({
        "id": case_id,
        "epoch": record.trial + 1,
        "input": sample_input(&asked),
        // Not an empty text, which Inspect's `match` and `includes` find in every answer, even of a trial without one.
        "target": [],
        "messages": messages(&asked, &steps, record.answer.as_deref()),
        "output": output(record, model),
        "scores": scores,
        "metadata": metadata(trial),
        "store": {},
        "events": events(record, files, &steps, &scores),
        "model_usage": usage.of_models(),
        "role_usage": usage.of_roles(),
        "started_at": time(&record.started_at),
        "completed_at": time(&record.ended_at),
        "total_time": seconds(record.timings.total_ms),
        "working_time": record.duration_ms.map(seconds),
        "uuid": id(22, &["inspect sample", &record.run_id, &trial_path(trial)]),
        "error": error,
        "attachments": {},
        "limit": limit,
    })
}

/// One message of the user is text.
fn sample_input(asked: &[(Role, String)]) -> Value {
    match asked {
        [] => "".into(),
        [(Role::User, text)] => text.as_str().into(),
        asked => input_messages(asked).collect(),
    }
}

fn output(record: &TrialRecord, model: &str) -> Value {
    let model = record.model.as_deref().unwrap_or(model);
    let answer = record.answer.as_deref();
    let choice = |text| json!({ "message": assistant(text), "stop_reason": "stop" });
    json!({
        "model": model,
        "choices": answer.map(choice).into_iter().collect::<Vec<_>>(),
        "completion": answer.unwrap_or_default(),
        "usage": record.usage.map(|usage| usage_json(usage, record.cost_usd)),
        "time": record.duration_ms.map(seconds),
    })
}

/// What filters and data frames see: the metadata of the case, and what identifies the trial. Where both have a key, the author's
/// value is kept.
fn metadata(trial: &TrialData) -> Value {
    let record = &trial.record;
    let folder = record.location.file.rsplit_once('/').map_or("", |(folder, _)| folder);
    let ours = json!({
        "outcome": record.outcome,
        "reason": record.reason.as_ref().map(|reason| reason.message.as_str()),
        "reason_code": record.reason.as_ref().map(|reason| reason.code),
        "threshold": record.threshold,
        "suite": record.suite,
        "target": record.target,
        "folder": folder,
        "location": record.location.to_string(),
        "bucket": record.failure_bucket,
        "tags": record.tags,
        "trial_path": trial_path(trial),
        "case_digest": record.case_digest,
        "input_digest": record.input_digest,
        "grader_digest": record.grader_digest,
        "turns": record.turns,
        "user": record.user,
        "notes": record.notes,
        "sealed": record.sealed,
        "unsealed": record.unsealed_others(),
    });
    let mut metadata: Object = record.metadata.clone();
    let Value::Object(ours) = ours else { return Value::Object(metadata) };
    for (key, value) in ours.into_iter().chain(lower_bounds(&[record])) {
        let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        if !is_empty {
            metadata.get_or_insert(key, value);
        }
    }
    Value::Object(metadata)
}

/// A trial that broke has an error, and one that reached a limit has that limit.
fn error_and_limit(record: &TrialRecord) -> (Value, Value) {
    let Some(reason) = record.reason.as_ref().filter(|_| record.outcome == Status::Error) else {
        return (Value::Null, Value::Null);
    };
    let limit = match reason.code {
        ReasonCode::Timeout => Some(("time", seconds(record.duration_ms.unwrap_or(record.timings.total_ms)))),
        ReasonCode::BudgetExceeded => Some(("cost", record.cost_usd.unwrap_or_default())),
        _ => None,
    };
    match limit {
        Some((kind, limit)) => (Value::Null, json!({ "type": kind, "limit": limit, "reason": reason.message })),
        None => (json!({ "message": reason.message, "traceback": "", "traceback_ansi": "" }), Value::Null),
    }
}

/// A time, if it is known.
fn time(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn seconds(milliseconds: u64) -> f64 {
    milliseconds as f64 / 1e3
}

pub(super) fn events(record: &TrialRecord, files: &TrialFiles, steps: &[Step<'_>], scores: &Value) -> Vec<Value> {
    let timeline = Timeline::new(record, steps);
    let mut events = Vec::new();
    for (step, (_, intervals)) in steps.iter().zip(&timeline.steps) {
        for (call, interval) in step.calls.iter().zip(intervals) {
            events.push(tool(&timeline, call, *interval));
        }
    }
    if let Some(patch) = &files.patch {
        let fence = fence(&patch.text);
        let mut event = event(&timeline, "info", timeline.agent.end);
        event["source"] = "workspace changes".into();
        event["data"] = format!("{fence}diff\n{}\n{fence}", patch.text.trim_end()).into();
        events.push(event);
    }
    for (name, score) in scores.as_object().into_iter().flatten() {
        let graded = match name.as_str() {
            TRIAL => timeline.trial.end,
            _ => timeline.graders.last().map_or(timeline.trial.end, |grader| grader.end),
        };
        let mut event = event(&timeline, "score", graded);
        event["score"] = score.clone();
        event["scorer"] = name.as_str().into();
        event["intermediate"] = false.into();
        events.push(event);
    }
    events
}

fn event(timeline: &Timeline, kind: &str, at: u64) -> Value {
    json!({ "event": kind, "timestamp": rfc3339(at), "working_start": seconds_of_microseconds(at - timeline.trial.start) })
}

fn tool(timeline: &Timeline, call: &Call<'_>, interval: Interval) -> Value {
    let mut event = event(timeline, "tool", interval.start);
    let fields = json!({
        "type": "function",
        "id": call.id,
        "function": call.tool,
        "arguments": arguments(call),
        "result": call.result.as_deref().unwrap_or_default(),
        "error": error(call),
        "events": [],
        "completed": rfc3339(interval.end),
        "working_time": seconds_of_microseconds(interval.end - interval.start),
    });
    if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
        event.extend(fields);
    }
    event
}

fn seconds_of_microseconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}
