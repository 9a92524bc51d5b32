//! The run as OpenTelemetry data, by its conventions for generative AI: spans of trials, agents, models and tools, and results of graders
//! as events `gen_ai.evaluation.result`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use evalsuite_records::exact_sums::sum;
use evalsuite_records::file_replacement::error_at;
use evalsuite_records::record::{
    GraderRecord, GraderState, JudgeRecord, ReasonCode, Stage, Status, TrialRecord, Usage, UserRecord, Verdict,
};
use evalsuite_schema::Role;
use evalsuite_schema::decimal::at_most;
use evalsuite_schema::json::{Value, json};

use super::ids::{id, trial_path};
use super::steps::{Timeline, steps};
use super::{Destination, Exported, Format, file};
use crate::failure_text::FailureText;
use crate::formats::steps::{Call, Interval, Step, input_messages};
use crate::run_data::{Problem, RunData, TrialData, TrialFiles};

pub(super) const FORMAT: Format = Format::of_files(
    "otel",
    Destination::Directory,
    files,
    "Write OpenTelemetry data as OTLP/JSON: spans to run.traces.jsonl, grader results to run.logs.jsonl",
);

/// Writes the run as OTLP/JSON in lines, as OpenTelemetry's file exporter does and collectors read it (`otlpjsonfile`): spans to
/// `traces`, results of graders to `logs`. Files of that form hold one kind of data each.
///
/// Every trial is a trace of its own: a span of the trial, in it spans of its phases, `invoke_agent` with `chat` and `execute_tool`, and
/// of its graders with `chat` of their judges and those of a simulated user. Results are events `gen_ai.evaluation.result` at the span of the agent: one per grader,
/// and one of the trial with the name `evalsuite`. Ids are derived from run and trial: a second export equals the first. Trials that
/// did not start are left out. Returns the files of the run that could not be read.
///
/// # Errors
///
/// If it cannot be written.
pub fn otel(run: &RunData, traces: &mut dyn Write, logs: &mut dyn Write) -> io::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let resource = resource(run);
    let scope = json!({ "name": "evalsuite", "version": env!("CARGO_PKG_VERSION") });
    for trial in run.suites.iter().flat_map(|suite| &suite.cases).flat_map(|case| &case.trials) {
        if trial.record.started_at.is_empty() {
            continue;
        }
        let files = TrialFiles::read_without_texts(run, trial, &mut problems);
        let steps = files.trajectory.as_ref().map(steps).unwrap_or_default();
        let trace = Trace::new(run, trial, Timeline::new(&trial.record, &steps));
        let spans = json!([{ "scope": scope, "spans": spans(&trace, &files, &steps) }]);
        writeln!(traces, "{}", json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": spans }] }))?;
        let records = json!([{ "scope": scope, "logRecords": results(&trace) }]);
        writeln!(logs, "{}", json!({ "resourceLogs": [{ "resource": resource, "scopeLogs": records }] }))?;
    }
    Ok(problems)
}

/// Writes the files `run.traces.jsonl` and `run.logs.jsonl` in a directory.
pub(super) fn files(run: &RunData, directory: &Path) -> io::Result<Exported> {
    fs::create_dir_all(directory).map_err(|error| error_at(directory, &error))?;
    let [traces, logs] = ["run.traces.jsonl", "run.logs.jsonl"].map(|name| directory.join(name));
    let problems = file(&traces, |traces| file(&logs, |logs| otel(run, traces, logs)))?;
    Ok(Exported { problems, ..Exported::default() })
}

/// A trial as a trace.
struct Trace<'a> {
    trial: &'a TrialData,
    timeline: Timeline,
    /// Id of the trace, hexadecimal.
    id: String,
    /// Run and trial, from which ids of spans are derived.
    path: [String; 2],
}

impl<'a> Trace<'a> {
    fn new(run: &RunData, trial: &'a TrialData, timeline: Timeline) -> Self {
        let path = [run.run_id.clone(), trial_path(trial)];
        Self { trial, timeline, id: id(32, &["otel trace", &path[0], &path[1]]), path }
    }

    /// The id of a span by its name in the trace.
    fn span_id(&self, name: &str) -> String {
        id(16, &["otel span", &self.path[0], &self.path[1], name])
    }

    /// Whether the agent was called.
    fn has_agent(&self) -> bool {
        self.trial.record.duration_ms.is_some() || self.timeline.agent.start < self.timeline.agent.end
    }

    /// The id of the span that was evaluated: the agent's, or the trial's if the agent was not called.
    fn evaluated_span(&self) -> String {
        self.span_id(if self.has_agent() { AGENT_SPAN } else { TRIAL_SPAN })
    }
}

fn resource(run: &RunData) -> Value {
    let record = run.record.clone().unwrap_or_default();
    let text = |text: String| Some(text).filter(|text| !text.is_empty());
    json!({ "attributes": attributes(json!({
        "service.name": text(record.package).unwrap_or_else(|| "evalsuite".to_owned()),
        "service.version": text(record.package_version),
        "vcs.ref.head.revision": record.git.map(|git| git.commit),
        "cicd.pipeline.run.url.full": record.ci.and_then(|ci| ci.url),
        "evalsuite.run.id": run.run_id,
    })) })
}

/// The fields of an object as attributes, without those that are `null`. Objects in it are texts of JSON.
fn attributes(fields: Value) -> Value {
    let Value::Object(fields) = fields else { return json!([]) };
    let known = fields.into_iter().filter(|(_, value)| !value.is_null());
    known.map(|(key, value)| json!({ "key": key, "value": any_value(value) })).collect()
}

fn any_value(value: Value) -> Value {
    match value {
        Value::String(text) => json!({ "stringValue": text }),
        Value::Bool(value) => json!({ "boolValue": value }),
        // Numbers of 64 bits are texts in OTLP/JSON.
        Value::Number(number) if !number.is_f64() => json!({ "intValue": number.to_string() }),
        Value::Number(number) => json!({ "doubleValue": number }),
        Value::Array(values) => {
            json!({ "arrayValue": { "values": values.into_iter().map(any_value).collect::<Vec<_>>() } })
        }
        other => json!({ "stringValue": other.to_string() }),
    }
}

/// Tokens and cost by the names that spans have for them. Input tokens contain those from a cache.
fn add_usage(fields: &mut Value, usage: Option<Usage>, cost_usd: Option<f64>) {
    let input = |usage: Usage| usage.input.saturating_add(usage.cached);
    fields["gen_ai.usage.input_tokens"] = usage.map(input).into();
    fields["gen_ai.usage.output_tokens"] = usage.map(|usage| usage.output).into();
    fields["gen_ai.usage.cache_read.input_tokens"] = usage.map(|usage| usage.cached).into();
    fields["gen_ai.usage.reasoning.output_tokens"] =
        usage.map(|usage| usage.reasoning).filter(|reasoning| *reasoning > 0).into();
    fields["gen_ai.usage.cost"] = cost_usd.into();
}

/// Marks tokens and cost that lack some calls, whose spans need not have them.
fn add_bounds(fields: &mut Value, usage: Option<Usage>, cost_usd: Option<f64>, is_partial: [bool; 2]) {
    let marks = [("evalsuite.usage.lower_bound", usage.is_some()), ("evalsuite.cost.lower_bound", cost_usd.is_some())];
    for ((mark, is_known), is_partial) in marks.into_iter().zip(is_partial) {
        if is_known && is_partial {
            fields[mark] = true.into();
        }
    }
}

/// Microseconds as OTLP has times: nanoseconds, as text.
fn nanoseconds(microseconds: u64) -> String {
    (u128::from(microseconds) * 1_000).min(u128::from(u64::MAX)).to_string()
}

/// Name of the result of the trial.
const TRIAL_NAME: &str = "evalsuite";
/// Severities of log records.
const SEVERITY_INFO: u32 = 9;
const SEVERITY_ERROR: u32 = 17;

/// The result of the trial, then those of its graders.
fn results(trace: &Trace<'_>) -> Vec<Value> {
    let record = &trace.trial.record;
    let mut results = vec![trial_result(trace)];
    results.extend(record.all_graders().zip(&trace.timeline.graders).map(|(grader, graded)| {
        let failed = grader.state == GraderState::Error;
        let code = grader.code.map_or("_OTHER", ReasonCode::as_str);
        let fields = json!({
            "gen_ai.evaluation.name": grader.name,
            "gen_ai.evaluation.score.value": grader.value,
            "gen_ai.evaluation.score.label": label(grader),
            "gen_ai.evaluation.explanation": explanation(grader),
            "error.type": failed.then_some(code),
        });
        let mut all = identity(record);
        all["evalsuite.threshold"] = grader.pass_mark.into();
        all["evalsuite.location"] = grader.location.to_string().into();
        event(trace, fields, all, graded.end, failed)
    }));
    results
}

fn trial_result(trace: &Trace<'_>) -> Value {
    let record = &trace.trial.record;
    let failed = record.outcome == Status::Error;
    let label = match record.outcome {
        Status::Passed => "pass",
        Status::Failed => "fail",
        Status::Error => "error",
        Status::Skipped => "skipped",
    };
    let fields = json!({
        "gen_ai.evaluation.name": TRIAL_NAME,
        "gen_ai.evaluation.score.value": record.score,
        "gen_ai.evaluation.score.label": label,
        "gen_ai.evaluation.explanation": record.reason.as_ref().map(|reason| reason.message.as_str()),
        "error.type": record.reason.as_ref().filter(|_| failed).map(|reason| reason.code.as_str()),
    });
    event(trace, fields, identity(record), trace.timeline.trial.end, failed)
}

fn event(trace: &Trace<'_>, fields: Value, identity: Value, at: u64, failed: bool) -> Value {
    let mut all = fields;
    if let (Some(all), Value::Object(identity)) = (all.as_object_mut(), identity) {
        all.extend(identity);
    }
    json!({
        "timeUnixNano": nanoseconds(at),
        "observedTimeUnixNano": nanoseconds(at),
        "severityNumber": if failed { SEVERITY_ERROR } else { SEVERITY_INFO },
        "eventName": "gen_ai.evaluation.result",
        "attributes": attributes(all),
        "traceId": trace.id,
        "spanId": trace.evaluated_span(),
    })
}

/// What went wrong, else what the grader says, else its first failed assertion.
fn explanation(grader: &GraderRecord) -> Option<&str> {
    let assertion = grader.first_failed().map(|assertion| assertion.text.as_str());
    grader.error.as_deref().or(grader.rationale.as_deref()).or(assertion)
}

/// The name in the trace of the span of the trial.
const TRIAL_SPAN: &str = "trial";
/// The name in the trace of the span of the agent.
const AGENT_SPAN: &str = "agent";

/// The name in the trace of the span of the simulated user.
const USER_SPAN: &str = "user";

/// Kinds of spans.
const INTERNAL: u32 = 1;
const CLIENT: u32 = 3;
/// Status of a span that failed.
const ERROR: u32 = 2;

fn spans(trace: &Trace<'_>, files: &TrialFiles, steps: &[Step<'_>]) -> Vec<Value> {
    let record = &trace.trial.record;
    let mut spans = vec![trial_span(trace)];
    for (phase, interval) in &trace.timeline.phases {
        if *phase != "agent" {
            spans.push(span(trace, [phase, TRIAL_SPAN], INTERNAL, phase, *interval, json!({}), None));
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
    let parent = if has_grading { "grading" } else { TRIAL_SPAN };
    for (index, (grader, interval)) in record.all_graders().zip(&trace.timeline.graders).enumerate() {
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
        add_judge_spans(trace, [&name, &name], grader, *interval, &mut spans);
    }
    if let Some(user) = &record.user {
        spans.push(user_span(trace, user));
        let grading = trace.timeline.phases.iter().find(|(phase, _)| *phase == "grading");
        let interval = grading.map_or(trace.timeline.trial, |(_, interval)| *interval);
        for (index, grader) in user.graders.iter().enumerate() {
            add_judge_spans(trace, [&format!("user grader {index}"), parent], grader, interval, &mut spans);
        }
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
    let mut span = span(trace, [TRIAL_SPAN, ""], INTERNAL, &name, trace.timeline.trial, fields, error.as_deref());
    span["parentSpanId"] = "".into();
    span
}

/// What identifies a trial.
fn identity(record: &TrialRecord) -> Value {
    json!({
        "evalsuite.suite": record.suite,
        "evalsuite.case.id": record.case_id,
        "evalsuite.target": record.target,
        "evalsuite.trial": record.trial,
        "evalsuite.threshold": record.threshold,
        "evalsuite.location": record.location.to_string(),
    })
}

fn label(grader: &GraderRecord) -> &'static str {
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
    let (usage, cost_usd) = beside_steps(record, steps);
    add_usage(&mut fields, usage, cost_usd);
    add_bounds(&mut fields, record.usage, record.cost_usd, [record.usage_partial, record.cost_partial]);
    let reason = record.reason.as_ref().filter(|reason| reason.stage == Stage::Agent);
    let (shown, error) = (format!("invoke_agent {}", record.agent), reason.map(|reason| reason.message.as_str()));
    span(trace, [AGENT_SPAN, TRIAL_SPAN], INTERNAL, &shown, trace.timeline.agent, fields, error)
}

/// Tokens and cost of a trial that the spans of its model calls do not have: readers add up what spans used.
fn beside_steps(record: &TrialRecord, steps: &[Step<'_>]) -> (Option<Usage>, Option<f64>) {
    let agents = || steps.iter().filter(|step| step.source == "agent");
    let mut known = Usage::default();
    agents().filter_map(|step| step.usage).for_each(|usage| known += usage);
    let costs: Vec<f64> = agents().filter_map(|step| step.cost_usd).collect();
    let rest = |all: Usage| {
        Usage::new(all.input.saturating_sub(known.input), all.output.saturating_sub(known.output))
            .with_cached(all.cached.saturating_sub(known.cached))
            .with_reasoning(all.reasoning)
    };
    let usage = match known.total() {
        0 => record.usage,
        known => record.usage.filter(|all| all.total() > known).map(rest),
    };
    let cost = match costs.is_empty() {
        true => record.cost_usd,
        false => {
            let known = sum(costs);
            record.cost_usd.filter(|all| !at_most(*all, known)).map(|all| all - known)
        }
    };
    (usage, cost)
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
    span(trace, [&format!("step {index}"), AGENT_SPAN], CLIENT, &name, interval, fields, None)
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
    span(trace, [name, AGENT_SPAN], INTERNAL, &format!("execute_tool {}", call.tool), interval, fields, error)
}

/// Adds the calls of the judges of a grader and its members. `[grader_name, parent]` are names in the trace.
fn add_judge_spans(
    trace: &Trace<'_>,
    [grader_name, parent]: [&str; 2],
    grader: &GraderRecord,
    interval: Interval,
    spans: &mut Vec<Value>,
) {
    let names = [&format!("{grader_name} judge"), parent];
    spans.extend(grader.judge.as_ref().map(|judge| judge_span(trace, names, judge, interval)));
    for (index, member) in grader.members.iter().enumerate() {
        let member_name = format!("{grader_name} member {index}");
        add_judge_spans(trace, [&member_name, parent], member, interval, spans);
    }
}

/// The calls of a judge, as one span.
fn judge_span(trace: &Trace<'_>, names: [&str; 2], judge: &JudgeRecord, interval: Interval) -> Value {
    let model = judge.model.as_ref().unwrap_or(&judge.name);
    let mut fields = json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": model,
        "evalsuite.judge": judge.name,
        "evalsuite.judge.calls": judge.attempts,
    });
    add_usage(&mut fields, judge.usage, judge.cost_usd);
    add_bounds(&mut fields, judge.usage, judge.cost_usd, [!judge.is_usage_known(), !judge.is_cost_known()]);
    span(trace, names, CLIENT, &format!("chat {model}"), interval, fields, None)
}

/// The calls of a simulated user, as one span: they alternate with those of the agent.
fn user_span(trace: &Trace<'_>, user: &UserRecord) -> Value {
    let record = &trace.trial.record;
    let model = user.model.as_ref().unwrap_or(&user.name);
    let mut fields = json!({
        "gen_ai.operation.name": "chat",
        "gen_ai.response.model": model,
        "evalsuite.user": user.name,
        "evalsuite.user.calls": user.attempts,
    });
    add_usage(&mut fields, record.user_usage, record.user_cost_usd);
    let is_partial = [record.unknown_tokens().user, record.unknown_costs().user];
    add_bounds(&mut fields, record.user_usage, record.user_cost_usd, is_partial);
    span(trace, [USER_SPAN, TRIAL_SPAN], CLIENT, &format!("chat {model}"), trace.timeline.agent, fields, None)
}

fn text_message(role: Role, text: &str) -> Value {
    json!({ "role": role.as_str(), "parts": [{ "type": "text", "content": text }] })
}

#[cfg(test)]
mod tests {
    use evalsuite_records::record::Usage;
    use evalsuite_schema::json::json;

    use super::add_usage;

    #[test]
    fn tokens_have_the_names_of_the_conventions() {
        let mut fields = json!({});
        add_usage(&mut fields, Some(Usage::new(12, 14).with_cached(8).with_reasoning(6)), Some(0.5));
        let expected = json!({
            "gen_ai.usage.input_tokens": 20,
            "gen_ai.usage.output_tokens": 14,
            "gen_ai.usage.cache_read.input_tokens": 8,
            "gen_ai.usage.reasoning.output_tokens": 6,
            "gen_ai.usage.cost": 0.5,
        });
        assert_eq!(fields, expected);
    }
}
