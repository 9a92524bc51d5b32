//! The spans of a trial, by OpenTelemetry's conventions for generative AI.

use evalsuite_records::record::{GraderRecord, GraderState, Stage, Status, TrialRecord, Verdict};
use evalsuite_schema::Role;
use evalsuite_schema::json::{Value, json};

use super::{Trace, add_usage, attributes, nanoseconds};
use crate::failure_text::FailureText;
use crate::formats::input::input_messages;
use crate::formats::steps::{Call, Step};
use crate::formats::timeline::Interval;
use crate::run_data::TrialFiles;

/// The name in the trace of the span of the trial.
pub(super) const TRIAL: &str = "trial";
/// The name in the trace of the span of the agent.
pub(super) const AGENT: &str = "agent";

/// Kinds of spans.
const INTERNAL: u32 = 1;
const CLIENT: u32 = 3;
/// Status of a span that failed.
const ERROR: u32 = 2;

pub(super) fn spans(trace: &Trace<'_>, files: &TrialFiles, steps: &[Step<'_>]) -> Vec<Value> {
    let record = &trace.trial.record;
    let mut spans = vec![trial_span(trace)];
    for (phase, interval) in &trace.timeline.phases {
        if *phase != "agent" {
            spans.push(span(trace, [phase, TRIAL], INTERNAL, phase, *interval, json!({}), None));
        }
    }
    if trace.has_agent() {
        spans.push(agent_span(trace, files, steps));
        for (index, (step, (interval, calls))) in steps.iter().zip(&trace.timeline.steps).enumerate() {
            if step.source == "agent" {
                spans.push(chat_span(trace, index, step, *interval));
            }
            for (call_index, (call, interval)) in step.calls.iter().zip(calls).enumerate() {
                spans.push(tool_span(trace, &format!("step {index} call {call_index}"), call, *interval));
            }
        }
    }
    let has_grading = trace.timeline.phases.iter().any(|(phase, _)| *phase == "grading");
    let parent = if has_grading { "grading" } else { TRIAL };
    for (index, (grader, interval)) in record.graders.iter().zip(&trace.timeline.graders).enumerate() {
        let name = format!("grader {index}");
        let fields = json!({
            "evalsuite.grader.type": grader.grader_type,
            "evalsuite.location": grader.location.to_string(),
            "gen_ai.evaluation.name": grader.name,
            "gen_ai.evaluation.score.value": grader.value,
            "gen_ai.evaluation.score.label": label(grader),
        });
        let error = (grader.state == GraderState::Error).then(|| grader.error.as_deref().unwrap_or_default());
        let shown = format!("grade {}", grader.name);
        spans.push(span(trace, [&name, parent], INTERNAL, &shown, *interval, fields, error));
        spans.extend(judge_span(trace, &name, grader, *interval));
    }
    spans
}

/// A span; `[name, parent]` are names in the trace.
fn span(
    trace: &Trace<'_>,
    [name, parent]: [&str; 2],
    kind: u32,
    shown: &str,
    interval: Interval,
    fields: Value,
    error: Option<&str>,
) -> Value {
    json!({
        "traceId": trace.id,
        "spanId": trace.span_id(name),
        "parentSpanId": trace.span_id(parent),
        "name": shown,
        "kind": kind,
        "startTimeUnixNano": nanoseconds(interval.start),
        "endTimeUnixNano": nanoseconds(interval.end),
        "attributes": attributes(fields),
        "status": error.map_or(json!({}), |message| json!({ "code": ERROR, "message": message })),
    })
}

fn trial_span(trace: &Trace<'_>) -> Value {
    let record = &trace.trial.record;
    let status = match record.outcome {
        Status::Passed => Some("pass"),
        Status::Failed | Status::Error => Some("fail"),
        Status::Skipped => None,
    };
    let mut fields = identity(record);
    fields["test.suite.name"] = record.suite.as_str().into();
    fields["test.case.name"] = record.test_name.as_str().into();
    fields["test.case.result.status"] = status.into();
    fields["evalsuite.outcome"] = record.outcome.as_str().into();
    fields["evalsuite.score"] = record.score.into();
    fields["evalsuite.tags"] = record.tags.clone().into();
    fields["evalsuite.bucket"] = record.failure_bucket.clone().into();
    let name = format!("{} {}", record.suite, record.case_id);
    // Readers show spans whose status is not an error alike, whatever their attributes say.
    let did_not_pass = matches!(record.outcome, Status::Failed | Status::Error);
    let error = did_not_pass.then(|| FailureText::of_trial(record).message);
    let mut span = span(trace, [TRIAL, ""], INTERNAL, &name, trace.timeline.trial, fields, error.as_deref());
    span["parentSpanId"] = "".into();
    span
}

/// What identifies a trial.
pub(super) fn identity(record: &TrialRecord) -> Value {
    json!({
        "evalsuite.suite": record.suite,
        "evalsuite.case.id": record.case_id,
        "evalsuite.target": record.target,
        "evalsuite.trial": record.trial,
        "evalsuite.threshold": record.threshold,
        "evalsuite.location": record.location.to_string(),
    })
}

pub(super) fn label(grader: &GraderRecord) -> &'static str {
    match (grader.state, grader.verdict) {
        (GraderState::Error, _) => "error",
        (_, Some(Verdict::Pass)) => "pass",
        (_, Some(Verdict::Fail)) => "fail",
        (_, None) => "undecided",
    }
}

fn agent_span(trace: &Trace<'_>, files: &TrialFiles, steps: &[Step<'_>]) -> Value {
    let record = &trace.trial.record;
    let said: Vec<Value> = input_messages(files).iter().map(|(role, text)| text_message(*role, text)).collect();
    let answer = record.answer.as_deref().map(|answer| json!([text_message(Role::Assistant, answer)]).to_string());
    let mut fields = json!({
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": record.agent,
        "gen_ai.response.model": record.model,
        "gen_ai.input.messages": (!said.is_empty()).then(|| Value::Array(said).to_string()),
        "gen_ai.output.messages": answer,
    });
    // Readers add up what spans used.
    if steps.iter().all(|step| step.usage.is_none()) {
        add_usage(&mut fields, record.usage, record.cost_usd);
    }
    let reason = record.reason.as_ref().filter(|reason| reason.stage == Stage::Agent);
    let (shown, error) = (format!("invoke_agent {}", record.agent), reason.map(|reason| reason.message.as_str()));
    span(trace, [AGENT, TRIAL], INTERNAL, &shown, trace.timeline.agent, fields, error)
}

fn chat_span(trace: &Trace<'_>, index: usize, step: &Step<'_>, interval: Interval) -> Value {
    let model = step.model.or(trace.trial.record.model.as_deref());
    let mut parts = Vec::new();
    parts.extend(step.reasoning.map(|text| json!({ "type": "reasoning", "content": text })));
    if !step.message.is_empty() {
        parts.push(json!({ "type": "text", "content": step.message }));
    }
    let part =
        |call: &Call<'_>| json!({ "type": "tool_call", "id": call.id, "name": call.tool, "arguments": call.arguments });
    parts.extend(step.calls.iter().map(part));
    let mut fields = json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": model,
        "gen_ai.output.messages": json!([{ "role": "assistant", "parts": parts }]).to_string(),
    });
    add_usage(&mut fields, step.usage, step.cost_usd);
    let name = model.map_or_else(|| "chat".to_owned(), |model| format!("chat {model}"));
    span(trace, [&format!("step {index}"), AGENT], CLIENT, &name, interval, fields, None)
}

fn tool_span(trace: &Trace<'_>, name: &str, call: &Call<'_>, interval: Interval) -> Value {
    let fields = json!({
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.call.arguments": call.arguments.to_string(),
        "gen_ai.tool.call.result": call.result,
        "error.type": call.is_error.then_some("_OTHER"),
    });
    let error = call.is_error.then(|| call.result.as_deref().unwrap_or_default());
    span(trace, [name, AGENT], INTERNAL, &format!("execute_tool {}", call.tool), interval, fields, error)
}

/// The calls of a judge, as one span.
fn judge_span(trace: &Trace<'_>, grader_name: &str, grader: &GraderRecord, interval: Interval) -> Option<Value> {
    let judge = grader.judge.as_ref()?;
    let model = judge.model.as_ref().unwrap_or(&judge.name);
    let mut fields = json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": model,
        "evalsuite.judge": judge.name,
        "evalsuite.judge.calls": judge.attempts,
    });
    add_usage(&mut fields, judge.usage, judge.cost_usd);
    let name = format!("{grader_name} judge");
    Some(span(trace, [&name, grader_name], CLIENT, &format!("chat {model}"), interval, fields, None))
}

fn text_message(role: Role, text: &str) -> Value {
    json!({ "role": role.as_str(), "parts": [{ "type": "text", "content": text }] })
}
