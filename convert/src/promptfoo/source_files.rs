//! Files that a promptfoo configuration names, and `$ref`: a mapping that is replaced by another one, such as
//! `#/assertionTemplates/polite`.

use std::path::{Path, PathBuf};

use evalsuite_loader::document::{Data, Value};
use evalsuite_schema::json::key_of_step;

use crate::error::ConvertError;
use crate::report::Place;
use crate::source::SourceFiles;

/// The scheme of a reference to a file.
pub(super) const FILE_SCHEME: &str = "file://";

/// What `file://` leads to.
#[derive(Debug)]
pub(super) enum FileValue {
    /// A value out of a YAML or JSON file.
    Data(Value),
    /// The trimmed text of any other file.
    Text(String),
    /// A script, which is not run: its path and the function after the colon.
    Script(PathBuf, Option<String>),
}

impl FileValue {
    /// The value without its comments; `None` of a script.
    pub(super) fn value(self) -> Option<Value> {
        match self {
            Self::Data(value) => Some(Value::new(value.data)),
            Self::Text(text) => Some(Value::text(text)),
            Self::Script(..) => None,
        }
    }
}

const SCRIPTS: &[&str] = &["js", "cjs", "mjs", "ts", "cts", "mts", "py", "rb", "sh", "go"];

/// The file of a reference without its scheme, and the function that it names.
pub(super) fn script_of(reference: &str, directory: &Path) -> Option<(PathBuf, Option<String>)> {
    let (path, function) = match reference.rsplit_once(':') {
        Some((path, function)) if !function.contains(['/', '\\']) => (path, Some(function.to_owned())),
        _ => (reference, None),
    };
    let is_script =
        Path::new(path).extension().is_some_and(|extension| SCRIPTS.iter().any(|known| extension == *known));
    is_script.then(|| (directory.join(path), function))
}

/// What a reference without its scheme leads to; the error says what is wrong with it.
pub(super) fn load(reference: &str, files: &SourceFiles, place: &Place) -> Result<FileValue, String> {
    if let Some((path, function)) = script_of(reference, files.root()) {
        return Ok(FileValue::Script(path, function));
    }
    let path = files.root().join(reference);
    let named = format!("{FILE_SCHEME}{reference}");
    let value = match extension_of(&path).as_str() {
        "yaml" | "yml" | "json" => files.js_yaml(&path, &named, place).map(|document| FileValue::Data(document.root)),
        _ => files.text(&path, &named, place).map(|text| FileValue::Text(text.trim().to_owned())),
    };
    value.map_err(|error| unreadable(reference, &error))
}

/// The extension of a file, in lower case.
pub(super) fn extension_of(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// Why a file cannot be read, for the report. A text of several lines that starts with a scheme is a path for promptfoo, too.
pub(super) fn unreadable(path: &str, error: &ConvertError) -> String {
    let mut lines = path.lines();
    let (first, more) = (lines.next().unwrap_or_default(), if lines.next().is_some() { "…" } else { "" });
    format!("`{first}{more}` cannot be read: {}", error.reason())
}

/// Deepest chain of references.
const DEEPEST: usize = 16;

/// Values that references are replaced by, at most: references to values with references multiply.
const MOST_VALUES: usize = 500_000;

/// Replaces every reference into the document by what it leads to. Any other reference stays, such as those of JSON Schemas. False if that
/// would be too many values.
pub(super) fn resolve(root: &mut Value) -> bool {
    let whole = root.clone();
    let mut left = MOST_VALUES;
    replace(root, &whole, 0, &mut left);
    left > 0
}

fn replace(value: &mut Value, whole: &Value, depth: usize, left: &mut usize) {
    if depth > DEEPEST || *left == 0 {
        return;
    }
    let target = value.get("$ref").and_then(Value::as_text).and_then(|pointer| at(whole, pointer));
    if let Some(target) = target {
        *left = left.saturating_sub(size(target));
        if *left == 0 {
            return;
        }
        let target = target.clone();
        let mut entries = target.entries().to_vec();
        let own = value.entries().iter().filter(|(key, _)| key != "$ref").cloned();
        for (key, own) in own {
            entries.retain(|(known, _)| *known != key);
            entries.push((key, own));
        }
        value.data = if matches!(target.data, Data::Mapping(_)) { Data::Mapping(entries) } else { target.data };
        replace(value, whole, depth + 1, left);
        return;
    }
    match &mut value.data {
        Data::List(items) => items.iter_mut().for_each(|item| replace(item, whole, depth, left)),
        Data::Mapping(entries) => entries.iter_mut().for_each(|(_, value)| replace(value, whole, depth, left)),
        _ => {}
    }
}

/// Number of values in a value.
fn size(value: &Value) -> usize {
    match &value.data {
        Data::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Data::Mapping(entries) => 1 + entries.iter().map(|(_, value)| size(value)).sum::<usize>(),
        _ => 1,
    }
}

/// The value at a JSON pointer after `#`.
fn at<'v>(root: &'v Value, pointer: &str) -> Option<&'v Value> {
    let parts = pointer.strip_prefix("#/")?.split('/').map(key_of_step);
    parts.into_iter().try_fold(root, |value, part| match value.items() {
        Some(items) => items.get(part.parse::<usize>().ok()?),
        None => value.get(&part),
    })
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::json::json;

    use super::*;

    #[test]
    fn references_lead_into_the_document() {
        let mut root = Value::from(json!({
            "t": {"a": {"type": "contains", "value": "x"}, "b": {"$ref": "#/t/a", "weight": 2}, "self": {"$ref": "#/t/self"}},
            "tests": [{"assert": [{"$ref": "#/t/b"}, {"$ref": "#/none"}, {"$ref": "other.yaml"}]}],
        }));
        assert!(resolve(&mut root));
        let asserts = root.to_json()["tests"][0]["assert"].clone();
        assert_eq!(
            asserts,
            json!([{"type": "contains", "value": "x", "weight": 2}, {"$ref": "#/none"}, {"$ref": "other.yaml"}])
        );
    }
}
