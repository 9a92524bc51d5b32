//! Which agent a target has.

use evalsuite_schema::Suite;

use crate::agents::command::cli_agent::CliAgent;
use crate::model::agent::{Bound, RustAgent};
use crate::model::evals::Evals;
use crate::model::suite_location::SuiteLocation;
use crate::platform::environment;
use crate::run::settings::Settings;

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
