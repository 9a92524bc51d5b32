//! Agents by target against the targets of the suite.

use evalsuite_diagnostics::suggest;
use evalsuite_loader::names;

use crate::binding;
use crate::binding::{Binding, Problem};
use crate::suite_facts::SuiteFacts;

/// Whether each target of the suite has an agent of its own, so that there is no other agent.
pub(super) fn all_have_agents(binding: &Binding, facts: &SuiteFacts) -> bool {
    let names = binding::names(&binding.agents);
    facts.targets.iter().chain(&facts.case_targets).all(|target| names.contains(target))
}

/// The function that is the agent where a binding names none: it is called like the suite's agent, or `agent`.
pub(super) fn agent_function(facts: &SuiteFacts) -> Result<String, &str> {
    let Some(name) = &facts.agent_name else { return Ok("agent".to_owned()) };
    let function = name.replace('-', "_");
    if names::segment(&function) == function { Ok(function) } else { Err(name) }
}

/// An error for every target that has an agent of its own and is not in the matrix. Without a matrix `EVALSUITE_TARGET` may name any.
pub(super) fn unknown(binding: &Binding, facts: &SuiteFacts) -> Vec<Problem> {
    let known: Vec<&str> = facts.targets.iter().map(String::as_str).collect();
    let named = binding.agents.iter().map(|agent| (agent.name.span(), agent.name.value()));
    let unknown = named.filter(|(_, name)| !known.is_empty() && !known.contains(&name.as_str()));
    unknown
        .map(|(span, name)| {
            let help = suggest::did_you_mean_or_known(&name, &known);
            Problem::argument(span, format!("unknown target `{name}`; {help}"))
        })
        .collect()
}
