//! A document that conforms to a JSON Schema and says nothing, as an agent with structured output makes it without work.

use evalsuite_schema::json::{Object, Value, json};

/// Most levels of a document.
const DEEPEST: usize = 16;

/// A document with nothing but what the schema demands; `None` if the schema demands a certain value, or none is found.
pub(super) fn empty_document(schema: &Value) -> Option<Value> {
    document(schema, schema, 0)
}

fn document(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let Value::Object(keys) = schema else { return (*schema == Value::Bool(true)).then(|| json!({})) };
    if depth > DEEPEST {
        return None;
    }
    if let Some(reference) = keys.get("$ref").and_then(Value::as_str) {
        return document(root.pointer(reference.strip_prefix('#')?)?, root, depth + 1);
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(branches) = keys.get(choice).and_then(Value::as_array) {
            let of_branch = |branch| document(&Value::Object(merged(keys, branch)), root, depth + 1);
            return branches.iter().find_map(of_branch);
        }
    }
    if let Some(parts) = keys.get("allOf").and_then(Value::as_array) {
        let mut whole = parts.iter().fold(keys.clone(), |whole, part| merged(&whole, part));
        whole.remove("allOf");
        return document(&Value::Object(whole), root, depth + 1);
    }
    if keys.contains_key("const") {
        return None;
    }
    if let Some(choices) = keys.get("enum").and_then(Value::as_array) {
        return choices.first().filter(|_| choices.len() > 1).cloned();
    }
    let of_type = match keys.get("type") {
        Some(Value::Array(types)) => types.first().and_then(Value::as_str),
        other => other.and_then(Value::as_str),
    };
    let number = |key: &str| keys.get(key).and_then(Value::as_f64);
    match of_type {
        Some("string") => text(keys),
        Some("integer" | "number") => {
            let least = number("minimum").or_else(|| number("exclusiveMinimum").map(|least| least + 1.0));
            let most = number("maximum").or_else(|| number("exclusiveMaximum").map(|most| most - 1.0));
            let value = least.unwrap_or(0.0).max(0.0).min(most.unwrap_or(f64::MAX));
            Some(if value.fract() == 0.0 && value.abs() < 1e15 { json!(value as i64) } else { json!(value) })
        }
        Some("boolean") => Some(Value::Bool(false)),
        Some("null") => Some(Value::Null),
        Some("array") => {
            let least = keys.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let no_rule = Value::Bool(true);
            let item = keys.get("items").unwrap_or(&no_rule);
            let items = (0..least.min(16)).map(|_| document(item, root, depth + 1));
            items.collect::<Option<Vec<_>>>().map(Value::Array)
        }
        _ => object(keys, root, depth),
    }
}

fn object(keys: &Object, root: &Value, depth: usize) -> Option<Value> {
    let mut object = Object::new();
    let no_rule = Value::Bool(true);
    for name in keys.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
        let rule = keys.get("properties").and_then(|properties| properties.get(name)).unwrap_or(&no_rule);
        object.insert(name.to_owned(), document(rule, root, depth + 1)?);
    }
    Some(Value::Object(object))
}

/// The shortest text without a meaning.
fn text(keys: &Object) -> Option<Value> {
    if keys.contains_key("pattern") || keys.contains_key("format") {
        return None;
    }
    let least = keys.get("minLength").and_then(Value::as_u64).and_then(|least| usize::try_from(least).ok());
    Some(Value::String("x".repeat(least.unwrap_or(0).min(1024))))
}

/// A schema with the keys of another one; lists of required keys and properties are joined.
fn merged(keys: &Object, other: &Value) -> Object {
    let mut whole = keys.clone();
    whole.retain(|key, _| !matches!(key.as_str(), "anyOf" | "oneOf"));
    for (key, value) in other.as_object().into_iter().flat_map(Object::iter) {
        match (whole.get_mut(key), value) {
            (Some(Value::Array(items)), Value::Array(more)) if key == "required" => items.extend(more.iter().cloned()),
            (Some(Value::Object(properties)), Value::Object(more)) if key == "properties" => {
                properties.extend(more.clone());
            }
            _ => drop(whole.insert(key.clone(), value.clone())),
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_what_is_required_and_no_more() {
        let schema = json!({
            "type": "object",
            "required": ["status", "total", "items", "nested"],
            "properties": {
                "status": { "enum": ["approved", "rejected"] },
                "total": { "type": "number", "minimum": 1 },
                "items": { "type": "array", "minItems": 1, "items": { "$ref": "#/definitions/item" } },
                "nested": { "anyOf": [{ "const": 1 }, { "type": "object", "required": ["a"] }] },
                "more": { "type": "string" },
            },
            "definitions": { "item": { "type": "string", "minLength": 2 } },
        });
        let expected = json!({ "status": "approved", "total": 1, "items": ["xx"], "nested": { "a": {} } });
        assert_eq!(empty_document(&schema), Some(expected));
        assert_eq!(empty_document(&json!({})), Some(json!({})));
        assert_eq!(empty_document(&Value::Bool(true)), Some(json!({})));
        let both = json!({ "allOf": [{ "required": ["a"] }, { "required": ["b"], "properties": { "b": { "type": "null" } } }] });
        assert_eq!(empty_document(&both), Some(json!({ "a": {}, "b": null })));
    }

    #[test]
    fn a_schema_that_demands_a_certain_value_has_none() {
        for rule in
            [json!({ "const": 14.2 }), json!({ "enum": ["approved"] }), json!({ "type": "string", "pattern": "^14" })]
        {
            assert_eq!(empty_document(&json!({ "required": ["v"], "properties": { "v": rule } })), None);
        }
        assert_eq!(empty_document(&json!({ "$ref": "#" })), None);
        assert_eq!(empty_document(&Value::Bool(false)), None);
    }
}
