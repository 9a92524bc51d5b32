//! The places where two JSON values differ.

use evalsuite_schema::Value;
use evalsuite_schema::json::step_of_key;

/// Calls `found` with the JSON pointer of each place that differs, and the values there; `None` where a value lacks the place. Values that
/// are not both objects or both arrays are the same if `is_same` says so.
pub(crate) fn each_difference(
    old: &Value,
    new: &Value,
    is_same: fn(&Value, &Value) -> bool,
    found: &mut impl FnMut(&str, Option<&Value>, Option<&Value>),
) {
    compare(&mut String::new(), Some(old), Some(new), is_same, found);
}

fn compare(
    pointer: &mut String,
    old: Option<&Value>,
    new: Option<&Value>,
    is_same: fn(&Value, &Value) -> bool,
    found: &mut impl FnMut(&str, Option<&Value>, Option<&Value>),
) {
    let length = pointer.len();
    match (old, new) {
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            let added = new.keys().filter(|key| !old.contains_key(key));
            for key in old.keys().chain(added) {
                pointer.push('/');
                pointer.push_str(&step_of_key(key));
                compare(pointer, old.get(key), new.get(key), is_same, found);
                pointer.truncate(length);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => {
            for index in 0..old.len().max(new.len()) {
                pointer.push_str(&format!("/{index}"));
                compare(pointer, old.get(index), new.get(index), is_same, found);
                pointer.truncate(length);
            }
        }
        (Some(old), Some(new)) if is_same(old, new) => {}
        (old, new) => found(pointer, old, new),
    }
}
