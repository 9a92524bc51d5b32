//! An agent that tells the time with the tools of an MCP server. It knows nothing of evalsuite.

use std::error::Error;

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessageArgs, ChatCompletionRequestMessage,
    ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessageArgs, ChatCompletionRequestUserMessage,
    ChatCompletionTool, ChatCompletionTools, CreateChatCompletionRequestArgs, FunctionObjectArgs,
};
use rmcp::model::{CallToolRequestParams, Tool};
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{RoleClient, ServiceExt};
use serde_json::Value;
use tracing::field::Empty;
use tracing::{Instrument, info_span};

pub type BoxError = Box<dyn Error + Send + Sync>;

/// A session with an MCP server. Its connection is served by a task in the background.
pub type Session = RunningService<RoleClient, ()>;

/// Opens a session with the server at an address such as `http://localhost:8000/mcp`.
pub async fn connect(address: &str) -> Result<Session, BoxError> {
    Ok(().serve(StreamableHttpClientTransport::from_uri(address)).await?)
}

pub struct ClockAgent<'a> {
    pub model: &'a Client<OpenAIConfig>,
    pub session: &'a Session,
}

impl ClockAgent<'_> {
    pub async fn answer(&self, prompt: &str) -> Result<String, BoxError> {
        let tools = self.session.list_all_tools().await?.iter().map(definition).collect::<Result<Vec<_>, _>>()?;
        let mut messages: Vec<ChatCompletionRequestMessage> = vec![
            ChatCompletionRequestSystemMessage::from("Tell the time in words.").into(),
            ChatCompletionRequestUserMessage::from(prompt).into(),
        ];
        for _turn in 0..5 {
            let request = CreateChatCompletionRequestArgs::default()
                .model("clockwork-1")
                .messages(messages.clone())
                .tools(tools.clone())
                .build()?;
            let response = self.model.chat().create(request).await?;
            let message = response.choices.into_iter().next().ok_or("the model did not answer")?.message;
            let Some(calls) = message.tool_calls else {
                return message.content.ok_or_else(|| "the answer is empty".into());
            };
            messages
                .push(ChatCompletionRequestAssistantMessageArgs::default().tool_calls(calls.clone()).build()?.into());
            for call in calls {
                let ChatCompletionMessageToolCalls::Function(call) = call else { continue };
                let output = self.call(call.function.name, &call.function.arguments).await?;
                let message =
                    ChatCompletionRequestToolMessageArgs::default().tool_call_id(call.id).content(output).build()?;
                messages.push(message.into());
            }
        }
        Err("too many turns".into())
    }

    /// Calls a tool, in a span by OpenTelemetry's conventions for MCP.
    async fn call(&self, name: String, arguments: &str) -> Result<String, BoxError> {
        let span = info_span!(
            "tools/call",
            otel.name = format!("tools/call {name}"),
            mcp.method.name = "tools/call",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = name,
            gen_ai.tool.call.arguments = arguments,
            gen_ai.tool.call.result = Empty,
            error.type = Empty,
        );
        let params = CallToolRequestParams::new(name).with_arguments(serde_json::from_str(arguments)?);
        let result = self.session.call_tool(params).instrument(span.clone()).await;
        let result = result.inspect_err(|_| {
            span.record("error.type", "_OTHER");
        })?;
        let text: String = result.content.iter().filter_map(|block| Some(block.as_text()?.text.as_str())).collect();
        span.record("gen_ai.tool.call.result", &text);
        if result.is_error == Some(true) {
            span.record("error.type", "tool_error");
        }
        Ok(text)
    }
}

fn definition(tool: &Tool) -> Result<ChatCompletionTools, BoxError> {
    let function = FunctionObjectArgs::default()
        .name(tool.name.as_ref())
        .description(tool.description.as_deref().unwrap_or_default())
        .parameters(Value::Object((*tool.input_schema).clone()))
        .build()?;
    Ok(ChatCompletionTools::Function(ChatCompletionTool { function }))
}
