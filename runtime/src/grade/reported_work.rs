//! What graders read of an agent's work. The one rule for data that is missing: what was neither reported nor measured is an error of the
//! grader that reads it, which is neither a fail nor a pass, also with `negate`.

use std::fmt;

use evalsuite_records::record::Usage;
use evalsuite_schema::ToolCall;
use evalsuite_schema::diagnostics::suggest::listed;

use crate::model::evidence::Evidence;

/// Why there are no calls, and how an agent reports them.
const NO_CALLS: &str = "the agent reported no calls: an agent in Rust records each with `trial.tool_call`, or calls \
    `trial.transcript_complete` if there are none; a command writes them as `messages` to its output file";
/// Why not all calls are known of an agent whose calls only its MCP servers show.
const ONLY_SERVERS: &str = "calls of other tools than those of MCP servers are not known: the agent reports no calls itself; if it has no \
    other tools, write `only_tools: true` in `mcp` of its target";
/// The same of calls that a pattern means.
const MORE_TOOLS: &str = "the agent reports no calls itself, and may have other tools than those of its MCP servers; if it has none, write \
    `only_tools: true` in `mcp` of its target";
/// Why there is no cost, and how an agent reports it.
const NO_COST: &str = "the agent did not report its cost: an agent in Rust reports it with `trial.cost_usd`; a command writes it as \
    `cost_usd` to its output file";
/// Why there are no tokens, and how an agent reports them.
const NO_USAGE: &str = "the agent did not report its tokens: an agent in Rust reports them with `trial.usage`; a command writes them as \
    `token_usage` to its output file";

/// Why a grader does not have the data that it reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotReported(pub(super) String);

impl NotReported {
    /// A pattern may mean tools of which no calls are known.
    pub(crate) fn of_pattern(name: &str) -> Self {
        Self(format!("not all calls that `{name}` means are known: {MORE_TOOLS}"))
    }
}

impl fmt::Display for NotReported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether the agent has no other tools than those whose calls are known.
pub(crate) fn knows_all_tools(evidence: &Evidence<'_>) -> bool {
    evidence.facts().unknown.known_tools.is_none()
}

/// The calls of tools, in order.
pub(crate) fn tool_calls<'e>(evidence: &'e Evidence<'_>) -> Result<Vec<&'e ToolCall>, NotReported> {
    let unknown = &evidence.facts().unknown;
    let others = unknown.known_tools.as_ref().map(|_| ONLY_SERVERS);
    known(evidence.tool_calls(), evidence.unknown_calls().or(others), NO_CALLS)
}

/// The calls of tools with names that `is_meant` accepts, in order. `names` are all names that the grader asks for.
pub(crate) fn calls_of_tools<'e>(
    evidence: &'e Evidence<'_>,
    names: &[&str],
    is_named: fn(&str, &str) -> bool,
) -> Result<Vec<&'e ToolCall>, NotReported> {
    let unknown = &evidence.facts().unknown;
    if let (Some(known), None) = (&unknown.known_tools, evidence.unknown_calls())
        && let Some(name) = names.iter().find(|name| !known.iter().any(|tool| is_named(tool, name)))
    {
        let tools = listed(&known.iter().map(String::as_str).collect::<Vec<_>>());
        return Err(NotReported(format!(
            "calls of `{name}` are not known: the agent reports no calls itself, and its MCP servers have no such tool (they have: {tools})"
        )));
    }
    known(evidence.tool_calls(), evidence.unknown_calls(), NO_CALLS)
}

/// The number of calls of models.
pub(crate) fn llm_calls(evidence: &Evidence<'_>) -> Result<u64, NotReported> {
    let of_models = evidence.facts().unknown.model_calls.as_deref();
    known(evidence.llm_calls(), evidence.unknown_calls().or(of_models), NO_CALLS)
}

/// The tokens.
pub(crate) fn usage(evidence: &Evidence<'_>) -> Result<Usage, NotReported> {
    known(evidence.usage(), evidence.unknown_tokens(), NO_USAGE)
}

/// The cost in US dollars.
pub(crate) fn cost_usd(evidence: &Evidence<'_>) -> Result<f64, NotReported> {
    known(evidence.cost_usd(), evidence.unknown_cost(), NO_COST)
}

/// How long the agent worked, in milliseconds: it is measured if the agent does not report it.
pub(crate) fn duration_ms(evidence: &Evidence<'_>) -> Result<f64, NotReported> {
    let duration = evidence.facts().duration_ms;
    known(duration.is_finite().then_some(duration), None, "the duration of the agent is not known")
}

/// How long a call of a tool took, in milliseconds.
pub(crate) fn call_duration_ms(call: &ToolCall) -> Result<f64, NotReported> {
    let why = || NotReported(format!("the agent did not report how long its call of `{}` took", call.tool));
    call.took_ms().ok_or_else(why)
}

/// A value that was reported completely; `unknown` is why it was not.
fn known<T>(value: Option<T>, unknown: Option<&str>, absent: &str) -> Result<T, NotReported> {
    match (value, unknown) {
        (Some(value), None) => Ok(value),
        (_, why) => Err(NotReported(why.unwrap_or(absent).to_owned())),
    }
}
