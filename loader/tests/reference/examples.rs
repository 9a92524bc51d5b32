//! Every example of the reference is a value that its key can have, and the suites of the repository conform to the schemas.

use std::collections::BTreeMap;
use std::path::Path;

use evalsuite_loader::key_tables::{FILES, Status, json_schema, tables};
use serde_json::{Value, json};
use walkdir::WalkDir;

#[test]
fn every_example_conforms_to_the_schema_of_its_key() {
    let schemas: Vec<Value> = FILES.iter().map(|(kind, _)| json_schema(kind).unwrap().into()).collect();
    let mut checked = 0;
    for table in tables() {
        let schema = schemas.iter().find(|schema| schema["definitions"].get(table.id).is_some());
        let schema = schema.unwrap_or_else(|| panic!("no schema has `{}`", table.id));
        let reference = format!("#/definitions/{}", table.id);
        let one = json!({ "definitions": schema["definitions"], "allOf": [{ "$ref": reference }] });
        let validator = jsonschema::draft7::new(&one).unwrap();
        for key in table.all_keys().filter(|key| !matches!(key.status, Status::Refused(..))) {
            let value: Value = serde_yaml::from_str(key.example).expect(key.example);
            // The provider says how a target is read. What other keys are missing is not looked at.
            let provider = if table.id == "acp-target" { "acp" } else { "cli" };
            if key.name == "provider" && value != provider {
                continue;
            }
            let mut object = json!({ "provider": provider });
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

/// The kind of a file, by its name.
fn kind(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    Some(match name {
        "EVAL.yaml" => "eval",
        "case.yaml" => "case",
        "suite.json" => "suite",
        "calibration.yaml" => "calibration",
        "targets.yaml" => "targets",
        // Fixtures of tasks are not tasks.
        _ if name.ends_with(".json") => {
            let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
            let below = parts.split(|part| *part == "tasks").nth(1)?;
            below.iter().all(|part| *part != "workspace" && !part.starts_with('_')).then_some("task")?
        }
        _ => return None,
    })
}

#[test]
fn the_suites_of_the_repository_conform_to_the_schemas() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let schemas: BTreeMap<&str, jsonschema::Validator> = FILES
        .iter()
        .map(|(kind, _)| (*kind, jsonschema::draft7::new(&json_schema(kind).unwrap().into()).unwrap()))
        .collect();
    let mut checked = BTreeMap::new();
    for directory in ["examples", "suites"] {
        let entries =
            WalkDir::new(root.join(directory)).into_iter().filter_entry(|entry| entry.file_name() != "target");
        for entry in entries {
            let path = entry.unwrap().into_path();
            let Some(kind) = kind(&path) else { continue };
            let value: Value = serde_yaml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let problems: Vec<String> = schemas[kind].iter_errors(&value).map(|problem| problem.to_string()).collect();
            assert_eq!(problems, Vec::<String>::new(), "{}", path.display());
            *checked.entry(kind).or_insert(0) += 1;
        }
    }
    assert!(["eval", "case", "suite", "task"].iter().all(|kind| checked.contains_key(kind)), "{checked:?}");
}
