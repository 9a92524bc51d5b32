//! `$ref` of a configuration: a mapping that is replaced by another one, such as `#/assertionTemplates/polite`.

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::key_of_step;

/// Deepest chain of references.
const DEEPEST: usize = 16;

/// Values that references are replaced by, at most: references to values with references multiply.
const MOST_VALUES: usize = 500_000;

/// Replaces every reference into the document by what it leads to. Any other reference stays, such as those of JSON Schemas. False if that
/// would be too many values.
pub(super) fn resolve(root: &mut Value) -> bool {
    let whole = root.clone();
    let mut left = MOST_VALUES;
    replace(root, &whole, 0, &mut left);
    left > 0
}

fn replace(value: &mut Value, whole: &Value, depth: usize, left: &mut usize) {
    if depth > DEEPEST || *left == 0 {
        return;
    }
    let target = value.get("$ref").and_then(Value::as_text).and_then(|pointer| at(whole, pointer));
    if let Some(target) = target {
        *left = left.saturating_sub(size(target));
        if *left == 0 {
            return;
        }
        let target = target.clone();
        let mut entries = target.entries().to_vec();
        let own = value.entries().iter().filter(|(key, _)| key != "$ref").cloned();
        for (key, own) in own {
            entries.retain(|(known, _)| *known != key);
            entries.push((key, own));
        }
        value.data = if matches!(target.data, Data::Mapping(_)) { Data::Mapping(entries) } else { target.data };
        replace(value, whole, depth + 1, left);
        return;
    }
    match &mut value.data {
        Data::List(items) => items.iter_mut().for_each(|item| replace(item, whole, depth, left)),
        Data::Mapping(entries) => entries.iter_mut().for_each(|(_, value)| replace(value, whole, depth, left)),
        _ => {}
    }
}

/// Number of values in a value.
fn size(value: &Value) -> usize {
    match &value.data {
        Data::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Data::Mapping(entries) => 1 + entries.iter().map(|(_, value)| size(value)).sum::<usize>(),
        _ => 1,
    }
}

/// The value at a JSON pointer after `#`.
fn at<'v>(root: &'v Value, pointer: &str) -> Option<&'v Value> {
    let parts = pointer.strip_prefix("#/")?.split('/').map(key_of_step);
    parts.into_iter().try_fold(root, |value, part| match value.items() {
        Some(items) => items.get(part.parse::<usize>().ok()?),
        None => value.get(&part),
    })
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn references_lead_into_the_document() {
        let mut root = Value::from(json!({
            "t": {"a": {"type": "contains", "value": "x"}, "b": {"$ref": "#/t/a", "weight": 2}, "self": {"$ref": "#/t/self"}},
            "tests": [{"assert": [{"$ref": "#/t/b"}, {"$ref": "#/none"}, {"$ref": "other.yaml"}]}],
        }));
        assert!(resolve(&mut root));
        let asserts = root.to_json()["tests"][0]["assert"].clone();
        assert_eq!(
            asserts,
            json!([{"type": "contains", "value": "x", "weight": 2}, {"$ref": "#/none"}, {"$ref": "other.yaml"}])
        );
    }
}
