//! One case of a run: its dependencies, its trials, its record.

pub(crate) mod case_record;

use evalsuite_records::record::{Reason, ReasonCode, Stage, Status};

use crate::model::evals::Evals;
use crate::model::progress::ProgressStep;
use crate::model::suite::EvalCase;
use crate::platform::notice;
use crate::record::run_directory::RunDirectory;
use crate::record::run_record::{self, SuiteOfRun};
use crate::run::case::case_record::{EarlierRecords, decided, end_case, kept_trials, write_record};
use crate::run::case_report::{CaseError, CaseReport};
use crate::run::case_setup::CaseSetup;
use crate::run::plan::Plan;
use crate::run::replay::reuse;
use crate::run::settings::Settings;
use crate::run::trials::counted_trials::CaseTrials;
use crate::run::trials::run_trials;
use crate::run::{dependencies, selection};

/// Runs a case with all its trials and writes its records.
pub(crate) fn run_case(
    evals: &Evals,
    entry: &'static EvalCase,
    settings: &Settings,
    run: &RunDirectory,
) -> Result<CaseReport, CaseError> {
    let mut plan = Plan::new(evals, entry, settings, run)?;
    let (suite, data, location, redactor) = (plan.suite, &plan.data, &plan.places, &plan.redactor);
    let suite = SuiteOfRun { suite, data, location, run, redactor, echo: settings.echo };
    let _git = run_record::register(&suite).map_err(|error| plan.unwritable(error))?;
    let _lock = plan.case_directory.lock().map_err(|error| plan.unwritable(error))?;
    match dependencies::unreported_result(&mut plan).map_err(|error| plan.unwritable(error))? {
        Some(report) => Ok(report),
        None => run_locked_case(plan),
    }
}

/// Runs a case whose lock is held, and before it the cases that it depends on.
fn run_locked_case(mut plan: Plan<'_>) -> Result<CaseReport, CaseError> {
    crate::run::replay::regrade::find_trials(&mut plan);
    // Before anything of the case runs: a file may change meanwhile.
    let conditions = reuse::conditions(&plan).map_err(|error| plan.unwritable(error))?;
    let kept = kept_trials(&plan, conditions.as_ref()).map_err(|error| plan.unwritable(error))?;
    let earlier = match kept {
        Some(_) => EarlierRecords::of(&plan.directory),
        None => case_record::set_aside(&plan.directory).map_err(|error| plan.unwritable(error))?,
    };
    let unmet = match reason_to_skip(&plan) {
        Some(reason) => Some((Status::Skipped, reason)),
        None => dependencies::run_dependencies(&mut plan, run_locked_case).unwrap_or_else(|error| {
            let reason = Reason::new(Stage::Dependencies, ReasonCode::DependencyFailed, error.to_string());
            Some((Status::Error, reason))
        }),
    };
    let unwritable = |error| plan.unwritable(error);
    if let Some((mut record, trials)) =
        reuse::take_over(&plan, conditions.as_ref(), unmet.is_none()).map_err(unwritable)?
    {
        crate::run::baseline_check::judge(&plan, &mut record);
        let report = end_case(&plan, trials, record, (None, false)).map_err(unwritable)?;
        earlier.remove().map_err(unwritable)?;
        return Ok(report);
    }
    let (trials, mut record) = match unmet {
        Some((outcome, reason)) => {
            let mut record = plan.case_record();
            (record.outcome, record.reason) = (outcome, Some(reason));
            (CaseTrials::default(), record)
        }
        None => {
            plan.report_progress(|| ProgressStep::CaseStarted {});
            let mut setup = CaseSetup::begin(&plan).map_err(unwritable)?;
            let mut trials = run_trials(&plan, &mut setup, kept.unwrap_or_default()).map_err(unwritable)?;
            crate::run::baseline_check::confirm(&plan, &mut setup, &mut trials).map_err(unwritable)?;
            let record = decided(&plan, &trials);
            let is_last = !record.fails_test() || plan.settings.runner.is_last_attempt();
            setup.end(is_last).iter().for_each(|problem| notice::say(problem));
            (trials, record)
        }
    };
    record.conditions = reuse::still_met(&plan, conditions).map_err(unwritable)?;
    let report = write_record(&plan, trials, record).map_err(unwritable)?;
    earlier.remove().map_err(unwritable)?;
    Ok(report)
}

/// Why a case is skipped before anything of it runs.
fn reason_to_skip(plan: &Plan<'_>) -> Option<Reason> {
    if let (Some(target), Some(chosen)) = (plan.entry.target, &plan.settings.targets)
        && !chosen.iter().any(|name| name == target)
    {
        let message = format!("target `{target}` is not selected by EVALSUITE_TARGET");
        return Some(Reason::new(Stage::Select, ReasonCode::Filtered, message));
    }
    if let Some(Err(reason)) = &plan.regraded
        && reason.code == ReasonCode::Filtered
    {
        return Some(reason.clone());
    }
    let is_recorded = || plan.recording(0).is_ok_and(|path| path.is_file());
    let (registry, mode) = (plan.evals.registry(), plan.settings.mode);
    selection::unmet(&plan.case, plan.suite, registry, &plan.judges(), mode, is_recorded)
}
