//! Limits that prevent trials: budgets, and `fail_on_error`.

use std::io;
use std::path::PathBuf;

use evalsuite_records::record::{Note, Reason, ReasonCode, Stage, Status};
use evalsuite_schema::decimal::{at_least, shown_from};

use crate::platform::files::{read_text, remove_if_exists, replace_file};
use crate::record::coordination::Ledger;
use crate::run::plan::Plan;

/// The limit that prevents an attempt at a trial. `not_counted` is the part of what was spent, in US dollars, that does not
/// count: the cost of trials that would not have run yet if trials ran one after another.
pub(crate) fn reached(plan: &Plan<'_>, trial: u32, attempt: u32, not_counted: f64) -> io::Result<Option<Reason>> {
    if (trial, attempt, plan.settings.runner.attempt) == (0, 0, 1)
        && plan.data.fail_on_error
        && let Some(first) = read_text(&first_error_file(plan))?
        // The test itself may run again, in a second run with the same id.
        && first != plan.identity.test_name
    {
        let message =
            format!("test `{first}` ended in an error, and `execution.fail_on_error` prevents all further cases");
        return Ok(Some(Reason::new(Stage::Budget, ReasonCode::ErrorThresholdExceeded, message)));
    }
    let over = spent_budget(plan, &Ledger::of(plan.run.path(), &plan.run.locks()), "run", not_counted)?;
    Ok(over.map(|message| Reason::new(Stage::Budget, ReasonCode::BudgetExceeded, message)))
}

/// What a ledger says about a budget that is spent. `whole`: what the ledger is of; `not_counted`: US dollars in it that do not count.
pub(crate) fn spent_budget(
    plan: &Plan<'_>,
    ledger: &Ledger,
    whole: &str,
    not_counted: f64,
) -> io::Result<Option<String>> {
    let budgets =
        [(plan.settings.budget_usd, "EVALSUITE_BUDGET_USD"), (plan.data.budget_usd, "`execution.budget_usd`")];
    if budgets.iter().all(|(budget, _)| budget.is_none()) {
        return Ok(None);
    }
    let spent = ledger.spent()?;
    // In whole nanodollars: sums of the same costs in another order are the same.
    let counted = |spent: f64| ((spent - not_counted) * 1e9).round() / 1e9;
    let spent = [(whole, counted(spent.run)), ("suite", counted(spent.suite(&plan.suite.key())))];
    Ok(budgets.into_iter().zip(spent).find_map(|((budget, name), (whose, spent))| {
        let budget = budget.filter(|budget| at_least(spent, *budget))?;
        Some(format!("the {whose} has cost {} US dollars, and {name} is {budget}", shown_from(4, spent, budget)))
    }))
}

/// A note for each limit of cost, where the cost of the agent is not known.
pub(crate) fn without_effect(plan: &Plan<'_>) -> impl Iterator<Item = Note> {
    let limits = [
        ("cost_limit_usd", plan.case.trials.cost_limit_usd),
        ("execution.budget_usd", plan.data.budget_usd),
        ("EVALSUITE_BUDGET_USD", plan.settings.budget_usd),
    ];
    limits.into_iter().filter_map(|(name, limit)| {
        let message = format!("the cost of the agent is not known, so `{name}: {}` has no effect on it", limit?);
        Some(Note::new("cost_unknown", message))
    })
}

/// Records for the other cases of a suite with `fail_on_error` whether this one ended in an error.
pub(crate) fn record_first_error(plan: &Plan<'_>, outcome: Status, reason: Option<&Reason>) -> io::Result<()> {
    // An attempt that the test runner will repeat is not final, and a case that was prevented is not the first.
    let is_last = plan.settings.runner.is_last_attempt();
    let was_prevented = reason.is_some_and(|reason| reason.code == ReasonCode::ErrorThresholdExceeded);
    if !plan.data.fail_on_error || was_prevented || !is_last {
        return Ok(());
    }
    let (file, test) = (first_error_file(plan), &plan.identity.test_name);
    match read_text(&file)? {
        None if outcome == Status::Error => replace_file(&file, test.as_bytes()),
        Some(first) if outcome != Status::Error && first == *test => remove_if_exists(&file),
        _ => Ok(()),
    }
}

/// Names the first test of a suite with `fail_on_error` that ended in an error.
fn first_error_file(plan: &Plan<'_>) -> PathBuf {
    plan.run.locks().join(format!("first-error-{}", plan.suite.key()))
}
