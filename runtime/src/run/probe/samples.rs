//! A text that matches a pattern, for answers that are made up from patterns.
//!
//! No crate does it for these patterns: `rand_regex` and `proptest` know neither look-around nor back-references, and the texts have to be
//! the same every time.
//!
//! A document that conforms to a JSON Schema and says nothing, as an agent with structured output makes it without work.

use evalsuite_schema::grader::Regex;
use evalsuite_schema::json::{Object, Value, json};
use fancy_regex::{Expr, LookAround};

/// Characters that are tried for a class, the most usual first.
const CANDIDATES: &str = "a1A .,-_/:;@#%€$(){}[]\"'+*=<>!?|&~^\\\tß中\n";

/// Longest text, in bytes.
const LONGEST: usize = 1024;

/// A text that the pattern matches; `None` if none is found.
pub(super) fn matching_text(config: &Regex) -> Option<String> {
    let tree = Expr::parse_tree(&config.value).ok()?;
    let mut text = String::new();
    append(&tree.expr, &mut text)?;
    let has = |flag: char| config.flags.contains(flag);
    let mut builder = fancy_regex::RegexBuilder::new(&config.value);
    builder.case_insensitive(has('i')).multi_line(has('m')).dot_matches_new_line(has('s')).verbose_mode(has('x'));
    let matches = builder.build().ok()?.is_match(&text).ok()?;
    (matches && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// The texts that a pattern forbids with a negative look-around, as `^(?!.*error)` does.
pub(super) fn forbidden_texts(config: &Regex) -> Vec<String> {
    let Ok(tree) = Expr::parse_tree(&config.value) else { return Vec::new() };
    let mut texts = Vec::new();
    let mut waiting = vec![&tree.expr];
    while let Some(expression) = waiting.pop() {
        if let Expr::LookAround(inner, LookAround::LookAheadNeg | LookAround::LookBehindNeg) = expression {
            let branches = match inner.as_ref() {
                Expr::Alt(branches) => branches.as_slice(),
                other => std::slice::from_ref(other),
            };
            for branch in branches {
                let mut text = String::new();
                if append(branch, &mut text).is_some() && !text.trim().is_empty() {
                    texts.push(text.trim().to_owned());
                }
            }
        }
        waiting.extend(expression.children_iter());
    }
    texts
}

/// Appends a text for an expression; `None` if there is none.
fn append(expression: &Expr, text: &mut String) -> Option<()> {
    if text.len() > LONGEST {
        return None;
    }
    match expression {
        Expr::Literal { val, .. } => text.push_str(val),
        Expr::Any { .. } => text.push('a'),
        Expr::Concat(parts) => parts.iter().try_for_each(|part| append(part, text))?,
        Expr::Alt(branches) => {
            // The first branch that has a text.
            let start = text.len();
            branches.iter().find_map(|branch| {
                text.truncate(start);
                append(branch, text)
            })?;
        }
        Expr::Group(inner) => append(inner, text)?,
        Expr::AtomicGroup(inner) => append(inner, text)?,
        Expr::LookAround(inner, LookAround::LookBehind) => append(inner, text)?,
        Expr::Repeat { child, lo, .. } => {
            for _ in 0..*lo {
                append(child, text)?;
            }
        }
        Expr::Delegate { inner, .. } => text.push(character_of(inner)?),
        Expr::GeneralNewline { .. } => text.push('\n'),
        // Look-ahead, anchors and the like have no text of their own; whether the text matches is checked at the end.
        _ => {}
    }
    Some(())
}

/// A character of a class, such as `[.,]` or `\d`.
fn character_of(class: &str) -> Option<char> {
    let pattern = fancy_regex::Regex::new(&format!("^{class}$")).ok()?;
    let matches = |character: &char| pattern.is_match(character.encode_utf8(&mut [0; 4])).unwrap_or(false);
    // What the class names itself, before any other character.
    class.chars().filter(|character| !"[]^\\-".contains(*character)).chain(CANDIDATES.chars()).find(matches)
}

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

    fn sample(value: &str, flags: &str) -> Option<String> {
        matching_text(&Regex { value: value.to_owned(), flags: flags.to_owned() })
    }

    #[test]
    fn a_text_matches_its_pattern() {
        for (pattern, flags, text) in [
            (r"\b19[.,]90\b", "", "19.90"),
            ("^(approved|granted)$", "", "approved"),
            (r"order \d{4}", "i", "order dddd"),
            (r"(?i)refund(ed)?", "", "refund"),
            (r"(?<=€)\d+", "", "€1"),
        ] {
            let found = sample(pattern, flags);
            let pattern = fancy_regex::Regex::new(pattern).unwrap();
            assert!(found.as_deref().is_some_and(|found| pattern.is_match(found).unwrap()), "{pattern}: {found:?}");
            if !text.contains("dddd") {
                assert_eq!(found.as_deref(), Some(text));
            }
        }
    }

    #[test]
    fn a_text_that_a_pattern_forbids_is_found() {
        let of = |value: &str| forbidden_texts(&Regex { value: value.to_owned(), flags: String::new() });
        assert_eq!(of(r"^(?!.*\b(error|failed)\b)"), ["error"]);
        assert_eq!(of(r"^(?!sorry|no ).+$"), ["sorry", "no"]);
        assert_eq!(of("paid").len(), 0);
    }

    #[test]
    fn a_pattern_without_a_text_has_none() {
        assert_eq!(sample("", ""), None);
        assert_eq!(sample("a(?!.)b", ""), None);
        assert_eq!(sample("x{4000}", ""), None);
    }

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
