//! Requests and responses of `/chat/completions`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ChatMessage, Completion, ModelError, ToolCall, ToolSpec, Usage};

#[derive(Serialize)]
pub(super) struct Request<'a> {
    model: &'a str,
    messages: Vec<OutMessage<'a>>,
    tools: Vec<OutTool<'a>>,
    /// 0: the same note should result in the same card.
    temperature: f32,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum OutMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<OutCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
struct OutCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: OutFunction<'a>,
}

#[derive(Serialize)]
struct OutFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
struct OutTool<'a> {
    r#type: &'static str,
    function: OutSpec<'a>,
}

#[derive(Serialize)]
struct OutSpec<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

pub(super) fn request<'a>(model: &'a str, conversation: &'a [ChatMessage], tools: &'a [ToolSpec]) -> Request<'a> {
    let call = |call: &'a ToolCall| OutCall {
        id: &call.id,
        r#type: "function",
        function: OutFunction { name: &call.name, arguments: &call.arguments },
    };
    let messages = conversation.iter().map(|message| match message {
        ChatMessage::System(content) => OutMessage::System { content },
        ChatMessage::User(content) => OutMessage::User { content },
        ChatMessage::Assistant { content, tool_calls } => {
            OutMessage::Assistant { content: content.as_deref(), tool_calls: tool_calls.iter().map(call).collect() }
        }
        ChatMessage::Tool { call_id, content } => OutMessage::Tool { tool_call_id: call_id, content },
    });
    let tools = tools.iter().map(|tool| OutTool {
        r#type: "function",
        function: OutSpec { name: tool.name, description: tool.description, parameters: &tool.parameters },
    });
    Request { model, messages: messages.collect(), tools: tools.collect(), temperature: 0.0 }
}

#[derive(Deserialize)]
struct Response {
    choices: Vec<Choice>,
    usage: Option<InUsage>,
}

#[derive(Deserialize)]
struct Choice {
    message: InMessage,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct InMessage {
    content: Option<String>,
    refusal: Option<String>,
    // Some servers send `null` if there are no calls.
    tool_calls: Option<Vec<InCall>>,
}

#[derive(Deserialize)]
struct InCall {
    id: Option<String>,
    function: InFunction,
}

#[derive(Deserialize)]
struct InFunction {
    name: String,
    arguments: Option<String>,
}

#[derive(Deserialize)]
struct InUsage {
    #[serde(default)]
    prompt_tokens: u64,
    #[serde(default)]
    completion_tokens: u64,
    prompt_tokens_details: Option<InDetails>,
}

#[derive(Deserialize)]
struct InDetails {
    cached_tokens: Option<u64>,
}

/// Why a response is not a usable completion.
pub(super) enum ResponseDefect {
    Json(serde_json::Error),
    Empty,
    Truncated,
}

impl Request<'_> {
    /// Number of messages so far.
    pub(super) fn message_count(&self) -> usize {
        self.messages.len()
    }
}

impl ResponseDefect {
    pub(super) fn into_error(self, url: &str) -> ModelError {
        match self {
            ResponseDefect::Json(error) => {
                ModelError::with_source(format!("the response of {url} is not a chat completion"), error)
            }
            ResponseDefect::Empty => ModelError::new(format!("the response of {url} has no choices")),
            ResponseDefect::Truncated => {
                ModelError::new(format!("the response of {url} was cut off at its token limit"))
            }
        }
    }
}

/// Reads a response. `message_count` makes ids of calls unique if the server sends none.
pub(super) fn completion(body: &str, message_count: usize) -> Result<Completion, ResponseDefect> {
    let response: Response = serde_json::from_str(body).map_err(ResponseDefect::Json)?;
    let choice = response.choices.into_iter().next().ok_or(ResponseDefect::Empty)?;
    if choice.finish_reason.as_deref() == Some("length") {
        return Err(ResponseDefect::Truncated);
    }
    let calls = choice.message.tool_calls.unwrap_or_default();
    let tool_calls = calls.into_iter().enumerate().map(|(index, call)| ToolCall {
        id: call.id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("call_{message_count}_{index}")),
        name: call.function.name,
        arguments: call.function.arguments.unwrap_or_default(),
    });
    let usage = response.usage.map_or_else(Usage::default, |usage| {
        let cached = usage.prompt_tokens_details.and_then(|details| details.cached_tokens).unwrap_or(0);
        Usage { input: usage.prompt_tokens.saturating_sub(cached), output: usage.completion_tokens, cached }
    });
    Ok(Completion {
        content: choice.message.content.or(choice.message.refusal),
        tool_calls: tool_calls.collect(),
        usage,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_without_ids_and_null_lists_are_accepted() {
        let text = r#"{"choices": [{"message": {"content": null, "tool_calls": [
            {"type": "function", "function": {"name": "list_files", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 40}}}"#;
        let completion_ = completion(text, 2).ok().unwrap();
        assert_eq!(completion_.tool_calls[0].id, "call_2_0");
        assert_eq!(completion_.usage, Usage { input: 60, output: 7, cached: 40 });
        let text = r#"{"choices": [{"message": {"content": "done", "tool_calls": null}}]}"#;
        assert_eq!(completion(text, 2).ok().unwrap().content.as_deref(), Some("done"));
    }

    #[test]
    fn a_truncated_response_is_rejected() {
        let text = r#"{"choices": [{"message": {"content": "Sav"}, "finish_reason": "length"}]}"#;
        assert!(matches!(completion(text, 2), Err(ResponseDefect::Truncated)));
        assert!(matches!(completion(r#"{"choices": []}"#, 2), Err(ResponseDefect::Empty)));
    }
}
