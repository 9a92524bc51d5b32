//! The end of a trial: its workspace is removed, and its trajectory and its record are written.

use std::io;
use std::time::Duration;

use evalsuite_records::record::{GraderRecord, Note, ReasonCode, Status, Timings, TrialRecord, Usage};
use evalsuite_schema::Value;
use evalsuite_schema::sorting::map;

use crate::model::evidence::Evidence;
use crate::platform::files::RedactedFiles;
use crate::platform::redaction::Redactor;
use crate::record::run_directory::layout::TRIAL_RECORD;
use crate::record::trajectory::{self, DocumentParts, TrialResult};
use crate::run::trial::graded::Graded;
use crate::run::trial::trial_attempt::{Journal, TrialAttempt, whole_millis};
use crate::workspace::{self, WorkspaceBase};

/// Name of the file with the agent's work in the Agent Trajectory Interchange Format.
const TRAJECTORY: &str = "trajectory.json";

/// Time in which the workspace of a trial is removed.
const REMOVAL_LIMIT: Duration = Duration::from_secs(10);

/// Removes the workspace of a trial that needs no attention, and writes the trajectory and the record.
pub(crate) fn write_record(trial: TrialAttempt<'_>, graded: Graded) -> io::Result<TrialRecord> {
    let plan = trial.plan;
    let evidence = graded.captured.as_ref().map(|captured| captured.evidence.clone());
    let mut record = planned_record(&trial);
    add_phases(&mut record, graded, trial.journal.take());
    name_variables(&mut record, &plan.redactor);
    let took = trial.clock.elapsed();
    (record.timings.total_ms, record.started_at) = (whole_millis(took), trial.clock.started_at());
    record.ended_at = trial.clock.after(took);
    if let Some(evidence) = evidence {
        write_trajectory(&trial, &evidence, &mut record)?;
    }
    remove_needless_workspace(&trial, &mut record);
    plan.settings.echo.say(|| shown(&record));
    let record = plan.redactor.redacted(record)?;
    trial.files().write_record(TRIAL_RECORD, &record, &Redactor::default())?;
    Ok(record)
}

/// What is known before the first phase.
fn planned_record(trial: &TrialAttempt<'_>) -> TrialRecord {
    let plan = trial.plan;
    let mut record = TrialRecord::of_case(&plan.case_record());
    (record.trial, record.attempt, record.trials_planned) = (trial.index, trial.number, plan.planned);
    record.mode = plan.settings.mode;
    record.regraded_run = plan.earlier_trials().map(|earlier| earlier.run_id.clone());
    record.dependencies = map(plan.dependencies.iter().map(|(id, dependency)| (id.clone(), dependency.status())));
    record.metadata = plan.case.metadata.clone();
    record.tags = plan.tags();
    record.category = plan.data.category.clone();
    record.conversation_id = plan.case.conversation_id.clone();
    record.failure_bucket = plan.case.metadata.get("failure_bucket").and_then(Value::as_str).map(str::to_owned);
    record.versions.evalsuite = env!("CARGO_PKG_VERSION").to_owned();
    record.versions.package = format!("{} {}", plan.suite.package, plan.suite.package_version);
    record.versions.os = std::env::consts::OS.to_owned();
    record.versions.arch = std::env::consts::ARCH.to_owned();
    record
}

/// Adds what the phases have found out.
fn add_phases(record: &mut TrialRecord, graded: Graded, journal: Journal) {
    let Journal { notes, timings, hooks, sealed, model_calls, workspace } = journal;
    (record.notes, record.timings, record.hooks) = (notes, timings, hooks);
    (record.sealed, record.model_calls, record.workspace) = (sealed, model_calls, workspace);
    let Graded { score, graders, captured, turns } = graded;
    if let Some(captured) = captured {
        let (answer, facts) = (captured.answer(), captured.evidence.facts());
        record.answer_truncated = answer.as_ref().is_some_and(|(_, is_truncated)| *is_truncated);
        record.answer = answer.map(|(answer, _)| answer);
        // A duration is at least 0, and one that is too large saturates.
        record.duration_ms = Some(facts.duration_ms.round() as u64);
        (record.usage, record.cost_usd, record.model) = (facts.usage, facts.cost_usd, facts.model.clone());
        // What an agent that was stopped did last, it has not reported.
        let was_stopped = score.reason.as_ref().is_some_and(|reason| reason.code == ReasonCode::Timeout);
        let (lacks_usage, lacks_cost) =
            (captured.evidence.unknown_tokens().is_some(), captured.evidence.unknown_cost().is_some());
        record.usage_partial = record.usage.is_some() && (lacks_usage || was_stopped);
        record.cost_partial = record.cost_usd.is_some() && (lacks_cost || was_stopped);
        (record.state, record.agent_metadata) = (facts.state.clone(), facts.agent_metadata.clone());
    }
    (record.turns, record.user) = (turns.turns, turns.user);
    (record.user_usage, record.user_cost_usd) = (turns.user_usage, turns.user_cost_usd);
    record.graders = graders;
    (record.outcome, record.score, record.reason) = (score.outcome, score.score, score.reason);
    add_costs_of_judges(record);
}

/// Writes values of variables in errors as the variables: which program, directory or file is missing is in the environment.
fn name_variables(record: &mut TrialRecord, redactor: &Redactor) {
    if let Some(reason) = &mut record.reason {
        reason.message = redactor.name_in(&reason.message);
    }
    let of_turns = record.turns.iter_mut().flatten().map(|turn| turn.graders.as_mut_slice());
    let of_user = record.user.iter_mut().map(|user| user.graders.as_mut_slice());
    of_turns
        .chain(of_user)
        .chain([record.graders.as_mut_slice()])
        .for_each(|graders| name_in_graders(graders, redactor));
}

fn name_in_graders(graders: &mut [GraderRecord], redactor: &Redactor) {
    for grader in graders {
        if let Some(error) = &mut grader.error {
            *error = redactor.name_in(error);
        }
        name_in_graders(&mut grader.members, redactor);
    }
}

fn add_costs_of_judges(record: &mut TrialRecord) {
    let TrialRecord { turns, user, graders, judge_usage, judge_cost_usd, .. } = record;
    let of_turns = turns.iter().flatten().map(|turn| turn.graders.as_slice());
    let of_user = user.iter().map(|user| user.graders.as_slice());
    of_turns
        .chain(of_user)
        .chain([graders.as_slice()])
        .for_each(|graders| add_judges(graders, judge_usage, judge_cost_usd));
}

/// Writes the trajectory of a trial whose agent was called.
fn write_trajectory(trial: &TrialAttempt<'_>, evidence: &Evidence<'_>, record: &mut TrialRecord) -> io::Result<()> {
    let (plan, facts) = (trial.plan, evidence.facts());
    let trial_name = trial.directory.file_name().unwrap_or_default().to_string_lossy();
    let document = trajectory::document(
        &DocumentParts {
            session: format!("{}/{}", plan.run.run_id, plan.identity.case_key),
            trial: &trial_name,
            agent: &plan.identity.agent,
            agent_version: plan.suite.package_version,
            model: record.model.as_deref(),
            tools: &facts.tools,
            transcript: evidence.transcript(),
            answer: evidence.answer(),
            turns: &facts.turns,
            first_simulated_turn: facts.first_simulated_turn,
            usage: record.usage,
            cost_usd: record.cost_usd,
            result: TrialResult {
                outcome: record.outcome,
                score: record.score,
                reason: record.reason.as_ref(),
                graders: &record.graders,
            },
        },
        &plan.redactor,
    );
    trial.files().write_json(TRAJECTORY, &document, &plan.redactor)?;
    record.trajectory = Some(TRAJECTORY.to_owned());
    Ok(())
}

/// How a trial ended and how long its steps took, as `EVALSUITE_VERBOSE` shows it.
fn shown(record: &TrialRecord) -> String {
    let Timings { setup_ms, agent_ms, capture_ms, grading_ms, teardown_ms, total_ms, .. } = record.timings;
    format!(
        "{} trial {}: {}; setup {setup_ms} ms, agent {agent_ms} ms, capture {capture_ms} ms, grading {grading_ms} ms, \
         teardown {teardown_ms} ms, total {total_ms} ms",
        record.test_name,
        record.trial,
        record.outcome.as_str(),
    )
}

/// Adds tokens and cost of the judges of graders and their members.
fn add_judges(graders: &[GraderRecord], usage: &mut Option<Usage>, cost_usd: &mut Option<f64>) {
    for grader in graders {
        let judge = grader.judge.as_ref();
        if let Some(more) = judge.and_then(|judge| judge.usage) {
            *usage.get_or_insert_default() += more;
        }
        if let Some(more) = judge.and_then(|judge| judge.cost_usd) {
            *cost_usd.get_or_insert_default() += more;
        }
        add_judges(&grader.members, usage, cost_usd);
    }
}

/// Removes the workspace, unless people may want to look at it or other trials use it. What takes longer stays until the run is removed.
fn remove_needless_workspace(trial: &TrialAttempt<'_>, record: &mut TrialRecord) {
    let Some(workspace) = &mut record.workspace else { return };
    let keep = trial.plan.settings.keep_workspaces;
    if matches!(trial.base, WorkspaceBase::Shared { .. }) {
        // It is removed with the bases of the run.
        workspace.kept = keep;
    } else if !keep && matches!(record.outcome, Status::Passed | Status::Skipped) {
        match workspace::remove_directory_within(&trial.workspace, REMOVAL_LIMIT) {
            Ok(()) => workspace.kept = false,
            Err(error) => {
                let message = format!("{}: {error}", workspace.path);
                record.notes.push(Note::new("workspace_not_removed", message));
            }
        }
    }
}
