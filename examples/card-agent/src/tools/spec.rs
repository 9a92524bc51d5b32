//! The specifications of the tools, as a model sees them.

use serde_json::{Value, json};

/// The specification of a tool for a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Name of the tool.
    pub name: &'static str,
    /// What the tool does.
    pub description: &'static str,
    /// JSON Schema of the arguments.
    pub parameters: Value,
}

/// The tools of this agent.
pub(crate) fn specs() -> Vec<ToolSpec> {
    let path = json!({ "type": "string", "description": "relative to the workspace, with `/`" });
    vec![
        ToolSpec {
            name: "list_files",
            description: "Lists all files of the workspace, one path a line.",
            parameters: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        },
        ToolSpec {
            name: "read_file",
            description: "Returns the text of a file.",
            parameters: json!({
                "type": "object", "properties": { "path": path }, "required": ["path"], "additionalProperties": false
            }),
        },
        ToolSpec {
            name: "write_file",
            description: "Writes a file. An existing file is replaced only if `overwrite` is true.",
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": path, "content": { "type": "string" }, "overwrite": { "type": "boolean", "default": false }
                },
                "required": ["path", "content"],
                "additionalProperties": false
            }),
        },
        ToolSpec {
            name: "append_file",
            description: "Adds lines at the end of an existing file.",
            parameters: json!({
                "type": "object",
                "properties": { "path": path, "content": { "type": "string" } },
                "required": ["path", "content"],
                "additionalProperties": false
            }),
        },
    ]
}
