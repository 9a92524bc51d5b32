//! Files that a promptfoo configuration names.

use std::path::{Path, PathBuf};

use evalsuite_loader::document;
use evalsuite_loader::document::Value;

use crate::source;

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
pub(super) fn load(reference: &str, directory: &Path) -> Result<FileValue, String> {
    if let Some((path, function)) = script_of(reference, directory) {
        return Ok(FileValue::Script(path, function));
    }
    let path = directory.join(reference);
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "yaml" | "yml" | "json" => match document::read(&path, directory) {
            Ok(document) => Ok(FileValue::Data(document.root)),
            Err(_) if !path.is_file() => Err(format!("the file `{reference}` does not exist")),
            Err(problems) => {
                let first = problems.iter().next().map(|problem| problem.message.clone()).unwrap_or_default();
                Err(format!("the file `{reference}` cannot be read: {first}"))
            }
        },
        _ => match source::text(&path) {
            Ok(text) => Ok(FileValue::Text(text.trim().to_owned())),
            Err(_) if !path.is_file() => Err(format!("the file `{reference}` does not exist")),
            Err(_) => Err(format!("the file `{reference}` is not text")),
        },
    }
}

/// The files that a path or pattern leads to, in the order of their names.
pub(super) fn files(pattern: &str, directory: &Path) -> Vec<PathBuf> {
    let path = directory.join(pattern);
    if path.is_file() {
        return vec![path];
    }
    let Some(pattern) = path.to_str() else { return Vec::new() };
    let found = glob::glob(pattern).map(|found| found.filter_map(Result::ok).filter(|path| path.is_file()).collect());
    let mut found: Vec<PathBuf> = found.unwrap_or_default();
    found.sort();
    found
}
