//! A streamed completion: server-sent events, each with a piece of the text or of a tool call.

use std::io::BufRead;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

/// Tokens of a completion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    #[serde(rename = "prompt_tokens")]
    pub input: u64,
    /// Tokens of the reply.
    #[serde(rename = "completion_tokens")]
    pub output: u64,
}

/// A completion whose stream has ended.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Completion {
    text: String,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) usage: Usage,
}

/// A tool call that the model asks for.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    /// JSON, as the model wrote it.
    pub(crate) arguments: String,
}

impl Completion {
    /// The completion as a message of the next request.
    pub(crate) fn message(&self) -> Value {
        let calls = self.tool_calls.iter().map(|call| {
            let function = json!({ "name": call.name, "arguments": call.arguments });
            json!({ "id": call.id, "type": "function", "function": function })
        });
        json!({ "role": "assistant", "content": self.text, "tool_calls": calls.collect::<Vec<_>>() })
    }

    fn add(&mut self, piece: PieceOfToolCall) {
        if self.tool_calls.len() <= piece.index {
            self.tool_calls.resize_with(piece.index + 1, ToolCall::default);
        }
        let call = &mut self.tool_calls[piece.index];
        call.id.push_str(&piece.id.unwrap_or_default());
        call.name.push_str(&piece.function.name.unwrap_or_default());
        call.arguments.push_str(&piece.function.arguments.unwrap_or_default());
    }
}

/// Reads a stream to its end. `on_text` gets each piece of text as soon as it has arrived.
pub(crate) fn read_completion(body: impl BufRead, mut on_text: impl FnMut(String) -> Result<()>) -> Result<Completion> {
    let mut completion = Completion::default();
    for line in body.lines() {
        let line = line.context("the stream of the model broke off")?;
        let Some(data) = line.strip_prefix("data:").map(str::trim) else { continue };
        if data == "[DONE]" {
            return Ok(completion);
        }
        let chunk: Chunk =
            serde_json::from_str(data).with_context(|| format!("not a chunk of a completion: {data}"))?;
        completion.usage = chunk.usage.unwrap_or(completion.usage);
        for delta in chunk.choices.into_iter().map(|choice| choice.delta) {
            for piece in delta.tool_calls {
                completion.add(piece);
            }
            if let Some(text) = delta.content.filter(|text| !text.is_empty()) {
                completion.text.push_str(&text);
                on_text(text)?;
            }
        }
    }
    bail!("the stream of the model ended early")
}

#[derive(Deserialize)]
struct Chunk {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Choice {
    delta: Delta,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    #[serde(default)]
    tool_calls: Vec<PieceOfToolCall>,
}

/// Pieces with the same index are one call.
#[derive(Deserialize)]
struct PieceOfToolCall {
    index: usize,
    id: Option<String>,
    function: PieceOfFunction,
}

#[derive(Deserialize)]
struct PieceOfFunction {
    name: Option<String>,
    arguments: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(stream: &str) -> (Result<Completion>, Vec<String>) {
        let mut texts = Vec::new();
        let completion = read_completion(stream.as_bytes(), |text| {
            texts.push(text);
            Ok(())
        });
        (completion, texts)
    }

    #[test]
    fn pieces_of_a_tool_call_become_one_call() {
        let (completion, texts) = read(
            "data: {\"choices\": [{\"delta\": {\"tool_calls\": [{\"index\": 0, \"id\": \"a\", \"function\": {\"name\": \"find_order\"}}]}}]}\n\n\
             : a comment\n\n\
             data: {\"choices\": [{\"delta\": {\"tool_calls\": [{\"index\": 0, \"function\": {\"arguments\": \"{\\\"id\\\":\"}}]}}]}\n\n\
             data: {\"choices\": [{\"delta\": {\"tool_calls\": [{\"index\": 0, \"function\": {\"arguments\": \" 7}\"}}]}}]}\n\n\
             data: {\"choices\": [], \"usage\": {\"prompt_tokens\": 9, \"completion_tokens\": 4}}\n\n\
             data: [DONE]\n\n",
        );
        let call = ToolCall { id: "a".to_owned(), name: "find_order".to_owned(), arguments: "{\"id\": 7}".to_owned() };
        let usage = Usage { input: 9, output: 4 };
        assert_eq!(completion.unwrap(), Completion { text: String::new(), tool_calls: vec![call], usage });
        assert_eq!(texts, Vec::<String>::new());
    }

    #[test]
    fn text_is_passed_on_before_the_stream_fails() {
        let text = "data: {\"choices\": [{\"delta\": {\"content\": \"Your order\"}}]}\n\n";
        for (end, expected) in [("", "ended early"), ("data: {\n\n", "not a chunk of a completion: {")] {
            let (completion, texts) = read(&format!("{text}{end}"));
            assert_eq!(texts, ["Your order"]);
            let error = completion.unwrap_err().to_string();
            assert!(error.contains(expected), "expected `{expected}`: {error}");
        }
    }
}
