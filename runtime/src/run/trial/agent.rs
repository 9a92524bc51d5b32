use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use evalsuite_schema::{
    Input,
    record::{CaseOutcome, Note, Reason, ReasonCode, Stage},
};

use crate::{
    agents::{
        self,
        command::{command_call::CommandFailure, resolved_command::ResolvedCommand},
        spans::Trace,
    },
    model::{
        agent::RustAgent,
        command::EndWithTrial,
        messages::{file_parts, prompt},
        outcome::{AgentError, Outcome},
        recording::Recording,
        trial as api,
    },
    platform::{
        cancel::Cancel,
        clock::timestamp,
        isolated_call::{Ended, call_within},
        process::TERMINATION_GRACE,
    },
    run::trial::{Stop, Trial},
};

/// An agent that can be called.
pub(crate) enum Agent<'a> {
    Rust(&'a RustAgent),
    Command(ResolvedCommand<'a>),
    /// What is replayed calls nobody.
    Nobody,
}

/// What an agent is asked.
pub(crate) struct Ask<'a> {
    pub(crate) input: &'a Input,
    /// Index of the turn in a conversation.
    pub(crate) turn: Option<u32>,
}

/// An agent's call, however it ended.
pub(crate) struct Call {
    pub(crate) result: Result<Outcome, Stop>,
    /// What the agent recorded until then.
    pub(crate) recording: Recording,
    /// What was odd about what it reported.
    pub(crate) notes: Vec<Note>,
    pub(crate) took: Duration,
    /// When it began and when it ended.
    pub(crate) span: (String, String),
}

/// How a call ended, without its times.
struct Ending {
    result: Result<Outcome, Stop>,
    recording: Recording,
    notes: Vec<Note>,
}

/// Calls the agent within its limit.
pub(crate) fn call(trial: &Trial<'_>, ask: &Ask<'_>) -> Call {
    let (clock, started_at) = (Instant::now(), timestamp());
    let Ending { result, recording, notes } = match &trial.agent {
        Agent::Rust(agent) => call_function(trial, ask, agent),
        Agent::Command(command) => call_command(trial, ask, command),
        Agent::Nobody => Ending {
            result: Err(failed("no agent is called here".to_owned())),
            recording: Recording::default(),
            notes: Vec::new(),
        },
    };
    let (took, span) = (clock.elapsed(), (started_at, timestamp()));
    let result = result.map(|outcome| outcome.or_reported(recording.outcome.clone()));
    let result = result.and_then(|outcome| match outcome.defect() {
        None => Ok(outcome),
        Some(defect) => Err(failed(defect)),
    });
    Call { result, recording, notes, took, span }
}

/// Absolute paths of the files in an input, in order.
fn files(trial: &Trial<'_>, input: &Input) -> Vec<PathBuf> {
    match input {
        Input::Messages(messages) => file_parts(messages).map(|file| trial.plan.places.resolve(file)).collect(),
        Input::Data(_) => Vec::new(),
    }
}

fn call_function(trial: &Trial<'_>, ask: &Ask<'_>, agent: &RustAgent) -> Ending {
    let Trial { plan, case, index, workspace, environment, cassette, .. } = trial;
    let now = Instant::now();
    let facts = api::Facts {
        case_id: case.id.clone(),
        agent_name: plan.suite.agent_name.map(str::to_owned),
        target: plan.target.clone(),
        index: *index,
        turn: ask.turn,
        prompt: prompt(ask.input, |file| plan.places.resolve(file)),
        input: ask.input.clone(),
        files: files(trial, ask.input),
        metadata: case.metadata.clone(),
        workspace: workspace.clone(),
        suite_dir: plan.places.suite_dir.clone(),
        case_dir: plan.places.join(&case.dir),
        // A limit beyond what the clock can hold is no limit.
        deadline: now.checked_add(plan.limit).unwrap_or_else(|| now + Duration::from_secs(u32::MAX.into())),
        environment: environment.clone(),
        cassette: cassette.replies(),
        dependencies: Arc::clone(&plan.dependencies),
    };
    let trace = Trace::new();
    let cancel = Cancel::observed_by(Arc::new(trace.clone()));
    let inner = cancel.clone();
    let (mut own, shared) = crate::model::trial::Trial::new(facts, cancel.clone());
    trial.programs.borrow_mut().push(EndWithTrial(shared.groups.clone()));
    let function = agent.clone();
    let (case_id, index) = (trial.case.id.clone(), trial.index);
    let inner_trace = trace.clone();
    let ended = call_within(
        plan.limit,
        &cancel,
        agent.is_cooperative(),
        || shared.groups.end_all(TERMINATION_GRACE),
        // What an agent's error says is code of the agent's, too.
        move || {
            inner_trace.within(&case_id, index, || function.run(&mut own, &inner).map_err(|error| agent_error(&error)))
        },
    );
    let mut recording = shared.recording().clone();
    recording.captured = trace.take();
    let result = match ended {
        Ok(Ended::Returned(result)) => result,
        Ok(Ended::Panicked(message)) => {
            shared.groups.end_all(TERMINATION_GRACE);
            Err(Stop::error(Stage::Agent, ReasonCode::AgentPanic, format!("the agent panicked: {message}")))
        }
        Ok(Ended::TimedOut) => {
            let message = format!("the agent did not end within {} s", plan.limit.as_secs_f64());
            Err(Stop::error(Stage::Agent, ReasonCode::Timeout, message))
        }
        Err(error) => Err(failed(format!("the agent's thread cannot be started: {error}"))),
    };
    Ending { result, recording, notes: Vec::new() }
}

fn call_command(trial: &Trial<'_>, ask: &Ask<'_>, command: &ResolvedCommand<'_>) -> Ending {
    let Trial { plan, case, index, workspace, environment, directory, .. } = trial;
    let directory = directory.join("agent");
    // A case without a workspace of its own leaves the command where its target says.
    let elsewhere = command.agent.directory(&plan.places);
    let answer = command.call(&agents::command::command_call::CommandCall {
        prompt: &prompt(ask.input, |file| plan.places.resolve(file)),
        files: &files(trial, ask.input),
        case_id: &case.id,
        trial: *index,
        directory: &match ask.turn {
            None => directory,
            Some(turn) => directory.join(format!("turn-{turn:03}")),
        },
        cwd: if case.workspace.is_some() { workspace } else { &elsewhere },
        environment,
        limit: plan.limit,
        keep: plan.settings.keep,
        redactor: &plan.redactor,
    });
    let mut recording = Recording::default();
    if let Some(line) = &answer.log {
        recording.log(line);
    }
    let result = answer.result.map_err(|failure| match failure {
        CommandFailure::Failed(message) => failed(message),
        CommandFailure::TimedOut(message) => Stop::error(Stage::Agent, ReasonCode::Timeout, message),
    });
    Ending { result, recording, notes: answer.notes }
}

fn failed(message: String) -> Stop {
    Stop::error(Stage::Agent, ReasonCode::AgentError, message)
}

fn agent_error(error: &AgentError) -> Stop {
    match error.skip_reason() {
        Some(reason) => {
            Stop { outcome: CaseOutcome::Skipped, reason: Reason::new(Stage::Agent, ReasonCode::SkipRequested, reason) }
        }
        None => failed(error.chain()),
    }
}
