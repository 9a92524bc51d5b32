//! Decides with the fewest trials whether a run is worse than its base: looks at paired outcomes while trials run.

mod decision;
mod decision_plan;
mod looks;
#[cfg(test)]
mod tests;

pub use self::decision::{DecisionVerdict, NextTrials, RunDecision, SuiteDecision, base_text};
pub use self::decision_plan::{ChosenCase, DecisionOptions, plan_decision, usual_trials};
pub(crate) use self::looks::REGRESSED;
