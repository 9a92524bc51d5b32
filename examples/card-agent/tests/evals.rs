//! Runs `suites/card_agent`, one test per task.

mod graders;

use std::time::Duration;

use agent::{CardAgent, ConfiguredModel, Desk, Model, Note, Observer};
use evalsuite::{Message, Outcome, Role, ToolCall, Trial, Usage, include_eval_suite};
use graders::{
    ExistingFilesKept, card_asks_back, card_completion, card_matches_reference, card_must_contain, card_template,
    card_untouched, ledger_line,
};
use jiff::civil::Date;

// The leading `::` is needed because the suite's module has the same name as the crate.
use ::card_agent as agent;

include_eval_suite! {
    "suites/card_agent",
    graders = [
        card_completion,
        card_must_contain,
        card_template,
        card_matches_reference,
        card_untouched,
        card_asks_back,
        ledger_line,
        "existing_files_kept" => ExistingFilesKept,
    ],
}

/// `input` of the tasks.
#[derive(serde::Deserialize)]
struct TaskInput {
    content: String,
    today: Date,
}

async fn card_agent(trial: &mut Trial<'_>) -> anyhow::Result<Outcome> {
    let input: TaskInput = trial.input()?;
    let desk = Desk::open(trial.workspace())?;
    let model = ConfiguredModel::from_env()?;
    let name = model.name().to_owned();
    let answer = CardAgent::new(model).run(&Note::new(input.content, input.today), &desk, &mut Recorder(trial)).await?;
    // A refusal calls no tools; without this, "no calls" could not be distinguished from "calls not reported".
    trial.transcript_complete();
    Ok(Outcome::new().with_text(answer).with_model(name))
}

/// Records what the agent does while it runs, so that nothing is lost if it fails or times out.
struct Recorder<'r, 't>(&'r mut Trial<'t>);

impl Observer for Recorder<'_, '_> {
    fn on_message(&mut self, text: Option<&str>) {
        self.0.message(match text {
            Some(text) => Message::text(Role::Assistant, text),
            None => Message::empty(Role::Assistant),
        });
    }

    fn on_tool_call(&mut self, call: &agent::ToolCall, result: &agent::ToolResult, took: Duration) {
        let mut record = ToolCall::new(&call.name).with_id(&call.id).with_duration(took);
        // Arguments that are not JSON are a mistake of the model, and recorded as they are.
        record.input = Some(serde_json::from_str(&call.arguments).unwrap_or_else(|_| call.arguments.as_str().into()));
        record.is_error = result.is_err();
        record.output = Some(match result {
            Ok(text) => text.as_str().into(),
            Err(error) => error.to_string().into(),
        });
        self.0.tool_call(record);
    }

    fn on_usage(&mut self, usage: agent::Usage) {
        self.0.usage(Usage::new(usage.input, usage.output).with_cached(usage.cached));
    }
}
