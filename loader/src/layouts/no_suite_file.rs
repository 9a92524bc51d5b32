//! What is said of a directory without a suite: what is in it, and what is missing.

use std::path::Path;

use evalsuite_discovery::{SKILL_EVALS, SKILL_FILE};
use evalsuite_schema::diagnostics::suggest;

use crate::diagnostic::{Code, Diagnostic};
use crate::fields::paths;
use crate::source::{Files, Span};

/// Names that are listed, at most.
const LISTED: usize = 5;

/// The problem with the directory `root`.
pub(super) fn problem(root: &Path, files: &Files) -> Diagnostic {
    let shown = files.shown(root);
    let (message, help) = found(root, &shown).unwrap_or_else(|| {
        let there = match names(root, |_| true)[..] {
            [] => "the directory is empty".to_owned(),
            ref names => {
                let first: Vec<&str> = names.iter().take(LISTED).map(String::as_str).collect();
                let more = names.len().saturating_sub(LISTED);
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                format!("found {}{more}", suggest::quoted(&first, if more.is_empty() { "and" } else { "," }))
            }
        };
        (
            format!("no suite file and no case directories in `{shown}`"),
            format!("write `{shown}/EVAL.yaml`, with its cases in `tests` or in `cases/<name>/case.yaml`; {there}"),
        )
    });
    Diagnostic::new(Code::NoSuiteFile, message).at(Span::whole(files.add(root))).help(help)
}

/// Something in `root` that is nearly a suite: the message and the help.
fn found(root: &Path, shown: &str) -> Option<(String, String)> {
    let write = format!("write `{shown}/EVAL.yaml` with `name: {}`", suite_name(root));
    let missing = format!("no suite file in `{shown}`");
    if root.join(SKILL_FILE).is_file() {
        let help = format!("write the evals of the skill: `{shown}/{SKILL_EVALS}`");
        return Some((format!("{missing}, which has a skill"), help));
    }
    if root.join(SKILL_EVALS).is_file() {
        let help = format!("move `evals` to the directory of the skill, which has its `{SKILL_FILE}`");
        return Some((format!("{missing}, which has evals of a skill but no `{SKILL_FILE}`"), help));
    }
    let cases = root.join("cases");
    if let Some(first) = names(&cases, super::bare::is_case_directory).first() {
        let message = format!("{missing}, which has cases such as `cases/{first}`");
        return Some((message, format!("{write}: it reads the cases in `cases/`")));
    }
    if let Some(first) = names(&cases, is_yaml).first() {
        let stem = paths::file_stem(Path::new(first));
        return Some((missing, format!("{write}, and move `cases/{first}` to `cases/{stem}/case.yaml`")));
    }
    if let Some(first) = names(root, is_suite).first() {
        let message = format!("`{shown}` is not a suite, but has suites in it");
        return Some((message, format!("name one of them: `{shown}/{first}`")));
    }
    let lines = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file();
    if let Some(first) = names(root, lines).first() {
        return Some((missing, format!("name the file of the cases: `{shown}/{first}`")));
    }
    if let [only] = &names(root, is_yaml)[..] {
        let help = format!("rename `{only}` to `EVAL.yaml`, or name `{shown}/{only}` as the suite");
        return Some((format!("{missing}: `{only}` is not a name of one"), help));
    }
    None
}

/// The names of what is in a directory and fits, in order, without hidden ones.
fn names(directory: &Path, fits: impl Fn(&Path) -> bool) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten().filter(|entry| fits(&entry.path()));
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| !name.starts_with(['.', '_']));
    names.sort();
    names
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml") && path.is_file()
}

/// Whether a directory has a suite file.
fn is_suite(path: &Path) -> bool {
    let has_suite_file = || evalsuite_discovery::suite_files(path).is_ok_and(|files| !files.is_empty());
    evalsuite_discovery::is_skill(path) || path.is_dir() && has_suite_file()
}

/// A valid name of a suite, made of the directory's.
fn suite_name(root: &Path) -> String {
    let allowed = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-_".contains(letter);
    let name = paths::file_name(root).to_lowercase().replace(|letter| !allowed(letter), "-");
    if name.is_empty() { "my-suite".to_owned() } else { name }
}
