//! Assertions about JSON, whose schemas become files.

use std::path::Path;

use evalsuite_loader::document::{self, Data, Value};
use evalsuite_schema::json::{Value as Json, json};

use super::{CaseContext, Check, Grader, ajv};
use crate::case_ids::slug;
use crate::promptfoo::foreign;

/// The draft that promptfoo's validator assumes.
const DRAFT: &str = "http://json-schema.org/draft-07/schema";

/// `is-json` and `contains-json`.
pub(super) fn map(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let schema = match &check.value {
        // What JavaScript takes for false is no schema.
        Some(Value { data: Data::Null | Data::Bool(false), .. }) | None => None,
        Some(value) if value.as_text().is_some_and(str::is_empty) => None,
        Some(value) => Some(schema(value, check, context)?),
    };
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

/// Adapts a schema to Ajv, and reports what it sees differently.
fn adapt(schema: &mut Json, check: &Check<'_>, context: &mut CaseContext<'_>) {
    let is_draft = |draft: &Json| draft.as_str().map(|draft| draft.trim_end_matches('#')) == Some(DRAFT);
    let is_other = schema.get("$schema").is_some_and(|draft| !is_draft(draft));
    context.different_if(is_other, check, "promptfoo knows no other draft of JSON Schema than draft-07");
    ajv::adapt(schema).into_iter().for_each(|reason| context.different(check, reason));
}

/// Whether a value has a `$ref`, which promptfoo looks for in the whole configuration.
fn has_reference(value: &Value) -> bool {
    value.get("$ref").is_some()
        || value.entries().iter().any(|(_, value)| has_reference(value))
        || value.items().is_some_and(|items| items.iter().any(has_reference))
}

/// `equals` with an object or a list: the answer is this JSON.
pub(super) fn equals(check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Grader, String> {
    let value = check.value.as_ref().map(Value::to_json).unwrap_or_default();
    let is_foreign = check.value.as_ref().is_some_and(foreign::is_in);
    context.different_if(is_foreign, check, "it has a number that is not finite, which no answer equals in promptfoo");
    let is_large = ajv::has_large_number(&value);
    context.different_if(is_large, check, "promptfoo rounds numbers beyond 2^53 before it compares them");
    let has_negative_zero = ajv::has_number(&value, &|number| number == 0.0 && number.is_sign_negative());
    context.different_if(has_negative_zero, check, "promptfoo tells -0 from 0");
    Ok(conforms(json!({"const": value}), check, context))
}

/// The schema, which may be YAML in a text.
fn schema(value: &Value, check: &Check<'_>, context: &mut CaseContext<'_>) -> Result<Json, String> {
    let parsed = value.as_text().map(|text| document::parse_js_yaml(text, Path::new("schema.yaml")));
    let parsed = parsed.transpose().map_err(|_| "its schema is not YAML")?.map(|document| document.root);
    let is_in_configuration = parsed.is_none() && !check.is_from_file();
    let value = parsed.as_ref().unwrap_or(value);
    let refused = is_in_configuration && has_reference(value);
    context.different_if(
        refused,
        check,
        "promptfoo refuses the configuration, because it looks for `$ref` in all of it",
    );
    let is_foreign = foreign::is_in(value);
    context.different_if(is_foreign, check, "its schema has a date or a number that JSON does not have: quote it");
    let mut schema = value.to_json();
    match &schema {
        Json::Object(_) => adapt(&mut schema, check, context),
        Json::Bool(_) => return Ok(schema),
        _ => return Err("its schema is neither an object nor a boolean".to_owned()),
    }
    if let Json::Object(entries) = &mut schema
        && !entries.contains_key("$schema")
    {
        entries.insert("$schema".to_owned(), json!(format!("{DRAFT}#")));
    }
    Ok(schema)
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
