//! What a suite says about its agent, targets and judges: what a binding is checked against, also where the suite itself
//! comes from the cache.

mod judging;

use std::collections::BTreeSet;

use evalsuite_loader::LoadedSuite;
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
    /// The judges that its graders ask.
    pub(crate) judges: JudgeUses,
}

impl SuiteFacts {
    pub(crate) fn new(suite: &LoadedSuite) -> Self {
        let targets: Vec<String> = suite.suite.targets.iter().map(|target| target.name.clone()).collect();
        let of_cases = suite.cases.iter().filter(|_| targets.is_empty());
        let of_cases: BTreeSet<&str> =
            of_cases.map(|loaded| loaded.case.target.as_deref().unwrap_or("default")).collect();
        Self {
            agent_name: suite.suite.agent_name.clone(),
            case_targets: of_cases.into_iter().map(str::to_owned).collect(),
            judges: JudgeUses::of(suite),
            targets,
        }
    }
}
