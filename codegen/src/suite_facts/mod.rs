//! What a suite says about its agent, targets and judges: what a binding is checked against, also where the suite itself
//! comes from the cache.

mod judging;

use std::collections::BTreeSet;

use evalsuite_loader::LoadedSuite;
use evalsuite_schema::{Location, Target};
use judging::JudgeUses;
use serde::{Deserialize, Serialize};

/// What a suite says about its agent, targets and judges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SuiteFacts {
    /// Name of the agent.
    pub(crate) agent_name: Option<String>,
    /// Names of the targets of its matrix.
    pub(crate) targets: Vec<String>,
    /// Without a matrix: names of the targets of its cases.
    pub(crate) case_targets: Vec<String>,
    /// The targets of either, with the names of their entries in a targets file.
    pub(crate) entries: Vec<(String, String)>,
    /// The judges that its graders ask.
    pub(crate) judges: JudgeUses,
    /// Where graders of type `json-schema` are written, each once: they need a feature of evalsuite.
    pub(crate) json_schemas: BTreeSet<Location>,
}

impl SuiteFacts {
    pub(crate) fn new(suite: &LoadedSuite) -> Self {
        let matrix = &suite.suite.targets;
        let of_cases = suite.cases.iter().filter(|_| matrix.is_empty());
        let of_cases: BTreeSet<&str> =
            of_cases.map(|loaded| loaded.case.target.as_deref().unwrap_or("default")).collect();
        let case_targets: Vec<String> = of_cases.into_iter().map(str::to_owned).collect();
        let entry = |target: &Target| {
            let entry = target.use_target.as_ref().unwrap_or(&target.name);
            (target.name.clone(), entry.clone())
        };
        let of_matrix = matrix.iter().map(entry);
        Self {
            agent_name: suite.suite.agent_name.clone(),
            targets: matrix.iter().map(|target| target.name.clone()).collect(),
            entries: of_matrix.chain(case_targets.iter().map(|name| (name.clone(), name.clone()))).collect(),
            case_targets,
            judges: JudgeUses::of(suite),
            json_schemas: suite.json_schemas(),
        }
    }
}
