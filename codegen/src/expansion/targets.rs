//! Agents by target against the targets of the suite, and the file that says which commands agents and judges are.

use std::collections::BTreeSet;
use std::path::PathBuf;

use evalsuite_loader::{LoadedTargets, Request, find_targets_file, names};
use evalsuite_schema::diagnostics::{Code, Diagnostic, SourceRange, suggest};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Provider, TargetEntry, TargetsFile};

use super::Context;
use crate::binding::{self, Agent, Binding, Problem};
use crate::suite_facts::SuiteFacts;
use crate::suite_location::{entry_path, suite_directory};

/// Whether each target of the suite has an agent of its own, so that there is no other agent.
pub(super) fn all_have_agents(binding: &Binding, facts: &SuiteFacts) -> bool {
    let names = binding::names(&binding.agents);
    facts.targets.iter().all(|(target, _)| names.contains(target))
}

/// The function that is the agent where a binding names none: it is called like the suite's agent, or `agent`.
pub(super) fn agent_function(facts: &SuiteFacts) -> Result<String, &str> {
    let Some(name) = &facts.agent_name else { return Ok("agent".to_owned()) };
    let function = name.replace('-', "_");
    if names::segment(&function) == function { Ok(function) } else { Err(name) }
}

/// An error for every target that has an agent of its own and is not in the matrix. Without a matrix `EVALSUITE_TARGET` may name any.
pub(super) fn unknown(binding: &Binding, facts: &SuiteFacts) -> Vec<Problem> {
    let matrix = facts.targets.iter().filter(|_| facts.has_matrix);
    let known: Vec<&str> = matrix.map(|(target, _)| target.as_str()).collect();
    let named = binding.agents.iter().map(|agent| (agent.name.span(), agent.name.value()));
    let unknown = named.filter(|(_, name)| !known.is_empty() && !known.contains(&name.as_str()));
    unknown
        .map(|(span, name)| {
            let help = suggest::did_you_mean_or_known(&name, &known);
            Problem::argument(span, format!("unknown target `{name}`; {help}"))
        })
        .collect()
}

/// Whether agents are commands of a targets file.
pub(super) fn has_agents_of_file(binding: &Binding, facts: Option<&SuiteFacts>) -> bool {
    matches!(binding.agent, Agent::Commands { .. }) && facts.is_none_or(|facts| !all_have_agents(binding, facts))
}

/// A warning if commands are the agents of a suite that has no targets file. It may still be named when the tests run.
pub(super) fn missing_file(binding: &Binding, context: &Context, facts: &SuiteFacts) -> Option<Diagnostic> {
    if !has_agents_of_file(binding, Some(facts)) || find_file(&context.request)?.is_some() {
        return None;
    }
    let message = format!("no targets.yaml for `{}`, from its directory up to the package", context.request.entry);
    let help = "add one with a command for each target, or set `EVALSUITE_TARGETS` when the tests run";
    Some(Diagnostic::new(Code::NoTargetsFile, message).help(help))
}

/// The entries of a targets file that the targets and judges of a suite name.
pub(super) fn file_entries(facts: &SuiteFacts) -> impl Iterator<Item = &str> {
    let judges = facts.named_judges.iter().map(|judge| judge.name.as_str());
    facts.targets.iter().map(|(_, entry)| entry.as_str()).chain(judges)
}

/// Whether one of these entries, or one that it is an alias of, speaks the Agent Client Protocol.
pub(super) fn speak_acp<'n>(file: &TargetsFile, names: impl IntoIterator<Item = &'n str>) -> bool {
    let entry = |name: &str| file.targets.iter().find(|entry| entry.name == name);
    let mut reached = names.into_iter().map(|name| {
        // The loader rejects circles.
        let next = |named: &&TargetEntry| match &named.provider {
            Provider::Alias(next) => entry(next),
            _ => None,
        };
        std::iter::successors(entry(name), next).take(file.targets.len())
    });
    reached.any(|mut entries| entries.any(|entry| matches!(entry.provider, Provider::Acp(_))))
}

/// A warning for every target of the suite that the targets file does not define. Another file may be named when the tests run.
pub(super) fn undefined_in_file(
    file: &LoadedTargets,
    place: &SourceRange,
    binding: &Binding,
    facts: &SuiteFacts,
) -> Vec<Diagnostic> {
    let defined: Vec<&str> = file.names().collect();
    // An entry named by a variable is known when the tests run.
    let by_command = commands(binding, facts);
    let literal: BTreeSet<String> = by_command.filter(|entry| !Syntax::Variable.is_in(entry)).collect();
    let undefined = literal.iter().map(String::as_str).filter(|entry| !defined.contains(entry));
    let warning = |entry: &str| {
        Diagnostic::new(Code::UndefinedTarget, format!("target `{entry}` of the suite is not defined"))
            .at(place.clone())
            .help(suggest::did_you_mean_or_known(entry, &defined))
    };
    undefined.map(warning).collect()
}

/// The entries of a targets file that are the agents of targets.
pub(super) fn commands(binding: &Binding, facts: &SuiteFacts) -> impl Iterator<Item = String> {
    let own = binding::names(&binding.agents);
    let by_command = facts.targets.iter().filter(move |(target, _)| !own.contains(target));
    by_command.map(|(_, entry)| entry.clone())
}

/// The nearest targets file of a suite; the outer `None` where the path of the suite is not known.
pub(super) fn find_file(request: &Request) -> Option<Option<PathBuf>> {
    Some(find_targets_file(suite_directory(&entry_path(request)?), &request.package_root))
}
