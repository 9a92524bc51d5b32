//! The JSON Schemas of protocols in `runtime/protocols`, for tests.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A schema by the start of its file name.
fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("protocols/{name}.schema.json"));
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What is wrong with a value, by its schema.
pub(crate) fn problems(name: &str, value: &Value) -> Vec<String> {
    let validator = jsonschema::draft7::new(&schema(name)).unwrap();
    validator.iter_errors(value).map(|problem| format!("{problem} at {}", problem.instance_path())).collect()
}

/// The examples of a schema, each of which conforms to it.
pub(crate) fn examples(name: &str) -> Vec<Value> {
    let examples = schema(name)["examples"].as_array().unwrap().clone();
    assert!(!examples.is_empty());
    for example in &examples {
        assert_eq!(problems(name, example), Vec::<String>::new(), "{example}");
    }
    examples
}
