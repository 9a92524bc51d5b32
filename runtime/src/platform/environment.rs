//! Environment variables: those of the process and, for unset ones, those of the file that `EVALSUITE_ENV_FILE` names.
//!
//! Every variable that evalsuite or a suite's file uses is read here, and every started program gets the variables of
//! the file. The environment of this process is not changed, because other threads may read it at the same time. The
//! parser is hand-written: `.env` crates change the environment of the process, or expand variables in values.
//!
//! Tests may run in a git hook. With the variables by which git tells a hook which repository it runs in, a `git commit` in the workspace of a
//! trial would change the developer's repository, so no program inherits them. A target's `env` and
//! [`TrialCommand::env`](crate::TrialCommand::env) can set them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use crate::platform::errors::SettingError;

/// The variable that names the file.
pub(crate) const FILE: &str = "EVALSUITE_ENV_FILE";

/// The value of a variable; `None` if neither the process nor the file sets it.
pub(crate) fn var_os(name: &str) -> Option<OsString> {
    std::env::var_os(name).or_else(|| lines().ok()?.get(name).map(OsString::from))
}

/// The value of a variable, if it is set and Unicode.
pub fn var(name: &str) -> Option<String> {
    var_os(name)?.into_string().ok()
}

/// The names of all variables that the process or the file sets.
pub fn names() -> Vec<String> {
    let of_process = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    of_process.chain(of_file().into_iter().map(|(name, _)| name.to_owned())).collect()
}

/// How names of variables with keys end.
const ENDS_OF_KEY_NAMES: [&str; 7] =
    ["API_KEY", "ACCESS_KEY", "SECRET_KEY", "PRIVATE_KEY", "TOKEN", "SECRET", "PASSWORD"];

/// The names of those variables that contain keys, as their names say.
pub fn names_of_keys() -> Vec<String> {
    let is_key = |name: &String| ENDS_OF_KEY_NAMES.iter().any(|end| name.to_ascii_uppercase().ends_with(end));
    names().into_iter().filter(is_key).collect()
}

/// The variables of the file that the process does not set.
pub(crate) fn of_file() -> Vec<(&'static str, &'static str)> {
    let variables = lines().into_iter().flatten().map(|(name, value)| (name.as_str(), value.as_str()));
    variables.filter(|(name, _)| std::env::var_os(name).is_none()).collect()
}

/// Why the file cannot be read.
pub(crate) fn problem() -> Option<&'static SettingError> {
    lines().err()
}

fn lines() -> Result<&'static BTreeMap<String, String>, &'static SettingError> {
    static LINES: OnceLock<Result<BTreeMap<String, String>, SettingError>> = OnceLock::new();
    let read = || match std::env::var_os(FILE).filter(|path| !path.is_empty()) {
        None => Ok(BTreeMap::new()),
        Some(path) => read(Path::new(&path)),
    };
    LINES.get_or_init(read).as_ref()
}

fn read(path: &Path) -> Result<BTreeMap<String, String>, SettingError> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{FILE} is {}: {error}", path.display()))?;
    Ok(parse(&text).map_err(|line| {
        format!("line {line} of {}, the file that {FILE} names, is not `NAME=value`", path.display())
    })?)
}

/// Names and values. The error is the number of the first invalid line.
fn parse(text: &str) -> Result<BTreeMap<String, String>, usize> {
    let mut variables = BTreeMap::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').ok_or(index + 1)?;
        let name = name.trim();
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_');
        if !is_name {
            return Err(index + 1);
        }
        variables.insert(name.to_owned(), unquoted(value.trim()).to_owned());
    }
    Ok(variables)
}

/// The text without a pair of quotes around it. Nothing in it is expanded.
fn unquoted(value: &str) -> &str {
    let between = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    between('"').or_else(|| between('\'')).unwrap_or(value)
}

/// What `git rev-parse --local-env-vars` lists, in all versions of git, and two that name the repository of a hook on a server:
/// `GIT_NAMESPACE`, and `GIT_QUARANTINE_PATH`, with which git refuses every commit.
const OF_REPOSITORY: [&str; 18] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// The settings that `GIT_CONFIG_COUNT` counts: `GIT_CONFIG_KEY_0`, `GIT_CONFIG_VALUE_0` and so on.
const NUMBERED: [&str; 2] = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

/// The variable with the directories at which git stops to look for a repository.
pub(crate) const CEILING: &str = "GIT_CEILING_DIRECTORIES";

/// Lets a command not inherit the variables of a repository. Those that it sets itself stay.
pub fn remove_git_variables(command: &mut Command) {
    let inherited: Vec<OsString> =
        std::env::vars_os().map(|(name, _)| name).filter(|name| is_of_repository(name)).collect();
    for name in inherited {
        if command.get_envs().all(|(own, _)| own != name) {
            command.env_remove(name);
        }
    }
}

fn is_of_repository(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    OF_REPOSITORY.contains(&name) || NUMBERED.iter().any(|prefix| name.starts_with(prefix))
}

/// A value of [`CEILING`] with which git finds no repository around a workspace: runs are in `target` of the package, and a workspace
/// without a repository must not be taken for a part of the developer's. `None` if the variable cannot name the directory.
pub(crate) fn ceiling_of(workspace: &Path) -> Option<OsString> {
    let inherited = var_os(CEILING).unwrap_or_default();
    let parent = workspace.parent()?.to_owned();
    let inherited = std::env::split_paths(&inherited).filter(|directory| !directory.as_os_str().is_empty());
    std::env::join_paths(std::iter::once(parent).chain(inherited)).ok()
}

#[cfg(test)]
mod tests {
    use evalsuite_needs::needs;

    use super::*;

    #[test]
    fn a_file_has_names_and_values() {
        let text = "# keys\nexport A_KEY = one two \n\nB='x # y'\nC=\"1\"\nD=\nE=a=b\nA_KEY=last\n";
        let variables = parse(text).unwrap();
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(variables, [("A_KEY", "last"), ("B", "x # y"), ("C", "1"), ("D", ""), ("E", "a=b")]);
    }

    #[test]
    fn an_invalid_line_is_an_error_with_its_number() {
        for text in ["A=1\nB", "A=1\n1B=x", "A=1\n =x", "A=1\nA B=x"] {
            assert_eq!(parse(text), Err(2), "{text}");
        }
        let error = read(Path::new("/no/such/file")).unwrap_err().to_string();
        assert!(error.starts_with("EVALSUITE_ENV_FILE is /no/such/file: "), "{error}");
    }

    #[needs(git)]
    #[test]
    fn what_git_calls_local_to_a_repository_is_not_inherited() {
        let listed = Command::new("git").args(["rev-parse", "--local-env-vars"]).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        assert!(listed.contains("GIT_INDEX_FILE"), "{listed}");
        for name in listed.lines().chain(["GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_12"]) {
            assert!(is_of_repository(name.as_ref()), "{name}");
        }
        for name in ["GIT_AUTHOR_NAME", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "GIT_CEILING_DIRECTORIES", "DIR"] {
            assert!(!is_of_repository(name.as_ref()), "{name} says how git works, not on which repository");
        }
    }

    #[test]
    fn git_looks_for_no_repository_above_a_workspace() {
        let ceiling = ceiling_of(Path::new("/p/target/run/workspace")).unwrap();
        assert_eq!(std::env::split_paths(&ceiling).next().unwrap(), Path::new("/p/target/run"));
    }
}
