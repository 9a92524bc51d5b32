//! An agent that tells the time, built with adk-rust. It knows nothing of evalsuite.

use std::collections::HashMap;
use std::sync::Arc;

use adk_rust::model::ollama::{OllamaConfig, OllamaModel};
use adk_rust::runner::Runner;
use adk_rust::session::{CreateRequest, InMemorySessionService, SessionService};
use adk_rust::{
    AdkError, Content, EventTextDeltas, Llm, Result, SessionId, Tool, ToolContext, UserId, agent::LlmAgentBuilder,
    async_trait,
};
use futures_util::StreamExt;
use serde_json::{Value, json};

/// A model at an address such as `http://localhost:11434`.
pub fn model(address: &str) -> Result<Arc<dyn Llm>> {
    Ok(Arc::new(OllamaModel::new(OllamaConfig::with_host(address, "clockwork-1"))?))
}

/// An agent with its sessions.
pub struct ClockAgent {
    runner: Runner,
    sessions: Arc<dyn SessionService>,
}

impl ClockAgent {
    pub fn new(model: Arc<dyn Llm>, clock: Arc<dyn Tool>) -> Result<Self> {
        let agent =
            LlmAgentBuilder::new("clock").instruction("Tell the time in words.").model(model).tool(clock).build()?;
        let sessions: Arc<dyn SessionService> = Arc::new(InMemorySessionService::new());
        let runner =
            Runner::builder().app_name("clock").agent(Arc::new(agent)).session_service(sessions.clone()).build()?;
        Ok(Self { runner, sessions })
    }

    pub async fn answer(&self, prompt: &str) -> Result<String> {
        let session = SessionId::generate();
        let created = CreateRequest {
            app_name: "clock".into(),
            user_id: "user".into(),
            session_id: Some(session.to_string()),
            state: HashMap::new(),
        };
        self.sessions.create(created).await?;
        let mut events = self.runner.run(UserId::new("user")?, session, Content::new("user").with_text(prompt)).await?;
        let mut answer = String::new();
        let mut deltas = EventTextDeltas::default();
        while let Some(event) = events.next().await {
            let event = event?;
            let event = deltas.push(&event);
            let parts = event.llm_response.content.iter().flat_map(|content| &content.parts);
            answer.extend(parts.filter_map(|part| part.text()));
        }
        Ok(answer)
    }
}

/// The agent's tool.
pub struct Clock;

#[async_trait]
impl Tool for Clock {
    fn name(&self) -> &str {
        "clock"
    }

    fn description(&self) -> &str {
        "Tells the time in a place."
    }

    fn parameters_schema(&self) -> Option<Value> {
        Some(json!({"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]}))
    }

    async fn execute(&self, _: Arc<dyn ToolContext>, arguments: Value) -> Result<Value> {
        let zone = arguments["zone"].as_str().ok_or_else(|| AdkError::tool("zone is missing"))?;
        Ok(json!(format!("12:30 in {zone}")))
    }
}
