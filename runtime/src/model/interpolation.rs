//! Variables, `${{ NAME }}`, in the texts of a case.

use std::collections::BTreeSet;

use evalsuite_diagnostics::{Code, Diagnostic, SourceRange};
use evalsuite_schema::grader::BUILT_IN;
use evalsuite_schema::{Case, Layout, Location, Value, Workspace};

use crate::platform::{environment, json};

/// A variable that cannot be resolved.
#[derive(Debug, PartialEq)]
pub(crate) struct Unresolved {
    pub(crate) message: String,
    pub(crate) location: Location,
}

/// The case with every variable replaced.
pub(crate) fn resolve(case: Case, layout: Layout, lookup: impl Fn(&str) -> Option<String>) -> Result<Case, Unresolved> {
    if !layout.rules().has_variables {
        return Ok(case);
    }
    let broken = |error: serde_json::Error| Unresolved {
        message: format!("the case cannot be read again after `${{{{ }}}}` was replaced: {error}"),
        location: case.location.clone(),
    };
    let mut value = evalsuite_schema::json::to_value(&case).map_err(broken)?;
    replace(&mut value, &mut Vec::new(), &case.location, &lookup)?;
    json::decode_value(&value).map_err(broken)
}

/// Names of all variables a case uses.
pub(crate) fn variables(case: &Case, layout: Layout) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    if layout.rules().has_variables
        && let Ok(value) = evalsuite_schema::json::to_value(case)
    {
        collect(&value, &mut Vec::new(), &mut names);
    }
    names
}

/// A workspace that belongs to no case, with every variable replaced.
pub(crate) fn resolve_workspace(workspace: Workspace, location: &Location) -> Result<Workspace, Unresolved> {
    let resolved = resolve(case_around(workspace, location), Layout::Cases, environment::var)?;
    Ok(resolved.workspace.unwrap_or_default())
}

/// Names of all variables of a workspace that belongs to no case.
pub(crate) fn workspace_variables(workspace: &Workspace, location: &Location) -> BTreeSet<String> {
    variables(&case_around(workspace.clone(), location), Layout::Cases)
}

fn case_around(workspace: Workspace, location: &Location) -> Case {
    let mut case = Case::new("", location.clone());
    case.workspace = Some(workspace);
    case
}

fn collect<'a>(value: &'a Value, path: &mut Vec<&'a str>, names: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if !is_file_text(path) => {
            names.extend(placeholders(text).map(|(_, name, _)| name.to_owned()));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, path, names)),
        Value::Object(object) => {
            for (key, item) in object {
                path.push(key);
                collect(item, path, names);
                path.pop();
            }
        }
        _ => {}
    }
}

fn replace(
    value: &mut Value,
    path: &mut Vec<String>,
    place: &Location,
    lookup: &impl Fn(&str) -> Option<String>,
) -> Result<(), Unresolved> {
    match value {
        Value::String(text) if !is_file_text(path) => {
            let Some(filled) = fill(text, path, place, lookup)? else { return Ok(()) };
            if filled.trim().is_empty() && must_be_text(path) {
                return Err(unresolved(format!("`{text}` is blank"), path, place));
            }
            *text = filled;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| replace(item, path, place, lookup)),
        Value::Object(object) => {
            let own =
                object.get("location").and_then(|location| evalsuite_schema::json::from_value(location.clone()).ok());
            let place = own.as_ref().unwrap_or(place);
            for (key, item) in object.iter_mut() {
                path.push(key.clone());
                replace(item, path, place, lookup)?;
                path.pop();
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The text with its variables replaced; `None` if it has none. Values are not scanned for variables.
fn fill(
    text: &str,
    path: &[String],
    place: &Location,
    lookup: &impl Fn(&str) -> Option<String>,
) -> Result<Option<String>, Unresolved> {
    let mut filled = String::new();
    let mut rest = 0;
    for (start, name, end) in placeholders(text) {
        let value =
            lookup(name).ok_or_else(|| unresolved(format!("environment variable `{name}` is not set"), path, place))?;
        filled.push_str(&text[rest..start]);
        filled.push_str(&value);
        rest = end;
    }
    if rest == 0 {
        return Ok(None);
    }
    filled.push_str(&text[rest..]);
    Ok(Some(filled))
}

/// A text outside of a case with its variables replaced; `key` is the key of the text.
pub(crate) fn fill_text(
    text: &str,
    key: &str,
    place: &Location,
    lookup: &impl Fn(&str) -> Option<String>,
) -> Result<String, Unresolved> {
    Ok(fill(text, &[key.to_owned()], place, lookup)?.unwrap_or_else(|| text.to_owned()))
}

/// Names of the variables in a text.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    placeholders(text).map(|(_, name, _)| name)
}

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    Text(&'t str),
    /// The name of a variable.
    Variable(&'t str),
}

/// A text in parts, in order.
pub(crate) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = 0;
    for (start, name, end) in placeholders(text) {
        pieces.extend([Piece::Text(&text[rest..start]), Piece::Variable(name)]);
        rest = end;
    }
    pieces.push(Piece::Text(&text[rest..]));
    pieces
}

/// The error for a variable in `key` that is not set.
pub(crate) fn unset(name: &str, key: &str, place: &Location) -> Unresolved {
    unresolved(format!("environment variable `{name}` is not set"), &[key.to_owned()], place)
}

fn unresolved(what: String, path: &[String], place: &Location) -> Unresolved {
    let problem = format!("{what}, used in `{}`", path.join("."));
    let message = Diagnostic::<SourceRange>::new(Code::UnsetVariable, problem).to_string();
    Unresolved { message, location: place.clone() }
}

/// Whether the text is the content of a file, which is not interpolated.
fn is_file_text<S: AsRef<str>>(path: &[S]) -> bool {
    matches!(path, [.., file, text] if file.as_ref() == "file" && text.as_ref() == "text")
        || path.windows(2).any(|keys| keys[0].as_ref() == "json-schema" && keys[1].as_ref() == "schema")
}

/// Whether a value must not be blank: values of text graders, commands, criteria, descriptions.
fn must_be_text(path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["criteria" | "description"] => true,
        ["graders", .., kind, "value"] => BUILT_IN.contains(kind),
        ["graders", .., "shell" | "outcome"] => true,
        _ => false,
    }
}

/// Every `${{ NAME }}` of a text: its start, the name, its end.
fn placeholders(text: &str) -> impl Iterator<Item = (usize, &str, usize)> {
    let mut next = 0;
    std::iter::from_fn(move || {
        while let Some(offset) = text.get(next..)?.find("${{") {
            let start = next + offset;
            let inside = start + 3;
            next = inside;
            let Some(length) = text[inside..].find("}}") else { continue };
            let name = text[inside..inside + length].trim_matches([' ', '\t']);
            if is_name(name) {
                next = inside + length + 2;
                return Some((start, name, next));
            }
        }
        None
    })
}

fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|character| character.is_ascii_alphanumeric() || character == '_')
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::TextValue;
    use evalsuite_schema::{Grader, GraderConfig, Input, Message, Role};

    use super::*;

    fn case(input: &str, wanted: &str) -> Case {
        let mut case = Case::new("c", Location::new("case.yaml", 1, 1));
        case.input = Input::Messages(vec![Message::text(Role::User, input)]);
        let config = GraderConfig::Contains(TextValue { value: wanted.into() });
        case.graders.push(Grader::new("g", Location::new("case.yaml", 5, 5), config));
        case
    }

    fn lookup(name: &str) -> Option<String> {
        match name {
            "HOST" => Some("example.org".into()),
            "NESTED" => Some("${{ HOST }}".into()),
            "BLANK" => Some(" ".into()),
            _ => None,
        }
    }

    #[test]
    fn variables_are_replaced_once() {
        let resolved = resolve(case("${{HOST}} and ${{ NESTED }}", "x"), Layout::Cases, lookup).unwrap();
        assert_eq!(resolved.input, case("example.org and ${{ HOST }}", "x").input);
    }

    #[test]
    fn other_placeholders_are_kept() {
        let text = "${{ a.b }} ${HOST} {{HOST}} ${{ 1A }} ${{";
        assert_eq!(resolve(case(text, "x"), Layout::Cases, lookup), Ok(case(text, "x")));
        assert_eq!(placeholders("${{ ${{ HOST }}").map(|found| found.1).collect::<Vec<_>>(), ["HOST"]);
    }

    #[test]
    fn the_error_of_an_unset_variable_has_its_location() {
        let error = resolve(case("x", "${{ MISSING }}"), Layout::Cases, lookup).unwrap_err();
        assert!(
            error.message.starts_with("error[E073 unset-variable]: environment variable `MISSING` is not set"),
            "{}",
            error.message
        );
        assert_eq!(error.location, Location::new("case.yaml", 5, 5));
        assert!(resolve(case("x", "${{ BLANK }}"), Layout::Cases, lookup).is_err());
        let mut blank = case("${{ BLANK }}", "x");
        blank.metadata.insert("value".into(), "${{ BLANK }}".into());
        assert!(resolve(blank, Layout::Cases, lookup).is_ok(), "not every text has to say something");
    }

    #[test]
    fn task_files_are_not_interpolated() {
        let task = case("${{ MISSING }}", "x");
        assert_eq!(resolve(task.clone(), Layout::Tasks, lookup), Ok(task));
    }
}
