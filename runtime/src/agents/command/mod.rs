//! Agents that are commands of a targets file.

pub(crate) mod call;
pub(crate) mod command_line;
pub(crate) mod health;
pub(crate) mod http;
#[cfg(feature = "cli-agents")]
pub(crate) mod load;
pub(crate) mod message;
pub(crate) mod ready;
pub(crate) mod reply;
pub(crate) mod select;

use crate::model::{agent::LoadTargets, evals::Evals};

pub(crate) use crate::agents::command::{
    call::{Ask, Failure},
    ready::Ready,
    select::CliAgent,
};

/// Agents that are commands of a targets file; see `agent = "cli"` of `include_eval_suite!`.
///
/// The entry of the nearest targets.yaml that is named like a trial's target says which command is called:
///
/// ```yaml
/// targets:
///   - name: default
///     provider: cli
///     command: my-agent --prompt-file {PROMPT_FILE} --out {OUTPUT_FILE}
///     timeout_seconds: 120                            # where the case sets none
///     env: { API_KEY: "${{ MY_KEY }}" }
///     healthcheck: { url: "http://localhost:8080/health" }
/// ```
///
/// The command runs in a shell, in the workspace of the case, else in the target's `cwd`, else in the suite's directory.
/// `{PROMPT}`, `{PROMPT_FILE}`, `{EVAL_ID}`, `{ATTEMPT}`, `{FILES}` and `{OUTPUT_FILE}` stand for values, quoted for the
/// shell. What it writes to `{OUTPUT_FILE}` is the answer, or an object with `text`, `output` (messages), `token_usage`,
/// `cost_usd`, `duration_ms` and `state`. A command that fails, runs out of time (300 s by default) or writes nothing is an
/// error that shows the end of its standard error; everything it printed is kept beside the record.
///
/// A health check is made once per run and has 30 s by default. A URL has to answer with a status of 200 to 299;
/// `https://` is asked with the program curl, redirects are not followed.
///
/// A suite with this agent needs no code:
///
/// ```
/// # fn bind(evals: evalsuite::Evals) -> evalsuite::Evals {
/// evals.with_agent(evalsuite::CliAgents)
/// # }
/// ```
#[cfg(feature = "cli-agents")]
#[derive(Debug, Clone, Copy)]
pub struct CliAgents;

/// Marks [`CliAgents`].
#[cfg(feature = "cli-agents")]
#[derive(Debug)]
pub struct CommandAgent;

#[cfg(feature = "cli-agents")]
impl crate::model::agent::IntoAgent<CommandAgent> for CliAgents {
    fn into_agent(self) -> crate::model::agent::BoundAgent {
        crate::model::agent::BoundAgent(crate::model::agent::Bound::Commands(load::load))
    }
}

/// How the targets file is read in this build.
#[cfg(feature = "cli-agents")]
pub(crate) fn loader() -> Option<LoadTargets> {
    Some(load::load)
}

/// Without the feature it is not.
#[cfg(not(feature = "cli-agents"))]
pub(crate) fn loader() -> Option<LoadTargets> {
    None
}

impl Evals {
    /// Lets commands of the targets file judge, where a grader or `EVALSUITE_JUDGE_TARGET` names one, also if no agent is one.
    /// Nothing happens without the feature `cli-agents`.
    pub fn with_command_judges(self) -> Self {
        self.with_judge_commands(loader())
    }
}
