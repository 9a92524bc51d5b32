//! The life of one trial: set up, agent, capture, graders, tear-down.

pub(crate) mod agent;
pub(crate) mod capture;
pub(crate) mod conversation;
pub(crate) mod grading;
pub(crate) mod hooks;
pub(crate) mod judges;
pub(crate) mod recorded;
pub(crate) mod setup;
pub(crate) mod teardown;
pub(crate) mod trajectory;

use std::{
    cell::RefCell,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    time::{Duration, Instant},
};

use evalsuite_schema::{
    Case,
    record::{CaseOutcome, Reason, ReasonCode, Stage, Started, TrialRecord, WorkspaceRecord},
};

use crate::{
    model::{
        command::{CommandEnvironment, EndWithTrial, Site},
        evidence::Evidence,
    },
    platform::{
        clock::timestamp,
        files::{replace_json, write_json},
        isolated_call::panic_message,
    },
    record::{cassette::TrialCassette, run_directory::layout::trial_directory_name},
    run::{
        limits,
        plan::Plan,
        preparation::Ground,
        requirements,
        trial::trajectory::Done,
        trial_record::{blank, keep_log, report},
        verbose,
    },
    workspace::{self, snapshot::Snapshot},
};

/// What ends a trial before its graders.
#[derive(Clone)]
pub(crate) struct Stop {
    outcome: CaseOutcome,
    reason: Reason,
}

impl Stop {
    fn error(stage: Stage, code: ReasonCode, message: impl Into<String>) -> Self {
        Self { outcome: CaseOutcome::Error, reason: Reason::new(stage, code, message) }
    }

    fn apply(self, plan: &Plan<'_>, record: &mut TrialRecord) {
        record.outcome = self.outcome;
        record.reason = Some(self.reason);
        requirements::forbid_skip(plan.settings, &mut record.outcome, &mut record.reason);
    }
}

/// A part of a trial's life. Agents, graders and judges panic on threads of their own, so a panic here is a defect of this
/// crate: it ends the part as an error does, and what has to come after it comes.
fn part(life: impl FnOnce() -> Result<(), Stop>) -> Result<(), Stop> {
    catch_unwind(AssertUnwindSafe(life)).unwrap_or_else(|panic| {
        let message = format!("evalsuite panicked, which is a defect of it: {}", panic_message(&*panic));
        Err(Stop::error(Stage::Teardown, ReasonCode::ProcessDied, message))
    })
}

/// A trial whose workspace is ready.
pub(crate) struct Trial<'a> {
    plan: &'a Plan<'a>,
    ground: &'a Ground,
    /// The case with all its values resolved.
    case: Case,
    agent: agent::Agent<'a>,
    index: u32,
    /// Where the trial's files go.
    directory: PathBuf,
    workspace: PathBuf,
    /// Variables of every program that is run for the trial.
    environment: CommandEnvironment,
    cassette: TrialCassette,
    /// Programs the agent left running, which graders may still ask.
    programs: RefCell<Vec<EndWithTrial>>,
}

/// Makes one attempt at a trial and writes its record.
///
/// # Errors
///
/// If the record cannot be written.
pub(crate) fn run_trial(plan: &Plan<'_>, ground: &Ground, index: u32, attempt: u32) -> io::Result<TrialRecord> {
    let directory = plan.directory.join(trial_directory_name(index, attempt));
    workspace::remove_directory(&directory)?;
    let mut record = blank(plan, index, attempt);
    let mut started = Started::new();
    started.run_id = record.run_id.clone();
    started.suite = record.suite.clone();
    started.case_id = record.case_id.clone();
    started.target = record.target.clone();
    started.trial = index;
    started.pid = std::process::id();
    started.lock = format!("locks/{}", plan.place.lock_file());
    started.started_at = record.started_at.clone();
    replace_json(&directory.join("started.json"), &started, &plan.redactor)?;

    let clock = Instant::now();
    let mut done = None;
    // Whatever happens, the trial ends with its record.
    let lived = part(|| live(plan, ground, index, directory.clone(), &mut record, &mut done));
    if let Err(stop) = lived {
        stop.apply(plan, &mut record);
    }
    record.timings.total_ms = millis(clock);
    record.ended_at = timestamp();
    verbose::show_trial(&record, plan.settings.echo);
    if record.workspace.is_some() {
        teardown::tidy(plan, ground, &mut record);
    }
    if let Some(done) = done {
        trajectory::keep(plan, &directory, &done, &mut record)?;
    }
    write_json(&directory.join("result.json"), &record, &plan.redactor)?;
    Ok(record)
}

/// Everything from the resolved case to the verdict.
fn live(
    plan: &Plan<'_>,
    ground: &Ground,
    index: u32,
    directory: PathBuf,
    record: &mut TrialRecord,
    done: &mut Option<Done>,
) -> Result<(), Stop> {
    let clock = Instant::now();
    let workspace = match ground {
        Ground::Shared { directory, .. } => directory.clone(),
        Ground::Template | Ground::Base { .. } => directory.join("workspace"),
    };
    let cassette = recorded::open(plan, index, &directory, &workspace)?;
    let case = setup::resolve(plan)?;
    let environment = CommandEnvironment::of(&Site {
        places: &plan.places,
        run_id: &plan.run.run_id,
        case: &case,
        target: &plan.target,
        trial: index,
        echo: plan.settings.echo,
        directory: &directory,
        workspace: &workspace,
    });
    let agent = setup::agent(plan)?;
    let kept = record.workspace.insert(WorkspaceRecord::default());
    (kept.path, kept.kept) = (workspace.display().to_string(), true);
    let programs = RefCell::default();
    let trial = Trial { plan, ground, case, agent, index, directory, workspace, environment, cassette, programs };
    setup::workspace(&trial)?;
    setup::health(&trial)?;
    let worked = part(|| {
        hooks::before(&trial, record)?;
        work(&trial, clock, record, done)
    });
    if let Err(stop) = &worked {
        stop.clone().apply(plan, record);
    }
    drop(trial.programs.take());
    let clock = Instant::now();
    hooks::after(&trial, record);
    record.timings.teardown_ms = millis(clock);
    worked
}

/// Everything between the hooks around the trial.
fn work(trial: &Trial<'_>, clock: Instant, record: &mut TrialRecord, done: &mut Option<Done>) -> Result<(), Stop> {
    let before = capture::snapshot(trial)?;
    record.timings.setup_ms = millis(clock);
    match &trial.case.conversation {
        Some(conversation) => conversation::hold(trial, conversation, &before, record, done),
        None => ask_once(trial, &before, record, done),
    }
}

/// One call of the agent, and what it comes to.
fn ask_once(
    trial: &Trial<'_>,
    before: &Snapshot,
    record: &mut TrialRecord,
    done: &mut Option<Done>,
) -> Result<(), Stop> {
    let clock = Instant::now();
    let call = recorded::call(trial, &agent::Ask { input: &trial.case.input, turn: None })?;
    record.timings.agent_ms = millis(clock);

    let clock = Instant::now();
    record.duration_ms = Some(whole_millis(call.took));
    trajectory::count(&call.recording, record);
    record.notes.extend(call.notes);
    keep_log(trial.plan, &trial.directory, &call.recording, record);
    let changes = capture::changes(trial, before, record);
    record.timings.capture_ms = millis(clock);
    let (outcome, changes) = match call.result.and_then(|outcome| Ok((outcome, changes?))) {
        Ok(both) => both,
        Err(stop) => {
            *done = Some(Done::Recorded(Box::new(call.recording)));
            return Err(stop);
        }
    };
    recorded::keep_evidence(trial, record);

    let clock = Instant::now();
    let facts = capture::facts(trial, &outcome, &call.recording, call.took, call.span, changes);
    report(&facts, outcome, record);
    limits::note_unknown_cost(trial.plan, record);
    let evidence = Evidence::new(facts);
    trajectory::doubt(&call.recording, &evidence, record);
    *done = Some(Done::Reported(evidence.clone(), call.recording.captured.tools));
    grading::grade(trial, evidence, record);
    recorded::keep_replies(trial, record);
    record.timings.grading_ms = millis(clock);
    Ok(())
}

fn millis(since: Instant) -> u64 {
    whole_millis(since.elapsed())
}

fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_a_part_of_a_trial_as_an_error_does() {
        let stop = part(|| std::panic::resume_unwind(Box::new("index out of bounds"))).unwrap_err();
        assert_eq!((stop.outcome, stop.reason.stage), (CaseOutcome::Error, Stage::Teardown));
        assert!(stop.reason.message.ends_with("a defect of it: index out of bounds"), "{}", stop.reason.message);
        assert!(part(|| Ok(())).is_ok());
    }
}
