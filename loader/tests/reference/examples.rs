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
        for key in table.all_keys().filter(|key| key.status != Status::Refused) {
            let value: Value = serde_yaml::from_str(key.example).expect(key.example);
            let object = &schema["definitions"][table.id];
            // A target is a command if its provider says so.
            let properties = object.get("then").unwrap_or(object).get("properties").expect("an object has properties");
            let property = &properties[key.name];
            let one = json!({ "definitions": schema["definitions"], "allOf": [property] });
            let validator = jsonschema::draft7::new(&one).unwrap();
            let problems: Vec<String> = validator.iter_errors(&value).map(|problem| problem.to_string()).collect();
            assert_eq!(problems, Vec::<String>::new(), "{} {}: {}", table.id, key.name, key.example);
            checked += 1;
        }
    }
    assert!(checked > 200, "{checked} examples");
}
