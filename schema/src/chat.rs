//! Messages in the form of the chat APIs of models, for client libraries that read their own types with serde.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error};

use crate::json::json;
use crate::sorting::set;
use crate::{Content, Message, Part, Role, ToolCall, Value};

/// The messages as the chat API of OpenAI has them, which `async-openai` (tested: 0.43) reads as `Vec<ChatCompletionRequestMessage>`, and
/// most services and libraries accept.
///
/// A call without an id gets one, and the output of a call becomes the message of its tool that the API demands.
///
/// ```
/// use evalsuite_schema::json::{Value, json};
/// use evalsuite_schema::{Message, Role, ToolCall, chat};
///
/// let call = ToolCall::new("order").with_input(json!({"id": 1182})).with_output("shipped");
/// let messages = [Message::text(Role::User, "Where is it?"), Message::empty(Role::Assistant).with_tool_call(call)];
/// let sent: Value = chat::openai(&messages)?;
/// assert_eq!(sent[0], json!({"role": "user", "content": "Where is it?"}));
/// assert_eq!(sent[1]["tool_calls"][0]["function"], json!({"name": "order", "arguments": "{\"id\":1182}"}));
/// assert_eq!(sent[2], json!({"role": "tool", "tool_call_id": "call-1", "content": "shipped"}));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
///
/// If a message has a file, an image or a sound, or is the result of no call; or if `T` does not read this form.
pub fn openai<T: DeserializeOwned>(messages: &[Message]) -> serde_json::Result<T> {
    let message = |said: Said<'_>| match said {
        Said::Text { role, text } => json!({"role": role.as_str(), "content": text}),
        Said::Calls { text, calls } => {
            let call = |(id, call): &(String, &ToolCall)| {
                let function = json!({"name": call.tool, "arguments": arguments(call).to_string()});
                json!({"id": id, "type": "function", "function": function})
            };
            let content = Some(text).filter(|text| !text.is_empty());
            json!({"role": "assistant", "content": content, "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})
        }
        Said::Result { id, text, .. } => json!({"role": "tool", "tool_call_id": id, "content": text}),
    };
    read(messages, message)
}

/// The messages as `genai` (tested: 0.7) reads them as `Vec<ChatMessage>`. As [`openai`] otherwise.
///
/// # Errors
///
/// As [`openai`].
pub fn genai<T: DeserializeOwned>(messages: &[Message]) -> serde_json::Result<T> {
    let message = |said: Said<'_>| match said {
        Said::Text { role, text } => {
            let role = match role {
                Role::System => "System",
                Role::User => "User",
                Role::Assistant => "Assistant",
                Role::Tool => "Tool",
            };
            json!({"role": role, "content": [{"Text": text}]})
        }
        Said::Calls { text, calls } => {
            let call = |(id, call): &(String, &ToolCall)| json!({"ToolCall": {"call_id": id, "fn_name": call.tool, "fn_arguments": arguments(call)}});
            let text = (!text.is_empty()).then(|| json!({"Text": text}));
            let parts: Vec<Value> = text.into_iter().chain(calls.iter().map(call)).collect();
            json!({"role": "Assistant", "content": parts})
        }
        Said::Result { id, tool, text } => {
            json!({"role": "Tool", "content": [{"ToolResponse": {"call_id": id, "fn_name": tool, "content": text}}]})
        }
    };
    read(messages, message)
}

/// The messages as `rig` (tested: rig-core 0.46) reads them as `Vec<Message>`. As [`openai`] otherwise.
///
/// # Errors
///
/// As [`openai`].
pub fn rig<T: DeserializeOwned>(messages: &[Message]) -> serde_json::Result<T> {
    let part = |text: String| json!({"type": "text", "text": text});
    let message = |said: Said<'_>| match said {
        Said::Text { role: Role::System, text } => json!({"role": "system", "content": text}),
        Said::Text { role, text } => json!({"role": role.as_str(), "content": [part(text)]}),
        Said::Calls { text, calls } => {
            let call = |(id, call): &(String, &ToolCall)| {
                let function = json!({"name": call.tool, "arguments": arguments(call)});
                json!({"type": "toolcall", "id": {"provider": id}, "function": function})
            };
            let text = (!text.is_empty()).then(|| part(text));
            let parts: Vec<Value> = text.into_iter().chain(calls.iter().map(call)).collect();
            json!({"role": "assistant", "content": parts})
        }
        Said::Result { id, tool, text } => {
            let result = json!({"type": "toolresult", "call": {"provider": id}, "name": tool, "content": [part(text)]});
            json!({"role": "user", "content": [result]})
        }
    };
    read(messages, message)
}

/// What one message of a chat says.
enum Said<'m> {
    Text { role: Role, text: String },
    Calls { text: String, calls: Vec<(String, &'m ToolCall)> },
    Result { id: String, tool: String, text: String },
}

fn read<T: DeserializeOwned>(messages: &[Message], form: impl Fn(Said<'_>) -> Value) -> serde_json::Result<T> {
    let said = said(messages)?;
    T::deserialize(said.into_iter().map(form).collect::<Value>())
}

/// The messages, with the results of calls after the calls.
fn said(messages: &[Message]) -> serde_json::Result<Vec<Said<'_>>> {
    let answered = set(messages.iter().filter_map(|message| message.tool_call_id.as_deref()));
    let mut said = Vec::new();
    // Names of the tools of calls, by id.
    let mut tools: BTreeMap<String, &str> = BTreeMap::new();
    for message in messages {
        let text = text_of(message)?;
        if message.role == Role::Tool {
            let call = message.tool_call_id.as_deref().and_then(|id| Some((id, tools.get(id)?)));
            let (id, tool) =
                call.ok_or_else(|| Error::custom("the message of a tool is the result of no call before it"))?;
            said.push(Said::Result { id: id.to_owned(), tool: (*tool).to_owned(), text });
            continue;
        }
        if message.tool_calls.is_empty() {
            said.push(Said::Text { role: message.role, text });
            continue;
        }
        let mut calls = Vec::new();
        for call in &message.tool_calls {
            let id = call.id.clone().unwrap_or_else(|| format!("call-{}", tools.len() + 1));
            tools.insert(id.clone(), &call.tool);
            calls.push((id, call));
        }
        let results = calls.iter().filter(|(id, _)| !answered.contains(id.as_str())).map(|(id, call)| {
            let text = match &call.output {
                None => String::new(),
                Some(Value::String(text)) => text.clone(),
                Some(output) => output.to_string(),
            };
            Said::Result { id: id.clone(), tool: call.tool.clone(), text }
        });
        let results: Vec<Said<'_>> = results.collect();
        said.push(Said::Calls { text, calls });
        said.extend(results);
    }
    Ok(said)
}

fn text_of(message: &Message) -> serde_json::Result<String> {
    let parts = match &message.content {
        Some(Content::Parts(parts)) => parts.as_slice(),
        _ => &[],
    };
    match parts.iter().find_map(Part::file) {
        Some(file) => {
            let problem = "has no form that all models read; convert this message yourself";
            Err(Error::custom(format!("the file `{}` of a message {problem}", file.written)))
        }
        None => Ok(message.plain_text().into_owned()),
    }
}

/// The arguments of a call, which are an object for every model.
fn arguments(call: &ToolCall) -> Value {
    call.input.clone().unwrap_or_else(|| json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PathRef;

    fn conversation() -> Vec<Message> {
        let call = |id: &str| ToolCall::new("order").with_id(id).with_input(json!({"id": 1182}));
        vec![
            Message::text(Role::System, "Be brief."),
            Message::new(Role::User, Content::Parts(vec![Part::Text("Where".into()), Part::Text("is it?".into())])),
            Message::text(Role::Assistant, "I look.")
                .with_tool_call(call("a"))
                .with_tool_call(call("b").with_output(json!({"at": "DHL"}))),
            Message::tool_result("a", Content::Text("shipped".into())),
            Message::text(Role::Assistant, "On its way."),
        ]
    }

    #[test]
    fn results_follow_their_calls_whether_they_are_messages_or_outputs() {
        let sent: Vec<Value> = openai(&conversation()).unwrap();
        let roles: Vec<&str> = sent.iter().filter_map(|message| message["role"].as_str()).collect();
        assert_eq!(roles, ["system", "user", "assistant", "tool", "tool", "assistant"]);
        assert_eq!(sent[1]["content"], "Where\nis it?");
        assert_eq!((&sent[3]["tool_call_id"], &sent[3]["content"]), (&json!("b"), &json!("{\"at\":\"DHL\"}")));
        assert_eq!((&sent[4]["tool_call_id"], &sent[4]["content"]), (&json!("a"), &json!("shipped")));
        let of_genai: Vec<Value> = genai(&conversation()).unwrap();
        assert_eq!(
            of_genai[4]["content"][0]["ToolResponse"],
            json!({"call_id": "a", "fn_name": "order", "content": "shipped"})
        );
        let of_rig: Vec<Value> = rig(&conversation()).unwrap();
        assert_eq!(of_rig[2]["content"][1]["id"], json!({"provider": "a"}));
    }

    #[test]
    fn what_has_no_form_is_an_error_that_names_it() {
        let image = Part::Image { file: PathRef::new("shot.png"), media_type: "image/png".into() };
        let shown = Message::new(Role::User, Content::Parts(vec![image]));
        let error = openai::<Value>(&[shown]).unwrap_err().to_string();
        assert!(error.contains("`shot.png`"), "{error}");
        let lost = rig::<Value>(&[Message::tool_result("z", Content::Text("x".into()))]).unwrap_err().to_string();
        assert!(lost.contains("no call before it"), "{lost}");
    }
}
