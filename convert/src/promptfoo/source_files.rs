//! Files that a promptfoo configuration names.

use std::path::{Path, PathBuf};

use evalsuite_loader::document::Value;

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
