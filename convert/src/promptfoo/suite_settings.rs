//! Keys of a configuration that hold for all tests.

use std::path::Path;

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::json;

use super::template;
use super::values::{comments, elements};
use crate::report::{Place, Report};
use crate::suite_draft::{entry, slug, suite_name};
use crate::yaml_writer::number;

/// Longest description, in characters.
const LONGEST_DESCRIPTION: usize = 1024;

/// Most trials at once.
const MOST_WORKERS: f64 = 50.0;

/// What EVAL.yaml says beside the cases.
#[derive(Debug, Default)]
pub(super) struct SuiteSettings {
    name: String,
    description: Option<Value>,
    tags: Vec<String>,
    /// Names of the providers, which are the targets.
    pub(super) targets: Vec<String>,
    targets_above: Vec<String>,
    /// Variables of tests that providers put into their requests.
    pub(super) sent_variables: Vec<String>,
    workers: Option<f64>,
    timeout_seconds: Option<f64>,
    repeat: Option<u64>,
}

impl SuiteSettings {
    pub(super) fn new(file: &Path) -> Self {
        let stem = slug(&file.file_stem().unwrap_or_default().to_string_lossy());
        let stem = stem.strip_prefix("promptfooconfig").unwrap_or(&stem).trim_start_matches('-');
        // The parent of a name without a directory is empty.
        let file = file.canonicalize().unwrap_or_default();
        let directory = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let name = suite_name(if stem.is_empty() { &directory } else { stem });
        Self { name: if name.is_empty() { "suite".to_owned() } else { name }, ..Self::default() }
    }

    /// Reads a key; what has no counterpart is reported.
    pub(super) fn read(&mut self, key: &str, value: &Value, place: &Place, report: &mut Report) {
        match key {
            "$schema" => report.mapped(place),
            "description" => {
                let text = value.as_text().unwrap_or_default();
                if text.chars().count() > LONGEST_DESCRIPTION {
                    report.approximated(place, format!("it is cut after {LONGEST_DESCRIPTION} characters"));
                }
                report.mapped(place);
                let text: String = text.chars().take(LONGEST_DESCRIPTION).collect();
                let (above, beside) = (comments(&value.above), value.beside.clone());
                self.description = (!text.trim().is_empty()).then(|| Value { above, beside, ..Value::text(text) });
            }
            "tags" => {
                report.approximated(place, "a tag is `key:value`");
                let tag = |(key, value): &(String, Value)| Some(format!("{key}:{}", value.as_text()?));
                self.tags = value.entries().iter().filter_map(tag).collect();
            }
            "providers" | "targets" => self.providers(value, place, report),
            "evaluateOptions" => self.options(value, place, report),
            _ => report.dropped(place, without_counterpart(key)),
        }
    }

    fn providers(&mut self, value: &Value, place: &Place, report: &mut Report) {
        self.targets_above = comments(&value.above);
        for (item, place) in elements(value, place) {
            // `{openai:gpt-4: {config: …}}` is an old form.
            let (item, old_id) = match item.entries() {
                [(id, inner)] if item.get("id").is_none() => (inner, Some(id.as_str())),
                _ => (item, None),
            };
            let id = item.get("id").and_then(Value::as_text).or(old_id).or(item.as_text());
            let Some(name) = item.get("label").and_then(Value::as_text).or(id) else {
                report.dropped(&place, "it has no name");
                continue;
            };
            report.approximated(&place, format!("`{name}` is the name of a target: the agent decides what it means"));
            for (key, value, place) in place.entries(item) {
                if key == "config" {
                    let config = value.to_json().to_string();
                    self.sent_variables.extend(template::names(&config).filter(|name| name != "prompt"));
                }
                match key {
                    "id" | "label" => {}
                    "prompts" => report.approximated(&place, "every target gets every prompt"),
                    "transform" => report.dropped(&place, "the agent makes its answer"),
                    _ => report.dropped(&place, "the agent has its own configuration"),
                }
            }
            if self.targets.iter().any(|known| known == name) {
                report.approximated(&place, "two providers of one name are one target");
            } else {
                self.targets.push(name.to_owned());
            }
        }
    }

    fn options(&mut self, value: &Value, place: &Place, report: &mut Report) {
        for (key, value, place) in place.entries(value) {
            match (key, value.as_number()) {
                ("maxConcurrency", Some(number)) if number >= 1.0 => {
                    if number > MOST_WORKERS {
                        report.approximated(&place, format!("at most {MOST_WORKERS} trials run at once"));
                    }
                    report.mapped(&place);
                    self.workers = Some(number.min(MOST_WORKERS).floor());
                }
                ("timeoutMs", Some(number)) if number > 0.0 => {
                    report.mapped(&place);
                    self.timeout_seconds = Some(number / 1000.0);
                }
                ("repeat", Some(_)) => {
                    self.repeat = value.to_json().as_u64().filter(|repeat| *repeat > 1);
                    report.approximated(&place, "repetitions are trials of one case, all of which have to pass");
                }
                ("timeoutMs" | "maxEvalTimeMs" | "delay", Some(0.0)) => report.mapped(&place),
                ("cache", _) => {
                    report.dropped(&place, "answers are not cached: replay them with `EVALSUITE_MODE=replay`")
                }
                ("showProgressBar", _) => report.mapped(&place),
                _ => report.dropped(&place, "a run has no such option"),
            }
        }
    }

    /// The entries of EVAL.yaml.
    pub(super) fn write(self) -> Vec<(String, Value)> {
        let mut entries = vec![("name".to_owned(), Value::text(self.name))];
        if let Some(mut description) = self.description {
            // The comment at the top of the file stays there.
            entries[0].1.above = std::mem::take(&mut description.above);
            entries.push(("description".to_owned(), description));
        }
        entries.extend((!self.tags.is_empty()).then(|| entry("tags", json!(self.tags))));
        entries.extend(self.repeat.map(|_| entry("kind", "regression")));
        let mut execution = Vec::new();
        match &self.targets[..] {
            [] => {}
            [target] => execution.push(entry("target", target.clone())),
            targets => execution.push(entry("targets", json!(targets))),
        }
        execution.extend(self.repeat.map(|repeat| entry("trials", json!({"count": repeat}))));
        execution.extend(self.workers.map(|workers| entry("workers", number(workers))));
        execution.extend(self.timeout_seconds.map(|seconds| entry("timeout_seconds", number(seconds))));
        if !execution.is_empty() {
            let execution = Value { above: self.targets_above, ..Value::new(Data::Mapping(execution)) };
            entries.push(("execution".to_owned(), execution));
        }
        entries
    }
}

/// Why a key of a configuration is dropped.
fn without_counterpart(key: &str) -> &'static str {
    match key {
        "commandLineOptions" => "options of a run are given to `cargo evalsuite run`",
        "env" => "set these variables where the tests run",
        "outputPath" | "writeLatestResults" => "every run is recorded: `cargo evalsuite report` writes files",
        "sharing" => "runs are not uploaded",
        "derivedMetrics" => "results have the mean of each grader, nothing is computed from them",
        "extensions" => "they are programs: write `workspace.hooks`",
        "nunjucksFilters" => "they are programs: what has a template that uses them is dropped",
        "redteam" => "attacks are not generated: save the tests that are",
        "metadata" => "a suite has no metadata",
        "tracing" => "agents report their tool calls with `trial.tool_call` or with spans",
        _ => "a suite has no such setting",
    }
}
