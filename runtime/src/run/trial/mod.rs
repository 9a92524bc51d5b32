//! One trial as phases, one file each: it is prepared, its agent is called, its work is captured and graded, its record is written.

pub(crate) mod called;
pub(crate) mod called_command;
pub(crate) mod canary;
pub(crate) mod captured;
pub(crate) mod conversation;
pub(crate) mod graded;
#[cfg_attr(not(feature = "mcp"), path = "no_mcp_servers.rs")]
pub(crate) mod mcp_servers;
pub(crate) mod prepared;
pub(crate) mod recorded_models;
pub(crate) mod reported_transcript;
pub(crate) mod size_limits;
pub(crate) mod trial_attempt;
pub(crate) mod trial_hooks;
pub(crate) mod trial_record;
pub(crate) mod trial_seal;

use std::io;

use evalsuite_records::record::{TrialRecord, WorkspaceRecord};

use self::called::call_agent;
use self::captured::capture;
use self::conversation::run_conversation;
use self::graded::grade;
use self::prepared::{Prepared, open_cassette};
use self::trial_attempt::{EarlyEnd, TrialAttempt, guarded};
use self::trial_record::write_record;
use crate::run::plan::Plan;
use crate::workspace::WorkspaceBase;
use crate::workspace::snapshot::Snapshot;

/// Makes one attempt at a trial and writes its record.
pub(crate) fn run_trial(plan: &Plan<'_>, base: &WorkspaceBase, index: u32, attempt: u32) -> io::Result<TrialRecord> {
    // Before the clock of the trial starts: it may have to wait for another one.
    let calls = recorded_models::begin(plan, index);
    let trial = TrialAttempt::begin(plan, base, index, attempt)?;
    match calls {
        Ok(calls) => {
            run_phases(&trial).unwrap_or_else(|end| end.end(&trial));
            recorded_models::end(calls, &trial);
        }
        Err(end) => end.end(&trial),
    }
    write_record(trial)
}

/// Everything from the resolved case to the hooks after the trial.
fn run_phases(trial: &TrialAttempt<'_>) -> Result<(), EarlyEnd> {
    let prepare = || Prepared::with_cassette(trial, open_cassette(trial)?);
    let prepared = guarded(|| trial.timed(|t| &mut t.setup_ms, prepare))?;
    let mut workspace = WorkspaceRecord::default();
    (workspace.path, workspace.kept) = (trial.workspace.display().to_string(), true);
    trial.record.borrow_mut().workspace = Some(workspace);
    guarded(|| trial.timed(|t| &mut t.setup_ms, || prepared.make_workspace()))?;
    call_and_grade(&prepared).unwrap_or_else(|end| {
        prepared.write_input();
        end.end(trial);
    });
    // The programs that the agent left running end before the hooks.
    drop(prepared.programs.take());
    mcp_servers::end(trial, prepared.mcp.as_ref());
    guarded(|| {
        trial.timed(|t| &mut t.teardown_ms, || trial_hooks::run_after_each(&prepared));
        Ok(())
    })
}

/// Everything between the hooks around the trial, and the ones before it.
fn call_and_grade(prepared: &Prepared<'_>) -> Result<(), EarlyEnd> {
    let trial = prepared.trial;
    let set_up = || {
        trial_hooks::run_before_each(prepared)?;
        prepared.snapshot()
    };
    let before = guarded(|| trial.timed(|t| &mut t.setup_ms, set_up))?;
    let worked = work(prepared, &before);
    worked.unwrap_or_else(|end| {
        prepared.write_input();
        end.end(trial);
    });
    guarded(|| {
        canary::check(prepared, &before);
        Ok(())
    })
}

/// The agent's work, and what graders say of it.
fn work(prepared: &Prepared<'_>, before: &Snapshot) -> Result<(), EarlyEnd> {
    let trial = prepared.trial;
    if let Some(conversation) = &prepared.case.conversation {
        return run_conversation(prepared, conversation, before);
    }
    let call = || call_agent(prepared, &prepared.case.input, None, Ok(before));
    let called = guarded(|| trial.timed(|t| &mut t.agent_ms, call))?;
    let evidence = guarded(|| trial.timed(|t| &mut t.capture_ms, || capture(prepared, before, called)))?;
    trial.timed(|t| &mut t.grading_ms, || grade(prepared, &evidence))
}
