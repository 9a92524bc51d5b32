//! The messages of a conversation as those of async-openai.

use async_openai::types::chat::ChatCompletionRequestMessage;
use fakes::conversation;

#[test]
fn messages_of_a_conversation_are_those_of_a_request() {
    let messages: Vec<ChatCompletionRequestMessage> = evalsuite::chat::openai(&conversation()).unwrap();
    use ChatCompletionRequestMessage as Read;
    let [Read::System(_), Read::User(_), Read::Assistant(calls), Read::Tool(_), Read::Tool(lima), Read::Assistant(_)] =
        messages.as_slice()
    else {
        panic!("{messages:?}")
    };
    assert_eq!(calls.tool_calls.as_ref().map(Vec::len), Some(2));
    assert_eq!(lima.tool_call_id, "a");
    let sent = serde_json::to_value(&messages).unwrap();
    assert_eq!(sent[1]["content"], "And in Lima and Rome?");
    assert_eq!(sent[2]["tool_calls"][0]["function"]["arguments"], r#"{"zone":"America/Lima"}"#);
    assert_eq!(sent[4]["content"], "12:30 in Lima");
}
