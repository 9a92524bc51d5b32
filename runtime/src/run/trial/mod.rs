//! One trial as phases, one file each: `Prepared`, `Called`, `Captured`, `Graded`, and at the end its record.

pub(crate) mod called;
pub(crate) mod captured;
pub(crate) mod conversation;
pub(crate) mod early_end;
pub(crate) mod graded;
pub(crate) mod prepared;
pub(crate) mod reported_transcript;
pub(crate) mod trial_attempt;
pub(crate) mod trial_hooks;
pub(crate) mod trial_record;

use std::io;

use evalsuite_records::record::TrialRecord;

use self::called::call_agent;
use self::captured::capture;
use self::conversation::run_conversation;
use self::early_end::{EarlyEnd, guarded};
use self::graded::{TrialEnd, grade};
use self::prepared::Prepared;
use self::trial_attempt::TrialAttempt;
use self::trial_record::write_record;
use crate::grade::scoring::TrialScore;
use crate::run::plan::Plan;
use crate::workspace::WorkspaceBase;

/// Makes one attempt at a trial and writes its record.
pub(crate) fn run_trial(plan: &Plan<'_>, base: &WorkspaceBase, index: u32, attempt: u32) -> io::Result<TrialRecord> {
    let trial = TrialAttempt::begin(plan, base, index, attempt)?;
    let (end, score) = run_phases(&trial);
    write_record(trial, end, score)
}

/// Everything from the resolved case to the hooks after the trial: how the trial ended, and its score.
fn run_phases(trial: &TrialAttempt<'_>) -> (TrialEnd, TrialScore) {
    let settings = trial.plan.settings;
    let prepared = match guarded(|| trial.log.timed(|t| &mut t.setup_ms, || Prepared::new(trial))) {
        Ok(prepared) => prepared,
        Err(end) => return TrialEnd::Unprepared(end).scored(settings),
    };
    if let Err(end) = guarded(|| trial.log.timed(|t| &mut t.setup_ms, || prepared.make_workspace())) {
        return TrialEnd::NotCalled(end).scored(settings);
    }
    let (end, score) = call_and_grade(&prepared).unwrap_or_else(TrialEnd::NotCalled).scored(settings);
    // The programs that the agent left running end before the hooks.
    drop(prepared.programs.take());
    let hooks_ended = guarded(|| {
        trial.log.timed(|t| &mut t.teardown_ms, || trial_hooks::run_after_each(&prepared, &score, end.answer()));
        Ok(())
    });
    match hooks_ended {
        Ok(()) => (end, score),
        Err(EarlyEnd { outcome, reason }) => (end, TrialScore { outcome, reason: Some(reason), ..score }),
    }
}

/// Everything between the hooks around the trial, and the ones before it.
fn call_and_grade(prepared: &Prepared<'_>) -> Result<TrialEnd, EarlyEnd> {
    let log = &prepared.trial.log;
    let set_up = || {
        trial_hooks::run_before_each(prepared)?;
        prepared.snapshot()
    };
    let before = guarded(|| log.timed(|t| &mut t.setup_ms, set_up))?;
    if let Some(conversation) = &prepared.case.conversation {
        return Ok(run_conversation(prepared, conversation, &before));
    }
    let call = || call_agent(prepared, &prepared.case.input, None, Ok(&before));
    let called = guarded(|| log.timed(|t| &mut t.agent_ms, call))?;
    match guarded(|| Ok(log.timed(|t| &mut t.capture_ms, || capture(prepared, &before, called))))? {
        Ok(captured) => {
            let graded = log.timed(|t| &mut t.grading_ms, || grade(prepared, &captured));
            Ok(TrialEnd::Graded(captured, graded))
        }
        Err(interrupted) => Ok(TrialEnd::NotGraded(interrupted)),
    }
}
