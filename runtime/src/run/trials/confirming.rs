//! Trials that repeat a case whose planned trials differ from its baseline, before its result is reported.

use std::io;
use std::path::Path;

use evalsuite_records::record::{BaselineCase, Mode, PassState, Rule, Status};
use evalsuite_records::repeated_cases::RepeatedCases;

use crate::grade::scoring::{CaseStandard, decide_case};
use crate::model::suite_location::package_directory;
use crate::platform::file_lock::FileLock;
use crate::platform::files::{read_json, write_json};
use crate::platform::redaction::Redactor;
use crate::record::baseline::{accepted_result, baseline_file};
use crate::run::case_setup::CaseSetup;
use crate::run::plan::Plan;
use crate::run::trials::counted_trials::{CaseTrials, StopRule, TrialsEnd, results};
use crate::run::trials::running_trials::RunningTrials;

/// Repeats the case if its trials differ from its baseline, and if there is room for it in the run.
pub(crate) fn confirm<'a>(plan: &'a Plan<'a>, setup: &mut CaseSetup<'a>, trials: &mut CaseTrials) -> io::Result<()> {
    let most = plan.settings.confirm;
    if plan.settings.mode != Mode::Live || most == 0 || trials.end != TrialsEnd::Decided {
        return Ok(());
    }
    // A baseline that is not valid is reported with the outcome of the case.
    let file = baseline_file(&package_directory(plan.suite), &plan.suite.id());
    let Ok(Some(accepted)) = accepted_result(&file, &plan.case_record()) else { return Ok(()) };
    let Some((rule, enough)) = repetition(plan, trials, &accepted) else { return Ok(()) };
    let locks = plan.run.locks();
    let cases = u32::try_from(plan.suite.cases.len()).unwrap_or(u32::MAX);
    let allowed = repeated_cases(&locks, &plan.suite.key())?.allowed(most, cases.saturating_mul(plan.planned));
    let allowed = allowed.min(enough);
    if allowed == 0 {
        return Ok(());
    }
    let cost_limit_usd = plan.case.trials.cost_limit_usd;
    let standard = CaseStandard { rule, tolerated_errors: 0, ..plan.standard };
    let stop = StopRule { standard, planned: allowed, run_all: false, ends_with_error: true, cost_limit_usd };
    let running = RunningTrials::new(plan, setup, stop, plan.planned);
    running.work()?;
    let mut repeated = running.into_case_trials();
    trials.confirming = repeated.counted;
    trials.retried.append(&mut repeated.retried);
    let count = u32::try_from(trials.confirming.len()).unwrap_or(u32::MAX);
    let all_failed = trials.confirming.iter().all(|trial| trial.outcome == Status::Failed);
    add_repeated_case(&locks, &plan.suite.key(), count, count == most && all_failed)
}

/// The rule that decides whether further trials of the case agree with its baseline, and how many are enough; `None` if the case needs none.
fn repetition(plan: &Plan<'_>, trials: &CaseTrials, accepted: &BaselineCase) -> Option<(Rule, u32)> {
    let points = results(&trials.counted);
    let count = |outcome| points.iter().filter(|point| point.outcome == outcome).count();
    let (passed, failed) = (count(Status::Passed), count(Status::Failed));
    if passed + failed < points.len() {
        return None;
    }
    match decide_case(plan.standard, &points).0 {
        // No trial passed, and some did in the baseline: until one passes.
        Status::Failed if passed == 0 && accepted.passed > 0 => Some((Rule::Any, u32::MAX)),
        // It is flaky in the baseline, and all trials passed: so many more show that it is not flaky any more, until one fails.
        Status::Passed if failed == 0 && accepted.state() == PassState::Flaky => {
            let missing = accepted.trials.checked_sub(u32::try_from(passed).ok()?)?;
            (missing > 0).then_some((Rule::Every, missing))
        }
        _ => None,
    }
}

/// What the tests of a run have written; nothing if none did.
fn repeated_cases(locks: &Path, suite: &str) -> io::Result<RepeatedCases> {
    Ok(read_json(&locks.join(format!("repeated-{suite}.json")))?.unwrap_or_default())
}

/// Adds a case to what the tests of a run have written.
fn add_repeated_case(locks: &Path, suite: &str, trials: u32, is_confirmed: bool) -> io::Result<()> {
    let _lock = FileLock::acquire(&locks.join(format!("repeated-{suite}.lock")))?;
    let mut repeated = repeated_cases(locks, suite)?;
    repeated.add(trials, is_confirmed);
    write_json(&locks.join(format!("repeated-{suite}.json")), &repeated, &Redactor::default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_in_several_processes_share_a_file() {
        let locks = tempfile::tempdir().unwrap();
        assert_eq!(repeated_cases(locks.path(), "shop").unwrap(), RepeatedCases::default());
        add_repeated_case(locks.path(), "shop", 4, false).unwrap();
        add_repeated_case(locks.path(), "shop", 10, true).unwrap();
        let found = repeated_cases(locks.path(), "shop").unwrap();
        let mut expected = RepeatedCases::default();
        expected.add(4, false);
        expected.add(10, true);
        assert_eq!(found, expected);
        assert_eq!(repeated_cases(locks.path(), "other").unwrap(), RepeatedCases::default());
    }
}
