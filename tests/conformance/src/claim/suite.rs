//! Where cases come from: E010 to E016, E041 to E045.

use std::path::Path;

use evalsuite_schema::Value;
use evalsuite_schema::diagnostics::Code;

use super::{Claim, ensure, lacks, paths};
use crate::source_excerpt;

pub(super) fn check(claim: &Claim<'_>) -> Result<(), String> {
    let value = claim.value();
    match claim.code {
        Code::EntryNotFound => ensure(!claim.place.path.exists(), || "it exists".to_owned()),
        Code::UnsupportedSuiteFile => {
            let name = claim
                .place
                .path
                .file_name()
                .map(|name| name.to_string_lossy().to_ascii_lowercase())
                .unwrap_or_default();
            let ends_with = |ending: &str| name.len() > ending.len() && name.ends_with(ending);
            let is_yaml = ends_with(".yaml") || ends_with(".yml");
            let is_list = value.is_some_and(Value::is_array);
            ensure(!ends_with(".jsonl") && (!is_yaml || is_list), || "the name is valid for a suite file".to_owned())
        }
        Code::NoCases => no_cases(claim),
        Code::TwoCaseFiles => {
            let both = ["case.yaml", "case.yml"].iter().all(|name| claim.place.path.join(name).is_file());
            ensure(both, || "there are no two files".to_owned())
        }
        Code::NamesDifferInCase => {
            let [one, other] = claim.quoted[..] else { return Err("it names no two files".to_owned()) };
            let both = [one, other].iter().all(|path| claim.root.join(path).is_file());
            let differ_in_case = one != other && one.to_lowercase() == other.to_lowercase();
            ensure(both && differ_in_case, || "there are no two such files".to_owned())
        }
        Code::UnusedFile => {
            let name = claim.place.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            ensure(claim.record.texts().all(|(_, text)| !text.contains(&name)), || "a file names it".to_owned())
        }
        Code::MissingCaseFile => ensure(!has_case_file(&claim.place.path), || "there is a case file".to_owned()),
        Code::MissingTests => match claim.place.file_text.as_deref().and_then(source_excerpt::from_yaml) {
            Some(Value::Object(root)) => {
                let has = ["tests", "eval_cases", "evalcases"].iter().any(|key| !lacks(&root, key));
                let beside = claim.place.path.parent().is_some_and(|directory| directory.join("cases").is_dir());
                ensure(!has && !beside, || "there are cases".to_owned())
            }
            _ => Err("the file is not a mapping".to_owned()),
        },
        Code::InvalidTests if claim.message.ends_with("is a directory") => {
            let name = claim.quoted.first().copied().unwrap_or_default();
            let is_dir = paths::places(claim).iter().any(|place| paths::resolve(&place.join(name)).is_dir());
            ensure(is_dir, || "there is no directory".to_owned())
        }
        Code::InvalidTests if claim.message.ends_with("can only be an element of a list") => {
            let written = value.and_then(Value::as_str).unwrap_or_default().trim();
            let is_element = written.starts_with("file://") || written.contains(['*', '?', '{']);
            ensure(is_element, || "that is a path".to_owned())
        }
        Code::InvalidTests => invalid_tests(claim, value),
        Code::InvalidExternalFile => external(value),
        Code::IncludeNotFound => include(claim),
        // A template may include itself.
        _ => {
            let includes = claim.record.texts().filter(|(_, text)| text.contains("include:")).count();
            ensure(claim.message.contains(" -> ") && includes >= 1, || "nothing is included".to_owned())
        }
    }
}

fn has_case_file(directory: &Path) -> bool {
    ["case.yaml", "case.yml"].iter().any(|name| directory.join(name).is_file())
}

fn no_cases(claim: &Claim<'_>) -> Result<(), String> {
    let Some(value) = claim.value() else {
        let text = claim.place.file_text.as_deref().unwrap_or_default();
        return ensure(text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')), || {
            "the file is not empty".to_owned()
        });
    };
    match value {
        Value::Array(items) => ensure(items.is_empty(), || "the list is not empty".to_owned()),
        Value::Null => Ok(()),
        Value::String(written) => {
            let path = written.trim().strip_prefix("file://").unwrap_or(written.trim());
            if path.contains(['*', '?', '{']) {
                return Ok(());
            }
            let found = paths::places(claim)
                .into_iter()
                .map(|place| paths::resolve(&place.join(path)))
                .find(|path| path.exists());
            let Some(found) = found else { return Err("that does not exist".to_owned()) };
            if found.is_file() {
                let text = std::fs::read_to_string(&found).unwrap_or_default();
                let read = source_excerpt::from_yaml(&text);
                let empty = text.trim().is_empty()
                    || read.is_some_and(|value| value.is_null() || value.as_array().is_some_and(Vec::is_empty));
                return ensure(empty, || "the file is not empty".to_owned());
            }
            let entries = std::fs::read_dir(&found).into_iter().flatten().flatten();
            let cases = entries.filter(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                !name.starts_with(['.', '_']) && has_case_file(&entry.path())
            });
            ensure(cases.count() == 0, || "there are cases".to_owned())
        }
        _ => Err("there is something else".to_owned()),
    }
}

fn invalid_tests(claim: &Claim<'_>, value: Option<&Value>) -> Result<(), String> {
    match value {
        // An element, or `tests` itself, that does not name a file with cases.
        Some(Value::String(text)) => {
            let path = text.trim().to_ascii_lowercase();
            let names_list = [".yaml", ".yml", ".jsonl"].iter().any(|ending| path.ends_with(ending));
            let is_glob = path.contains(['*', '?', '{']);
            let is_element = text.trim().starts_with("file://");
            ensure(!names_list || !is_element || is_glob, || "that names cases".to_owned())
        }
        Some(Value::Object(case)) => {
            let is_element = !claim.message.starts_with("`tests` must be a list");
            ensure(lacks(case, "id") || !is_element, || "that is a case".to_owned())
        }
        Some(_) => Ok(()),
        None => Err("there is nothing".to_owned()),
    }
}

/// A list where a mapping is needed, or the other way round.
fn external(value: Option<&Value>) -> Result<(), String> {
    match value {
        Some(Value::Object(root)) => {
            let is_template = !lacks(root, "assertions") && root.len() == 1;
            let is_workspace = root.keys().any(|key| matches!(key.as_str(), "template" | "hooks" | "repos"));
            ensure(!is_template && !is_workspace, || "the file has the right form".to_owned())
        }
        _ => Ok(()),
    }
}

fn include(claim: &Claim<'_>) -> Result<(), String> {
    let Some(name) = claim.value().and_then(Value::as_str) else {
        // The template itself is malformed.
        return external(claim.value());
    };
    let mut candidates = vec![name.to_owned()];
    if !name.contains(['/', '\\']) && !name.starts_with('.') {
        candidates = [".evalsuite", ".agentv"]
            .iter()
            .flat_map(|directory| ["yaml", "yml"].map(|ending| format!("{directory}/templates/{name}.{ending}")))
            .collect();
    }
    let exists = paths::places(claim)
        .iter()
        .any(|place| candidates.iter().any(|path| paths::resolve(&place.join(path)).is_file()));
    ensure(!exists, || "the template exists".to_owned())
}
