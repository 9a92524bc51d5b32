//! Which targets `EVALSUITE_TARGET` may name, and which agent a target has.

use std::collections::BTreeSet;

use evalsuite_schema::Suite;
use evalsuite_schema::diagnostics::suggest;
use evalsuite_schema::sorting::set;

use crate::agents::command::cli_agent::CliAgent;
use crate::model::agent::{Bound, RustAgent};
use crate::model::evals::Evals;
use crate::model::suite_location::SuiteLocation;
use crate::platform::environment;
use crate::run::case_error::{CaseError, decode_case};
use crate::run::settings::Settings;

/// Name of the target of cases that name none.
pub(crate) const DEFAULT_TARGET: &str = "default";

/// Checks that every selected target exists: a name that nothing has would select nothing, and all cases would be skipped.
/// Where agents are commands, the targets file decides.
pub(crate) fn check_targets(selected: &[String], evals: &Evals, suite: &Suite) -> Result<(), CaseError> {
    let is_matrix = evals.suite().cases.iter().any(|case| case.target.is_some());
    let unknown = |known: &BTreeSet<String>| {
        let is_command =
            |name: &str| !is_matrix && evals.agent_of(name).is_some_and(|agent| matches!(agent.0, Bound::Commands(_)));
        selected.iter().find(|name| !known.contains(*name) && !is_command(name)).cloned()
    };
    let mut known = set(suite.targets.iter().map(|target| target.name.clone()));
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

/// The agent of a target.
pub(crate) enum ChosenAgent {
    Rust(RustAgent),
    Command(Box<CliAgent>),
    /// There is none. The message says why.
    Unusable(String),
}

impl ChosenAgent {
    /// The agent of the target, else of the suite; where agents are commands, the entry of the targets file.
    pub(crate) fn of(target: &str, evals: &Evals, suite: &Suite, settings: &Settings, places: &SuiteLocation) -> Self {
        let load = match evals.agent_of(target).map(|agent| &agent.0) {
            None => return Self::Unusable(format!("no agent is bound to target `{target}`")),
            Some(Bound::Rust(agent)) => return Self::Rust(agent.clone()),
            Some(Bound::Commands(load)) => load,
        };
        let entry = suite.targets.iter().find(|entry| entry.name == target);
        let name = entry.and_then(|entry| entry.use_target.as_deref()).unwrap_or(target);
        let command = load(places, settings.targets_file.as_deref())
            .and_then(|targets| CliAgent::select(targets, name, environment::var));
        match command {
            Ok(command) => Self::Command(Box::new(command)),
            Err(error) => Self::Unusable(error.to_string()),
        }
    }

    /// Name in records.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Rust(agent) => agent.name.clone(),
            Self::Command(agent) if agent.acp.is_some() => format!("acp:{}", agent.name),
            Self::Command(agent) => format!("cli:{}", agent.name),
            Self::Unusable(_) => String::new(),
        }
    }

    /// The entry of the targets file, if it is a command.
    pub(crate) fn command(&self) -> Option<&CliAgent> {
        match self {
            Self::Command(agent) => Some(agent),
            Self::Rust(_) | Self::Unusable(_) => None,
        }
    }
}
