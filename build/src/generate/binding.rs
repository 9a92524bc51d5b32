use crate::codegen::{COMMANDS, list, string_literal};
use crate::expansion::{About, Judges, may_be_commands};

/// Agents, graders and judges as the text of Rust expressions.
#[derive(Debug, Clone, Default)]
pub struct Binding {
    agent: Agent,
    agents: Vec<(String, String)>,
    graders: Vec<(String, String)>,
    judge: Option<String>,
    judges: Vec<(String, String)>,
    default_judges: Vec<String>,
    judge_confirm: Option<u32>,
}

#[derive(Debug, Clone, Default)]
enum Agent {
    #[default]
    ByName,
    Expression(String),
    Commands,
    Nobody,
}

impl Binding {
    /// The agent of every target.
    pub fn agent(&mut self, expression: impl Into<String>) {
        self.agent = Agent::Expression(expression.into());
    }

    /// Commands of a targets file.
    pub fn commands(&mut self) {
        self.agent = Agent::Commands;
    }

    /// No agent, and so no tests.
    pub fn no_agent(&mut self) {
        self.agent = Agent::Nobody;
    }

    /// The agent of one target.
    pub fn agent_for(&mut self, target: impl Into<String>, expression: impl Into<String>) {
        self.agents.push((target.into(), expression.into()));
    }

    /// A grader under the last segment of its path.
    pub fn grader(&mut self, path: impl Into<String>) {
        let path = path.into();
        let name = path.split('<').next().unwrap_or(&path).trim_end_matches(':');
        let name = name.rsplit("::").next().unwrap_or(name).trim();
        self.graders.push((name.strip_prefix("r#").unwrap_or(name).to_owned(), path));
    }

    /// A grader under a name.
    pub fn named_grader(&mut self, name: impl Into<String>, expression: impl Into<String>) {
        self.graders.push((name.into(), expression.into()));
    }

    /// The default judge.
    pub fn judge(&mut self, expression: impl Into<String>) {
        self.judge = Some(expression.into());
    }

    /// A judge that graders name.
    pub fn named_judge(&mut self, name: impl Into<String>, expression: impl Into<String>) {
        self.judges.push((name.into(), expression.into()));
    }

    /// Names of the default judges.
    pub fn judged_by<N: Into<String>>(&mut self, names: impl IntoIterator<Item = N>) {
        self.default_judges = names.into_iter().map(Into::into).collect();
    }

    /// Judgements after a failing one.
    pub fn judge_confirm(&mut self, judgements: u32) {
        self.judge_confirm = Some(judgements);
    }

    /// Names of the judges.
    pub fn judges(&self) -> Judges {
        let registered = self.judges.iter().map(|(name, _)| name.clone()).collect();
        Judges { registered, default: self.default_judges.clone() }
    }

    /// Names of the graders.
    pub fn names(&self) -> Vec<String> {
        self.graders.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Whether there is an agent that tests can call.
    pub fn has_tests(&self) -> bool {
        !matches!(self.agent, Agent::Nobody)
    }

    /// Whether agents are commands of a targets file.
    pub(crate) fn has_commands(&self) -> bool {
        matches!(self.agent, Agent::Commands)
    }

    /// Targets with an agent of their own.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &str> {
        self.agents.iter().map(|(target, _)| target.as_str())
    }

    /// All expressions, for a check of their syntax.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = &str> {
        let agent = match &self.agent {
            Agent::Expression(expression) => Some(expression.as_str()),
            _ => None,
        };
        let named = self.agents.iter().chain(&self.graders).chain(&self.judges);
        agent.into_iter().chain(self.judge.as_deref()).chain(named.map(|(_, expression)| expression.as_str()))
    }

    /// The calls that add agents, graders and judges to `evals`. The agent is left out where it cannot be known.
    ///
    /// # Errors
    ///
    /// If the suite names an agent that no function can be called.
    pub(crate) fn calls(&self, suite: Option<&About>) -> Result<String, String> {
        let agent = match (&self.agent, suite) {
            (Agent::Expression(expression), _) => Some(expression.clone()),
            (Agent::Commands, _) => Some(COMMANDS.to_owned()),
            (Agent::ByName, Some(about)) => about.default_agent(self.targets())?,
            _ => None,
        };
        let mut calls = agent.map(|agent| format!(".with_agent({agent})")).unwrap_or_default();
        let named = |method: &str, (name, expression): &(String, String)| {
            format!(".{method}({}, {expression})", string_literal(name))
        };
        calls.extend(self.agents.iter().map(|entry| named("with_target_agent", entry)));
        calls.extend(self.graders.iter().map(|entry| named("with_grader", entry)));
        calls.extend(self.judges.iter().map(|entry| named("with_named_judge", entry)));
        calls.extend(self.judge.iter().map(|expression| format!(".with_judge({expression})")));
        if !self.default_judges.is_empty() {
            calls.push_str(&format!(".with_default_judges({})", list(&self.default_judges)));
        }
        calls.extend(self.judge_confirm.map(|judgements| format!(".with_judge_confirm({judgements})")));
        if may_be_commands(&self.judges(), suite) {
            calls.push_str(".with_command_judges()");
        }
        Ok(calls)
    }
}
