//! An agent that tells the time, with genai. It knows nothing of evalsuite.

use std::error::Error;

use genai::Client;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest, Tool, ToolCall, ToolResponse};
use genai::otel::agent::{ExecuteToolSpan, execute_tool_span, set_error};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{ModelIden, ServiceTarget};
use serde_json::json;
use tracing::Instrument;

pub type BoxError = Box<dyn Error + Send + Sync>;

/// A client of models at a base URL such as `http://localhost:11434/v1/`.
pub fn client(base_url: impl Into<String>) -> genai::Result<Client> {
    let base_url = base_url.into();
    let resolver = ServiceTargetResolver::from_resolver_fn(move |target: ServiceTarget| {
        Ok(ServiceTarget {
            endpoint: Endpoint::from_owned(base_url.clone()),
            auth: AuthData::from_single("no-key"),
            model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
        })
    });
    Client::builder().with_service_target_resolver(resolver).build()
}

pub async fn answer(client: &Client, prompt: &str) -> Result<String, BoxError> {
    let tool = Tool::new("clock")
        .with_description("Tells the time in a place.")
        .with_schema(json!({"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]}));
    let mut request = ChatRequest::from_system("Tell the time in words.")
        .append_message(ChatMessage::user(prompt))
        .with_tools([tool]);
    for _turn in 0..5 {
        let response = client.exec_chat("clockwork-1", request.clone(), None).await?;
        if response.tool_calls().is_empty() {
            return response.into_first_text().ok_or_else(|| "the answer is empty".into());
        }
        let calls = response.into_tool_calls();
        request = request.append_message(calls.clone());
        for call in calls {
            let output = run(&call).await.unwrap_or_else(|error| format!("error: {error}"));
            request = request.append_message(ToolResponse::new(call.call_id, output));
        }
    }
    Err("too many turns".into())
}

/// Runs a tool in a span, which genai leaves to its users.
async fn run(call: &ToolCall) -> Result<String, BoxError> {
    let span = execute_tool_span(call);
    let result = clock(call).instrument(span.clone()).await;
    match &result {
        Ok(output) => ExecuteToolSpan::record_result(&span, output),
        Err(_) => set_error(&span, "tool"),
    }
    result
}

/// The agent's tool.
async fn clock(call: &ToolCall) -> Result<String, BoxError> {
    let zone = call.fn_arguments["zone"].as_str().ok_or("zone is missing")?;
    Ok(format!("12:30 in {zone}"))
}
