use std::{
    cell::RefCell,
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use evalsuite_schema::{
    Case, Input,
    record::{CaseOutcome, Note, Reason, ReasonCode, Stage, Started, TrialRecord, WorkspaceRecord},
};

use super::{
    interpolation,
    plan::Plan,
    requirements,
    snapshot::{Changes, Snapshot},
    transcript,
    trial_record::{blank, keep_changes, keep_log, report},
    workspace,
};
use crate::{
    AgentError, Evidence, Outcome, Trial,
    cancel::Cancel,
    clock::timestamp,
    command::CommandEnvironment,
    evidence,
    grader::{self, Context},
    isolate::{Ended, call_within},
    messages::{file_parts, prompt},
    process::TERMINATION_GRACE,
    recording::Recording,
    run_directory::write_json,
    scoring::score_trial,
    trial,
};

/// What ends a trial before its graders.
struct Stop {
    outcome: CaseOutcome,
    reason: Reason,
}

impl Stop {
    fn error(stage: Stage, code: ReasonCode, message: impl Into<String>) -> Self {
        Self { outcome: CaseOutcome::Error, reason: Reason::new(stage, code, message) }
    }
}

/// Runs one trial and writes its record.
///
/// # Errors
///
/// If the record cannot be written.
pub(super) fn run_trial(plan: &Plan<'_>, index: u32) -> io::Result<TrialRecord> {
    let directory = plan.directory.join(format!("trial-{index:03}"));
    workspace::discard(&directory)?;
    let mut record = blank(plan, index);
    let started = Started {
        schema: Started::SCHEMA.to_owned(),
        run_id: record.run_id.clone(),
        suite: record.suite.clone(),
        case_id: record.case_id.clone(),
        target: record.target.clone(),
        trial: index,
        pid: std::process::id(),
        started_at: record.started_at.clone(),
    };
    write_json(&directory.join("started.json"), &started, &plan.redactor)?;

    let clock = Instant::now();
    if let Err(stop) = live(plan, index, &directory, &mut record) {
        record.outcome = stop.outcome;
        record.reason = Some(stop.reason);
        requirements::forbid_skip(plan.settings, &mut record.outcome, &mut record.reason);
    }
    record.timings.total_ms = millis(clock);
    record.ended_at = timestamp();
    if record.workspace.is_some() {
        tidy(plan, &mut record);
    }
    write_json(&directory.join("result.json"), &record, &plan.redactor)?;
    Ok(record)
}

/// Everything from the resolved case to the verdict.
fn live(plan: &Plan<'_>, index: u32, directory: &Path, record: &mut TrialRecord) -> Result<(), Stop> {
    let clock = Instant::now();
    let case = resolve(plan)?;
    let workspace_dir = directory.join("workspace");
    record.workspace =
        Some(WorkspaceRecord { path: workspace_dir.display().to_string(), kept: true, ..WorkspaceRecord::default() });
    workspace::materialise(case.workspace.as_ref(), &workspace_dir, &plan.places)
        .map_err(|message| Stop::error(Stage::Workspace, ReasonCode::WorkspaceError, message))?;
    let before = Snapshot::take(&workspace_dir).map_err(|error| unreadable(Stage::Workspace, &error))?;
    let environment = environment(plan, &case, index, directory, &workspace_dir);
    record.timings.setup_ms = millis(clock);

    let clock = Instant::now();
    let started_at = timestamp();
    let (result, recording) = call_agent(plan, &case, index, &workspace_dir, &environment)?;
    let measured = clock.elapsed();
    let ended_at = timestamp();
    record.timings.agent_ms = millis(clock);

    let clock = Instant::now();
    record.duration_ms = Some(whole_millis(measured));
    record.usage = recording.usage;
    keep_log(plan, directory, &recording, record);
    let captured = before.changes(&workspace_dir).map_err(|error| unreadable(Stage::Capture, &error));
    if let Ok(changes) = &captured {
        keep_changes(plan, directory, changes, record);
    }
    record.timings.capture_ms = millis(clock);
    let outcome = result?;
    let changes = captured?;

    let clock = Instant::now();
    let facts =
        facts(plan, &case, index, &outcome, &recording, measured, (started_at, ended_at), workspace_dir, changes);
    report(&facts, outcome, record);
    if let (Some(limit), None) = (case.trials.cost_limit_usd, record.cost_usd) {
        let message = format!("the agent reports no cost, so `cost_limit_usd: {limit}` has no effect");
        record.notes.push(Note::new("cost_unknown", message));
    }
    grade(plan, &case, Evidence::new(facts), directory, &environment, record);
    record.timings.grading_ms = millis(clock);
    Ok(())
}

fn resolve(plan: &Plan<'_>) -> Result<Case, Stop> {
    let lookup = |name: &str| std::env::var(name).ok();
    let case =
        interpolation::resolve(plan.case.clone(), plan.suite_data.layout, lookup).map_err(|unresolved| Stop {
            outcome: CaseOutcome::Error,
            reason: Reason::new(Stage::Setup, ReasonCode::VariableUnset, unresolved.message).at(unresolved.location),
        })?;
    if let Input::Messages(messages) = &case.input {
        for file in file_parts(messages) {
            let path = plan.places.resolve(file);
            if !path.is_file() {
                let message = format!("the file `{}` does not exist ({})", file.written, path.display());
                return Err(Stop::error(Stage::Setup, ReasonCode::FileMissing, message));
            }
        }
    }
    Ok(case)
}

fn unreadable(stage: Stage, error: &io::Error) -> Stop {
    Stop::error(stage, ReasonCode::WorkspaceError, format!("the workspace cannot be read: {error}"))
}

type AgentResult = Result<Outcome, Stop>;

fn call_agent(
    plan: &Plan<'_>,
    case: &Case,
    index: u32,
    workspace: &Path,
    environment: &CommandEnvironment,
) -> Result<(AgentResult, Recording), Stop> {
    let Some(agent) = plan.evals.agent_of(&plan.target) else {
        let message = format!("no agent is bound to target `{}`", plan.target);
        return Err(Stop::error(Stage::Agent, ReasonCode::TargetUnusable, message));
    };
    let resolve = |file: &_| plan.places.resolve(file);
    let files = match &case.input {
        Input::Messages(messages) => file_parts(messages).map(resolve).collect(),
        Input::Data(_) => Vec::new(),
    };
    let now = Instant::now();
    let facts = trial::Facts {
        case_id: case.id.clone(),
        agent_name: plan.suite.agent_name.map(str::to_owned),
        target: plan.target.clone(),
        index,
        prompt: prompt(&case.input, resolve),
        input: case.input.clone(),
        files,
        metadata: case.metadata.clone(),
        workspace: workspace.to_owned(),
        suite_dir: plan.places.suite_dir.clone(),
        case_dir: plan.places.join(&case.dir),
        // A limit beyond what the clock can hold is no limit.
        deadline: now.checked_add(plan.limit).unwrap_or_else(|| now + Duration::from_secs(u32::MAX.into())),
        environment: environment.clone(),
    };
    let cancel = Cancel::default();
    let inner = cancel.clone();
    let (mut own, shared) = Trial::new(facts, cancel.clone());
    let function = agent.clone();
    let ended = call_within(
        plan.limit,
        &cancel,
        agent.0.is_cooperative(),
        || shared.groups.end_all(TERMINATION_GRACE),
        move || function.0.run(&mut own, &inner),
    );
    let recording = shared.recording().clone();
    let result = match ended {
        Ok(Ended::Returned(Ok(outcome))) => match outcome.defect() {
            None => Ok(outcome),
            Some(defect) => Err(Stop::error(Stage::Agent, ReasonCode::AgentError, defect)),
        },
        Ok(Ended::Returned(Err(error))) => Err(agent_error(&error)),
        Ok(Ended::Panicked(message)) => {
            shared.groups.end_all(TERMINATION_GRACE);
            Err(Stop::error(Stage::Agent, ReasonCode::AgentPanic, format!("the agent panicked: {message}")))
        }
        Ok(Ended::TimedOut) => {
            let message = format!("the agent did not end within {} s", plan.limit.as_secs_f64());
            Err(Stop::error(Stage::Agent, ReasonCode::Timeout, message))
        }
        Err(error) => {
            let message = format!("the agent's thread cannot be started: {error}");
            Err(Stop::error(Stage::Agent, ReasonCode::AgentError, message))
        }
    };
    Ok((result, recording))
}

fn agent_error(error: &AgentError) -> Stop {
    match error.skip_reason() {
        Some(reason) => {
            Stop { outcome: CaseOutcome::Skipped, reason: Reason::new(Stage::Agent, ReasonCode::SkipRequested, reason) }
        }
        None => Stop::error(Stage::Agent, ReasonCode::AgentError, error.chain()),
    }
}

#[allow(clippy::too_many_arguments, reason = "each is a part of the evidence")]
fn facts(
    plan: &Plan<'_>,
    case: &Case,
    index: u32,
    outcome: &Outcome,
    recording: &Recording,
    measured: Duration,
    (started_at, ended_at): (String, String),
    workspace: PathBuf,
    changes: Changes,
) -> evidence::Facts {
    let (answer, transcript) = transcript::assemble(outcome, recording);
    evidence::Facts {
        case_id: case.id.clone(),
        description: case.description.clone(),
        criteria: case.criteria.clone(),
        input: Some(case.input.clone()),
        metadata: case.metadata.clone(),
        tags: plan.entry.tags.iter().map(|tag| (*tag).to_owned()).collect(),
        target: plan.target.clone(),
        trial: index,
        expected_output: case.expected_output.clone(),
        reference_solution: case.reference_solution.clone(),
        answer,
        transcript,
        usage: outcome.usage.or(recording.usage),
        cost_usd: outcome.cost_usd,
        duration_ms: outcome.duration_ms.unwrap_or_else(|| as_number(whole_millis(measured))),
        started_at,
        ended_at,
        state: outcome.state.clone(),
        workspace,
        changes: changes.files,
        diff: changes.diff,
    }
}

fn grade(
    plan: &Plan<'_>,
    case: &Case,
    evidence: Evidence<'_>,
    directory: &Path,
    environment: &CommandEnvironment,
    record: &mut TrialRecord,
) {
    let notes = RefCell::new(Vec::new());
    let context = Context {
        evidence: &evidence,
        suite: plan.suite.name,
        layout: plan.suite_data.layout,
        threshold: plan.threshold,
        registry: plan.evals.registry(),
        places: &plan.places,
        environment,
        trial_dir: directory,
        redactor: &plan.redactor,
        notes: &notes,
    };
    record.graders = case.graders.iter().map(|grader| grader::grade(grader, &context)).collect();
    record.notes.append(&mut notes.into_inner());
    let score = score_trial(plan.suite_data.layout, &record.graders, plan.threshold);
    record.outcome = score.outcome;
    record.score = score.score;
    record.reason = score.reason;
    record.notes.extend(score.notes);
}

fn environment(plan: &Plan<'_>, case: &Case, index: u32, directory: &Path, workspace: &Path) -> CommandEnvironment {
    let path = |path: &Path| OsString::from(path);
    CommandEnvironment(vec![
        ("EVALSUITE_WORKSPACE", path(workspace)),
        ("AGENTV_WORKSPACE_PATH", path(workspace)),
        ("EVALSUITE_SUITE_DIR", path(&plan.places.suite_dir)),
        ("EVALSUITE_CASE_DIR", path(&plan.places.join(&case.dir))),
        ("EVALSUITE_RUN_ID", plan.run.run_id.as_str().into()),
        ("EVALSUITE_TRIAL_DIR", path(directory)),
        ("EVALSUITE_CASE_ID", case.id.as_str().into()),
        ("EVALSUITE_TRIAL", index.to_string().into()),
        ("EVALSUITE_TARGET", plan.target.as_str().into()),
    ])
}

/// The workspace of a failure is kept for people to look at.
fn tidy(plan: &Plan<'_>, record: &mut TrialRecord) {
    let done = matches!(record.outcome, CaseOutcome::Passed | CaseOutcome::Skipped);
    if plan.settings.keep || !done {
        return;
    }
    let Some(workspace) = &mut record.workspace else { return };
    match workspace::discard(Path::new(&workspace.path)) {
        Ok(()) => workspace.kept = false,
        Err(error) => {
            record.notes.push(Note::new("workspace_not_removed", format!("{}: {error}", workspace.path)));
        }
    }
}

fn millis(since: Instant) -> u64 {
    whole_millis(since.elapsed())
}

fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[allow(clippy::cast_precision_loss, reason = "durations are far below 2^53 ms")]
fn as_number(millis: u64) -> f64 {
    millis as f64
}
