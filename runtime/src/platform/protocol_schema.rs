//! The JSON Schemas of protocols in `runtime/protocols`, for tests.

use std::fs;
use std::path::Path;

use evalsuite_schema::Value;

/// A schema by the start of its file name.
fn schema(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("protocols/{name}.schema.json"));
    evalsuite_schema::json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// What is wrong with a value, by its schema.
pub(crate) fn problems(name: &str, value: &Value) -> Vec<String> {
    let validator = jsonschema::draft7::new(&schema(name).into()).unwrap();
    validator.iter_errors(&value.into()).map(|problem| format!("{problem} at {}", problem.instance_path())).collect()
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
