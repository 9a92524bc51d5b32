//! The agents, judges and users that a suite names against those that a binding registers, and the file that says which commands agents and
//! judges are.

use std::collections::BTreeSet;
use std::path::PathBuf;

use evalsuite_loader::{LoadedTargets, Request, find_targets_file, load_targets, names, registered_graders};
use evalsuite_schema::diagnostics::{Code, Diagnostic, Diagnostics, SourceRange, suggest};
use evalsuite_schema::placeholder::Syntax;
use evalsuite_schema::{Location, Provider, TargetEntry, TargetsFile};

use super::Context;
use crate::binding::{self, Agent, Binding, Problem, folded};
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
pub(super) fn unknown_targets(binding: &Binding, facts: &SuiteFacts) -> Vec<Problem> {
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
pub(super) fn missing_targets_file(binding: &Binding, context: &Context, facts: &SuiteFacts) -> Option<Diagnostic> {
    if !has_agents_of_file(binding, Some(facts)) || find_file_of_targets(&context.request)?.is_some() {
        return None;
    }
    let message = format!("no targets.yaml for `{}`, from its directory up to the package", context.request.entry);
    let help = "add one with a command for each target, or set `EVALSUITE_TARGETS` when the tests run";
    Some(Diagnostic::new(Code::NoTargetsFile, message).help(help))
}

/// The entries of a targets file that the targets and judges of a suite name.
pub(super) fn targets_file_entries(facts: &SuiteFacts) -> impl Iterator<Item = &str> {
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
    let by_command = agent_commands(binding, facts);
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
pub(super) fn agent_commands(binding: &Binding, facts: &SuiteFacts) -> impl Iterator<Item = String> {
    let own = binding::names(&binding.agents);
    let by_command = facts.targets.iter().filter(move |(target, _)| !own.contains(target));
    by_command.map(|(_, entry)| entry.clone())
}

/// The nearest targets file of a suite; the outer `None` where the path of the suite is not known.
pub(super) fn find_file_of_targets(request: &Request) -> Option<Option<PathBuf>> {
    Some(find_targets_file(suite_directory(&entry_path(request)?), &request.package_root))
}

fn is_registered(binding: &Binding, name: &str) -> bool {
    binding.judges.iter().any(|judge| folded(&judge.name.value()) == folded(name))
}

/// Whether a judge of the suite may be a command of a targets file: also one that only the environment names.
pub(super) fn judges_may_be_commands(binding: &Binding, facts: Option<&SuiteFacts>) -> bool {
    judges_are_commands(binding, facts) || facts.is_some_and(|facts| facts.asks_judges)
}

/// Whether a judge that is named has to be a command of a targets file.
pub(super) fn judges_are_commands(binding: &Binding, facts: Option<&SuiteFacts>) -> bool {
    judge_commands(binding, facts).next().is_some()
}

/// The judges that are named and have to be commands of a targets file.
pub(super) fn judge_commands(binding: &Binding, facts: Option<&SuiteFacts>) -> impl Iterator<Item = String> {
    let by_graders = facts.into_iter().flat_map(|facts| &facts.named_judges).map(|judge| judge.name.clone());
    let all = by_graders.chain(binding::values(binding.default_judges()));
    all.filter(|name| !is_registered(binding, name))
}

/// A warning for every judge that is named, but neither registered nor a command of a targets file, as far as that is known
/// while compiling.
pub(super) fn unknown_judges(binding: &Binding, context: &Context, facts: &SuiteFacts) -> Vec<Diagnostic> {
    if !context.all_judges_listed || !binding.has_tests() {
        return Vec::new();
    }
    let by_graders = facts.named_judges.iter().map(|judge| {
        let who = format!("{} asks the judge `{}`", judge.asker, judge.name);
        (judge.name.clone(), who, Some(&judge.location))
    });
    let by_default = binding::values(binding.default_judges()).into_iter().map(|name| {
        let who = format!("the default judge is `{name}`");
        (name, who, None)
    });
    let unknown: Vec<_> = by_graders.chain(by_default).filter(|(name, ..)| !is_registered(binding, name)).collect();
    if unknown.is_empty() {
        return Vec::new();
    }
    let Some(file) = find_file_of_targets(&context.request) else { return Vec::new() };
    let loaded = file.map(|file| load_targets(&file, &context.request));
    // Entries of a file with errors of its own are not all known.
    if loaded.as_ref().is_some_and(|loaded| loaded.targets.is_none()) {
        return Vec::new();
    }
    let defined: Vec<&str> = loaded.iter().flat_map(LoadedTargets::names).collect();
    let known = binding::names(&binding.judges);
    let command = if loaded.is_some() {
        "a command of this name to the targets.yaml"
    } else {
        "a targets.yaml with a command of this name"
    };
    let warning = |(name, who, location): (String, String, Option<&_>)| {
        let meant = suggest::did_you_mean(&name, known.iter().map(String::as_str).chain(defined.iter().copied()));
        let list = format!("name it in the macro, `judges = {{ \"{name}\" => path }}`, or add {command}");
        let help = meant.into_iter().chain([list]).collect::<Vec<_>>().join(" ");
        let message = format!("{who}, which is neither in `judges` nor in a targets.yaml");
        let diagnostic = Diagnostic::new(Code::UnknownJudge, message).help(help);
        match location {
            Some(location) => diagnostic.at(Clone::clone(location)),
            None => diagnostic,
        }
    };
    unknown.into_iter().filter(|(name, ..)| !defined.contains(&name.as_str())).map(warning).collect()
}

/// An error for every user that a case names and the binding does not list, with all places that name it.
pub(super) fn unknown_users(binding: &Binding, facts: &SuiteFacts) -> Vec<Diagnostic> {
    let registered = binding::names(&binding.users);
    let is_registered = |name: &str| registered.iter().any(|known| folded(known) == folded(name));
    let unknown = facts.simulated_users.iter().filter_map(|user| {
        let name = user.name.as_deref().filter(|name| !is_registered(name))?;
        let function = names::segment(&name.replace('-', "_"));
        let meant = suggest::did_you_mean(name, registered.iter().map(String::as_str));
        let list = format!("list the function in the macro: `users = [{function}]`");
        Some(
            Diagnostic::new(Code::UnknownUser, format!("unknown user `{name}`"))
                .help(meant.unwrap_or(list))
                .at(&user.location),
        )
    });
    unknown.collect::<Diagnostics<SourceRange>>().grouped().into_iter().collect()
}

/// An error, for a program without the feature `users` of evalsuite, about a suite or a binding that needs it.
pub(super) fn users_without_feature(binding: &Binding, facts: &SuiteFacts) -> Option<Problem> {
    let problem = |location: Option<&Location>| {
        let problem = registered_graders::missing_feature("simulated users", "users");
        Problem::diagnostic(
            binding.span(),
            location.map_or_else(|| problem.clone(), |location| problem.clone().at(location)),
        )
    };
    match facts.simulated_users.first() {
        Some(user) => Some(problem(Some(&user.location))),
        None => (!binding.users.is_empty()).then(|| problem(None)),
    }
}
