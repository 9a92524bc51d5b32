//! Our cases in the form of the reference's tests in the records.
//!
//! Both sides are normalised: defaults are filled in, redundant keys removed.

mod expected;
mod grader;
mod messages;
mod workspace;

use std::path::Path;

use evalsuite_loader::LoadedSuite;
use evalsuite_schema::json::{Object, Value, json};
use evalsuite_schema::{Case, Input, PathRef, Strategy, SuiteKind, Trials};

pub use expected::{grader as normal_grader, suite as normal_suite, test as normal_test};

/// The root and the suite directory of a record.
#[derive(Debug, Clone, Copy)]
pub struct RecordPaths<'a> {
    /// The record's root.
    pub root: &'a Path,
    /// Directory of the suite file, relative to the root.
    pub eval_dir: &'a str,
}

impl RecordPaths<'_> {
    /// A path of the compiled suite as records spell it.
    fn absolute(&self, path: &PathRef) -> String {
        self.below_root(&path.path)
    }

    fn below_root(&self, path: &str) -> String {
        match path {
            "" | "." => "{ROOT}".to_owned(),
            path => format!("{{ROOT}}/{path}"),
        }
    }

    /// Replaces the root in every string by its placeholder.
    fn hide_root(&self, value: &mut Value) {
        let root = self.root.to_string_lossy();
        match value {
            Value::String(text) => *text = text.replace(root.as_ref(), "{ROOT}"),
            Value::Array(items) => items.iter_mut().for_each(|item| self.hide_root(item)),
            Value::Object(entries) => entries.values_mut().for_each(|item| self.hide_root(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// A case as a test of the reference.
pub fn test(case: &Case, suite: &LoadedSuite, paths: RecordPaths<'_>) -> Value {
    let messages = match &case.input {
        Input::Messages(messages) => messages.as_slice(),
        Input::Data(_) => &[],
    };
    let mut test = json!({
        "id": case.id,
        "suite": suite.suite.name,
        "category": suite.suite.category,
        "question": messages::question(messages),
        "input": messages::list(messages, paths),
        "criteria": case.criteria.clone().unwrap_or_default(),
        "expected_output": messages::list(&case.expected_output, paths),
        "reference_answer": messages::reference_text(&case.expected_output),
        "file_paths": messages::file_paths(messages, paths),
        "graders": case.graders.iter().map(|grader| grader::form(grader, paths)).collect::<Vec<_>>(),
        "metadata": case.metadata,
        "targets": case.targets,
        "depends_on": case.depends_on,
        "on_dependency_failure": case.on_dependency_failure,
        "preprocessors": grader::preprocessors(&case.preprocessors, paths),
    });
    let fields = test.as_object_mut().expect("it was written as an object");
    let mut set = |key: &str, value: Value| fields.insert(key.to_owned(), value);
    set("conversation_id", json!(case.conversation_id));
    // The reference keeps the suite's threshold separately, and a case's own threshold here.
    set("threshold", json!(case.threshold));
    set("workspace", case.workspace.as_ref().map_or(Value::Null, |workspace| workspace::form(workspace, paths)));
    if let Some(conversation) = &case.conversation {
        let turn = |turn: &evalsuite_schema::Turn| {
            json!({
                "input": messages::content(turn.input.content.as_ref(), paths),
                "expected_output": messages::list(&turn.expected_output, paths),
                "graders": turn.graders.iter().map(grader::turn_type).collect::<Vec<_>>(),
            })
        };
        set("mode", json!("conversation"));
        set("turns", conversation.turns.iter().map(turn).collect());
        set("aggregation", json!(conversation.aggregation));
        set("on_turn_failure", json!(conversation.on_turn_failure));
        set("window_size", json!(conversation.window_size));
    }
    remove_empty(&mut test);
    paths.hide_root(&mut test);
    test
}

/// A suite as the reference's suite-level result.
pub fn suite(suite: &LoadedSuite) -> Value {
    let first = suite.cases.first().map(|case| &case.case);
    let targets: Vec<&str> = suite.suite.targets.iter().map(|target| target.name.as_str()).collect();
    let trials = first.map(|case| &case.trials);
    let mut form = json!({
        "targets": targets,
        "targetRefs": suite.suite.targets.iter().map(target).collect::<Vec<_>>(),
        "trials": trials.map(|trials| trials_form(trials, suite.suite.kind)),
        "workers": suite.suite.workers,
        "budgetUsd": suite.suite.budget_usd,
        "failOnError": suite.suite.fail_on_error,
        "threshold": first.and_then(|case| case.threshold),
        "metadata": {
            "name": suite.suite.name,
            "description": suite.suite.description,
            "version": suite.suite.version,
            "author": suite.suite.author,
            "license": suite.suite.license,
            "tags": suite.suite.tags,
        },
    });
    remove_empty(&mut form);
    form
}

fn target(target: &evalsuite_schema::Target) -> Value {
    let mut form = json!({ "name": target.name, "use_target": target.use_target });
    remove_empty(&mut form);
    form
}

/// Without a strategy, the default depends on the kind of the suite.
fn trials_form(trials: &Trials, kind: SuiteKind) -> Value {
    let default = (kind == SuiteKind::Capability).then_some(Strategy::PassAtK);
    json!({ "count": trials.count, "strategy": trials.strategy.or(default), "costLimitUsd": trials.cost_limit_usd })
}

/// Removes keys whose values are null, empty lists or empty objects. Free-form data is left alone.
pub(crate) fn remove_empty(value: &mut Value) {
    let Value::Object(entries) = value else { return };
    for (key, value) in entries.iter_mut() {
        if !matches!(key.as_str(), "metadata" | "input" | "expected_output" | "turns" | "graders") {
            remove_empty(value);
        }
        if key == "metadata" && value.get("name").is_some() {
            remove_empty(value);
        }
    }
    entries.retain(|_, value| !is_empty_value(value));
}

fn is_empty_value(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// An object of the pairs with a value.
fn object<const N: usize>(pairs: [(&str, Option<Value>); N]) -> Object {
    pairs.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// Removes what the reference does not record in this test, or records elsewhere.
pub fn align(expected: &Value, record: &crate::record::Record, ours: &mut Value) {
    let Value::Object(fields) = ours else { return };
    // The reference keeps the suite's threshold with the suite; we keep it in each case.
    if expected.get("threshold").is_none()
        && record.expected()["suite"]["threshold"].as_f64() == fields.get("threshold").and_then(Value::as_f64)
    {
        fields.remove("threshold");
    }
    // It has a category only if its caller passes one.
    if expected.get("category").is_none() && record.json.get("category").is_none() {
        fields.remove("category");
    }
    // It adds the suite's preprocessors to each judge; we keep them apart, and try the suite's after the judge's own.
    let preprocessors = fields.get("preprocessors").cloned();
    for (index, grader) in fields.get_mut("graders").and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
        let there = &expected["graders"][index]["preprocessors"];
        let Value::Object(grader) = grader else { continue };
        // Resolved words of a command are compared with the suite's preprocessors.
        let listed = |list: Option<&Value>, entry: &Value| {
            let list = list.and_then(Value::as_array);
            list.is_some_and(|list| {
                list.iter().any(|known| known["type"] == entry["type"] && known["command"] == entry["command"])
            })
        };
        let own = grader.get("preprocessors").cloned();
        let known = |entry: &Value| listed(own.as_ref(), entry) || listed(preprocessors.as_ref(), entry);
        let kept =
            own.as_ref().and_then(Value::as_array).is_none_or(|own| own.iter().all(|entry| listed(Some(there), entry)));
        if kept && there.as_array().is_some_and(|there| there.iter().all(known)) {
            grader.insert("preprocessors".to_owned(), there.clone());
        }
    }
    // An empty workspace counts as no workspace.
    if expected.get("workspace").is_none() && fields.get("workspace") == Some(&json!({ "isolation": "per_test" })) {
        fields.remove("workspace");
    }
}

/// Removes what the reference records only for suites with a name.
pub fn align_suite(expected: &Value, record: &crate::record::Record, ours: &mut Value) {
    let Value::Object(fields) = ours else { return };
    // The first case may have its own threshold, or be one that the reference drops.
    let first = &record.expected()["tests"][0];
    if first.is_null() || first.get("threshold").is_some() {
        match expected.get("threshold") {
            Some(threshold) => fields.insert("threshold".to_owned(), threshold.clone()),
            None => fields.remove("threshold"),
        };
    }
    // It may also have its own trials; in the reference, a case has none.
    let own = record.expected()["tests"].as_array().is_some_and(|tests| !tests.is_empty());
    if expected.get("trials").is_none() && own && crate::rules::any_case_has_trials(record) {
        fields.remove("trials");
    }
    if expected.get("targetRefs").is_none() {
        fields.remove("targetRefs");
    }
    if expected["metadata"].get("name").is_none() {
        fields.remove("metadata");
    }
    if expected.get("trials").is_none() && fields.get("trials").is_some_and(|trials| trials["count"] == 1) {
        fields.remove("trials");
    }
}
