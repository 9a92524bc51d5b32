//! Paths in a case that moves to another file: they are searched from the directory of the file first.

use std::path::Path;

use evalsuite_loader::document::{Data, Value};

use crate::source;

/// Keys whose text is a path.
const PATHS: &[&str] = &["template", "cwd", "schema", "include", "workspace", "input_files"];

/// Keys with commands; in a list of arguments, each may be a path.
const COMMANDS: &[&str] = &["command", "script", "before_all", "before_each", "after_each", "after_all"];

/// Keys whose values are the author's own data.
const DATA: &[&str] = &["metadata", "config", "args"];

/// Writes the paths of the value of `key` that lead from `directory` to a file or directory so that they lead there from `root`.
pub(super) fn rebase(key: &str, value: &mut Value, directory: &Path, root: &Path) {
    if DATA.contains(&key) {
        return;
    }
    match &mut value.data {
        Data::Text(text) if PATHS.contains(&key) => rebase_text(text, "", directory, root),
        Data::Text(text) if key == "prompt" => rebase_text(text, "file://", directory, root),
        Data::List(items) if PATHS.contains(&key) || COMMANDS.contains(&key) => {
            for item in items {
                if let Data::Text(text) = &mut item.data {
                    rebase_text(text, "", directory, root);
                }
            }
        }
        Data::List(items) => items.iter_mut().for_each(|item| rebase(key, item, directory, root)),
        Data::Mapping(entries) => {
            let kind = entries.iter().find(|(key, _)| key == "type").and_then(|(_, kind)| kind.as_text());
            let names_path = match kind {
                Some("file" | "image") => Some("value"),
                Some("local") => Some("path"),
                _ => None,
            };
            for (key, value) in entries {
                match &mut value.data {
                    Data::Text(text) if Some(key.as_str()) == names_path => rebase_text(text, "", directory, root),
                    _ => rebase(key, value, directory, root),
                }
            }
        }
        _ => {}
    }
}

/// Rewrites a path after `scheme`, if it leads to something.
fn rebase_text(text: &mut String, scheme: &str, directory: &Path, root: &Path) {
    let Some(path) = text.strip_prefix(scheme) else { return };
    if path.is_empty() || path.starts_with('/') || path.contains("{{") || !directory.join(path).exists() {
        return;
    }
    let inside = source::shown(directory, root);
    let path = path.strip_prefix("./").unwrap_or(path);
    // A program is found by its slash.
    *text = format!("{scheme}./{inside}/{path}");
}
