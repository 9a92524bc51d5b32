//! The messages of a conversation as those of genai.

use fakes::conversation;
use genai::chat::{ChatMessage, ChatRole};
use serde_json::json;

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
