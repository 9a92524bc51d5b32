//! Paths in a case that moves to another file: they are searched from the directory of the file first.

use std::path::Path;

use evalsuite_loader::document::{Data, Value};

use crate::source;

/// Keys whose text is a path.
const PATHS: &[&str] = &["template", "cwd", "schema", "include", "workspace", "input_files", "matrix"];

/// Keys with commands; in a list of arguments, each may be a path.
const COMMANDS: &[&str] = &["command", "script", "before_all", "before_each", "after_each", "after_all"];

/// Keys whose values are the author's own data.
const DATA: &[&str] = &["metadata", "config", "args", "vars"];

/// How a case moves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move<'a> {
    /// The directory of the file that the case is in.
    pub(super) from: &'a Path,
    /// The directory of the suite, in which paths are searched, too.
    pub(super) root: &'a Path,
    /// Whether the case goes to a directory of its own, two levels below that of the suite.
    pub(super) to_directory: bool,
}

/// Writes the paths of the value of `key` that lead to a file or directory so that they lead there after the move.
pub(super) fn rebase(key: &str, value: &mut Value, way: Move<'_>) {
    if DATA.contains(&key) {
        return;
    }
    match &mut value.data {
        Data::Text(text) if PATHS.contains(&key) => rebase_text(text, "", way),
        Data::Text(text) if key == "prompt" => rebase_text(text, "file://", way),
        Data::List(items) if PATHS.contains(&key) || COMMANDS.contains(&key) => {
            for item in items {
                if let Data::Text(text) = &mut item.data {
                    rebase_text(text, "", way);
                }
            }
        }
        Data::List(items) => items.iter_mut().for_each(|item| rebase(key, item, way)),
        // The values of a matrix are the author's own data, too.
        Data::Mapping(_) if key == "matrix" => {}
        Data::Mapping(entries) => {
            let kind = entries.iter().find(|(key, _)| key == "type").and_then(|(_, kind)| kind.as_text());
            let names_path = match kind {
                Some("file" | "image") => Some("value"),
                Some("local") => Some("path"),
                _ => None,
            };
            for (key, value) in entries {
                match &mut value.data {
                    Data::Text(text) if Some(key.as_str()) == names_path => rebase_text(text, "", way),
                    _ => rebase(key, value, way),
                }
            }
        }
        _ => {}
    }
}

/// Rewrites a path after `scheme`, if it leads to something.
fn rebase_text(text: &mut String, scheme: &str, way: Move<'_>) {
    let Some(path) = text.strip_prefix(scheme) else { return };
    if path.is_empty() || path.starts_with('/') || path.contains("{{") || !way.from.join(path).exists() {
        return;
    }
    let inside = source::shown(way.from, way.root);
    let normal = normal(&format!("{inside}/{path}"));
    // From its own directory a case sees another `.` and another `..`; anything else is found in the directory of the suite.
    let is_relative = normal.starts_with("..") || normal == ".";
    if way.to_directory && is_relative {
        let below = if normal == "." { "" } else { normal.as_str() };
        *text = format!("{scheme}../../{below}");
    } else if !inside.is_empty() {
        *text = format!("{scheme}{normal}");
    }
}

/// The path without `.` in it and without `..` after a name. It starts with a dot, as a program is found by its slash.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match parts.last() {
            Some(last) if part == ".." && *last != ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    match parts.first() {
        None => ".".to_owned(),
        Some(&"..") => parts.join("/"),
        Some(_) => format!("./{}", parts.join("/")),
    }
}
