//! Assertions about JSON, whose schemas become files.

use std::path::Path;

use evalsuite_loader::document::{self, Data, Value};
use evalsuite_schema::json::{Value as Json, json};

use super::{CaseContext, Check, Grader};
use crate::case_ids::slug;

/// The draft that promptfoo's validator assumes.
const DRAFT: &str = "http://json-schema.org/draft-07/schema";

/// `is-json` and `contains-json`.
pub(super) fn map(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let schema = match &check.value {
        // What JavaScript takes for false is no schema.
        Some(Value { data: Data::Null | Data::Bool(false), .. }) | None => None,
        Some(value) if value.as_text().is_some_and(str::is_empty) => None,
        Some(value) => Some(schema(value)?),
    };
    if let Some(schema) = &schema {
        compare(schema, check, context);
    }
    let is_true = check.value.as_ref().is_some_and(|value| value.data == Data::Bool(true));
    context.different_if(is_true, check, "promptfoo reports an error, because its schema is not an object");
    let reason =
        "an object is strict JSON, where promptfoo also finds one without quotes, with comments or without its end";
    context.different_if(check.kind == "contains-json", check, reason);
    Ok(match (schema, check.kind) {
        (None, kind) => Grader::new(json!({"type": kind})).negated(check.is_negated),
        (Some(schema), "contains-json") => {
            let settings = json!({"type": "contains-json", "schema": file(schema, context)});
            Grader::new(settings).negated(check.is_negated)
        }
        (Some(schema), _) => conforms(schema, check, context),
    })
}

/// The answer is JSON of a schema, without fences around it, which `json-schema` ignores.
fn conforms(schema: Json, check: &Check<'_>, context: &mut CaseContext<'_>) -> Grader {
    let member = |mut settings: Json| {
        settings["required"] = json!(true);
        settings["min_score"] = json!(1);
        settings
    };
    let members =
        [json!({"type": "is-json"}), json!({"type": "json-schema", "schema": file(schema, context)})].map(member);
    Grader::composite(json!(members)).negated(check.is_negated).graded(1.0)
}

/// Reports what validators of the two languages see differently.
fn compare(schema: &Json, check: &Check<'_>, context: &mut CaseContext<'_>) {
    let is_draft = |draft: &Json| draft.as_str().map(|draft| draft.trim_end_matches('#')) == Some(DRAFT);
    let is_other = schema.get("$schema").is_some_and(|draft| !is_draft(draft));
    context.different_if(is_other, check, "promptfoo knows no other draft of JSON Schema than draft-07");
    let has_format = has_key(schema, &["format"]);
    context.different_if(has_format, check, "formats in its schema are checked by other rules");
    let has_pattern = has_key(schema, &["pattern", "patternProperties"]);
    context.different_if(has_pattern, check, "patterns in its schema are not those of JavaScript");
}

fn has_key(schema: &Json, keys: &[&str]) -> bool {
    match schema {
        Json::Object(entries) => {
            entries.iter().any(|(key, value)| keys.contains(&key.as_str()) || has_key(value, keys))
        }
        Json::Array(items) => items.iter().any(|item| has_key(item, keys)),
        _ => false,
    }
}

/// `equals` with an object or a list: the answer is this JSON.
pub(super) fn equals(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let value = check.value.as_ref().map(Value::to_json).unwrap_or_default();
    Ok(conforms(json!({"const": value}), check, context))
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
                entries.insert("$schema".to_owned(), json!(format!("{DRAFT}#")));
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
