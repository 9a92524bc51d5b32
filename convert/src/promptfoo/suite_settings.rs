//! Keys of a configuration that hold for all tests.

use std::path::Path;

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::json;

use crate::case_ids::slug;
use crate::report::{Place, Report};

/// Longest name of a suite and longest description, in characters.
const LONGEST_NAME: usize = 64;
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
    workers: Option<f64>,
    timeout_seconds: Option<f64>,
    repeat: Option<u64>,
}

impl SuiteSettings {
    pub(super) fn new(file: &Path) -> Self {
        let of = |part: Option<&std::ffi::OsStr>| part.map(|part| slug(&part.to_string_lossy())).unwrap_or_default();
        let stem = of(file.file_stem());
        let stem = stem.strip_prefix("promptfooconfig").unwrap_or(&stem).trim_start_matches('-').to_owned();
        let directory = file.parent().and_then(|parent| parent.canonicalize().ok());
        let directory = of(directory.as_deref().and_then(Path::file_name));
        let name = if stem.is_empty() { directory } else { stem };
        let name: String = name.chars().filter(char::is_ascii).take(LONGEST_NAME).collect();
        let name = name.trim_matches('-');
        Self { name: if name.is_empty() { "suite".to_owned() } else { name.to_owned() }, ..Self::default() }
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
                let above = value.above.iter().filter(|line| !super::values::is_directive(line)).cloned().collect();
                self.description = (!text.trim().is_empty()).then(|| Value {
                    above,
                    beside: value.beside.clone(),
                    ..Value::text(text)
                });
            }
            "tags" => {
                report.approximated(place, "a tag is `key:value`");
                self.tags = value
                    .entries()
                    .iter()
                    .filter_map(|(key, value)| Some(format!("{key}:{}", value.as_text()?)))
                    .collect();
            }
            "providers" | "targets" => self.providers(value, place, report),
            "evaluateOptions" => self.options(value, place, report),
            "commandLineOptions" => report.dropped(place, "options of a run are given to `cargo evalsuite run`"),
            "env" => report.dropped(place, "set these variables where the tests run"),
            "outputPath" | "writeLatestResults" => {
                report.dropped(place, "every run is recorded: `cargo evalsuite report` writes files")
            }
            "sharing" => report.dropped(place, "runs are not uploaded"),
            "derivedMetrics" => {
                report.dropped(place, "results have the mean of each grader, nothing is computed from them")
            }
            "extensions" => report.dropped(place, "they are programs: write `workspace.hooks`"),
            "nunjucksFilters" => {
                report.dropped(place, "they are programs: what has a template that uses them is dropped")
            }
            "redteam" => report.dropped(place, "attacks are not generated: save the tests that are"),
            "metadata" => report.dropped(place, "a suite has no metadata"),
            "tracing" => report.dropped(place, "agents report their tool calls with `trial.tool_call` or with spans"),
            _ => report.dropped(place, "a suite has no such setting"),
        }
    }

    fn providers(&mut self, value: &Value, place: &Place, report: &mut Report) {
        self.targets_above = value.above.iter().filter(|line| !super::values::is_directive(line)).cloned().collect();
        let single = std::slice::from_ref(value);
        for (index, item) in value.items().unwrap_or(single).iter().enumerate() {
            let place = if value.items().is_some() {
                place.below(item.position.line, &format!("[{index}]"))
            } else {
                place.clone()
            };
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
            for (key, value) in item.entries() {
                match key.as_str() {
                    "id" | "label" => {}
                    "prompts" => {
                        report.approximated(&place.below(value.position.line, key), "every target gets every prompt")
                    }
                    "transform" => report.dropped(&place.below(value.position.line, key), "the agent makes its answer"),
                    _ => report.dropped(&place.below(value.position.line, key), "the agent has its own configuration"),
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
        for (key, value) in value.entries() {
            let place = place.below(value.position.line, key);
            match (key.as_str(), value.as_number()) {
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
        if !self.tags.is_empty() {
            entries.push(("tags".to_owned(), Value::from(json!(self.tags))));
        }
        if self.repeat.is_some() {
            entries.push(("kind".to_owned(), Value::text("regression")));
        }
        let mut execution = Vec::new();
        match &self.targets[..] {
            [] => {}
            [target] => execution.push(("target".to_owned(), Value::text(target.clone()))),
            targets => execution.push(("targets".to_owned(), Value::from(json!(targets)))),
        }
        if let Some(repeat) = self.repeat {
            execution.push(("trials".to_owned(), Value::from(json!({"count": repeat}))));
        }
        for (key, number) in [("workers", self.workers), ("timeout_seconds", self.timeout_seconds)] {
            if let Some(number) = number {
                execution.push((key.to_owned(), Value::from(crate::yaml_writer::number(number))));
            }
        }
        if !execution.is_empty() {
            let execution = Value { above: self.targets_above, ..Value::new(Data::Mapping(execution)) };
            entries.push(("execution".to_owned(), execution));
        }
        entries
    }
}
