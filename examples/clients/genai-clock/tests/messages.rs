//! The messages of a conversation as those of genai.

use evalsuite::{Content, Message, Role, ToolCall};
use genai::chat::{ChatMessage, ChatRole};
use serde_json::json;

fn conversation() -> Vec<Message> {
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

#[test]
fn messages_of_a_conversation_are_those_of_a_request() {
    let messages: Vec<ChatMessage> = evalsuite::chat::genai(&conversation()).unwrap();
    let roles: Vec<&ChatRole> = messages.iter().map(|message| &message.role).collect();
    use ChatRole::{Assistant, System, Tool, User};
    assert_eq!(roles, [&System, &User, &Assistant, &Tool, &Tool, &Assistant]);
    assert_eq!(messages[1].content.first_text(), Some("And in Lima and Rome?"));
    let calls = messages[2].content.tool_calls();
    assert_eq!((calls.len(), calls[0].call_id.as_str(), calls[0].fn_name.as_str()), (2, "a", "clock"));
    assert_eq!(calls[0].fn_arguments, json!({"zone": "America/Lima"}));
    let results = messages[4].content.tool_responses();
    assert_eq!((results[0].call_id.as_str(), results[0].content.as_str()), ("a", "12:30 in Lima"));
}
