//! One trial as phases, one file each: it is prepared, its agent is called, its work is captured and graded, its record is written.

pub(crate) mod called;
pub(crate) mod canary;
pub(crate) mod captured;
pub(crate) mod conversation;
pub(crate) mod graded;
#[cfg_attr(not(feature = "mcp"), path = "without_mcp_servers.rs")]
pub(crate) mod mcp_servers;
pub(crate) mod prepared;
pub(crate) mod recorded_models;
pub(crate) mod size_limits;
pub(crate) mod trial_attempt;
pub(crate) mod trial_hooks;
pub(crate) mod trial_record;

use std::io;

use evalsuite_records::record::{TrialRecord, WorkspaceRecord};

use self::called::call_agent;
use self::captured::capture;
use self::graded::{Graded, grade};
use self::prepared::Prepared;
use self::trial_attempt::{EarlyEnd, TrialAttempt, guarded};
use self::trial_record::write_record;
use crate::run::case_report::TrialResult;
use crate::run::plan::Plan;
use crate::workspace::WorkspaceBase;
use crate::workspace::snapshot::Snapshot;

/// Makes one attempt at a trial and writes its record.
pub(crate) fn run_trial(plan: &Plan<'_>, base: &WorkspaceBase, index: u32, number: u32) -> io::Result<TrialRecord> {
    // Before the clock of the trial starts: it may have to wait for another one.
    let calls = recorded_models::begin(plan, index);
    let trial = TrialAttempt::begin(plan, base, index, number)?;
    let run = |calls| {
        let mut graded = run_phases(&trial).unwrap_or_else(|end| Graded::ended(&trial, end));
        if let Some(difference) = recorded_models::end(calls, &trial, graded.is_decided()) {
            graded.fail(&trial, difference);
        }
        graded
    };
    let graded = calls.map_or_else(|end| Graded::ended(&trial, end), run);
    write_record(trial, graded)
}

/// Everything from the resolved case to the hooks after the trial.
fn run_phases(trial: &TrialAttempt<'_>) -> Result<Graded, EarlyEnd> {
    let prepare = || {
        let cassette = trial.plan.cassette(trial.index, &trial.directory, &trial.workspace);
        crate::run::replay::open_for_trial(trial.plan, trial.index, &cassette)?;
        Prepared::with_cassette(trial, cassette)
    };
    let prepared = guarded(|| trial.timed(|t| &mut t.setup_ms, prepare))?;
    let mut workspace = WorkspaceRecord::default();
    (workspace.path, workspace.kept) = (trial.workspace.display().to_string(), true);
    trial.journal.borrow_mut().workspace = Some(workspace);
    guarded(|| trial.timed(|t| &mut t.setup_ms, || prepared.make_workspace()))?;
    let mut graded = call_and_grade(&prepared).unwrap_or_else(|end| Graded::ended(trial, end));
    // The programs that the agent left running end before the hooks.
    drop(prepared.programs.take());
    prepared.settle_evidence(graded.is_decided());
    if let Some(unknown) = mcp_servers::end(trial, prepared.mcp.as_ref(), graded.is_decided()) {
        graded.fail(trial, unknown);
    }
    let torn_down = guarded(|| {
        trial.timed(|t| &mut t.teardown_ms, || tear_down(&prepared, &graded.result()));
        Ok(())
    });
    torn_down.unwrap_or_else(|end| graded.end(trial, end));
    trial.add_notes(prepared.recorder.note_of_lost());
    Ok(graded)
}

/// Everything between the hooks around the trial, and the ones before it.
fn call_and_grade(prepared: &Prepared<'_>) -> Result<Graded, EarlyEnd> {
    let trial = prepared.trial;
    let before = guarded(|| trial.timed(|t| &mut t.setup_ms, || set_up(prepared)))?;
    let mut graded = work(prepared, &before).unwrap_or_else(|end| Graded::ended(trial, end));
    let checked = guarded(|| {
        canary::check(prepared, &before, &mut graded);
        Ok(())
    });
    checked.unwrap_or_else(|end| graded.end(trial, end));
    Ok(graded)
}

/// Runs what is before the work of the agent; returns the workspace after it.
pub(crate) fn set_up(prepared: &Prepared<'_>) -> Result<Snapshot, EarlyEnd> {
    trial_hooks::run_before_each(prepared)?;
    prepared.snapshot()
}

/// Runs what is after the work of the agent.
pub(crate) fn tear_down(prepared: &Prepared<'_>, result: &TrialResult) {
    trial_hooks::run_after_each(prepared, result);
}

/// The agent's work, and what graders say of it.
fn work(prepared: &Prepared<'_>, before: &Snapshot) -> Result<Graded, EarlyEnd> {
    match &prepared.case.conversation {
        Some(turns) => Ok(conversation::run_conversation(prepared, turns, before)),
        _ => answer_and_grade(prepared, before),
    }
}

/// The agent's answer to the only input, and what graders say of it.
fn answer_and_grade(prepared: &Prepared<'_>, before: &Snapshot) -> Result<Graded, EarlyEnd> {
    let trial = prepared.trial;
    let call = || call_agent(prepared, &prepared.case.input, None, Ok(before));
    let called = guarded(|| trial.timed(|t| &mut t.agent_ms, call))?;
    let captured = guarded(|| Ok(trial.timed(|t| &mut t.capture_ms, || capture(prepared, before, called))))?;
    Ok(trial.timed(|t| &mut t.grading_ms, || grade(prepared, captured)))
}
