//! The run as OpenTelemetry data: spans of agents, models and tools, and results of graders as events.

mod results;
mod spans;

use std::io::Write;
use std::path::Path;
use std::{fs, io};

use evalsuite_records::file_replacement::error_at;
use evalsuite_records::record::Usage;
use evalsuite_schema::json::{Value, json};

use super::ids::{id, trial_path};
use super::steps::steps;
use super::timeline::Timeline;
use super::{Destination, Exported, Format, file};
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
/// of its graders with `chat` of their judges. Results are events `gen_ai.evaluation.result` at the span of the agent: one per grader,
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
        let spans = json!([{ "scope": scope, "spans": spans::spans(&trace, &files, &steps) }]);
        writeln!(traces, "{}", json!({ "resourceSpans": [{ "resource": resource, "scopeSpans": spans }] }))?;
        let records = json!([{ "scope": scope, "logRecords": results::results(&trace) }]);
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
        self.span_id(if self.has_agent() { spans::AGENT } else { spans::TRIAL })
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

/// Microseconds as OTLP has times: nanoseconds, as text.
fn nanoseconds(microseconds: u64) -> String {
    (u128::from(microseconds) * 1_000).min(u128::from(u64::MAX)).to_string()
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
