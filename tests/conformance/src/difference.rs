//! Differences between two JSON documents.

use evalsuite_schema::Value;
use evalsuite_schema::json::Number;

/// A path at which two documents differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Keys and indices from the root, joined by dots.
    pub path: String,
    /// The reference's value, if it has one.
    pub expected: Option<Value>,
    /// Our value, if we have one.
    pub ours: Option<Value>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let show = |value: &Option<Value>| value.as_ref().map_or("nothing".to_owned(), Value::to_string);
        write!(f, "{}: the reference has {}, we have {}", self.path, show(&self.expected), show(&self.ours))
    }
}

/// All differences. The order of keys and the spelling of numbers do not matter.
pub fn between(expected: &Value, ours: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(String::new(), Some(expected), Some(ours), &mut found);
    found
}

fn compare(path: String, expected: Option<&Value>, ours: Option<&Value>, found: &mut Vec<Difference>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (expected, ours) {
        (Some(Value::Object(expected)), Some(Value::Object(ours))) => {
            let mut keys: Vec<&String> = expected.keys().collect();
            keys.extend(ours.keys().filter(|key| !expected.contains_key(key)));
            for key in keys {
                compare(below(key), expected.get(key), ours.get(key), found);
            }
        }
        (Some(Value::Array(expected)), Some(Value::Array(ours))) if expected.len() == ours.len() => {
            for (index, (expected, ours)) in expected.iter().zip(ours).enumerate() {
                compare(below(&index.to_string()), Some(expected), Some(ours), found);
            }
        }
        (Some(Value::Number(a)), Some(Value::Number(b))) if a == b || !is_big(a) && a.as_f64() == b.as_f64() => {}
        (expected, ours) if expected == ours => {}
        (expected, ours) => {
            found.push(Difference { path, expected: expected.cloned(), ours: ours.cloned() });
        }
    }
}

/// Whether the number is an integer beyond the range in which doubles are exact.
fn is_big(number: &Number) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    !number.is_f64() && number.as_f64().is_some_and(|value| value.abs() >= EXACT)
}
