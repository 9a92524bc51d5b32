//! The contents of a record's files as the second reader sees them.

use evalsuite_schema::Value;

use crate::record::Record;
use crate::source_excerpt;

/// The data of every YAML file of a record; each line of a JSONL file is one document.
pub(super) fn documents(record: &Record) -> Vec<(&str, Value)> {
    let mut found = Vec::new();
    for (path, text) in record.texts() {
        let name = path.to_ascii_lowercase();
        if name.ends_with(".jsonl") {
            found.extend(text.lines().filter_map(|line| Some((path, evalsuite_schema::json::from_str(line).ok()?))));
        } else if name.ends_with(".yaml") || name.ends_with(".yml") {
            found.extend(source_excerpt::from_yaml(text).map(|document| (path, document)));
        }
    }
    found
}

/// All cases with their ids, which may be the names of their directories.
pub(super) fn cases(record: &Record) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let id = |case: &Value, default: &str| case["id"].as_str().unwrap_or(default).to_owned();
    for (path, document) in documents(record) {
        let mut parts = path.rsplit('/');
        let (name, directory) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        match document {
            Value::Array(cases) => found.extend(cases.into_iter().map(|case| (id(&case, ""), case))),
            case if matches!(name, "case.yaml" | "case.yml") => found.push((id(&case, directory), case)),
            line if name.to_ascii_lowercase().ends_with(".jsonl") => found.push((id(&line, ""), line)),
            root => {
                let lists = ["tests", "eval_cases", "evalcases"].iter().filter_map(|key| root[*key].as_array());
                found.extend(lists.flatten().map(|case| (id(case, ""), case.clone())));
            }
        }
    }
    found
}

/// Whether any mapping in the files, at any depth, `fits`.
pub(super) fn any_mapping(record: &Record, fits: &dyn Fn(&evalsuite_schema::Object) -> bool) -> bool {
    fn below(value: &Value, fits: &dyn Fn(&evalsuite_schema::Object) -> bool) -> bool {
        match value {
            Value::Array(items) => items.iter().any(|item| below(item, fits)),
            Value::Object(entries) => fits(entries) || entries.values().any(|item| below(item, fits)),
            _ => false,
        }
    }
    documents(record).iter().any(|(_, document)| below(document, fits))
}
