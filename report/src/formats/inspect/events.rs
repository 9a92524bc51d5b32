//! The events of a sample, which the viewer shows as its transcript: calls of tools, changes of the workspace, scores.

use evalsuite_records::record::TrialRecord;
use evalsuite_schema::json::{Value, json};

use super::messages::{arguments, error};
use super::scores::TRIAL;
use crate::formats::markdown::fence;
use crate::formats::steps::{Call, Interval, Step, Timeline, rfc3339};
use crate::run_data::TrialFiles;

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
    json!({ "event": kind, "timestamp": rfc3339(at), "working_start": seconds(at - timeline.trial.start) })
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
        "working_time": seconds(interval.end - interval.start),
    });
    if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
        event.extend(fields);
    }
    event
}

fn seconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}
