//! Files of real suites against the JSON Schemas that editors get.

use std::collections::BTreeMap;
use std::path::Path;

use evalsuite_loader::key_tables::{FILES, json_schema};
use evalsuite_loader::source::SourceFile;
use evalsuite_schema::Value;
use jsonschema::Validator;

/// The schemas by the kind of file.
pub struct Schemas(BTreeMap<&'static str, Validator>);

impl Schemas {
    /// The schemas of all kinds.
    ///
    /// # Panics
    ///
    /// If one is not a valid schema.
    pub fn new() -> Self {
        let schema =
            |kind| jsonschema::draft7::new(&json_schema(kind).expect("a kind").into()).expect("a valid schema");
        Self(FILES.iter().map(|(kind, _)| (*kind, schema(kind))).collect())
    }

    /// What a schema says against a file that was read, and the kind of the file. `suite` is the file of the suite. `None` for a file whose
    /// kind is not known, such as a prompt.
    pub fn problems(&self, file: &SourceFile, suite: &Path) -> Option<(&'static str, Vec<String>)> {
        let text = file.text.as_deref()?;
        let (kind, value) = kind_and_value(&file.path, text, suite)?;
        let value = value.into();
        let problems = self.0[kind].iter_errors(&value);
        let shown = |problem: jsonschema::ValidationError<'_>| {
            format!("{}: {problem} at {}", file.shown, problem.instance_path())
        };
        Some((kind, problems.map(shown).collect()))
    }
}

impl Default for Schemas {
    fn default() -> Self {
        Self::new()
    }
}

fn kind_and_value(path: &Path, text: &str, suite: &Path) -> Option<(&'static str, Value)> {
    let name = path.file_name()?.to_str()?;
    let ending = path.extension()?.to_str()?;
    if ending == "jsonl" {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let values: Option<Vec<Value>> = lines.map(|line| evalsuite_schema::json::from_str(line).ok()).collect();
        return Some(("cases", Value::Array(values?)));
    }
    let value: Value = match ending {
        "json" => evalsuite_schema::json::from_str(text).ok()?,
        "yaml" | "yml" => yaml(text)?,
        _ => return None,
    };
    let has = |key: &str| value.get(key).is_some();
    let kind = match name {
        _ if path == suite && ending != "json" => "eval",
        "suite.json" => "suite",
        "case.yaml" | "case.yml" => "case",
        "calibration.yaml" => "calibration",
        _ if ending == "json" && has("graders") => "task",
        _ if value.as_array().is_some_and(|items| items.iter().all(|item| item.get("id").is_some())) => "cases",
        _ if has("assertions") => "template",
        _ if has("template") || has("repos") => "workspace",
        _ => return None,
    };
    Some((kind, value))
}

/// A document with its merge keys applied, as the loader does.
fn yaml(text: &str) -> Option<Value> {
    let mut value: serde_yaml::Value = serde_yaml::from_str(text).ok()?;
    value.apply_merge().ok()?;
    evalsuite_schema::json::to_value_by_serde(&value).ok()
}
