//! The judges that a suite's graders ask.

use evalsuite_loader::LoadedSuite;
use evalsuite_schema::grader::AskedJudge;
use evalsuite_schema::{Grader, Location};
use serde::{Deserialize, Serialize};

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
    pub(super) fn of(suite: &LoadedSuite) -> Self {
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
