//! Runs `suites/repair`, one test per case.

use std::path::Path;

use evalsuite::{Assertion, Evidence, Message, Outcome, Role, Score, ToolCall, Trial, include_eval_suite};
use repair_agent::{Observer, Repair, RepairError, Step};
use serde::Deserialize;

include_eval_suite! {
    "suites/repair",
    agent = repair,
    graders = ["small-change" => small_change],
}

/// A plain function, because it only waits for the compiler and the tests.
fn repair(trial: &mut Trial<'_>) -> Result<Outcome, RepairError> {
    let file = named_file(trial.prompt()).unwrap_or("program.rs").to_owned();
    let workspace = trial.workspace().to_owned();
    let report = Repair::new(workspace, file).run(&mut Recorder(trial))?;
    Ok(Outcome::new().with_text(report.to_string()).with_state("tried", report.tried()))
}

/// The Rust file that the prompt names in backticks.
fn named_file(prompt: &str) -> Option<&str> {
    prompt
        .split('`')
        .skip(1)
        .step_by(2)
        .find(|name| Path::new(name).extension().is_some_and(|extension| extension == "rs"))
}

/// Records what the agent does while it runs.
struct Recorder<'r, 't>(&'r mut Trial<'t>);

impl Observer for Recorder<'_, '_> {
    fn step(&mut self, step: Step) {
        let call = ToolCall::new(step.tool).with_input(step.input).with_output(step.output).with_duration(step.took);
        self.0.message(Message::empty(Role::Assistant));
        self.0.tool_call(call);
    }

    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// Config of [`small_change`].
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SmallChange {
    /// The files that must change; no others may.
    files: Vec<String>,
    /// Maximum number of lines added and removed, in total.
    max_lines: usize,
}

/// Checks that exactly the given files changed, and by a limited number of lines.
fn small_change(config: SmallChange, evidence: &Evidence<'_>) -> Score {
    let changes = evidence.changes();
    let lines = evidence
        .diff()
        .lines()
        .filter(|line| line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---"))
        .count();
    Score::from_assertions([
        Assertion::new("no file was created or deleted", changes.created.is_empty() && changes.deleted.is_empty())
            .with_actual(format!("created {:?}, deleted {:?}", changes.created, changes.deleted)),
        Assertion::new("the right files changed", changes.modified == config.files)
            .with_expected(format!("{:?}", config.files))
            .with_actual(format!("{:?}", changes.modified)),
        Assertion::new("the change is small", lines <= config.max_lines)
            .with_expected(format!("at most {} lines", config.max_lines))
            .with_actual(format!("{lines} lines")),
    ])
}
