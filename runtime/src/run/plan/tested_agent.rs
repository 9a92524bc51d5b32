//! The agent and the target of a case.

use std::time::Duration;

use crate::model::evals::Evals;
use crate::run::case_error::CaseError;
use crate::run::plan::case_source::CaseSource;
use crate::run::selection::chosen_agent::ChosenAgent;
use crate::run::selection::selected_targets::DEFAULT_TARGET;
use crate::run::settings::Settings;

/// Limit of an agent call where none is set.
const AGENT_LIMIT: Duration = Duration::from_secs(300);

/// The agent under test in a case.
pub(crate) struct TestedAgent {
    pub(crate) target: String,
    pub(crate) agent: ChosenAgent,
    pub(crate) agent_name: String,
    /// How long a call may take.
    pub(crate) limit: Duration,
}

impl TestedAgent {
    pub(super) fn of(source: &CaseSource, evals: &Evals, settings: &Settings) -> Result<Self, CaseError> {
        let target = target(source, settings)?;
        let agent = ChosenAgent::of(&target, evals, &source.data, settings, &source.places);
        let agent_name = source.suite.agent_name.map_or_else(|| agent.name(), str::to_owned);
        let written_limit = source.case.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let limit = settings.timeout.or(written_limit).or_else(|| agent.limit()).unwrap_or(AGENT_LIMIT);
        Ok(Self { target, agent, agent_name, limit })
    }
}

/// The target of the matrix entry, else of EVALSUITE_TARGET, else of the case, else `default`.
fn target(CaseSource { entry, case, .. }: &CaseSource, settings: &Settings) -> Result<String, CaseError> {
    if let Some(target) = entry.target {
        return Ok(target.to_owned());
    }
    match settings.targets.as_deref() {
        None => Ok(case.target.clone().unwrap_or_else(|| DEFAULT_TARGET.to_owned())),
        Some([target]) => Ok(target.clone()),
        Some(targets) => Err(CaseError::Unusable(format!(
            "EVALSUITE_TARGET names {} targets, but the suite has no matrix of targets to choose from",
            targets.len()
        ))),
    }
}
