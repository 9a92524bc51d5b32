//! Every example of the reference is a value that its key can have.

use evalsuite_loader::keys::{FILES, Status, json_schema, tables};
use serde_json::{Value, json};

#[test]
fn every_example_conforms_to_the_schema_of_its_key() {
    let schemas: Vec<Value> = FILES.iter().map(|(kind, _)| json_schema(kind).unwrap()).collect();
    let mut checked = 0;
    for table in tables() {
        let schema = schemas.iter().find(|schema| schema["definitions"].get(table.id).is_some());
        let schema = schema.unwrap_or_else(|| panic!("no schema has `{}`", table.id));
        let reference = format!("#/definitions/{}", table.id);
        let one = json!({ "definitions": schema["definitions"], "allOf": [{ "$ref": reference }] });
        let validator = jsonschema::draft7::new(&one).unwrap();
        for key in table.all_keys().filter(|key| key.status != Status::Refused) {
            let value: Value = serde_yaml::from_str(key.example).expect(key.example);
            // A target is read as a command if its provider says so. What other keys are missing is not looked at.
            let mut object = json!({ "provider": "cli" });
            object[key.name] = value;
            let (place, inside) = (format!("/{}", key.name), format!("/{}/", key.name));
            let is_of_key = |path: &str| path == place || path.starts_with(&inside);
            let problems: Vec<String> = validator
                .iter_errors(&object)
                .filter(|problem| is_of_key(problem.instance_path().as_str()))
                .map(|problem| problem.to_string())
                .collect();
            assert_eq!(problems, Vec::<String>::new(), "{} {}: {}", table.id, key.name, key.example);
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked} examples");
}
