//! Variables, `${{ NAME }}`, in the texts of a case.

use std::cell::RefCell;
use std::collections::BTreeSet;

use evalsuite_schema::diagnostics::{Code, Diagnostic, SourceRange};
use evalsuite_schema::grader::BUILT_IN;
use evalsuite_schema::json::{FromJson, from_value, to_value};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Case, Layout, Location, Value, Workspace};

use crate::platform::environment;

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
    let mut value = to_value(&case).map_err(broken)?;
    replace(&mut value, &mut Vec::new(), &case.location, &lookup)?;
    Case::from_json(value).map_err(broken)
}

/// Names of all variables a case uses.
pub(crate) fn variables(case: &Case, layout: Layout) -> BTreeSet<String> {
    let names: RefCell<BTreeSet<String>> = RefCell::default();
    if layout.rules().has_variables
        && let Ok(mut value) = to_value(case)
    {
        let lookup = |name: &str| {
            names.borrow_mut().insert(name.to_owned());
            Some(name.to_owned())
        };
        // There are no errors: every variable has a value, which is not blank.
        let _ = replace(&mut value, &mut Vec::new(), &case.location, &lookup);
    }
    names.into_inner()
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

fn replace(
    value: &mut Value,
    path: &mut Vec<String>,
    place: &Location,
    lookup: &impl Fn(&str) -> Option<String>,
) -> Result<(), Unresolved> {
    match value {
        Value::String(text) if Syntax::Variable.is_in(text) && !is_file_text(path) => {
            let key = path.join(".");
            let filled = fill(text, &key, place, lookup)?;
            if filled.trim().is_empty() && must_be_text(path) {
                return Err(unresolved(&format!("`{text}` is blank"), &key, place));
            }
            *text = filled;
            Ok(())
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| replace(item, path, place, lookup)),
        Value::Object(object) => {
            let own = object.get("location").and_then(|location| from_value(location.clone()).ok());
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

/// A text with its variables replaced; `key` is the key of the text. Values are not scanned for variables.
pub(crate) fn fill(
    text: &str,
    key: &str,
    place: &Location,
    lookup: &impl Fn(&str) -> Option<String>,
) -> Result<String, Unresolved> {
    match Syntax::Variable.names(text).find(|name| lookup(name).is_none()) {
        Some(name) => Err(unset(name, key, place)),
        None => Ok(Syntax::Variable.fill(text, |name| lookup(name).map(Into::into))),
    }
}

/// The error for a variable in `key` that is not set.
pub(crate) fn unset(name: &str, key: &str, place: &Location) -> Unresolved {
    unresolved(&format!("environment variable `{name}` is not set"), key, place)
}

fn unresolved(what: &str, key: &str, place: &Location) -> Unresolved {
    let problem = format!("{what}, used in `{key}`");
    let message = Diagnostic::<SourceRange>::new(Code::UnsetVariable, problem).to_string();
    Unresolved { message, location: place.clone() }
}

/// Whether the text is the content of a file, which is not interpolated.
fn is_file_text(path: &[String]) -> bool {
    matches!(path, [.., file, text] if file == "file" && text == "text")
        || path.windows(2).any(|keys| keys == ["json-schema", "schema"])
}

/// Whether a text must not be blank: descriptions, expected answers, and what built-in graders look for, but neither data nor arguments of
/// programs.
fn must_be_text(path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["criteria" | "description"] => true,
        [.., "expected_output", "content", "text"] | [.., "expected_output", "content", "parts", "text"] => true,
        ["graders", settings @ ..]
        | ["conversation", "turns" | "user", "graders", settings @ ..]
        | ["conversation", "graders", settings @ ..] => is_looked_for(settings),
        _ => false,
    }
}

/// Whether this is the path of a text that a grader looks for, or hands to a judge or a shell.
fn is_looked_for(grader: &[&str]) -> bool {
    match grader {
        ["config", "composite", "members", member @ ..] => is_looked_for(member),
        ["config", kind, settings @ .., key] if BUILT_IN.contains(kind) => {
            let is_data = settings.iter().any(|key| ["args", "config"].contains(key));
            !is_data && ["value", "skill", "tool", "outcome", "criteria", "text", "shell"].contains(key)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::grader::TextValue;
    use evalsuite_schema::json::json;
    use evalsuite_schema::{Conversation, Grader, GraderConfig, Input, Message, Role, Turn};

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
    fn what_is_looked_for_is_not_blank_wherever_it_is() {
        let grader =
            |config: Value| Grader::new("g", Location::new("case.yaml", 5, 5), from_value(config).expect("a grader"));
        let text = "${{ BLANK }}";
        let contains = json!({ "contains": { "value": text } });
        let member = to_value(&grader(contains.clone())).expect("a grader");
        let composite =
            json!({ "composite": { "members": [member], "aggregator": { "threshold": { "threshold": 1.0 } } } });
        let call = |call: Value| json!({ "tool-trajectory": { "mode": "exact", "expected": [call] } });
        let skill = json!({ "skill-trigger": { "skill": text, "should_trigger": false } });
        let user = json!({ "user": { "grader": "mine", "config": { "value": text, "contains": { "value": text } } } });
        let pattern = json!({ "regex": { "value": "x", "flags": text } });
        let arguments = call(json!({ "tool": "note", "args": { "object": { "text": text } } }));
        let looked_for = [contains, composite, skill, call(json!({ "tool": text }))];
        let configs = looked_for.map(|config| (config, true)).into_iter().chain([
            (user, false),
            (arguments, false),
            (pattern, false),
        ]);
        for (config, is_error) in configs {
            let mut of_case = case("x", "y");
            of_case.graders = vec![grader(config.clone())];
            let mut of_turn = case("x", "y");
            let turn = Turn::new(Message::text(Role::User, "hi"), Vec::new(), of_case.graders.clone());
            of_turn.conversation = Some(Conversation::new(vec![turn]));
            for case in [of_case, of_turn] {
                assert_eq!(resolve(case, Layout::Cases, lookup).is_err(), is_error, "{config}");
            }
        }
        let mut expected = case("x", "y");
        expected.expected_output = vec![Message::text(Role::Assistant, "${{ BLANK }}")];
        assert!(resolve(expected, Layout::Cases, lookup).is_err());
    }

    #[test]
    fn task_files_are_not_interpolated() {
        let task = case("${{ MISSING }}", "x");
        assert_eq!(resolve(task.clone(), Layout::Tasks, lookup), Ok(task));
    }
}
