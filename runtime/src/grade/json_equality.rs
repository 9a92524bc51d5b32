//! Equality of JSON values in graders.

use evalsuite_schema::json::{Number, Value};

/// Whether two values are equal: order of keys does not matter, order of lists does, numbers are compared by value.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => numbers_equal(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| equal(left, right)))
        }
        _ => left == right,
    }
}

#[allow(clippy::float_cmp, reason = "`1` and `1.0` are one number, nothing else is")]
fn numbers_equal(left: &Number, right: &Number) -> bool {
    left == right || (left.is_f64() || right.is_f64()) && left.as_f64() == right.as_f64()
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::equal;

    #[test]
    fn numbers_are_compared_by_value_and_keys_in_any_order() {
        assert!(equal(&json!({"a": 1, "b": [1.0, 2]}), &json!({"b": [1, 2.0], "a": 1.0})));
        assert!(!equal(&json!([1, 2]), &json!([2, 1])));
        assert!(!equal(&json!({"a": null}), &json!({})));
        assert!(!equal(&json!(1), &json!("1")));
        assert!(!equal(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
    }
}
