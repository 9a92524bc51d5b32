//! An agent built with `rig`, as its users build it. It knows nothing of evalsuite; its spans tell what it did.

mod model;

use evalsuite::{Assertion, Evidence, Role, Trial};
use rig_agent::AgentBuilder;
use rig_core::providers::openai::{OpenAIConfig, Route};
use rig_core::tool::PortableTool;
use serde::Deserialize;
use serde_json::{Value, json};

evalsuite::include_eval_suite!("suites/clock", agent = with_contents_told, graders = [transcript]);
evalsuite::include_eval_suite!("suites/clock_names", agent = as_by_default, graders = [names_and_numbers]);

/// A tool of the agent.
struct Clock;

#[derive(Deserialize)]
struct Place {
    zone: String,
}

impl PortableTool for Clock {
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

    async fn call(&self, place: Place) -> Result<String, Self::Error> {
        Ok(format!("12:30 in {}", place.zone))
    }
}

async fn ask(prompt: &str, tell_contents: bool) -> Result<String, Box<dyn std::error::Error>> {
    let model = OpenAIConfig::new("no-key")
        .with_base_url(model::serve()?)
        .with_route(Route::Chat)
        .client()
        .completion("clockwork-1");
    let agent = AgentBuilder::new(model)
        .preamble("Tell the time in words.")
        .record_content_telemetry(tell_contents)
        .tool(Clock)
        .default_max_turns(5)
        .build();
    Ok(agent.prompt(prompt).await?.output().to_string())
}

/// rig tells what was said where its user wants it.
async fn with_contents_told(trial: &mut Trial<'_>) -> Result<String, Box<dyn std::error::Error>> {
    ask(trial.prompt(), true).await
}

/// By default it tells which tools were called, and how much was used.
async fn as_by_default(trial: &mut Trial<'_>) -> Result<String, Box<dyn std::error::Error>> {
    ask(trial.prompt(), false).await
}

fn transcript(evidence: &Evidence<'_>) -> Vec<Assertion> {
    let messages = evidence.transcript().unwrap_or_default();
    let roles: Vec<&str> = messages.iter().map(|message| message.role.as_str()).collect();
    let calls = evidence.tool_calls().unwrap_or_default();
    let zone = evidence.case_id();
    vec![
        Assertion::new("who spoke", roles == ["system", "user", "assistant", "assistant"]).with_actual(format!("{roles:?}")),
        Assertion::new(
            "what the tool returned",
            calls.iter().all(|call| call.output == Some(json!(format!("12:30 in {zone}")))),
        )
        .with_actual(format!("{calls:?}")),
        Assertion::new("the call took its time", calls.iter().all(|call| call.duration_ms.is_some())),
        Assertion::new(
            "usage",
            evidence.usage().is_some_and(|usage| (usage.input, usage.cached, usage.output) == (14, 6, 9)),
        )
        .with_actual(format!("{:?}", evidence.usage())),
    ]
}

fn names_and_numbers(evidence: &Evidence<'_>) -> Vec<Assertion> {
    let answers = evidence.transcript().unwrap_or_default().iter().filter(|message| message.role == Role::Assistant);
    let names: Vec<&str> = evidence.tool_calls().unwrap_or_default().iter().map(|call| call.tool.as_str()).collect();
    vec![
        Assertion::new("tools", names == ["clock"]).with_actual(format!("{names:?}")),
        Assertion::new("answers", answers.count() == 2),
        Assertion::new("calls of the model", evidence.llm_calls() == Some(2)),
        Assertion::new("usage", evidence.usage().is_some_and(|usage| usage.output == 9)),
    ]
}
