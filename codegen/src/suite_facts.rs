//! What a suite says about its agent, targets and judges: what a binding is checked against, also where the suite itself
//! comes from the cache.

use std::collections::BTreeSet;

use evalsuite_loader::LoadedSuite;
use evalsuite_schema::grader::AskedJudge;
use evalsuite_schema::json::{FromJson, ToJson};
use evalsuite_schema::{Case, Grader, Location, SimulatedUser, Target};

/// What a suite says about its agent, targets and judges.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson)]
pub(crate) struct SuiteFacts {
    /// Name of the agent.
    pub(crate) agent_name: Option<String>,
    pub(crate) has_matrix: bool,
    /// The targets of its matrix, without one those of its cases, each with the name of its entry in a targets file.
    pub(crate) targets: Vec<(String, String)>,
    /// Whether any built-in grader asks a judge.
    pub(crate) asks_judges: bool,
    /// The judges that graders name, each once.
    pub(crate) named_judges: Vec<NamedJudge>,
    /// Where graders of type `json-schema` are written, each once: they need a feature of evalsuite.
    pub(crate) json_schemas: BTreeSet<Location>,
    /// Where graders with patterns are written, each once: they need a feature of evalsuite.
    pub(crate) patterns: BTreeSet<Location>,
    /// Where graders with patterns that need tables of Unicode are written, each once: they need a feature of evalsuite.
    pub(crate) unicode_patterns: BTreeSet<Location>,
    /// Where examples are written, each once: they need a feature of evalsuite.
    pub(crate) examples: BTreeSet<Location>,
    /// Where the calibration is, which needs the same.
    pub(crate) calibration: Option<Location>,
    /// The simulated users of cases.
    pub(crate) simulated_users: Vec<NamedUser>,
    /// Where commands are sealed, each place once: they need a feature of evalsuite.
    pub(crate) seals: BTreeSet<Location>,
}

/// A judge that a grader or a simulated user names.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson)]
pub(crate) struct NamedJudge {
    /// Its name.
    pub(crate) name: String,
    /// The first that names it, such as "grader `tone`".
    pub(crate) asker: String,
    /// Where that one is written.
    pub(crate) location: Location,
}

/// A simulated user.
#[derive(Debug, Clone, PartialEq, Eq, ToJson, FromJson)]
pub(crate) struct NamedUser {
    /// Name of its function; `None`: a judge writes its turns.
    pub(crate) name: Option<String>,
    /// Where it is written.
    pub(crate) location: Location,
}

impl SuiteFacts {
    pub(crate) fn new(suite: &LoadedSuite) -> Self {
        let matrix = &suite.suite.targets;
        let entry = |target: &Target| target.use_target.as_ref().unwrap_or(&target.name).clone();
        let mut targets: Vec<(String, String)> =
            matrix.iter().map(|target| (target.name.clone(), entry(target))).collect();
        if matrix.is_empty() {
            let of_cases = suite.cases.iter().map(|loaded| loaded.case.target.as_deref().unwrap_or("default"));
            let of_cases: BTreeSet<&str> = of_cases.collect();
            targets.extend(of_cases.into_iter().map(|name| (name.to_owned(), name.to_owned())));
        }
        let mut asks_judges = suite.cases.iter().any(|loaded| asks_judge_of_output(&loaded.case));
        let mut named_judges: Vec<NamedJudge> = Vec::new();
        let mut simulated_users = Vec::new();
        for case in suite.cases.iter().map(|loaded| &loaded.case) {
            let graders = case.all_graders().flat_map(Grader::with_members);
            let graders = graders.map(|it| (it.config.asked_judge(), format!("grader `{}`", it.name), &it.location));
            let user = || format!("the simulated user of case `{}`", case.id);
            let users = case.user().into_iter().map(|it| (it.asked_judge(), user(), &it.location));
            for (judge, asker, location) in graders.chain(users) {
                let Some(judge) = judge else { continue };
                asks_judges = true;
                if let AskedJudge::Named(name) = judge
                    && named_judges.iter().all(|known| known.name != name)
                {
                    named_judges.push(NamedJudge { name: name.to_owned(), asker, location: location.clone() });
                }
            }
            let user = |user: &SimulatedUser| NamedUser { name: user.name.clone(), location: user.location.clone() };
            simulated_users.extend(case.user().map(user));
        }
        Self {
            agent_name: suite.suite.agent_name.clone(),
            has_matrix: !matrix.is_empty(),
            targets,
            asks_judges,
            named_judges,
            json_schemas: suite.json_schemas(),
            patterns: suite.patterns(),
            unicode_patterns: suite.unicode_patterns(),
            examples: suite.examples(),
            calibration: suite.calibration.as_ref().map(|calibration| calibration.location.clone()),
            simulated_users,
            seals: suite.seals(),
        }
    }
}

/// Whether a case, or a turn of it, has no graders: its expected output is judged.
fn asks_judge_of_output(case: &Case) -> bool {
    let mut turns = case.conversation.iter().flat_map(|conversation| &conversation.turns);
    case.graders.is_empty() || turns.any(|turn| turn.graders.is_empty())
}
