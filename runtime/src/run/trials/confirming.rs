//! Trials that repeat a case whose planned trials differ from its baseline, before its result is reported.

use std::io;

use evalsuite_records::record::{BaselineCase, Mode, PassState, Rule, Status};

use crate::grade::scoring::{CaseStandard, decide_case};
use crate::model::suite_location::package_directory;
use crate::record::baseline::{accepted_result, baseline_file};
use crate::record::confirming::{add_repeated_case, repeated_cases};
use crate::run::case_setup::CaseSetup;
use crate::run::plan::Plan;
use crate::run::trials::case_trials::{CaseTrials, TrialsEnd, results};
use crate::run::trials::counted_trials::StopRule;
use crate::run::trials::running_trials::RunningTrials;

/// Why a case is repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Repetition {
    /// No trial passed, and some did in the baseline: until one passes.
    Failed,
    /// It is flaky in the baseline, and all trials passed: so many more show that it is not flaky any more, until one fails.
    Unflaky(u32),
}

/// Repeats the case if its trials differ from its baseline, and if there is room for it in the run.
pub(crate) fn confirm<'a>(plan: &'a Plan<'a>, setup: &mut CaseSetup<'a>, trials: &mut CaseTrials) -> io::Result<()> {
    let most = plan.settings.confirm;
    if plan.settings.mode != Mode::Live || most == 0 || trials.end != TrialsEnd::Decided {
        return Ok(());
    }
    // A baseline that is not valid is reported with the outcome of the case.
    let file = baseline_file(&package_directory(plan.source.suite), &plan.source.suite.id());
    let Ok(Some(accepted)) = accepted_result(&file, &plan.case_record()) else { return Ok(()) };
    let Some(repetition) = Repetition::of(plan, trials, &accepted) else { return Ok(()) };
    let locks = plan.run.locks();
    let cases = u32::try_from(plan.source.suite.cases.len()).unwrap_or(u32::MAX);
    let allowed = repeated_cases(&locks, &plan.source.suite.key())?.allowed(most, cases.saturating_mul(plan.planned));
    let (rule, allowed) = match repetition {
        Repetition::Failed => (Rule::Any, allowed),
        Repetition::Unflaky(missing) => (Rule::Every, allowed.min(missing)),
    };
    if allowed == 0 {
        return Ok(());
    }
    let cost_limit_usd = plan.source.case.trials.cost_limit_usd;
    let standard = CaseStandard { rule, tolerated_errors: 0, ..plan.standard };
    let stop = StopRule { standard, planned: allowed, run_all: false, ends_with_error: true, cost_limit_usd };
    let running = RunningTrials::new(plan, setup, stop, plan.planned);
    running.work()?;
    trials.confirming = running.into_case_trials().counted;
    let count = u32::try_from(trials.confirming.len()).unwrap_or(u32::MAX);
    let all_failed = trials.confirming.iter().all(|trial| trial.outcome == Status::Failed);
    add_repeated_case(&locks, &plan.source.suite.key(), count, count == most && all_failed)
}

impl Repetition {
    fn of(plan: &Plan<'_>, trials: &CaseTrials, accepted: &BaselineCase) -> Option<Self> {
        let points = results(&trials.counted);
        let count = |outcome| points.iter().filter(|point| point.outcome == outcome).count();
        let passed = u32::try_from(count(Status::Passed)).unwrap_or(u32::MAX);
        if passed + u32::try_from(count(Status::Failed)).unwrap_or(u32::MAX) < u32::try_from(points.len()).ok()? {
            return None;
        }
        match decide_case(plan.standard, &points).0 {
            Status::Failed if passed == 0 && accepted.passed > 0 => Some(Self::Failed),
            Status::Passed if count(Status::Failed) == 0 && accepted.state() == PassState::Flaky => {
                accepted.trials.checked_sub(passed).filter(|missing| *missing > 0).map(Self::Unflaky)
            }
            _ => None,
        }
    }
}
