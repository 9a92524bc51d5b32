//! Schemas as promptfoo's validator understands them: Ajv 8 in strict mode, for draft-07.

use std::collections::BTreeSet;

use evalsuite_schema::json::{Object, Value as Json, json};

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
pub(super) fn adapt(schema: &mut Json) -> BTreeSet<String> {
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
pub(super) fn has_large_number(value: &Json) -> bool {
    has_number(value, &|number| number.abs() >= EXACT)
}

/// Whether a value has a number of a kind.
pub(super) fn has_number(value: &Json, is_one: &dyn Fn(f64) -> bool) -> bool {
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
        let reasons = adapt(&mut schema);
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
