//! What the judges of made-up results cost, and the budgets of that.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

#[cfg(feature = "probe")]
use evalsuite_records::exact_sums::sum_of_known;
use evalsuite_records::record::JudgeRecord;

use crate::record::coordination::{Ledger, Spend};
use crate::run::limits::spent_budget;
use crate::run::plan::Plan;

/// The calls of judges about the made-up results of a suite.
#[derive(Debug)]
pub(crate) struct JudgeSpending {
    /// Shared with other suites whose made-up results the same command grades.
    ledger: Ledger,
    calls: Mutex<JudgeCalls>,
}

/// A number of calls of judges, and their cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct JudgeCalls {
    pub(crate) count: u32,
    /// US dollars.
    costs: Vec<f64>,
    /// How many calls did not report what they cost.
    pub(crate) of_unknown_cost: u32,
}

#[cfg(feature = "probe")]
impl JudgeCalls {
    /// What they cost in US dollars; `None` if the cost of no call is known.
    pub(crate) fn cost_usd(&self) -> Option<f64> {
        sum_of_known(self.costs.iter().copied())
    }
}

impl JudgeSpending {
    /// With the ledger in a directory.
    pub(crate) fn new(directory: &Path) -> Self {
        Self { ledger: Ledger::of(directory, directory), calls: Mutex::default() }
    }

    /// Why no judge is asked any more, if a budget is spent.
    pub(crate) fn over_budget(&self, plan: &Plan<'_>) -> Option<String> {
        let unreadable = |error: io::Error| Some(format!("what was spent cannot be read: {error}"));
        spent_budget(plan, &self.ledger, "grading of made-up results", 0.0).unwrap_or_else(unreadable)
    }

    /// Adds the calls of a grader.
    pub(super) fn add(&self, plan: &Plan<'_>, judge: &JudgeRecord) -> io::Result<()> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.count += judge.attempts;
        calls.of_unknown_cost += judge.unknown_costs;
        let Some(cost) = judge.cost_usd else { return Ok(()) };
        calls.costs.push(cost);
        self.ledger.append(&Spend {
            suite: plan.suite.key(),
            case_key: plan.identity.case_key.clone(),
            trial: 0,
            attempt: 0,
            runner_attempt: plan.settings.runner.attempt,
            cost_usd: None,
            judge_cost_usd: Some(cost),
            user_cost_usd: None,
        })
    }

    /// All calls so far.
    #[cfg(feature = "probe")]
    pub(crate) fn calls(&self) -> JudgeCalls {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
