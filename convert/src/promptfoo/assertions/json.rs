//! Assertions about JSON, whose schemas become files, as promptfoo's validator understands them: Ajv 8 in strict mode, for draft-07.

use std::collections::BTreeSet;
use std::path::Path;

use evalsuite_loader::document::{self, Data, Value};
use evalsuite_schema::json::{Object, Value as Json, json};

use super::{CaseContext, Check, Grader};
use crate::promptfoo::values;
use crate::suite_draft::slug;

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
    adapt_to_ajv(schema).into_iter().for_each(|reason| context.different(check, reason));
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
    let is_foreign = check.value.as_ref().is_some_and(values::is_in);
    context.different_if(is_foreign, check, "it has a number that is not finite, which no answer equals in promptfoo");
    let is_large = has_large_number(&value);
    context.different_if(is_large, check, "promptfoo rounds numbers beyond 2^53 before it compares them");
    let has_negative_zero = has_number(&value, &|number| number == 0.0 && number.is_sign_negative());
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
    let is_foreign = values::is_in(value);
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

/// Keywords with a schema.
const WITH_SCHEMA: &[&str] =
    &["additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then"];

/// Keywords with a list of schemas.
const WITH_LIST: &[&str] = &["allOf", "anyOf", "items", "oneOf"];

/// Keywords with a mapping of schemas.
const WITH_MAPPING: &[&str] = &["$defs", "definitions", "dependencies", "patternProperties", "properties"];

/// Keywords that say nothing about a value, there and here.
const WITHOUT_EFFECT: &[&str] =
    &["$comment", "$schema", "default", "description", "examples", "readOnly", "title", "writeOnly"];

/// Keywords whose number or values are compared.
const COMPARED: &[&str] =
    &["const", "enum", "exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum", "multipleOf"];

/// Other keywords that are the same.
const SAME: &[&str] = &[
    "$ref",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minItems",
    "minLength",
    "minProperties",
    "nullable",
    "required",
    "type",
    "uniqueItems",
];

/// Keywords that Ajv knows and does not check.
const UNCHECKED: &[&str] = &["$vocabulary", "contentEncoding", "contentMediaType", "contentSchema", "deprecated"];

/// Keywords with other rules.
const OTHER: &[&str] = &["$id", "format", "pattern"];

/// Integers up to here are exact in JavaScript.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Changes a schema so that other validators decide as Ajv does, and returns why they may not.
fn adapt_to_ajv(schema: &mut Json) -> BTreeSet<String> {
    let mut reasons = BTreeSet::new();
    adapt_schema(schema, &mut reasons);
    reasons
}

fn adapt_schema(schema: &mut Json, reasons: &mut BTreeSet<String>) {
    let Json::Object(entries) = schema else { return };
    entries.retain(|key, _| !UNCHECKED.contains(&key.as_str()));
    name_definitions(entries);
    if let Some(reason) = refusal(entries) {
        reasons.insert(format!("promptfoo reports an error, because Ajv refuses its schema: {reason}"));
    }
    drop_ignored(entries);
    for (key, value) in entries.iter_mut() {
        note_keyword(key, value, reasons);
        match value {
            Json::Object(schemas) if WITH_MAPPING.contains(&key.as_str()) => {
                schemas.values_mut().for_each(|schema| adapt_schema(schema, reasons));
            }
            Json::Array(schemas) if WITH_LIST.contains(&key.as_str()) => {
                schemas.iter_mut().for_each(|schema| adapt_schema(schema, reasons));
            }
            schema if WITH_SCHEMA.contains(&key.as_str()) => adapt_schema(schema, reasons),
            _ => {}
        }
    }
    allow_null(entries);
    keep_beside_reference(entries);
}

/// Definitions have one name in draft-07, where Ajv knows two.
fn name_definitions(entries: &mut Object) {
    if let Some(Json::Object(more)) = entries.remove("$defs") {
        match entries.get_mut("definitions") {
            Some(Json::Object(known)) => known.extend(more),
            _ => drop(entries.insert("definitions".to_owned(), Json::Object(more))),
        }
    }
    if let Some(Json::String(reference)) = entries.get_mut("$ref") {
        *reference = reference.replace("/$defs/", "/definitions/");
    }
}

/// Removes keywords for which Ajv refuses a schema, and which otherwise have no effect.
fn drop_ignored(entries: &mut Object) {
    let has_list = matches!(entries.get("items"), Some(Json::Array(_)));
    let (has_if, has_result) =
        (entries.contains_key("if"), ["then", "else"].iter().any(|key| entries.contains_key(key)));
    entries.retain(|key, _| match key.as_str() {
        "additionalItems" => has_list,
        "if" => has_result,
        "then" | "else" => has_if,
        key => is_known(key),
    });
}

fn is_known(key: &str) -> bool {
    [WITH_SCHEMA, WITH_LIST, WITH_MAPPING, WITHOUT_EFFECT, COMPARED, SAME, OTHER]
        .iter()
        .any(|known| known.contains(&key))
}

/// `nullable` of OpenAPI, which Ajv knows.
fn allow_null(entries: &mut Object) {
    let is_nullable = entries.remove("nullable") == Some(Json::Bool(true));
    let Some(types) = entries.get_mut("type").filter(|_| is_nullable) else { return };
    match types {
        Json::Array(types) if types.iter().any(|known| *known == "null") => {}
        Json::Array(types) => types.push(json!("null")),
        one if *one == "null" => {}
        one => *one = json!([one.clone(), "null"]),
    }
}

/// In draft-07, other validators ignore what is beside a `$ref`. Ajv does not.
fn keep_beside_reference(entries: &mut Object) {
    let is_alone =
        entries.keys().all(|key| key == "$ref" || WITHOUT_EFFECT.contains(&key.as_str()) || key == "definitions");
    if is_alone && !entries.contains_key("definitions") {
        return;
    }
    let Some(reference) = entries.remove("$ref") else { return };
    let reference = json!({"$ref": reference});
    match entries.get_mut("allOf") {
        Some(Json::Array(all)) => all.push(reference),
        _ => drop(entries.insert("allOf".to_owned(), json!([reference]))),
    }
}

/// Why Ajv refuses a schema, of what other validators let pass.
fn refusal(entries: &Object) -> Option<String> {
    if let Some(key) = entries.keys().find(|key| !is_known(key)) {
        return Some(format!("it does not know `{key}`"));
    }
    let has = |key: &str| entries.contains_key(key);
    let items_are_a_list = matches!(entries.get("items"), Some(Json::Array(_)));
    let enum_is_empty = entries.get("enum").and_then(Json::as_array).is_some_and(Vec::is_empty);
    let checks = [
        (has("additionalItems") && !items_are_a_list, "`additionalItems` needs a list of `items`"),
        (has("if") && !has("then") && !has("else"), "`if` needs `then` or `else`"),
        (!has("if") && (has("then") || has("else")), "`then` and `else` need `if`"),
        (has("nullable") && !has("type"), "`nullable` needs `type`"),
        (enum_is_empty, "`enum` is empty"),
    ];
    let failed = checks.iter().find(|(is_refused, _)| *is_refused).map(|(_, reason)| (*reason).to_owned());
    failed.or_else(|| property_of_pattern(entries))
}

/// A property with a schema of its own that a pattern of properties matches.
fn property_of_pattern(entries: &Object) -> Option<String> {
    let names = entries.get("properties")?.as_object()?;
    entries.get("patternProperties")?.as_object()?.keys().find_map(|pattern| {
        let regex = fancy_regex::Regex::new(pattern).ok()?;
        let name = names.keys().find(|name| regex.is_match(name).unwrap_or_default())?;
        Some(format!("the property `{name}` matches the pattern `{pattern}`, too"))
    })
}

/// Notes what Ajv checks by other rules.
fn note_keyword(key: &str, value: &Json, reasons: &mut BTreeSet<String>) {
    let reason = match key {
        "$id" => "promptfoo refuses a schema with `$id` after its first use",
        "$ref" if !value.as_str().is_some_and(|reference| reference.starts_with('#')) => {
            "promptfoo does not read other files for `$ref`"
        }
        "format" => "formats in its schema are checked by other rules",
        "pattern" | "patternProperties" => "patterns in its schema are not those of JavaScript",
        "multipleOf" if value.as_f64().is_some_and(|number| number.fract() != 0.0) => {
            "promptfoo divides by `multipleOf` with rounding: 19.99 is not a multiple of 0.01"
        }
        key if COMPARED.contains(&key) && has_large_number(value) => {
            "promptfoo rounds numbers beyond 2^53 before it compares them"
        }
        _ => return,
    };
    reasons.insert(reason.to_owned());
}

/// Whether a value has a number that may not be exact in JavaScript.
fn has_large_number(value: &Json) -> bool {
    has_number(value, &|number| number.abs() >= EXACT)
}

/// Whether a value has a number of a kind.
fn has_number(value: &Json, is_one: &dyn Fn(f64) -> bool) -> bool {
    match value {
        Json::Number(number) => number.as_f64().is_some_and(is_one),
        Json::Array(items) => items.iter().any(|item| has_number(item, is_one)),
        Json::Object(entries) => entries.values().any(|value| has_number(value, is_one)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapted(mut schema: Json) -> (Json, Vec<String>) {
        let reasons = adapt_to_ajv(&mut schema);
        (schema, reasons.into_iter().collect())
    }

    #[test]
    fn a_schema_is_changed_to_what_ajv_makes_of_it() {
        for (schema, expected) in [
            (
                json!({"type": "string", "contentEncoding": "base64", "contentMediaType": "application/json"}),
                json!({"type": "string"}),
            ),
            (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
            (json!({"type": ["null", "number"], "nullable": true}), json!({"type": ["null", "number"]})),
            (json!({"type": "string", "nullable": false}), json!({"type": "string"})),
            (
                json!({"properties": {"a": {"$ref": "#/definitions/b", "maximum": 3, "title": "A"}}, "definitions": {"b": {}}}),
                json!({"properties": {"a": {"maximum": 3, "title": "A", "allOf": [{"$ref": "#/definitions/b"}]}}, "definitions": {"b": {}}}),
            ),
            (
                json!({"$ref": "#/definitions/b", "definitions": {"b": {"type": "number"}}}),
                json!({"definitions": {"b": {"type": "number"}}, "allOf": [{"$ref": "#/definitions/b"}]}),
            ),
            (
                json!({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"deprecated": true}}}),
                json!({"items": {"$ref": "#/definitions/a"}, "definitions": {"a": {}}}),
            ),
            (json!({"$ref": "#/x", "allOf": [{}]}), json!({"allOf": [{}, {"$ref": "#/x"}]})),
            (json!({"items": {"$ref": "#", "title": "A"}}), json!({"items": {"$ref": "#", "title": "A"}})),
            // Names of properties are no keywords.
            (
                json!({"properties": {"format": {"type": "string"}, "contentEncoding": {}, "nullable": true}}),
                json!({"properties": {"format": {"type": "string"}, "contentEncoding": {}, "nullable": true}}),
            ),
            (json!({"const": {"pattern": "x", "$ref": 1}}), json!({"const": {"pattern": "x", "$ref": 1}})),
        ] {
            let (changed, reasons) = adapted(schema.clone());
            assert_eq!(changed, expected, "{schema}");
            assert_eq!(reasons, Vec::<String>::new(), "{schema}");
        }
    }

    #[test]
    fn what_ajv_refuses_or_checks_otherwise_is_named() {
        for (schema, part) in [
            (json!({"items": {"minContains": 1}}), "does not know `minContains`"),
            (json!({"anyOf": [{"x-note": 1}]}), "does not know `x-note`"),
            (json!({"id": "a"}), "does not know `id`"),
            (json!({"additionalItems": false}), "needs a list of `items`"),
            (json!({"if": {}}), "needs `then` or `else`"),
            (json!({"then": {}}), "need `if`"),
            (json!({"nullable": true}), "`nullable` needs `type`"),
            (json!({"not": {"enum": []}}), "`enum` is empty"),
            (json!({"properties": {"ab": {}}, "patternProperties": {"^a": {}}}), "the property `ab` matches"),
            (json!({"$id": "a"}), "after its first use"),
            (json!({"$ref": "other.json"}), "does not read other files"),
            (json!({"format": "email"}), "other rules"),
            (json!({"dependencies": {"a": {"pattern": "x"}}}), "not those of JavaScript"),
            (json!({"multipleOf": 0.01}), "19.99 is not a multiple"),
            (json!({"enum": [1, [9_007_199_254_740_992_u64]]}), "beyond 2^53"),
            (json!({"maximum": -1e300}), "beyond 2^53"),
        ] {
            let (_, reasons) = adapted(schema.clone());
            assert!(reasons.iter().any(|reason| reason.contains(part)), "{schema}: {reasons:?}");
        }
    }
}
