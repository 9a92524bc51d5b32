//! The standard input of a code-grader's command: the recorded one compared with ours.

use std::path::Path;

use evalsuite_schema::json::{Object, Value};

use crate::graders::Graded;

/// The file to which the recorded commands write their standard input.
const CAPTURED: &str = "captured.json";

/// Makes the entry's command write to the record's directory. That is the reference's working directory, but not the one
/// in which our aggregators run.
pub fn redirect(grader: &mut Value) {
    match grader {
        Value::String(text) if !text.contains(&format!("{{ROOT}}/{CAPTURED}")) => {
            *text = text.replace(&format!("> {CAPTURED}"), &format!("> {{ROOT}}/{CAPTURED}"));
        }
        Value::Array(items) => items.iter_mut().for_each(redirect),
        Value::Object(object) => object.values_mut().for_each(redirect),
        _ => {}
    }
}

/// A part of the standard input that differs.
#[derive(Debug)]
pub struct PayloadDifference {
    /// Keys and indices from the root.
    path: Vec<String>,
    theirs: Value,
    ours: Value,
}

type Check = fn(&PayloadDifference, &Path) -> bool;

/// Name of a rule, and whether it explains a difference.
const RULES: &[(&str, Check)] = &[
    ("additional-payload-fields", |cx, _| cx.theirs.is_null() && !cx.ours.is_null()),
    ("payload-keeps-keys", |cx, _| {
        let user_data = ["expected_output", "output", "input", "trace", "config"];
        user_data.contains(&cx.root()) && same(&snake_keys(&cx.ours), &cx.theirs)
    }),
    // Keys that are not known are in `config`, next to the `config` of the author and some settings.
    ("payload-config-is-flat", |cx, _| {
        let Some(mut flat) = cx.theirs.as_object().filter(|_| cx.path == ["config"]).cloned() else { return false };
        for setting in ["min_score", "timeout_seconds"] {
            flat.remove(setting);
        }
        if let Some(Value::Object(own)) = flat.remove("config") {
            flat.extend(own);
        }
        let ours = if cx.ours.is_null() { Value::Object(Object::new()) } else { snake_keys(&cx.ours) };
        same(&Value::Object(flat), &ours)
    }),
    ("output-file-per-trial", |cx, _| {
        let is_file = |path: &Value| path.as_str().is_some_and(|path| path.ends_with("/output.json"));
        cx.path == ["output_path"] && is_file(&cx.theirs) && is_file(&cx.ours)
    }),
    ("payload-files-by-absolute-path", |cx, root| match (cx.root(), cx.key()) {
        ("input" | "expected_output" | "output", "path") => {
            let relative = cx.theirs.as_str().unwrap_or_default();
            cx.ours.as_str().is_some_and(|path| Path::new(path) == root.join(relative))
        }
        ("input" | "expected_output", "text" | "resolved_path") => cx.ours.is_null(),
        _ => false,
    }),
    ("not-reported-is-an-error", |cx, _| cx.root() == "trace" && cx.ours.is_null() && cx.theirs["event_count"] == 0),
    // The reference uses the times of the reported calls, if there are any.
    (
        "payload-times-of-the-agent",
        |cx, _| matches!(cx.path.as_slice(), [key] if key == "start_time" || key == "end_time"),
    ),
    ("durations-from-times", |cx, _| {
        let is_duration = |took: &&Value| took.as_f64().is_some_and(|took| took >= 0.0);
        let known = |list: &Value| list.as_array().into_iter().flatten().filter(is_duration).cloned().collect();
        let theirs = cx.theirs.as_object().into_iter().flatten();
        let theirs: Vec<(String, Vec<Value>)> = theirs.map(|(tool, list)| (tool.clone(), known(list))).collect();
        let readable = theirs.into_iter().filter(|(_, list)| !list.is_empty());
        let readable = readable.map(|(tool, list)| (tool, Value::Array(list))).collect();
        cx.path == ["trace", "tool_durations"] && same(&snake_keys(&cx.ours), &Value::Object(readable))
    }),
    ("no-calls-is-no-list", |cx, _| {
        cx.key() == "tool_calls" && cx.theirs.as_array().is_some_and(Vec::is_empty) && cx.ours.is_null()
    }),
    ("workspace-per-trial", |cx, _| {
        cx.key() == "workspace_path" && cx.theirs.as_str().is_some_and(|path| path.starts_with("{WORKSPACES}"))
    }),
    // The name of a member's value, and the fields left out of its record.
    ("aggregator-payload", |cx, _| {
        let left_out = ["score", "scores", "expectedAspectCount", "graderRawRequest"];
        cx.root() == "results" && left_out.contains(&cx.key()) && cx.ours.is_null()
    }),
];

impl PayloadDifference {
    /// The rule that explains the difference.
    pub fn explain(&self, root: &Path) -> Option<&'static str> {
        RULES.iter().find(|(_, check)| check(self, root)).map(|(name, _)| *name)
    }

    fn root(&self) -> &str {
        self.path.first().map_or("", String::as_str)
    }

    fn key(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

/// Names of all rules about standard input.
pub fn all() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|(name, _)| *name)
}

/// The parts that differ, if the record has a standard input.
///
/// # Errors
///
/// If the command did not get any input.
pub fn differences(graded: &Graded<'_>, root: &Path) -> Result<Vec<PayloadDifference>, String> {
    let expected = &graded.record.json["stdin"];
    if expected.is_null() || graded.ours.is_none() {
        return Ok(Vec::new());
    }
    let expected = expected.to_string().replace("{ROOT}", &root.display().to_string());
    let expected: Value = evalsuite_schema::json::from_str(&expected).map_err(|error| error.to_string())?;
    let file = root.join(CAPTURED);
    let text = std::fs::read(&file).map_err(|error| format!("{}: {error}; {}", file.display(), graded.shown))?;
    let ours: Value = evalsuite_schema::json::from_slice(&text).map_err(|error| format!("standard input: {error}"))?;
    let mut found = Vec::new();
    compare(&mut Vec::new(), &expected, &ours, &mut found);
    Ok(found)
}

fn compare(path: &mut Vec<String>, theirs: &Value, ours: &Value, found: &mut Vec<PayloadDifference>) {
    let mut difference = |path: &[String]| {
        found.push(PayloadDifference { path: path.to_vec(), theirs: theirs.clone(), ours: ours.clone() });
    };
    let is_compared_whole =
        matches!(path.iter().map(String::as_str).collect::<Vec<_>>()[..], ["config"] | ["trace", "tool_durations"]);
    match (theirs, ours) {
        (Value::Object(_), _) if is_compared_whole && !same(theirs, ours) => difference(path),
        // One difference for all keys of an object that differ only in spelling.
        (Value::Object(_), Value::Object(_)) if !same(theirs, ours) && same(&snake_keys(ours), theirs) => {
            difference(path);
        }
        (Value::Object(theirs), Value::Object(ours)) => {
            for key in theirs.keys().chain(ours.keys().filter(|key| !theirs.contains_key(key))) {
                let get = |object: &Object| object.get(key).cloned().unwrap_or(Value::Null);
                path.push(key.clone());
                compare(path, &get(theirs), &get(ours), found);
                path.pop();
            }
        }
        (Value::Array(theirs), Value::Array(ours)) if theirs.len() == ours.len() => {
            for (index, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
                path.push(index.to_string());
                compare(path, theirs, ours, found);
                path.pop();
            }
        }
        _ if same(theirs, ours) => {}
        _ => difference(path),
    }
}

/// The same JSON, however its numbers are written.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let is_there = |(key, value): (&String, &Value)| right.get(key).is_some_and(|other| same(value, other));
            left.len() == right.len() && left.iter().all(is_there)
        }
        _ => left == right,
    }
}

/// The value with its keys as the reference writes them: an upper-case letter after another character becomes `_` and the
/// lower-case letter, unless the key begins with an upper-case letter. `__proto__` is lost.
fn snake_keys(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(snake_keys).collect(),
        Value::Object(object) => {
            let kept = object.iter().filter(|(key, _)| *key != "__proto__");
            Value::Object(kept.map(|(key, value)| (snake_case(key), snake_keys(value))).collect())
        }
        other => other.clone(),
    }
}

fn snake_case(key: &str) -> String {
    if key.starts_with(|c: char| c.is_ascii_uppercase()) {
        return key.to_owned();
    }
    let mut out = String::new();
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
