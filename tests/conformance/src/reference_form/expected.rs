//! Normalises the reference's tests: defaults filled in, redundant keys removed.

use evalsuite_schema::json::{Object, Value, json};

/// A test of a record.
pub fn test(expected: &Value) -> Value {
    let mut test = expected.clone();
    let Value::Object(fields) = &mut test else { return test };
    fields.remove("evaluator");
    // `workspace` contains the template, too.
    fields.remove("workspace_template");
    fields.get_or_insert("on_dependency_failure", json!("skip"));
    if let Some(Value::Array(graders)) = fields.get_mut("graders") {
        *graders = graders.iter().map(grader).collect();
    }
    if let Some(workspace) = fields.get_mut("workspace") {
        self::workspace(workspace);
    }
    for key in ["input", "expected_output"] {
        fields.get_mut(key).and_then(Value::as_array_mut).into_iter().flatten().for_each(message);
    }
    for turn in fields.get_mut("turns").and_then(Value::as_array_mut).into_iter().flatten() {
        *turn = self::turn(turn);
    }
    if fields.get("mode").is_some() {
        fields.get_or_insert("aggregation", json!("mean"));
        fields.get_or_insert("on_turn_failure", json!("continue"));
    }
    super::remove_empty(&mut test);
    test
}

/// A turn, which the reference keeps as written: its graders by type, all strings as one.
fn turn(turn: &Value) -> Value {
    let expected_output = match &turn["expected_output"] {
        Value::Null => json!([]),
        Value::Array(messages) if messages.first().is_some_and(|first| first.get("role").is_some()) => json!(messages),
        message if message.get("role").is_some() => json!([message]),
        content => json!([{ "role": "assistant", "content": content }]),
    };
    let mut types: Vec<Value> = Vec::new();
    for entry in turn["assertions"].as_array().into_iter().flatten() {
        let kind = if entry.is_string() {
            json!("strings")
        } else {
            json!(entry["type"].as_str().unwrap_or_default().replace('_', "-"))
        };
        if !(entry.is_string() && types.contains(&kind)) {
            types.push(kind);
        }
    }
    let input = match &turn["input"] {
        // Shorthand for a part.
        Value::Array(parts) => parts
            .iter()
            .map(|part| if part.is_string() { json!({ "type": "text", "value": part }) } else { part.clone() })
            .collect(),
        input => input.clone(),
    };
    json!({ "input": input, "expected_output": expected_output, "graders": types })
}

/// A suite-level result of a record.
pub fn suite(expected: &Value) -> Value {
    let mut suite = expected.clone();
    if let Value::Object(fields) = &mut suite {
        fields.get_or_insert("failOnError", json!(false));
        if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
            // It requires a version of the reference.
            metadata.remove("requires");
        }
        for target in fields.get_mut("targetRefs").and_then(Value::as_array_mut).into_iter().flatten() {
            *target = json!({ "name": target["name"], "use_target": target["use_target"] });
            super::remove_empty(target);
        }
        if let Some(Value::Object(trials)) = fields.get_mut("trials") {
            trials.get_or_insert("strategy", json!("pass_at_k"));
        }
    }
    super::remove_empty(&mut suite);
    suite
}

fn message(message: &mut Value) {
    if let Value::Object(fields) = message {
        // Keys without content.
        fields.retain(|key, value| match (key.as_str(), value) {
            ("tool_calls" | "name", Value::Null) => false,
            ("tool_calls", Value::Array(calls)) => !calls.is_empty(),
            ("name", Value::String(name)) => !name.is_empty(),
            _ => true,
        });
    }
    let Some(Value::Array(parts)) = message.get_mut("content") else { return };
    for part in parts {
        if let Value::Object(fields) = part {
            // A part of an expected message has `path` in place of `value`.
            if let (Some("file"), None, Some(path)) =
                (fields.get("type").and_then(Value::as_str), fields.get("value"), fields.get("path").cloned())
            {
                fields.insert("value".to_owned(), path);
            }
        }
        if let (Some("file"), Value::Object(fields)) = (part["type"].as_str().map(str::to_owned).as_deref(), part) {
            // Same as `value`.
            fields.remove("path");
        }
    }
}

/// A grader of a record.
pub fn grader(expected: &Value) -> Value {
    let mut grader = expected.clone();
    let Value::Object(fields) = &mut grader else { return grader };
    fields.get_or_insert("weight", json!(1));
    fields.get_or_insert("negate", json!(false));
    match fields.get("required").and_then(Value::as_f64) {
        // The deprecated way to set both.
        Some(mark) => {
            fields.insert("required".to_owned(), json!(true));
            fields.insert("min_score".to_owned(), json!(mark));
        }
        None => {
            fields.get_or_insert("required", json!(false));
        }
    }
    fields.remove("resolvedPromptPath");
    match fields.get("type").and_then(Value::as_str) {
        Some("skill-trigger") => {
            fields.get_or_insert("should_trigger", json!(true));
        }
        Some("tool-trajectory") => {
            fields.get_or_insert("argsMatch", json!("exact"));
        }
        Some("field-accuracy") => field_accuracy(fields),
        Some("composite") => {
            let members = fields.get_mut("assertions").and_then(Value::as_array_mut);
            members.into_iter().flatten().for_each(|member| *member = self::grader(member));
        }
        Some("code-grader") => {
            fields.get_or_insert("resolvedCwd", Value::Null);
        }
        Some("regex") if fields.get("flags").is_some_and(|flags| flags == "") => {
            fields.remove("flags");
        }
        _ => {}
    }
    fields.get_mut("rubrics").and_then(Value::as_array_mut).into_iter().flatten().for_each(criterion);
    if let Some(script) = fields.remove("resolvedPromptScript") {
        fields.remove("prompt");
        fields.insert("promptCommand".to_owned(), script);
        if let Some(config) = fields.remove("promptScriptConfig") {
            fields.insert("config".to_owned(), config);
        }
    }
    super::remove_empty(&mut grader);
    grader
}

fn criterion(criterion: &mut Value) {
    let Value::Object(fields) = criterion else { return };
    let has_ranges = fields.get("score_ranges").is_some();
    fields.get_or_insert("weight", json!(1));
    fields.get_or_insert("required", json!(!has_ranges));
    let number = |key: &str| fields.get(key).and_then(Value::as_f64);
    // The same mark on a scale of 10.
    let same = number("required_min_score")
        .zip(number("min_score"))
        .is_some_and(|(tenths, mark)| (tenths - mark * 10.0).abs() < 1e-9);
    if same {
        fields.remove("required_min_score");
    }
}

fn field_accuracy(fields: &mut Object) {
    fields.get_or_insert("aggregation", json!("weighted_average"));
    for field in fields.get_mut("fields").and_then(Value::as_array_mut).into_iter().flatten() {
        let Value::Object(field) = field else { continue };
        field.get_or_insert("required", json!(true));
        field.get_or_insert("weight", json!(1));
        field.get_or_insert("tolerance", json!(0));
        field.get_or_insert("relative", json!(false));
    }
}

fn workspace(workspace: &mut Value) {
    let Value::Object(fields) = workspace else { return };
    let file_dir = fields.remove("workspaceFileDir");
    // Every trial gets its own copy, whatever the mode.
    if fields.get("mode").is_some_and(|mode| mode == "temp" || mode == "pooled") {
        fields.remove("mode");
    }
    fields.get_or_insert("isolation", json!("per_test"));
    for repo in fields.get_mut("repos").and_then(Value::as_array_mut).into_iter().flatten() {
        let Value::Object(repo) = repo else { continue };
        let checkout = repo.get_or_insert("checkout", json!({}));
        let Value::Object(checkout) = checkout else { continue };
        checkout.get_or_insert("resolve", json!("remote"));
        checkout.get_or_insert("ancestor", json!(0));
        if let Some(commit) = checkout.remove("base_commit") {
            checkout.get_or_insert("ref", commit);
        }
        if let Some(clone) = repo.get_mut("clone") {
            super::remove_empty(clone);
            if super::is_empty_value(clone) {
                repo.remove("clone");
            }
        }
    }
    let Some(Value::Object(hooks)) = fields.get_mut("hooks") else { return };
    if hooks.remove("enabled") == Some(Value::Bool(false)) {
        *hooks = Object::new();
    }
    for hook in hooks.values_mut() {
        let Value::Object(hook) = hook else { continue };
        hook.get_or_insert("reset", json!("none"));
        // Hooks of a workspace file run in its directory.
        if let Some(directory) = &file_dir {
            hook.get_or_insert("cwd", directory.clone());
        }
    }
}
