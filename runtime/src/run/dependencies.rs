//! `depends_on`: cases that come before others.
//!
//! A case whose dependency has no record in this run runs it itself, under the dependency's lock; so a filter, a shard or the
//! order of tests changes nothing. Whoever holds a case's lock waits for locks of its dependencies only, and for no worker
//! slot while it holds one: graphs have no cycles, so nobody waits for ever.

use std::{collections::BTreeSet, io, path::Path, sync::Arc};

use evalsuite_schema::{
    OnDependencyFailure,
    record::{CaseOutcome, CaseRecord, Reason, ReasonCode, Stage, TrialRecord},
};

use crate::{
    model::{dependency::Dependency, suite::EvalCase},
    platform::files::{read_json, remove_if_exists, replace_file},
    run::{
        case::conduct,
        case_report::CaseReport,
        plan::Plan,
        settings::{Runner, Settings},
    },
};

/// Runs what the case depends on, unless this run has; gives what keeps the case itself from running.
///
/// # Errors
///
/// If a dependency cannot be run or recorded.
pub(crate) fn run(plan: &mut Plan<'_>) -> Result<Option<(CaseOutcome, Reason)>, String> {
    if plan.case.depends_on.is_empty() {
        return Ok(None);
    }
    // A dependency is run as its own test would run it the first time.
    let settings = Settings { runner: Runner { attempt: 1, ..plan.settings.runner.clone() }, ..plan.settings.clone() };
    let again = (plan.settings.runner.attempt > 1).then_some(plan.settings);
    let mut found = Vec::new();
    for entry in order(plan, &settings)? {
        let plan_of_it = Plan::new(plan.evals, entry, &settings, plan.run)?;
        let (case, trials) = settle(plan_of_it, again, plan.entry.id)?;
        if plan.case.depends_on.iter().any(|id| id == entry.id) {
            found.push((entry.id.to_owned(), Dependency::of(&case, &trials)));
        }
    }
    let unmet =
        found.iter().find(|(_, dependency)| dependency.outcome() != CaseOutcome::Passed).map(|(id, dependency)| {
            let ended = match dependency.outcome() {
                CaseOutcome::Error => "ended in an error",
                CaseOutcome::Skipped => "was skipped",
                CaseOutcome::Failed | CaseOutcome::Passed => "failed",
            };
            let message = format!("case `{id}`, which it depends on, {ended}");
            Reason::new(Stage::Dependencies, ReasonCode::DependencyFailed, message)
        });
    plan.dependencies = Arc::new(found.into_iter().collect());
    Ok(unmet.and_then(|reason| match plan.case.on_dependency_failure {
        OnDependencyFailure::Skip => Some((CaseOutcome::Skipped, reason)),
        OnDependencyFailure::Fail => Some((CaseOutcome::Failed, reason)),
        OnDependencyFailure::Run => None,
    }))
}

/// The case's record, if another case made it run and its own test has not told of it yet.
///
/// # Errors
///
/// If it cannot be read.
pub(crate) fn untold(plan: &mut Plan<'_>) -> io::Result<Option<CaseReport>> {
    let mark = plan.place.unreported_mark();
    if plan.settings.runner.attempt > 1 || !mark.exists() {
        return Ok(None);
    }
    remove_if_exists(&mark)?;
    let Some(directory) = plan.place.last_ended_attempt() else { return Ok(None) };
    let Some((case, trials)) = read_record(&directory)? else { return Ok(None) };
    plan.directory = directory;
    Ok(Some(plan.report(case, trials)))
}

/// Marks whether the case's own test still has to tell of the record that is about to be written.
///
/// # Errors
///
/// If the mark cannot be written or removed.
pub(crate) fn mark(plan: &Plan<'_>) -> io::Result<()> {
    let mark = plan.place.unreported_mark();
    if plan.requested_by.is_some() { replace_file(&mark, b"") } else { remove_if_exists(&mark) }
}

/// The dependencies without a record and theirs, each behind what it depends on itself; at the end those with a record, of
/// which nothing has to be known but what they came to.
fn order(plan: &Plan<'_>, settings: &Settings) -> Result<Vec<&'static EvalCase>, String> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    // A list of things to do in place of recursion: chains can be as long as suites are.
    let mut stack: Vec<(&'static EvalCase, bool)> = Vec::new();
    for id in plan.case.depends_on.iter().rev() {
        stack.push((find(plan, id)?, false));
    }
    while let Some((entry, is_ready)) = stack.pop() {
        if is_ready {
            order.push(entry);
            continue;
        }
        if !seen.insert(entry.id) {
            continue;
        }
        stack.push((entry, true));
        let of_entry = Plan::new(plan.evals, entry, settings, plan.run)?;
        if of_entry.place.last_ended_attempt().is_none() {
            for id in of_entry.case.depends_on.iter().rev().filter(|id| !seen.contains(id.as_str())) {
                stack.push((find(plan, id)?, false));
            }
        }
    }
    Ok(order)
}

/// The case of an id in the same target.
fn find(plan: &Plan<'_>, id: &str) -> Result<&'static EvalCase, String> {
    let entry = plan.suite.cases.iter().find(|entry| entry.id == id && entry.target == plan.entry.target);
    entry.ok_or_else(|| {
        format!("case `{}` depends on `{id}`, which does not run in target `{}`", plan.entry.id, plan.target)
    })
}

/// What a dependency came to; it is run if nobody has. The test runner's further attempts at a case, `again`, are further
/// attempts at its dependencies, too, as long as those have not been told of by their own tests, which have their own ones.
fn settle<'a>(
    mut plan: Plan<'a>,
    again: Option<&'a Settings>,
    requested_by: &'static str,
) -> Result<(CaseRecord, Vec<TrialRecord>), String> {
    let record = |plan: &Plan<'_>| match plan.place.last_ended_attempt() {
        Some(directory) => read_record(&directory).map_err(|error| plan.unwritable(&error)),
        None => Ok(None),
    };
    if let Some(known) = record(&plan)?
        && known.0.outcome == CaseOutcome::Passed
    {
        return Ok(known);
    }
    // Its own test may be trying again.
    let _lock = plan.place.lock().map_err(|error| plan.unwritable(&error))?;
    if let Some(known) = record(&plan)? {
        match again.filter(|_| known.0.outcome != CaseOutcome::Passed && plan.place.unreported_mark().exists()) {
            None => return Ok(known),
            Some(settings) => plan = Plan::new(plan.evals, plan.entry, settings, plan.run)?,
        }
    }
    plan.requested_by = Some(requested_by);
    conduct(plan).map(CaseReport::into_records)
}

/// The records of a case that ended.
fn read_record(directory: &Path) -> io::Result<Option<(CaseRecord, Vec<TrialRecord>)>> {
    let Some(case) = read_json::<CaseRecord>(&directory.join("case.json"))? else { return Ok(None) };
    let trials = case.trials.iter().map(|trial| {
        let path = directory.join(&trial.path);
        read_json(&path)?.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("{} is gone", path.display())))
    });
    let trials = trials.collect::<io::Result<_>>()?;
    Ok(Some((case, trials)))
}
