//! An agent built with rig that tells the time. It knows nothing of evalsuite.

use rig_agent::{Agent, AgentBuilder};
use rig_core::providers::openai::{OpenAIConfig, Route};
use rig_core::tool::{Tool, ToolContext};
use serde::Deserialize;
use serde_json::{Value, json};

/// An agent that asks the model at a base URL such as `http://localhost:11434/v1`.
///
/// With `record_contents`, its spans have the text of messages and the arguments and results of tools; without, names and
/// numbers only.
pub fn clock_agent(base_url: &str, record_contents: bool) -> Result<Agent, Box<dyn std::error::Error>> {
    let config = OpenAIConfig::new("no-key").with_base_url(base_url).with_route(Route::Chat);
    let agent = AgentBuilder::new(config.client().completion("clockwork-1"))
        .preamble("Tell the time in words.")
        .record_content_telemetry(record_contents)
        .tool(Clock)
        .default_max_turns(5)
        .build();
    Ok(agent)
}

/// The agent's tool.
struct Clock;

#[derive(Deserialize)]
struct Place {
    zone: String,
}

impl Tool for Clock {
    const NAME: &'static str = "clock";
    type Args = Place;
    type Output = String;
    type Error = std::convert::Infallible;

    fn description(&self) -> String {
        "Tells the time in a place.".to_owned()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]})
    }

    async fn call(&self, _: &mut ToolContext, place: Place) -> Result<String, Self::Error> {
        Ok(format!("12:30 in {}", place.zone))
    }
}
