//! The `metadata` and `governance` of a suite, and the metadata of a case with them.

use std::collections::HashSet;

use evalsuite_schema::{Object, Value};

use crate::diagnostic::{Code, Diagnostics, report_both};
use crate::fields::{self, Fields};

const GOVERNANCE: &str = "governance";

/// The metadata of every case of a suite: its `metadata`, and its `governance` under that name.
pub(crate) fn of_suite(fields: &mut Fields<'_>, d: &mut Diagnostics) -> Object {
    let written = fields.get("metadata");
    let mut metadata = written.and_then(|entry| fields::object(&entry.value, "`metadata`", d)).unwrap_or_default();
    let Some(entry) = fields.get(GOVERNANCE) else { return metadata };
    if let Some(other) = written.and_then(|metadata| metadata.value.entry(GOVERNANCE)) {
        let message = "`governance` and `metadata.governance` are one setting";
        let other = (other.key_span, "`metadata.governance` is here");
        report_both(Code::ConflictingKeys, (entry.key_span, message), other, "keep `governance`", d);
    }
    if let Some(governance) = fields::object(&entry.value, "`governance`", d) {
        metadata.insert(GOVERNANCE.to_owned(), Value::Object(governance));
    }
    metadata
}

/// The metadata of a case and its suite: mappings are merged, lists are joined without repeats, the suite's elements first,
/// and of two other values the case's holds.
pub(crate) fn merge(suite: &Object, mut case: Object) -> Object {
    for (key, shared) in suite {
        match (case.get_mut(key), shared) {
            (None, _) => {
                case.insert(key.clone(), shared.clone());
            }
            (Some(Value::Object(own)), Value::Object(shared)) => *own = merge(shared, std::mem::take(own)),
            (Some(Value::Array(own)), Value::Array(shared)) => *own = join(shared, own),
            (Some(_), _) => {}
        }
    }
    case
}

fn join(first: &[Value], second: &[Value]) -> Vec<Value> {
    let mut seen = HashSet::new();
    first.iter().chain(second).filter(|value| seen.insert(*value)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::{Value, json};

    use super::merge;

    fn merged(suite: Value, case: Value) -> Value {
        let (Value::Object(suite), Value::Object(case)) = (suite, case) else { panic!("metadata is a mapping") };
        Value::Object(merge(&suite, case))
    }

    #[test]
    fn mappings_are_merged_and_lists_joined_without_repeats() {
        let suite = json!({"governance": {"controls": ["A-1", "A-2"], "owner": "shop", "risk": {"tier": "low"}}});
        let case = json!({"bucket": "refunds", "governance": {"controls": ["B-1", "A-2", "B-1"], "risk": {"note": 3}}});
        assert_eq!(
            merged(suite, case),
            json!({
                "bucket": "refunds",
                "governance": {"controls": ["A-1", "A-2", "B-1"], "risk": {"note": 3, "tier": "low"}, "owner": "shop"},
            })
        );
    }

    #[test]
    fn a_value_of_the_case_holds() {
        let suite = json!({"owner": "shop", "tier": ["low"], "area": {"a": 1}, "since": 2024});
        let case = json!({"owner": null, "tier": "high", "area": ["b"], "since": 2025});
        assert_eq!(merged(suite, case.clone()), case);
    }
}
