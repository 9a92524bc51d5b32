//! Assertions about JSON, whose schemas become files.

use std::path::Path;

use evalsuite_loader::document;
use evalsuite_loader::document::Value;
use evalsuite_schema::json::{Value as Json, json};

use super::{CaseContext, Check, Grader};
use crate::case_ids::slug;

/// The draft that promptfoo's validator assumes.
const DRAFT: &str = "http://json-schema.org/draft-07/schema#";

pub(super) fn map(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    if check.script.is_some() {
        return Err("its schema is written by a program".to_owned());
    }
    let schema = match &check.value {
        Some(value) if value.as_text().is_some_and(|text| text.trim().is_empty()) => None,
        Some(value) => Some(schema(value)?),
        None => None,
    };
    let settings = match (schema, check.kind) {
        (None, kind) => json!({"type": kind}),
        (Some(schema), "contains-json") => {
            if check.is_negated {
                context
                    .report
                    .approximated(check.place(), "it fails if any of several objects conforms, not the first only");
            }
            json!({"type": "contains-json", "schema": file(schema, context)})
        }
        (Some(schema), _) => {
            context.report.approximated(check.place(), "fences around the JSON are ignored");
            json!({"type": "json-schema", "schema": file(schema, context)})
        }
    };
    if check.kind == "contains-json" {
        context.report.approximated(check.place(), "objects are strict JSON, without comments or missing quotes");
    }
    Ok(Grader::new(settings).negated(check.is_negated))
}

/// `equals` with an object or a list: the answer is this JSON.
pub(super) fn equals(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let value = check.value.as_ref().map(Value::to_json).unwrap_or_default();
    context.report.approximated(check.place(), "fences around the JSON are ignored");
    let schema = file(json!({"const": value}), context);
    Ok(Grader::new(json!({"type": "json-schema", "schema": schema})).negated(check.is_negated))
}

/// The schema, which may be YAML in a text.
fn schema(value: &Value) -> Result<Json, String> {
    let mut schema = match value.as_text() {
        Some(text) => match document::parse(text, Path::new("schema.yaml")) {
            Ok(document) => document.root.to_json(),
            Err(_) => return Err("its schema is not YAML".to_owned()),
        },
        None => value.to_json(),
    };
    match &mut schema {
        Json::Object(entries) => {
            if !entries.contains_key("$schema") {
                entries.insert("$schema".to_owned(), json!(DRAFT));
            }
            Ok(schema)
        }
        Json::Bool(_) => Ok(schema),
        _ => Err("its schema is neither an object nor a boolean".to_owned()),
    }
}

/// Adds the file of a schema, and returns its path. Equal schemas share one.
fn file(schema: Json, context: &mut CaseContext<'_>) -> String {
    let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap_or_default());
    let name = |number: usize| match number {
        1 => format!("schemas/{}.json", slug(context.id)),
        _ => format!("schemas/{}-{number}.json", slug(context.id)),
    };
    let known = context.output.files().iter().find(|(_, contents)| contents[..] == *text.as_bytes());
    if let Some((path, _)) = known {
        return format!("./{}", path.to_string_lossy());
    }
    let path =
        (1..).map(name).find(|path| !context.output.files().contains_key(Path::new(path))).expect("a number is free");
    context.output.add(path.clone(), text);
    format!("./{path}")
}
