//! Runs the tool calls of a model.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::{Desk, ToolError, ToolResult};
use crate::ToolCall;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListFiles {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadFile {
    path: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteFile {
    path: String,
    content: String,
    #[serde(default)]
    overwrite: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AppendFile {
    path: String,
    content: String,
}

/// Runs a tool call. A mistake of the model is an error that the model reads; it does not end the run.
pub(crate) fn call(desk: &Desk, call: &ToolCall) -> ToolResult {
    match call.name.as_str() {
        "list_files" => {
            arguments::<ListFiles>(call)?;
            Ok(desk.list()?.join("\n"))
        }
        "read_file" => {
            let ReadFile { path } = arguments(call)?;
            desk.read(&path)
        }
        "write_file" => {
            let WriteFile { path, content, overwrite } = arguments(call)?;
            desk.write(&path, &content, overwrite)?;
            Ok(format!("wrote {path}"))
        }
        "append_file" => {
            let AppendFile { path, content } = arguments(call)?;
            desk.append(&path, &content)?;
            Ok(format!("appended to {path}"))
        }
        name => Err(ToolError::new(format!("unknown tool `{name}`"))),
    }
}

fn arguments<T: DeserializeOwned>(call: &ToolCall) -> Result<T, ToolError> {
    // Some models send an empty string if a tool takes no arguments.
    let text = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
    serde_json::from_str(text)
        .map_err(|error| ToolError::new(format!("invalid arguments for `{}`: {error}", call.name)))
}

/// Prefix of a failed call in the text that the model reads.
pub(crate) const ERROR_PREFIX: &str = "error: ";

/// A result as the model reads it.
pub(crate) fn shown_to_model(result: &ToolResult) -> String {
    match result {
        Ok(text) => text.clone(),
        Err(error) => format!("{ERROR_PREFIX}{error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(desk: &Desk, name: &str, arguments: &str) -> String {
        let call_ = ToolCall { id: "1".into(), name: name.into(), arguments: arguments.into() };
        shown_to_model(&call(desk, &call_))
    }

    #[test]
    fn a_mistake_of_the_model_is_reported_to_the_model() {
        let dir = tempfile::tempdir().unwrap();
        let desk = Desk::open(dir.path()).unwrap();
        assert_eq!(run(&desk, "delete_file", "{}"), "error: unknown tool `delete_file`");
        assert!(run(&desk, "read_file", "{\"path\": ").starts_with("error: invalid arguments for `read_file`: EOF"));
        assert!(run(&desk, "read_file", "{\"file\": \"a\"}").contains("unknown field `file`"));
        assert_eq!(run(&desk, "list_files", ""), "");
    }

    #[test]
    fn files_are_written_appended_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let desk = Desk::open(dir.path()).unwrap();
        assert_eq!(run(&desk, "write_file", r#"{"path": "cards/茶.json", "content": "a"}"#), "wrote cards/茶.json");
        assert_eq!(
            run(&desk, "append_file", r#"{"path": "cards/茶.json", "content": "b"}"#),
            "appended to cards/茶.json"
        );
        assert_eq!(run(&desk, "read_file", r#"{"path": "cards/茶.json"}"#), "ab");
        assert_eq!(run(&desk, "list_files", "{}"), "cards/茶.json");
    }
}
