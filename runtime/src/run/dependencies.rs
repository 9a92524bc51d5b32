//! `depends_on`: cases that run before others.
//!
//! If the dependency of a case has no record in this run, the case runs it, under the dependency's lock: the result
//! does not depend on filters, shards or the order of tests. A test that holds a case's lock waits only for locks of
//! its dependencies, and does not wait for a slot while it holds one. The graph of dependencies has no cycles, so there
//! is no deadlock.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use evalsuite_records::record::{CaseRecord, Reason, ReasonCode, Stage, Status, TrialRecord};
use evalsuite_schema::OnDependencyFailure;
use evalsuite_schema::sorting::map;

use crate::model::evidence::Dependency;
use crate::model::suite::EvalCase;
use crate::platform::files::{read_json_below, remove_if_exists, replace_file};
use crate::record::run_directory::layout::CASE_RECORD;
use crate::run::case_report::{CaseError, CaseReport};
use crate::run::plan::Plan;
use crate::run::replay::reuse;
use crate::run::settings::{Runner, Settings};

/// Runs a case whose lock is held.
type RunLocked = fn(Plan<'_>) -> Result<CaseReport, CaseError>;

/// Runs the dependencies of a case that have no record in this run. Returns how the case ends if it must not run.
pub(crate) fn run_dependencies(
    plan: &mut Plan<'_>,
    run_locked: RunLocked,
) -> Result<Option<(Status, Reason)>, CaseError> {
    if plan.case.depends_on.is_empty() {
        return Ok(None);
    }
    // A dependency runs as in the first attempt of its own test.
    let settings = Settings { runner: Runner { attempt: 1, ..plan.settings.runner.clone() }, ..plan.settings.clone() };
    let repeated = (plan.settings.runner.attempt > 1).then_some(plan.settings);
    let mut found = Vec::new();
    for entry in in_order(plan, &settings)? {
        let dependency = Plan::new(plan.evals, entry, &settings, plan.run)?;
        let (case, trials) = result_of(dependency, repeated, plan.entry.id, run_locked)?;
        if plan.case.depends_on.iter().any(|id| id == entry.id) {
            plan.reuses_dependencies &= case.reused_run.is_some();
            found.push((entry.id.to_owned(), Dependency::of(&case, &trials)));
        }
    }
    let unmet = found.iter().find(|(_, dependency)| dependency.status() != Status::Passed).map(|(id, dependency)| {
        let ended = match dependency.status() {
            Status::Error => "ended in an error",
            Status::Skipped => "was skipped",
            Status::Failed | Status::Passed => "failed",
        };
        let message = format!("case `{id}`, which it depends on, {ended}");
        Reason::new(Stage::Dependencies, ReasonCode::DependencyFailed, message)
    });
    plan.dependencies = Arc::new(map(found));
    Ok(unmet.and_then(|reason| match plan.case.on_dependency_failure {
        OnDependencyFailure::Skip => Some((Status::Skipped, reason)),
        OnDependencyFailure::Fail => Some((Status::Failed, reason)),
        OnDependencyFailure::Run => None,
    }))
}

/// The case's result, if it ran as a dependency and its own test has not reported it yet.
pub(crate) fn unreported_result(plan: &mut Plan<'_>) -> io::Result<Option<CaseReport>> {
    let mark = plan.case_directory.unreported_mark();
    if plan.settings.runner.attempt > 1 || !mark.exists() {
        return Ok(None);
    }
    remove_if_exists(&mark)?;
    let Some(directory) = plan.case_directory.last_ended_attempt() else { return Ok(None) };
    let Some((case, trials)) = current_records(plan, &directory)? else { return Ok(None) };
    plan.directory = directory;
    Ok(Some(plan.report(case, trials)))
}

/// Marks who makes the record that is about to be written, and whether the case's own test still has to report it.
pub(crate) fn mark_record(plan: &Plan<'_>) -> io::Result<()> {
    replace_file(&plan.case_directory.maker_mark(), plan.settings.runner.identity().as_bytes())?;
    let mark = plan.case_directory.unreported_mark();
    if plan.identity.requested_by.is_some() { replace_file(&mark, b"") } else { remove_if_exists(&mark) }
}

/// The dependencies without a record and their dependencies, each after those that it depends on itself. Dependencies
/// with a record are in the list without theirs.
fn in_order(plan: &Plan<'_>, settings: &Settings) -> Result<Vec<&'static EvalCase>, CaseError> {
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    // A stack instead of recursion: chains can be as long as suites.
    let mut stack: Vec<(&'static EvalCase, bool)> = Vec::new();
    for id in plan.case.depends_on.iter().rev() {
        stack.push((find(plan, id)?, false));
    }
    while let Some((entry, dependencies_done)) = stack.pop() {
        if dependencies_done {
            order.push(entry);
            continue;
        }
        if !seen.insert(entry.id) {
            continue;
        }
        stack.push((entry, true));
        let of_entry = Plan::new(plan.evals, entry, settings, plan.run)?;
        // Its records may be incomplete while its own test moves them away.
        let ended = of_entry.case_directory.last_ended_attempt();
        if ended.is_none_or(|directory| !matches!(current_records(&of_entry, &directory), Ok(Some(_)))) {
            for id in of_entry.case.depends_on.iter().rev().filter(|id| !seen.contains(id.as_str())) {
                stack.push((find(plan, id)?, false));
            }
        }
    }
    Ok(order)
}

/// The case with this id in the same target.
fn find(plan: &Plan<'_>, id: &str) -> Result<&'static EvalCase, CaseError> {
    let entry = plan.suite.cases.iter().find(|entry| entry.id == id && entry.target == plan.entry.target);
    entry.ok_or_else(|| {
        let (case, target) = (plan.entry.id, &plan.identity.target);
        CaseError::Unusable(format!("case `{case}` depends on `{id}`, which does not run in target `{target}`"))
    })
}

/// The records of a dependency, which runs if there are none. With the settings of a repeated attempt of the test runner, a
/// dependency that did not pass runs again, unless its own test has reported it: then that test has attempts of its own.
fn result_of<'a>(
    mut plan: Plan<'a>,
    repeated: Option<&'a Settings>,
    requested_by: &'static str,
    run_locked: RunLocked,
) -> Result<(CaseRecord, Vec<TrialRecord>), CaseError> {
    let record = |plan: &Plan<'_>| match plan.case_directory.last_ended_attempt() {
        Some(directory) => current_records(plan, &directory).map_err(|error| plan.unwritable(error)),
        None => Ok(None),
    };
    // Without the lock, the dependency's own test may be moving the records away: an error counts only with it.
    if let Ok(Some(found)) = record(&plan)
        && found.0.outcome == Status::Passed
    {
        return Ok(found);
    }
    // The dependency's own test may be running it again.
    let _lock = plan.case_directory.lock().map_err(|error| plan.unwritable(error))?;
    if let Some(found) = record(&plan)? {
        match repeated.filter(|_| found.0.outcome != Status::Passed && plan.case_directory.unreported_mark().exists()) {
            None => return Ok(found),
            Some(settings) => plan = Plan::new(plan.evals, plan.entry, settings, plan.run)?,
        }
    }
    plan.identity.requested_by = Some(requested_by.to_owned());
    run_locked(plan).map(|report| (report.record, report.trials))
}

/// The records of a case that ended, if it would end in the same way now: `None` if the case or the agent has changed since. Runs with the
/// same id may be of several builds.
fn current_records(plan: &Plan<'_>, directory: &Path) -> io::Result<Option<(CaseRecord, Vec<TrialRecord>)>> {
    let Some((case, trials)) = read_records(directory)? else { return Ok(None) };
    let is_current = case.digests() == plan.identity.digests()
        && match (&case.conditions, reuse::conditions(plan)?) {
            (Some(then), Some(now)) => reuse::are_same(then, &now),
            // Without a digest of the agent, the tests of one process of the test runner have the same one.
            _ => fs::read(plan.case_directory.maker_mark())
                .is_ok_and(|maker| maker == plan.settings.runner.identity().as_bytes()),
        };
    Ok(is_current.then_some((case, trials)))
}

/// The records of a case that ended.
fn read_records(directory: &Path) -> io::Result<Option<(CaseRecord, Vec<TrialRecord>)>> {
    let Some(case) = read_json_below::<CaseRecord>(directory, Path::new(CASE_RECORD))? else { return Ok(None) };
    let trials = case.trials.iter().map(|trial| {
        let is_gone = || format!("{} is gone", directory.join(&trial.path).display());
        read_json_below(directory, Path::new(&trial.path))?
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, is_gone()))
    });
    let trials = trials.collect::<io::Result<_>>()?;
    Ok(Some((case, trials)))
}
