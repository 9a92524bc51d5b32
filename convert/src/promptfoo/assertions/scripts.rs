//! Assertions in JavaScript and Python, which a small program runs as a `code-grader`.

use evalsuite_loader::document::Value;
use serde_json::{Value as Json, json};

use super::{CaseContext, Check, Grader};
use crate::source;

/// Runs JavaScript.
const JAVASCRIPT: &str = include_str!("../../../assets/javascript.mjs");

/// Runs Python.
const PYTHON: &str = include_str!("../../../assets/python.py");

pub(super) fn map(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let (program, name, text) = match check.kind {
        "python" => ("python3", "graders/python.py", PYTHON),
        _ => ("node", "graders/javascript.mjs", JAVASCRIPT),
    };
    let mut config = json!({});
    match (&check.script, &check.value) {
        (Some((path, function)), _) => {
            let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let copy = format!("graders/files/{file}");
            let code = source::text(path).map_err(|_| format!("`{file}` is not text"))?;
            let is_another = context
                .output
                .files()
                .get(std::path::Path::new(&copy))
                .is_some_and(|known| **known != *code.as_bytes());
            if is_another {
                return Err(format!("another file is called `{file}`, too"));
            }
            context.output.add(copy.clone(), code);
            context.report.approximated(check.place(), "only this file is copied, not what it imports");
            config["file"] = json!(copy);
            if let Some(function) = function {
                config["function"] = json!(function);
            }
        }
        (None, Some(value)) if !value.as_text().unwrap_or_default().trim().is_empty() => {
            config["code"] = json!(value.as_text().unwrap_or_default().trim_end());
        }
        _ => return Err("it has no code".to_owned()),
    }
    context.report.approximated(
        check.place(),
        format!("`{program}` runs it with the answer as text, and a context of `vars`, `test`, `prompt` and `config`"),
    );
    if let Some(transform) = check.assertion.value.get("transform").and_then(Value::as_text).or(context.transform) {
        config["transform"] = json!(transform);
    }
    if let Some(threshold) = check.threshold {
        config["threshold"] = crate::promptfoo::number(threshold);
    }
    if check.is_negated {
        config["negated"] = json!(true);
    }
    if context.scores_decide {
        config["score"] = json!("graded");
    }
    if let Some(own) = check.assertion.value.get("config") {
        config["config"] = own.to_json();
    }
    context.output.add(name, text);
    Ok(Grader::new(Json::Object(
        [("type", json!("code-grader")), ("command", json!([program, format!("./{name}")])), ("config", config)]
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )))
}
