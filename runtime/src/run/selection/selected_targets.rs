//! Which targets `EVALSUITE_TARGET` may name.

use std::collections::BTreeSet;

use evalsuite_diagnostics::suggest;
use evalsuite_schema::Suite;

use crate::model::agent::Bound;
use crate::model::evals::Evals;
use crate::run::case_error::{CaseError, decode_case};

/// Name of the target of cases that name none.
pub(crate) const DEFAULT_TARGET: &str = "default";

/// Checks that every selected target exists: a name that nothing has would select nothing, and all cases would be skipped.
/// Where agents are commands, the targets file decides.
pub(crate) fn check(selected: &[String], evals: &Evals, suite: &Suite) -> Result<(), CaseError> {
    let is_matrix = evals.suite().cases.iter().any(|case| case.target.is_some());
    let unknown = |known: &BTreeSet<String>| {
        let is_command =
            |name: &str| !is_matrix && evals.agent_of(name).is_some_and(|agent| matches!(agent.0, Bound::Commands(_)));
        selected.iter().find(|name| !known.contains(*name) && !is_command(name)).cloned()
    };
    let mut known: BTreeSet<String> = suite.targets.iter().map(|target| target.name.clone()).collect();
    known.extend(evals.suite().cases.iter().filter_map(|case| case.target).map(str::to_owned));
    if !is_matrix {
        known.insert(DEFAULT_TARGET.to_owned());
        known.extend(evals.agent_targets().map(str::to_owned));
        // Only a name that is nowhere else is worth reading all cases.
        if unknown(&known).is_some() {
            for entry in evals.suite().cases {
                known.extend(decode_case(entry)?.target);
            }
        }
    }
    let Some(name) = unknown(&known) else { return Ok(()) };
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let near = suggest::did_you_mean(&name, known.iter().copied()).map(|near| format!("; {near}"));
    Err(CaseError::Unusable(format!(
        "EVALSUITE_TARGET names `{name}`, which is not a target of suite `{}`{}\nhelp: its targets are {}",
        suite.name,
        near.unwrap_or_default(),
        suggest::listed(&known)
    )))
}
