//! Writes a suite as `suite.json` with a JSON file per case, and assertions as graders of tasks.

use std::collections::BTreeSet;
use std::path::Path;

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::grader::built_in_kind;
use evalsuite_schema::json::{Object, Value as Json, json};

use crate::output::Output;
use crate::report::{Place, Report};
use crate::suite_draft::{CaseDraft, CaseIds, SuiteDraft};
use crate::yaml_writer::without_nulls;

/// Most bytes of the name of a file, without its extension.
const LONGEST_NAME: usize = 200;

/// The threshold of a suite with an eval file, where none is written.
const THRESHOLD: f64 = 0.8;
/// Keys with assertions, the old ones too.
const ASSERTIONS: &[&str] = &["assertions", "assert", "evaluators"];
/// Keys that an eval file, a case or its `execution` has and the tasks layout has not.
const NO_KEY: &str = "the tasks layout has nothing like it";

/// Writes one suite.
pub(crate) struct TaskWriter<'a> {
    report: &'a mut Report,
    output: Output,
    /// What every task starts with: what an eval file says of all its cases.
    shared: ReadTask,
    /// Whether every grader has to pass, as all assertions are required.
    every_verdict: bool,
    /// The threshold of the suite.
    threshold: f64,
}

impl<'a> TaskWriter<'a> {
    /// The files of a suite in the tasks layout; `None` if no case can be a task.
    pub(crate) fn write(draft: SuiteDraft, report: &'a mut Report) -> Option<Output> {
        let place = Place::new("suite.json", 0, "");
        let is_comment = |line: &String| !line.is_empty();
        let has_comments = |entries: &[(String, Value)]| entries.iter().any(|(_, value)| has_comment(value));
        if has_comments(&draft.settings)
            || draft.cases.iter().any(|(_, case)| case.above.iter().any(is_comment) || has_comments(&case.entries))
            || draft.above.iter().chain(&draft.end).any(is_comment)
        {
            report.approximated(&place.below(0, "comments"), "JSON has none");
        }
        let shared = ReadTask::default();
        let mut writer = Self { report, output: draft.output, shared, every_verdict: true, threshold: THRESHOLD };
        writer.shared = writer.read(ReadTask::default(), &draft.settings, &place, true);
        writer.threshold = writer.shared.threshold.unwrap_or(THRESHOLD);
        writer.every_verdict = draft.cases.iter().all(|(_, case)| writer.is_strict(case));
        let setting =
            |key: &str| draft.settings.iter().find(|(known, _)| known == key).map(|(_, value)| value.to_json());
        let head = json!({
            "name": setting("name").unwrap_or_else(|| "suite".into()),
            "agent_name": "agent",
            "kind": setting("kind").unwrap_or_else(|| "capability".into()),
            "task_pass_threshold": (!writer.every_verdict).then_some(writer.threshold),
            "gates": setting("gates"),
        });
        writer.output.add("suite.json", text(head));
        let mut names = FileNames::default();
        for (id, case) in &draft.cases {
            writer.task(id, case, &mut names);
        }
        if !writer.output.files().keys().any(|file| file.starts_with("tasks")) {
            writer.report.dropped(&place.below(0, "tasks"), "no case can be a task: choose another layout");
            return None;
        }
        Some(writer.output)
    }

    /// Whether a case fails where any grader does. One that nothing grades is dropped.
    fn is_strict(&self, case: &CaseDraft) -> bool {
        let own = case.entries.iter().filter(|(key, _)| ASSERTIONS.contains(&key.as_str())).map(|(_, value)| value);
        let lists = own.chain(self.shared.assertions.iter().map(|(list, _)| list));
        let mut all = lists.flat_map(|list| list.items().unwrap_or_default()).peekable();
        let is_judged = |key: &str| ["criteria", "expected_outcome", "expected_output"].contains(&key);
        let has_graders = all.peek().is_some() || !case.entries.iter().any(|(key, _)| is_judged(key));
        has_graders && all.all(is_required)
    }

    /// Reads the entries of a case, or the settings of the suite that its tasks repeat, into a task.
    fn read(&mut self, mut task: ReadTask, entries: &[(String, Value)], place: &Place, of_suite: bool) -> ReadTask {
        for (key, value) in entries {
            let at = place.below(value.position.line, key);
            match key.as_str() {
                "name" | "kind" | "gates" if of_suite => {}
                "criteria" | "expected_outcome" if !of_suite => task.description = value.as_text().map(str::to_owned),
                "input" if !of_suite => task.input = Some(input(value, &at, self.report)),
                "expected_output" if !of_suite => task.expected = expected_outcome(value, &at, self.report),
                "metadata" => task.metadata.extend(value.entries().iter().map(|(k, v)| (k.clone(), v.to_json()))),
                "execution" => self.execution(value, &at, &mut task, of_suite),
                "workspace" => task.template = template(value, &at, self.report),
                key if ASSERTIONS.contains(&key) => task.assertions.push((value.clone(), at)),
                _ => self.report.dropped(&at, NO_KEY),
            }
        }
        task
    }

    fn execution(&mut self, execution: &Value, place: &Place, task: &mut ReadTask, of_suite: bool) {
        for (key, value, at) in place.entries(execution) {
            match key {
                "threshold" => {
                    task.threshold = value.as_number();
                    if !of_suite && !self.every_verdict && task.threshold != Some(self.threshold) {
                        let reason = format!("all tasks have the threshold of the suite, {}", self.threshold);
                        self.report.different(&at, reason);
                    }
                }
                "timeout_seconds" => task.timeout_seconds = Some(value.to_json()),
                "trials" => task.trials = trials(value, &at, self.report).or(task.trials.take()),
                "skip_defaults" if !of_suite => task.skips_defaults = value.data == Data::Bool(true),
                key if !of_suite && ASSERTIONS.contains(&key) => {
                    self.report.dropped(&at, "write them in `assertions` of the case");
                }
                _ => self.report.dropped(&at, NO_KEY),
            }
        }
    }

    fn task(&mut self, id: &str, case: &CaseDraft, names: &mut FileNames) {
        let place = &case.place;
        let shared = ReadTask { assertions: Vec::new(), ..self.shared.clone() };
        let mut task = self.read(shared, &case.entries, place, false);
        let threshold = task.threshold.unwrap_or(self.threshold);
        if !task.skips_defaults {
            task.assertions.extend(self.shared.assertions.iter().cloned());
        }
        let count = |(list, _): &(Value, Place)| list.items().unwrap_or_default().len();
        let is_only = task.assertions.iter().map(count).sum::<usize>() == 1;
        let mut writer = GraderWriter { every_verdict: self.every_verdict, threshold, is_only, report: self.report };
        let mut graders: Vec<Json> = task.assertions.iter().flat_map(|list| writer.graders(list)).collect();
        if graders.is_empty() {
            if task.description.is_none() && task.expected.is_none() {
                self.report.dropped(place, "nothing is left that grades it");
                return;
            }
            graders.push(json!({"name": "llm-grader"}));
        }
        self.report.mapped(place);
        self.warn_of_variables(case);
        let name = names.name(id);
        let task = self.json(id, task, graders, place);
        self.output.add(format!("tasks/{name}.json"), text(task));
    }

    fn json(&mut self, id: &str, task: ReadTask, graders: Vec<Json>, place: &Place) -> Json {
        let description = task.description.unwrap_or_else(|| {
            self.report.approximated(place, "without `criteria`, its description is its id");
            id.to_owned()
        });
        let mut input = task.input.unwrap_or_default();
        if let Some(template) = task.template {
            input.insert("fixture_dir".to_owned(), template.trim_start_matches("./").into());
        }
        json!({
            "id": id,
            "description": description,
            "input": input,
            "metadata": (!task.metadata.is_empty()).then_some(task.metadata),
            "trials_per_run": task.trials,
            "timeout_seconds": task.timeout_seconds,
            "reference_solution": task.expected.map(|outcome| json!({"expected_outcome": outcome})),
            "graders": graders,
        })
    }

    /// Tasks are never filled in.
    fn warn_of_variables(&mut self, case: &CaseDraft) {
        for (key, value) in &case.entries {
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
    /// Its lists of assertions, and where they are.
    assertions: Vec<(Value, Place)>,
}

/// The number of trials.
fn trials(trials: &Value, place: &Place, report: &mut Report) -> Option<Json> {
    for (key, value, at) in place.entries(trials) {
        let is_same = key == "count" || (key == "strategy" && value.as_text() == Some("pass_at_k"));
        if !is_same {
            report.dropped(&at, NO_KEY);
        }
    }
    trials.get("count").map(Value::to_json)
}

/// The directory that a workspace starts with.
fn template(workspace: &Value, place: &Place, report: &mut Report) -> Option<String> {
    for (_, _, at) in place.entries(workspace).filter(|(key, ..)| *key != "template") {
        report.dropped(&at, NO_KEY);
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

fn text(json: Json) -> String {
    format!("{:#}\n", without_nulls(json))
}

/// Names of the files of tasks.
#[derive(Default)]
struct FileNames {
    taken: BTreeSet<String>,
    ids: CaseIds,
}

impl FileNames {
    /// The id where it can be the name of a file. The test of the case keeps its name: what is replaced is a `_` in it.
    fn name(&mut self, id: &str) -> String {
        let is_kept = |character: char| character.is_alphanumeric() || "-_.".contains(character);
        let name: String = id.chars().map(|character| if is_kept(character) { character } else { '-' }).collect();
        let is_usable = !name.starts_with(['.', '_', '-']) && name.len() <= LONGEST_NAME;
        if is_usable && self.taken.insert(name.to_lowercase()) {
            return name;
        }
        loop {
            let name = self.ids.next(id, "case");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// The pass mark of a grader of a task, where none is written.
const PASS_MARK: f64 = 1.0;

/// The graders of a task that decide what assertions decide.
struct GraderWriter<'a> {
    /// Whether every verdict has to be `pass`, as all assertions of the suite are required.
    every_verdict: bool,
    /// The threshold of the case, which is the pass mark of a required assertion.
    threshold: f64,
    /// Whether there is one grader only, which is the mean of all.
    is_only: bool,
    report: &'a mut Report,
}

impl GraderWriter<'_> {
    /// The graders for a list of assertions at a place; what has no type is dropped.
    fn graders(&mut self, (assertions, place): &(Value, Place)) -> Vec<Json> {
        let mut graders: Vec<Json> = Vec::new();
        let mut rubrics: Option<usize> = None;
        for (item, place) in place.items(assertions) {
            self.report.mapped(&place);
            if let Some(text) = item.as_text() {
                self.report.different(&place, "a list of texts counts as one grader");
                let at = *rubrics.get_or_insert_with(|| {
                    graders.push(json!({"name": "rubrics", "config": {"criteria": []}}));
                    graders.len() - 1
                });
                if let Some(criteria) = graders[at]["config"]["criteria"].as_array_mut() {
                    criteria.push(json!(text.trim()));
                }
                continue;
            }
            match item.get("type").and_then(Value::as_text) {
                Some(kind) => graders.push(self.grader(kind, item, &place)),
                None => self.report.dropped(&place, "a task has no templates: write the graders themselves"),
            }
        }
        graders
    }

    fn grader(&mut self, name: &str, assertion: &Value, place: &Place) -> Json {
        let mut config = Object::new();
        let is_built_in = built_in_kind(&name.replace('_', "-")).is_some();
        let is_required = is_required(assertion);
        for (key, value) in assertion.entries() {
            match key.as_str() {
                "type" => {}
                "required" if self.every_verdict || !is_required => {}
                "required" if self.is_only && assertion.get("min_score").is_none() => {}
                "required" => self.report.different(place, "no grader decides alone: the mean of all does"),
                "name" => self.report.approximated(place, "the grader is named by its type"),
                "weight" if value.as_number() == Some(1.0) => {}
                "weight" => self.report.different(place, "all graders count alike"),
                "config" if !is_built_in => {
                    config.extend(value.entries().iter().map(|(k, v)| (k.clone(), v.to_json())))
                }
                "min_score" if is_built_in && value.as_number() == Some(PASS_MARK) => {}
                _ if is_built_in => drop(config.insert(key.clone(), value.to_json())),
                _ => self.report.dropped(place, format!("a grader in Rust has no `{key}` in a task")),
            }
        }
        let has_mark = assertion.get("min_score").is_some();
        if self.every_verdict && is_built_in && !has_mark && self.threshold < PASS_MARK {
            if self.threshold > 0.0 {
                config.insert("min_score".to_owned(), json!(self.threshold));
            } else {
                self.report.different(place, "its score has to be 1");
            }
        }
        if config.is_empty() { json!({"name": name}) } else { json!({"name": name, "config": config}) }
    }
}

/// Whether an assertion fails the case by itself.
fn is_required(assertion: &Value) -> bool {
    assertion.get("required").is_some_and(|required| required.data == Data::Bool(true))
}

#[cfg(test)]
mod tests {
    use evalsuite_loader::document::{self, Data};
    use evalsuite_schema::json;

    use super::*;
    use crate::report::{Outcome, SourceEntry};

    /// A suite with the settings and cases of an eval file.
    fn draft(text: &str) -> SuiteDraft {
        let document = document::parse(text, Path::new("EVAL.yaml")).expect("YAML");
        let Data::Mapping(mut settings) = document.root.data else { panic!("not a mapping: {text}") };
        let at = settings.iter().position(|(key, _)| key == "tests").expect("cases");
        let (_, tests) = settings.remove(at);
        let cases = tests.items().expect("a list").iter().enumerate().map(|(index, case)| {
            let mut entries = case.entries().to_vec();
            let id = entries.iter().position(|(key, _)| key == "id").map(|at| entries.remove(at).1);
            let id = id.as_ref().and_then(Value::as_text).expect("an id").to_owned();
            (id, CaseDraft { entries, above: Vec::new(), place: Place::new("EVAL.yaml", 1, format!("tests[{index}]")) })
        });
        SuiteDraft { settings, cases: cases.collect(), ..SuiteDraft::default() }
    }

    #[test]
    fn what_cases_have_and_tasks_have_not_is_named() {
        let text = "name: shop # a comment\ntags: [fast]\nexecution: { threshold: 0.9, workers: 2, trials: { count: 3, strategy: mean } }\n\
                    assertions: [{ type: contains, value: x, weight: 2 }]\ntests:\n  \
                    - { id: a, input: '${{ NAME }}', criteria: Greets, assertions: [Is polite, Is short, { include: y }], execution: { threshold: 0.5 } }\n  \
                    - { id: b, input: [{ role: system, content: x }], expected_output: hi, execution: { skip_defaults: true } }\n  \
                    - { id: c, turns: [{ input: x }], execution: { skip_defaults: true } }\n";
        let mut report = Report::default();
        let output = TaskWriter::write(draft(text), &mut report).expect("tasks");
        let has = |outcome: Outcome, entry: &str, reason: &str| {
            let is = |it: &&SourceEntry| {
                it.outcome == outcome && it.name == entry && it.reasons.iter().any(|it| it.contains(reason))
            };
            assert!(report.entries().iter().any(|it| is(&it)), "{entry}: {reason}\n{}", report);
        };
        has(Outcome::Approximated, "comments", "JSON has none");
        has(Outcome::Different, "tests[0].assertions[0]", "counts as one grader");
        has(Outcome::Different, "tests[0].input", "nothing is filled in");
        has(Outcome::Different, "tests[0].execution.threshold", "the threshold of the suite, 0.9");
        has(Outcome::Different, "tests[1].input", "the messages as data");
        has(Outcome::Approximated, "tests[1].expected_output", "it is in `text`");
        has(Outcome::Different, "assertions[0]", "all graders count alike");
        for entry in ["tags", "execution.workers", "execution.trials.strategy", "tests[2].turns"] {
            has(Outcome::Dropped, entry, "nothing like it");
        }
        has(Outcome::Dropped, "tests[0].assertions[2]", "no templates");
        has(Outcome::Dropped, "tests[2]", "nothing is left that grades it");
        let json = |path: &str| -> Json { json::from_slice(&output.files()[Path::new(path)]).unwrap() };
        let head = json!({"name": "shop", "agent_name": "agent", "kind": "capability", "task_pass_threshold": 0.9});
        assert_eq!(json("suite.json"), head);
        let a = json("tasks/a.json");
        assert_eq!((&a["description"], &a["trials_per_run"]), (&"Greets".into(), &3.into()));
        let graders = json!([
            {"name": "rubrics", "config": {"criteria": ["Is polite", "Is short"]}}, {"name": "contains", "config": {"value": "x"}},
        ]);
        assert_eq!(a["graders"], graders);
        assert_eq!(json("tasks/b.json")["graders"], json!([{"name": "llm-grader"}]));
        assert!(!output.files().contains_key(Path::new("tasks/c.json")));
    }
}
