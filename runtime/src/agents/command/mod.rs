//! Agents that are commands of a targets file.

pub(crate) mod cli_agent;
pub(crate) mod command_call;
pub(crate) mod command_line;
pub(crate) mod health_check;
pub(crate) mod output_file;
pub(crate) mod output_reply;
pub(crate) mod targets_file;

use crate::model::agent::{Bound, BoundAgent, IntoAgent, LoadTargets};

/// Agents that are commands of a targets file; see `agent = "cli"` of `include_eval_suite!`.
///
/// The entry of the nearest targets.yaml with the name of the trial's target defines the command:
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
/// The command runs in a shell, in the workspace of the case, else in the target's `cwd`, else in an empty workspace;
/// with `in_suite_directory: true`, in the suite's directory. `{PROMPT}`, `{PROMPT_FILE}`, `{EVAL_ID}`, `{ATTEMPT}`,
/// `{FILES}` and `{OUTPUT_FILE}` are replaced by values, quoted for the shell. The content of `{OUTPUT_FILE}` is the
/// answer, or an object with `text`, `output` (messages), `token_usage`, `cost_usd`, `duration_ms` and `state`. An
/// object that is broken or has none of these keys is an error, unless the target has `output: text`. A command that
/// fails, exceeds its time limit (300 s by default) or writes nothing is an error with the end of its standard error;
/// its complete output is written next to the record, and what it reported until then is in the record.
///
/// A health check runs once per run, with a time limit of 30 s by default. A URL has to answer with a status of 200 to
/// 299; for `https://`, the program curl is used. Redirects are not followed.
///
/// A suite with this agent needs no code:
///
/// ```
/// # fn bind(evals: evalsuite::Evals) -> evalsuite::Evals {
/// evals.with_agent(evalsuite::CliAgents)
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CliAgents;

/// Marks [`CliAgents`].
#[derive(Debug)]
pub struct CommandAgent;

// Functions that are not agents are not a misspelled `CliAgents`.
#[diagnostic::do_not_recommend]
impl IntoAgent<CommandAgent> for CliAgents {
    fn into_agent(self) -> BoundAgent {
        BoundAgent(Bound::Commands(targets_file::load))
    }
}

/// The function that reads targets files.
pub(crate) fn loader() -> Option<LoadTargets> {
    Some(targets_file::load)
}
