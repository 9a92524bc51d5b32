//! A conversation, whose messages the clients read in forms of their own.

use evalsuite::{Content, Message, Role, ToolCall};
use serde_json::json;

/// A question, two calls of a tool of which one has no id, and the answer.
pub fn conversation() -> Vec<Message> {
    let call = ToolCall::new("clock").with_id("a").with_input(json!({"zone": "America/Lima"}));
    let unnamed = ToolCall::new("clock").with_output("09:00 in Rome");
    vec![
        Message::text(Role::System, "Tell the time in words."),
        Message::text(Role::User, "And in Lima and Rome?"),
        Message::text(Role::Assistant, "I look.").with_tool_call(call).with_tool_call(unnamed),
        Message::tool_result("a", Content::Text("12:30 in Lima".into())),
        Message::text(Role::Assistant, "Half past twelve, and nine."),
    ]
}
