use crate::model::{
    agent::{Bound, BoundAgent, IntoAgent, LoadTargets},
    grader::{BoundGrader, IntoGrader},
    judge::{IntoJudge, Judges, registry::MOST_CONFIRM},
    suite::EvalSuite,
};

/// A suite bound to its agent and graders.
///
/// `include_eval_suite!` generates a function `evals()` that gives one; its [`run`](Self::run) runs the suite outside
/// of tests.
#[derive(Debug, Clone)]
#[must_use]
pub struct Evals {
    suite: &'static EvalSuite,
    agent: Option<BoundAgent>,
    target_agents: Vec<(String, BoundAgent)>,
    registry: Registry,
    judges: Judges,
    /// How the targets file is read for judges.
    command_judges: Option<LoadTargets>,
}

impl Evals {
    /// The suite without an agent.
    pub fn new(suite: &'static EvalSuite) -> Self {
        Self {
            suite,
            agent: None,
            target_agents: Vec::new(),
            registry: Registry::default(),
            judges: Judges::default(),
            command_judges: None,
        }
    }

    /// Sets the agent of every target that has none of its own.
    pub fn agent<M>(mut self, agent: impl IntoAgent<M>) -> Self {
        self.agent = Some(agent.into_agent());
        self
    }

    /// Sets the agent of one target.
    pub fn agent_for<M>(mut self, target: impl Into<String>, agent: impl IntoAgent<M>) -> Self {
        self.target_agents.push((target.into(), agent.into_agent()));
        self
    }

    /// Registers a grader under the name the suite's files use; `-` and `_` are alike.
    pub fn grader<M>(mut self, name: impl Into<String>, grader: impl IntoGrader<M>) -> Self {
        self.registry.0.push((name.into(), grader.into_grader()));
        self
    }

    /// Sets the judge of every grader that names none. A judge configured in the environment goes before it.
    pub fn judge<M>(mut self, judge: impl IntoJudge<M>) -> Self {
        self.judges.default = Some(judge.into_judge());
        self.judges.default_names.clear();
        self
    }

    /// Sets the judges of every grader that names none, by their names: those of [`judge_for`](Self::judge_for), or commands
    /// of the targets file. Of several the majority decides. Judges configured in the environment go before them.
    pub fn judged_by<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.judges.default_names = names.into_iter().map(Into::into).collect();
        self.judges.default = None;
        self
    }

    /// Sets how many judgements follow a failing one, so that the majority decides: an even number up to 10, 0 for none. An odd
    /// one is taken for the next even one. 2 where nothing is set; graders and the environment may say something else.
    pub fn judge_confirm(mut self, judgements: u32) -> Self {
        self.judges.confirm = Some(judgements.next_multiple_of(2).min(MOST_CONFIRM));
        self
    }

    /// Registers a judge under the name that graders write as `target`; `-` and `_` are alike.
    pub fn judge_for<M>(mut self, name: impl Into<String>, judge: impl IntoJudge<M>) -> Self {
        self.judges.named.push((name.into(), judge.into_judge()));
        self
    }

    /// The suite.
    pub fn suite(&self) -> &'static EvalSuite {
        self.suite
    }

    pub(crate) fn agent_of(&self, target: &str) -> Option<&BoundAgent> {
        let own = self.target_agents.iter().find(|(name, _)| name == target).map(|(_, agent)| agent);
        own.or(self.agent.as_ref())
    }

    /// How the targets file is read, where an agent of the suite is a command of it, or judges may be.
    pub(crate) fn commands(&self) -> Option<LoadTargets> {
        let agents = self.agent.iter().chain(self.target_agents.iter().map(|(_, agent)| agent));
        let of_agents = agents.into_iter().find_map(|agent| match &agent.0 {
            Bound::Commands(load) => Some(*load),
            Bound::Rust(_) => None,
        });
        of_agents.or(self.command_judges)
    }

    /// Sets how the targets file is read for judges.
    pub(crate) fn with_command_judges(mut self, load: Option<LoadTargets>) -> Self {
        self.command_judges = load;
        self
    }

    pub(crate) fn judges(&self) -> &Judges {
        &self.judges
    }

    pub(crate) fn registry(&self) -> &Registry {
        &self.registry
    }
}

/// The registered graders by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registry(Vec<(String, BoundGrader)>);

impl Registry {
    /// The grader of this name, else one whose name differs only in `-` and `_`.
    pub(crate) fn grader(&self, name: &str) -> Option<&BoundGrader> {
        let find = |fits: &dyn Fn(&str) -> bool| {
            self.0.iter().find(|(registered, _)| fits(registered)).map(|(_, grader)| grader)
        };
        find(&|registered| registered == name).or_else(|| find(&|registered| fold(registered) == fold(name)))
    }
}

fn fold(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::evidence::Evidence;

    #[test]
    fn a_grader_is_found_by_its_name_and_by_its_other_spelling() {
        let bind = |name: &str| (name.to_owned(), (|_: &Evidence<'_>| true).into_grader());
        let registry = Registry(vec![bind("a_b"), bind("a-b"), bind("tone")]);
        let position = |name: &str| {
            registry
                .grader(name)
                .and_then(|found| registry.0.iter().position(|(_, grader)| std::sync::Arc::ptr_eq(&grader.0, &found.0)))
        };
        assert_eq!((position("a-b"), position("a_b"), position("tone")), (Some(1), Some(0), Some(2)));
        assert_eq!(position("other"), None);
    }
}
