//! Environment variables: those of the process, and for unset ones the lines of the file `EVALSUITE_ENV_FILE` names.
//!
//! Whatever evalsuite or a suite's file asks for comes from here, and every program that is started gets the lines. The
//! environment of this process stays as it is: to change it is not safe while other threads read it.

use std::{collections::BTreeMap, ffi::OsString, path::Path, sync::OnceLock};

/// The variable that names the file.
pub(crate) const FILE: &str = "EVALSUITE_ENV_FILE";

/// The value of a variable; `None` if it is set nowhere.
pub(crate) fn var_os(name: &str) -> Option<OsString> {
    std::env::var_os(name).or_else(|| lines().ok()?.get(name).map(OsString::from))
}

/// The value of a variable, if it is set and Unicode.
pub(crate) fn var(name: &str) -> Option<String> {
    var_os(name)?.into_string().ok()
}

/// The variables of the file that the process does not have.
pub(crate) fn of_file() -> impl Iterator<Item = (&'static str, &'static str)> {
    lines()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(name, _)| std::env::var_os(name).is_none())
}

/// Why the file cannot be used.
pub(crate) fn problem() -> Option<&'static str> {
    lines().err()
}

fn lines() -> Result<&'static BTreeMap<String, String>, &'static str> {
    static LINES: OnceLock<Result<BTreeMap<String, String>, String>> = OnceLock::new();
    let read = || match std::env::var_os(FILE).filter(|path| !path.is_empty()) {
        None => Ok(BTreeMap::new()),
        Some(path) => read(Path::new(&path)),
    };
    LINES.get_or_init(read).as_ref().map_err(String::as_str)
}

fn read(path: &Path) -> Result<BTreeMap<String, String>, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{FILE} is {}: {error}", path.display()))?;
    parse(&text).map_err(|line| format!("{FILE} is {}, whose line {line} is not `NAME=value`", path.display()))
}

/// Names and values; the error is the number of a line that is neither, nor empty or a comment.
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

/// The text between quotes, if it stands in a pair of them. Nothing in it is replaced.
fn unquoted(value: &str) -> &str {
    let between = |quote: char| value.strip_prefix(quote)?.strip_suffix(quote);
    between('"').or_else(|| between('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
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
    fn a_line_of_another_kind_is_named() {
        for text in ["A=1\nB", "A=1\n1B=x", "A=1\n =x", "A=1\nA B=x"] {
            assert_eq!(parse(text), Err(2), "{text}");
        }
        let error = read(Path::new("/no/such/file")).unwrap_err();
        assert!(error.starts_with("EVALSUITE_ENV_FILE is /no/such/file: "), "{error}");
    }
}
