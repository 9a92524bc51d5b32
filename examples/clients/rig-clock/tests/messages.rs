//! The messages of a conversation as those of rig.

use evalsuite::ToolCall;
use fakes::conversation;
use rig_core::message::{AssistantContent, Message as RigMessage, UserContent};
use serde::Deserialize;
use serde_json::json;

#[test]
fn messages_of_a_conversation_are_those_of_a_request() {
    let messages: Vec<RigMessage> = evalsuite::chat::rig(&conversation()).unwrap();
    let [
        RigMessage::System { .. },
        RigMessage::User { content: asked },
        RigMessage::Assistant(calls),
        _,
        answered,
        last,
    ] = messages.as_slice()
    else {
        panic!("{messages:?}")
    };
    assert!(matches!(&asked[0], UserContent::Text(text) if text.text == "And in Lima and Rome?"), "{asked:?}");
    let [AssistantContent::Text(_), AssistantContent::ToolCall(call), AssistantContent::ToolCall(_)] =
        calls.content.as_slice()
    else {
        panic!("{calls:?}")
    };
    assert_eq!((call.function.name.as_str(), &call.function.arguments["zone"]), ("clock", &json!("America/Lima")));
    let RigMessage::User { content } = answered else { panic!("{answered:?}") };
    let UserContent::ToolResult(result) = &content[0] else { panic!("{content:?}") };
    assert_eq!((&result.call, result.content[0].as_text()), (&call.id, Some("12:30 in Lima")));
    assert!(matches!(last, RigMessage::Assistant(_)), "{last:?}");
}

#[derive(Deserialize)]
struct Order {
    id: u64,
}

fn order(call: ToolCall) -> serde_json::Result<(Order, Option<serde_json::Value>)> {
    let other = call.input.clone().map(serde_json::Value::from);
    let order = Order::deserialize(call.input.unwrap_or_default())?;
    Ok((order, other))
}

#[test]
fn a_value_is_that_of_serde_json_or_a_type() {
    let (order, other) = order(ToolCall::new("find_order").with_input(json!({"id": 1182}))).unwrap();
    assert_eq!((order.id, other), (1182, Some(json!({"id": 1182}))));
}
