//! What a suite says about its agent, targets and judges: what a binding is checked against, also where the suite itself
//! comes from the cache.

use std::collections::BTreeSet;

use evalsuite_loader::LoadedSuite;
use evalsuite_schema::grader::AskedJudge;
use evalsuite_schema::{Grader, Location, Target};
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

/// The judges that a suite's graders ask.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JudgeUses {
    /// Whether any built-in grader asks a judge.
    pub(crate) any: bool,
    /// The judges that graders name, each once.
    pub(crate) named: Vec<NamedJudge>,
}

/// A judge that a grader names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamedJudge {
    /// Its name.
    pub(crate) name: String,
    /// The first grader that names it.
    pub(crate) grader: String,
    /// Where that grader is written.
    pub(crate) location: Location,
}

impl JudgeUses {
    fn of(suite: &LoadedSuite) -> Self {
        let mut uses = Self::default();
        for loaded in &suite.cases {
            let mut turns = loaded.case.conversation.iter().flat_map(|conversation| &conversation.turns);
            // A case or turn without graders has its expected output judged.
            uses.any |= loaded.case.graders.is_empty() || turns.any(|turn| turn.graders.is_empty());
            loaded.case.all_graders().for_each(|grader| uses.add(grader));
        }
        uses
    }

    fn add(&mut self, grader: &Grader) {
        for grader in grader.with_members() {
            let Some(judge) = grader.config.asked_judge() else { continue };
            self.any = true;
            if let AskedJudge::Named(name) = judge
                && self.named.iter().all(|known| known.name != name)
            {
                self.named.push(NamedJudge {
                    name: name.to_owned(),
                    grader: grader.name.clone(),
                    location: grader.location.clone(),
                });
            }
        }
    }
}
