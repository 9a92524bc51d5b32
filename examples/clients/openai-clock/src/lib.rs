//! An agent that tells the time, with async-openai. It knows nothing of evalsuite.

use std::collections::BTreeMap;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessageArgs,
    ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessageArgs,
    ChatCompletionRequestUserMessage, ChatCompletionTool, ChatCompletionTools, CreateChatCompletionRequestArgs,
    FunctionObjectArgs,
};
use serde_json::{Value, json};

pub type BoxError = Box<dyn Error + Send + Sync>;

/// A tool runs in a task of its own, so it owns what it uses.
type Tool = Arc<dyn Fn(Value) -> Pin<Box<dyn Future<Output = Result<Value, BoxError>> + Send>> + Send + Sync>;

/// An agent with its tools. All agents of a program share its client, and with it the connections.
pub struct ClockAgent {
    client: Client<OpenAIConfig>,
    tools: BTreeMap<&'static str, Tool>,
}

impl ClockAgent {
    pub fn new(client: Client<OpenAIConfig>) -> Self {
        Self { client, tools: BTreeMap::new() }
    }

    pub fn with_tool<F, C>(mut self, name: &'static str, tool: F) -> Self
    where
        F: Fn(Value) -> C + Send + Sync + 'static,
        C: Future<Output = Result<Value, BoxError>> + Send + 'static,
    {
        self.tools.insert(name, Arc::new(move |arguments| Box::pin(tool(arguments))));
        self
    }

    pub async fn answer(&self, prompt: &str) -> Result<String, BoxError> {
        let mut messages: Vec<ChatCompletionRequestMessage> = vec![
            ChatCompletionRequestSystemMessage::from("Tell the time in words.").into(),
            ChatCompletionRequestUserMessage::from(prompt).into(),
        ];
        for _turn in 0..5 {
            let request = CreateChatCompletionRequestArgs::default()
                .model("clockwork-1")
                .messages(messages.clone())
                .tools(vec![clock_definition()?])
                .build()?;
            let response = self.client.chat().create(request).await?;
            let message = response.choices.into_iter().next().ok_or("the model did not answer")?.message;
            let Some(calls) = message.tool_calls else {
                return message.content.ok_or_else(|| "the answer is empty".into());
            };
            messages
                .push(ChatCompletionRequestAssistantMessageArgs::default().tool_calls(calls.clone()).build()?.into());
            let running: Vec<_> = calls.into_iter().filter_map(|call| self.start(call)).collect();
            for (id, task) in running {
                let output = match task.await? {
                    Ok(output) => output.to_string(),
                    Err(error) => format!("error: {error}"),
                };
                let message =
                    ChatCompletionRequestToolMessageArgs::default().tool_call_id(id).content(output).build()?;
                messages.push(message.into());
            }
        }
        Err("too many turns".into())
    }

    /// Starts a tool, so that several calls run at the same time.
    fn start(
        &self,
        call: ChatCompletionMessageToolCalls,
    ) -> Option<(String, tokio::task::JoinHandle<Result<Value, BoxError>>)> {
        let ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall { id, function }) = call else {
            return None;
        };
        let tool = self.tools.get(function.name.as_str()).cloned();
        let task = tokio::spawn(async move {
            let tool = tool.ok_or_else(|| format!("there is no tool {}", function.name))?;
            tool(serde_json::from_str(&function.arguments)?).await
        });
        Some((id, task))
    }
}

fn clock_definition() -> Result<ChatCompletionTools, BoxError> {
    let function = FunctionObjectArgs::default()
        .name("clock")
        .description("Tells the time in a place.")
        .parameters(json!({"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]}))
        .build()?;
    Ok(ChatCompletionTools::Function(ChatCompletionTool { function }))
}

/// The agent's tool.
pub async fn clock(arguments: Value) -> Result<Value, BoxError> {
    let zone = arguments["zone"].as_str().ok_or("zone is missing")?;
    Ok(json!(format!("12:30 in {zone}")))
}
