//! Writes a suite as `suite.json` with a JSON file per case.

use std::path::Path;

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::{Object, Value as Json, json};

use super::task_graders::{GraderWriter, TaskRules, is_required};
use super::{Directories, ReadCase, SuiteSource};
use crate::output::{Conversion, Output};
use crate::report::{Place, Report};

/// The threshold of a suite with an eval file, where none is written.
const THRESHOLD: f64 = 0.8;
/// Keys with assertions, the old ones too.
const ASSERTIONS: &[&str] = &["assertions", "assert", "evaluators"];
/// Keys that an eval file, a case or its `execution` has and the tasks layout has not.
const NO_KEY: &str = "the tasks layout has nothing like it";

/// Writes one suite.
pub(super) struct TaskWriter {
    report: Report,
    output: Output,
    /// The settings of the suite that every task repeats.
    shared: Shared,
    rules: TaskRules,
    /// The threshold of the suite.
    threshold: f64,
}

/// What an eval file says of all its cases.
#[derive(Default)]
struct Shared {
    /// What every task starts with.
    task: ReadTask,
    assertions: Vec<Value>,
    /// Where they are.
    assertions_place: Place,
}

impl TaskWriter {
    /// The suite in the tasks layout, and what became of its entries.
    pub(super) fn write(source: SuiteSource) -> Conversion {
        let SuiteSource { mut report, copied_from_outside, mut draft, cases, tests, place, default_name, .. } = source;
        let comments = draft.settings.iter().any(|(_, value)| has_comment(value))
            || cases.iter().any(|case| case.draft.above.iter().any(|line| !line.is_empty()))
            || cases.iter().any(|case| case.draft.entries.iter().any(|(_, value)| has_comment(value)))
            || tests.as_ref().is_some_and(has_comment)
            || draft.end.iter().any(|line| !line.is_empty());
        if comments {
            report.approximated(&Place::new(place.file.clone(), 0, "comments"), "JSON has none");
        }
        let mut suite = Object::new();
        let shared = settings(draft.settings, &place, &mut suite, &mut report);
        let threshold = shared.task.threshold.unwrap_or(THRESHOLD);
        let is_strict = |case: &ReadCase| {
            let own = assertions(&case.draft.entries).flat_map(|(_, value)| value.items().unwrap_or_default());
            let mut all = own.chain(&shared.assertions).peekable();
            // A case that nothing grades is dropped.
            let is_judged = |key: &str| ["criteria", "expected_outcome", "expected_output"].contains(&key);
            let has_graders = all.peek().is_some() || !case.draft.entries.iter().any(|(key, _)| is_judged(key));
            has_graders && all.all(is_required)
        };
        let every_verdict = cases.iter().all(is_strict);
        let mut head = Object::new();
        head.insert("name".to_owned(), suite.remove("name").unwrap_or_else(|| default_name.into()));
        head.insert("agent_name".to_owned(), "agent".into());
        head.insert("kind".to_owned(), suite.remove("kind").unwrap_or_else(|| "capability".into()));
        if !every_verdict {
            head.insert("task_pass_threshold".to_owned(), json!(threshold));
        }
        head.extend(suite);
        draft.output.add("suite.json", text(&Json::Object(head)));
        let rules = TaskRules { every_verdict };
        let mut writer = Self { report, output: draft.output, shared, rules, threshold };
        let mut names = Directories::default();
        for case in cases {
            writer.task(&case, &mut names);
        }
        let Self { mut report, output, .. } = writer;
        if !output.files().keys().any(|file| file.starts_with("tasks")) {
            report.dropped(&Place::new("suite.json", 0, "tasks"), "no case can be a task: choose another layout");
        }
        Conversion { output, report, copied_from_outside }
    }

    fn task(&mut self, case: &ReadCase, names: &mut Directories) {
        let place = case.place.clone();
        let mut read = self.shared.task.clone();
        let mut own = Vec::new();
        for (key, value) in &case.draft.entries {
            let at = place.below(value.position.line, key);
            match key.as_str() {
                "criteria" | "expected_outcome" => read.description = value.as_text().map(str::to_owned),
                "input" => read.input = Some(input(value, &at, &mut self.report)),
                "expected_output" => read.expected = expected_outcome(value, &at, &mut self.report),
                "metadata" => read.metadata.extend(value.entries().iter().map(|(k, v)| (k.clone(), v.to_json()))),
                "execution" => self.execution(value, &at, &mut read),
                "workspace" => read.template = template(value, &at, &mut self.report),
                _ if ASSERTIONS.contains(&key.as_str()) => own.push((value, at)),
                _ => self.report.dropped(&at, NO_KEY),
            }
        }
        let mut graders = Vec::new();
        let threshold = read.threshold.unwrap_or(self.threshold);
        let shared = if read.skips_defaults { 0 } else { self.shared.assertions.len() };
        let own_count: usize = own.iter().map(|(value, _)| value.items().unwrap_or_default().len()).sum();
        let is_only = own_count + shared == 1;
        let mut writer = GraderWriter { rules: self.rules, threshold, is_only, report: &mut self.report };
        for (value, at) in own {
            graders.extend(writer.graders(value.items().unwrap_or_default(), &at));
        }
        if !read.skips_defaults {
            graders.extend(writer.graders(&self.shared.assertions, &self.shared.assertions_place));
        }
        if graders.is_empty() {
            if read.description.is_none() && read.expected.is_none() {
                self.report.dropped(&place, "nothing is left that grades it");
                return;
            }
            graders.push(json!({"name": "llm-grader"}));
        }
        self.report.mapped(&place);
        self.warn_of_variables(case);
        let name = names.name(&case.id);
        let task = self.json(&case.id, read, graders, &place);
        self.output.add(format!("tasks/{name}.json"), text(&task));
    }

    fn json(&mut self, id: &str, read: ReadTask, graders: Vec<Json>, place: &Place) -> Json {
        let mut task = Object::new();
        task.insert("id".to_owned(), id.into());
        let description = read.description.unwrap_or_else(|| {
            self.report.approximated(place, "without `criteria`, its description is its id");
            id.to_owned()
        });
        task.insert("description".to_owned(), description.into());
        let mut input = read.input.unwrap_or_default();
        if let Some(template) = read.template {
            input.insert("fixture_dir".to_owned(), template.trim_start_matches("./").into());
        }
        task.insert("input".to_owned(), input.into());
        if !read.metadata.is_empty() {
            task.insert("metadata".to_owned(), read.metadata.into());
        }
        for (key, value) in [
            ("trials_per_run", read.trials),
            ("timeout_seconds", read.timeout_seconds),
            ("reference_solution", read.expected.map(|outcome| json!({"expected_outcome": outcome}))),
        ] {
            if let Some(value) = value {
                task.insert(key.to_owned(), value);
            }
        }
        task.insert("graders".to_owned(), graders.into());
        Json::Object(task)
    }

    fn execution(&mut self, execution: &Value, place: &Place, read: &mut ReadTask) {
        for (key, value) in execution.entries() {
            let at = place.below(value.position.line, key);
            match key.as_str() {
                "threshold" => {
                    read.threshold = value.as_number();
                    if !self.rules.every_verdict && read.threshold != Some(self.threshold) {
                        let reason = format!("all tasks have the threshold of the suite, {}", self.threshold);
                        self.report.different(&at, reason);
                    }
                }
                "timeout_seconds" => read.timeout_seconds = Some(value.to_json()),
                "trials" => read.trials = trials(value, &at, &mut self.report).or(read.trials.take()),
                "skip_defaults" => read.skips_defaults = value.data == Data::Bool(true),
                _ if ASSERTIONS.contains(&key.as_str()) => {
                    self.report.dropped(&at, "write them in `assertions` of the case");
                }
                _ => self.report.dropped(&at, NO_KEY),
            }
        }
    }

    /// Tasks are never filled in.
    fn warn_of_variables(&mut self, case: &ReadCase) {
        for (key, value) in &case.draft.entries {
            if value.to_json().to_string().contains("${{") {
                let at = case.place.below(value.position.line, key);
                self.report.different(&at, "`${{ }}` stays as it is written: nothing is filled in in a task");
            }
        }
    }
}

/// A case that is becoming a task.
#[derive(Clone, Default)]
struct ReadTask {
    description: Option<String>,
    input: Option<Object>,
    expected: Option<Json>,
    metadata: Object,
    threshold: Option<f64>,
    timeout_seconds: Option<Json>,
    trials: Option<Json>,
    template: Option<String>,
    skips_defaults: bool,
}

/// Reads the settings of an eval file: those that `suite.json` has, and those that each task repeats.
fn settings(settings: Vec<(String, Value)>, suite: &Place, json: &mut Object, report: &mut Report) -> Shared {
    let mut shared = Shared::default();
    for (key, value) in settings {
        let place = suite.below(value.position.line, &key);
        match key.as_str() {
            "name" | "kind" | "gates" => drop(json.insert(key, value.to_json())),
            "metadata" => {
                shared.task.metadata = value.entries().iter().map(|(k, v)| (k.clone(), v.to_json())).collect()
            }
            "workspace" => shared.task.template = template(&value, &place, report),
            "execution" => {
                for (key, value) in value.entries() {
                    let at = place.below(value.position.line, key);
                    match key.as_str() {
                        "threshold" => shared.task.threshold = value.as_number(),
                        "timeout_seconds" => shared.task.timeout_seconds = Some(value.to_json()),
                        "trials" => shared.task.trials = trials(value, &at, report),
                        _ => report.dropped(&at, NO_KEY),
                    }
                }
            }
            _ if ASSERTIONS.contains(&key.as_str()) => {
                shared.assertions.extend(value.items().unwrap_or_default().iter().cloned());
                shared.assertions_place = place;
            }
            _ => report.dropped(&place, NO_KEY),
        }
    }
    shared
}

fn assertions(entries: &[(String, Value)]) -> impl Iterator<Item = &(String, Value)> {
    entries.iter().filter(|(key, _)| ASSERTIONS.contains(&key.as_str()))
}

/// The number of trials.
fn trials(trials: &Value, place: &Place, report: &mut Report) -> Option<Json> {
    for (key, value) in trials.entries() {
        let is_same = key == "count" || (key == "strategy" && value.as_text() == Some("pass_at_k"));
        if !is_same {
            report.dropped(&place.below(value.position.line, key), NO_KEY);
        }
    }
    trials.get("count").map(Value::to_json)
}

/// The directory that a workspace starts with.
fn template(workspace: &Value, place: &Place, report: &mut Report) -> Option<String> {
    for (key, value) in workspace.entries().iter().filter(|(key, _)| key != "template") {
        report.dropped(&place.below(value.position.line, key), NO_KEY);
    }
    let template = workspace.get("template").and_then(Value::as_text);
    if template.is_none() && workspace.entries().is_empty() {
        report.dropped(place, NO_KEY);
    }
    let is_outside = |path: &str| Path::new(path).is_absolute() || path.starts_with("..");
    match template {
        Some(path) if is_outside(path) => {
            report.dropped(place, "a task only uses directories of its suite");
            None
        }
        path => path.map(str::to_owned),
    }
}

/// The input as an object, whose `prompt` is what the agent is asked.
fn input(input: &Value, place: &Place, report: &mut Report) -> Object {
    let only = input.items().filter(|messages| messages.len() == 1).and_then(|messages| messages.first());
    let is_user = |message: &&Value| message.get("role").and_then(Value::as_text) == Some("user");
    let question = only.filter(is_user).and_then(|message| message.get("content"));
    let mut object = Object::new();
    match input.as_text().or_else(|| question.and_then(Value::as_text)) {
        Some(text) => drop(object.insert("prompt".to_owned(), text.into())),
        None => {
            report.different(place, "the agent gets the messages as data");
            object.insert("messages".to_owned(), input.to_json());
        }
    }
    object
}

fn expected_outcome(expected: &Value, place: &Place, report: &mut Report) -> Option<Json> {
    if expected.entries().is_empty() || expected.get("role").is_some() {
        report.approximated(place, "an expected outcome is an object: it is in `text`");
        return Some(json!({"text": expected.to_json()}));
    }
    Some(expected.to_json())
}

fn has_comment(value: &Value) -> bool {
    let own = value.beside.is_some() || value.above.iter().any(|line| !line.is_empty());
    own || value.items().unwrap_or_default().iter().any(has_comment)
        || value.entries().iter().any(|(_, value)| has_comment(value))
}

fn text(json: &Json) -> String {
    format!("{json:#}\n")
}
