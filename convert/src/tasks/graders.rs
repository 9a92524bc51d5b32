//! Assertions of cases as graders of tasks.

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::grader::built_in_kind;
use evalsuite_schema::json::{Object, Value as Json, json};

use crate::report::{Place, Report};

/// The pass mark of a grader of a task, where none is written.
const PASS_MARK: f64 = 1.0;

/// The graders of a task that decide what assertions decide.
pub(super) struct GraderWriter<'a> {
    /// Whether every verdict has to be `pass`, as all assertions of the suite are required.
    pub(super) every_verdict: bool,
    /// The threshold of the case, which is the pass mark of a required assertion.
    pub(super) threshold: f64,
    /// Whether there is one grader only, which is the mean of all.
    pub(super) is_only: bool,
    pub(super) report: &'a mut Report,
}

impl GraderWriter<'_> {
    /// The graders for a list of assertions at a place; what has no type is dropped.
    pub(super) fn graders(&mut self, (assertions, place): &(Value, Place)) -> Vec<Json> {
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
pub(super) fn is_required(assertion: &Value) -> bool {
    assertion.get("required").is_some_and(|required| required.data == Data::Bool(true))
}
