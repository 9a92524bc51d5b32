//! Agents that are commands of a targets file.

mod call;
mod command_line;
mod health;
mod http;
#[cfg(feature = "cli-agents")]
mod load;
mod message;
mod ready;
mod reply;
mod select;

use std::path::{Path, PathBuf};

use evalsuite_schema::TargetsFile;

use crate::place::Places;

pub(crate) use call::{Ask, Failure};
pub(crate) use ready::Ready;
pub(crate) use select::CliAgent;

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
/// evals.agent(evalsuite::CliAgents)
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
impl crate::IntoAgent<CommandAgent> for CliAgents {
    fn into_agent(self) -> crate::BoundAgent {
        crate::BoundAgent::commands(load::load)
    }
}

/// Reads the targets file of a suite: the one that is named, a file or its directory, else the nearest one.
///
/// It is handed around as a function, so that a program whose suites have agents in Rust has no reader of YAML in it.
pub(crate) type LoadTargets = fn(&Places, Option<&Path>) -> Result<Targets, String>;

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

/// A targets file without mistakes.
#[derive(Debug)]
pub(crate) struct Targets {
    pub(crate) path: PathBuf,
    pub(crate) file: TargetsFile,
}
