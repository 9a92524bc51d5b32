//! A suite with its agents, graders and judges.

use std::collections::BTreeSet;

use crate::model::agent::{Bound, BoundAgent, IntoAgent, LoadTargets};
use crate::model::callable::registered;
use crate::model::grader::{BoundGrader, IntoGrader};
use crate::model::judge::{IntoJudge, Judges, MOST_CONFIRM};
use crate::model::suite::EvalSuite;
use crate::model::user::Users;
use crate::platform::accessors::getters;
use crate::platform::async_runtime::AsyncRuntime;

/// A suite with its agents, graders and judges.
///
/// `include_eval_suite!` generates a function `evals()` that returns one; [`run`](Self::run) runs the suite outside of tests.
///
/// ```
/// use evalsuite::{Evals, Evidence, EvalSuite, JudgeError, JudgeRequest, Trial};
///
/// async fn agent(trial: &mut Trial<'_>) -> Result<String, std::io::Error> {
///     std::fs::read_to_string(trial.workspace().join("note.txt"))
/// }
///
/// fn is_short(evidence: &Evidence<'_>) -> bool {
///     evidence.answer().len() < 200
/// }
///
/// async fn judge(request: JudgeRequest) -> Result<String, JudgeError> {
///     Err(JudgeError::permanent(format!("no model for a prompt of {} bytes", request.user().len())))
/// }
///
/// # fn example(SUITE: &'static EvalSuite) -> Evals {
/// Evals::new(SUITE).with_agent(agent).with_grader("is-short", is_short).with_named_judge("strict", judge)
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct Evals {
    pub(crate) suite: &'static EvalSuite,
    agent: Option<BoundAgent>,
    target_agents: Vec<(String, BoundAgent)>,
    registry: Registry,
    judges: Judges,
    pub(crate) users: Users,
    runtime: AsyncRuntime,
    /// Reads the targets file, whose commands may be judges.
    pub(crate) judge_commands: Option<LoadTargets>,
    /// Variables with base URLs of models.
    pub(crate) model_urls: BTreeSet<String>,
    /// JSON pointers to parts of requests that are not compared with recorded ones.
    pub(crate) ignored_request_parts: BTreeSet<String>,
}

impl Evals {
    /// The suite without agents, graders and judges.
    pub fn new(suite: &'static EvalSuite) -> Self {
        Self {
            suite,
            agent: None,
            target_agents: Vec::new(),
            registry: Registry::default(),
            judges: Judges::default(),
            users: Users::default(),
            runtime: AsyncRuntime::default(),
            judge_commands: None,
            model_urls: BTreeSet::new(),
            ignored_request_parts: BTreeSet::new(),
        }
    }

    /// Sets the agent of every target without its own agent.
    pub fn with_agent<M>(mut self, agent: impl IntoAgent<M>) -> Self {
        self.agent = Some(agent.into_agent());
        self.on_runtime()
    }

    /// Sets the agent of one target.
    pub fn with_target_agent<M>(mut self, target: impl Into<String>, agent: impl IntoAgent<M>) -> Self {
        self.target_agents.push((target.into(), agent.into_agent()));
        self.on_runtime()
    }

    /// Registers a grader under the name that the suite's files use. In names, `-` and `_` are the same.
    pub fn with_grader<M>(mut self, name: impl Into<String>, grader: impl IntoGrader<M>) -> Self {
        self.registry.0.push((name.into(), grader.into_grader()));
        self.on_runtime()
    }

    /// Sets the judge of every grader that names none. A judge configured in the environment takes precedence.
    pub fn with_judge<M>(mut self, judge: impl IntoJudge<M>) -> Self {
        self.judges.default = Some(judge.into_judge());
        self.judges.default_names.clear();
        self.on_runtime()
    }

    /// Registers a judge under the name that graders write as `target`. In names, `-` and `_` are the same.
    pub fn with_named_judge<M>(mut self, name: impl Into<String>, judge: impl IntoJudge<M>) -> Self {
        self.judges.named.push((name.into(), judge.into_judge()));
        self.on_runtime()
    }

    /// Registers a simulated user under the name that cases write in `conversation`. In names, `-` and `_` are the same.
    #[cfg(feature = "users")]
    pub fn with_user<M>(mut self, name: impl Into<String>, user: impl crate::model::user::IntoUser<M>) -> Self {
        self.users.add(name.into(), user.into_user());
        self.on_runtime()
    }

    /// Sets the judges of every grader that names none, by name: judges of [`with_named_judge`](Self::with_named_judge), or
    /// commands of the targets file. The majority decides. Judges configured in the environment take precedence.
    pub fn with_default_judges<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.judges.default_names = names.into_iter().map(Into::into).collect();
        self.judges.default = None;
        self
    }

    /// Sets how many judgements follow a failing one, so that the majority decides: an even number from 0 (none) to 10. An odd
    /// number is rounded up. The default is 2; graders and the environment take precedence.
    pub fn with_judge_confirm(mut self, judgements: u32) -> Self {
        self.judges.confirm = Some(judgements.next_multiple_of(2).min(MOST_CONFIRM));
        self
    }

    /// Names environment variables with base URLs of services that the agent calls, besides `OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL`:
    /// `cargo evalsuite run --record` records these calls, and `--replay` answers them.
    pub fn with_recorded_urls<N: Into<String>>(mut self, variables: impl IntoIterator<Item = N>) -> Self {
        self.model_urls.extend(variables.into_iter().map(Into::into));
        self
    }

    /// Names parts of request bodies that a replay of these calls does not compare, as JSON pointers: `/metadata/request_id`. `*` is every
    /// key or index.
    pub fn with_ignored_request_parts<P: Into<String>>(mut self, pointers: impl IntoIterator<Item = P>) -> Self {
        self.ignored_request_parts.extend(pointers.into_iter().map(Into::into));
        self
    }

    /// Sets the tokio runtime on which async agents, graders and judges run, such as the runtime of the agent's own
    /// program. It has to be a multi-thread runtime that lives as long as the tests.
    ///
    /// The default is one multi-thread runtime for the process. It lives until the process ends, so all calls can share
    /// clients, connection pools and sessions in statics.
    ///
    /// ```
    /// use std::sync::LazyLock;
    ///
    /// use evalsuite::{Evals, EvalSuite};
    /// use tokio::runtime::Runtime;
    ///
    /// static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("tokio can start threads"));
    ///
    /// # fn example(SUITE: &'static EvalSuite) -> Evals {
    /// Evals::new(SUITE).with_runtime(RUNTIME.handle().clone())
    /// # }
    /// ```
    pub fn with_runtime(mut self, runtime: tokio::runtime::Handle) -> Self {
        self.runtime = AsyncRuntime::of_program(runtime);
        self.on_runtime()
    }

    /// Has everything run on the runtime, in whatever order it was set.
    fn on_runtime(mut self) -> Self {
        let runtime = &self.runtime;
        let agents = self.agent.iter_mut().chain(self.target_agents.iter_mut().map(|(_, agent)| agent));
        agents.for_each(|agent| agent.run_on(runtime));
        self.registry.0.iter_mut().for_each(|(_, grader)| grader.callable.run_on(runtime));
        let judges = self.judges.default.iter_mut().chain(self.judges.named.iter_mut().map(|(_, judge)| judge));
        judges.for_each(|judge| judge.0.run_on(runtime));
        self.users.run_on(runtime);
        self
    }

    pub(crate) fn agent_of(&self, target: &str) -> Option<&BoundAgent> {
        let own = self.target_agents.iter().find(|(name, _)| name == target).map(|(_, agent)| agent);
        own.or(self.agent.as_ref())
    }

    /// The targets with an agent of their own.
    pub(crate) fn agent_targets(&self) -> impl Iterator<Item = &str> {
        self.target_agents.iter().map(|(target, _)| target.as_str())
    }

    /// Reads the targets file, where agents or judges may be commands in it.
    pub(crate) fn commands(&self) -> Option<LoadTargets> {
        let agents = self.agent.iter().chain(self.target_agents.iter().map(|(_, agent)| agent));
        let of_agents = agents.into_iter().find_map(|agent| match &agent.0 {
            Bound::Commands(load) => Some(*load),
            Bound::Rust(_) => None,
        });
        of_agents.or(self.judge_commands)
    }
}

getters! {
    impl Evals {
        /// The suite.
        pub fn suite(self) -> &'static EvalSuite { self.suite }

        pub(crate) fn judges(self) -> &Judges { &self.judges }

        pub(crate) fn registry(self) -> &Registry { &self.registry }
    }
}

/// The registered graders by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Registry(Vec<(String, BoundGrader)>);

impl Registry {
    /// The names of all graders.
    #[cfg(feature = "reload")]
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The grader of this name, else one whose name differs only in `-` and `_`.
    pub(crate) fn grader(&self, name: &str) -> Option<&BoundGrader> {
        registered(&self.0, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::evidence::Evidence;

    #[test]
    fn a_grader_is_found_by_its_exact_name_first_and_then_by_the_other_spelling() {
        let bind = |name: &str| (name.to_owned(), (|_: &Evidence<'_>| true).into_grader());
        let registry = Registry(vec![bind("a_b"), bind("a-b"), bind("tone")]);
        let position = |name: &str| {
            registry
                .grader(name)
                .and_then(|found| registry.0.iter().position(|(_, grader)| std::ptr::eq(grader, found)))
        };
        assert_eq!((position("a-b"), position("a_b"), position("tone")), (Some(1), Some(0), Some(2)));
        assert_eq!(position("other"), None);
    }
}
