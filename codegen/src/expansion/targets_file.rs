//! The file that says which commands agents and judges are.

use std::collections::BTreeSet;
use std::path::PathBuf;

use evalsuite_diagnostics::{Code, Diagnostic, SourceRange, suggest};
use evalsuite_loader::{LoadedTargets, Request, find_targets_file};
use evalsuite_schema::placeholder::Syntax;

use super::{Context, targets};
use crate::binding;
use crate::binding::{Agent, Binding};
use crate::suite_facts::SuiteFacts;
use crate::suite_location::{entry_path, suite_directory};

/// Whether agents are commands of a targets file.
pub(super) fn has_agents(binding: &Binding, facts: Option<&SuiteFacts>) -> bool {
    matches!(binding.agent, Agent::Commands) && facts.is_none_or(|facts| !targets::all_have_agents(binding, facts))
}

/// A warning if commands are the agents of a suite that has no targets file. It may still be named when the tests run.
pub(super) fn missing(binding: &Binding, context: &Context, facts: &SuiteFacts) -> Option<Diagnostic> {
    if !has_agents(binding, Some(facts)) || find(&context.request)?.is_some() {
        return None;
    }
    let message = format!("no targets.yaml for `{}`, from its directory up to the package", context.request.entry);
    let help = "add one with a command for each target, or set `EVALSUITE_TARGETS` when the tests run";
    Some(Diagnostic::new(Code::NoTargetsFile, message).help(help))
}

/// The entries of a targets file that the targets and judges of a suite name.
pub(super) fn entries(facts: &SuiteFacts) -> impl Iterator<Item = &str> {
    let judges = facts.judges.named.iter().map(|judge| judge.name.as_str());
    facts.entries.iter().map(|(_, entry)| entry.as_str()).chain(judges)
}

/// A warning for every target of the suite that the targets file does not define. Another file may be named when the tests run.
pub(super) fn undefined(
    file: &LoadedTargets,
    place: &SourceRange,
    binding: &Binding,
    facts: &SuiteFacts,
) -> Vec<Diagnostic> {
    let defined: Vec<&str> = file.names().collect();
    let own = binding::names(&binding.agents);
    let by_command = facts.entries.iter().filter(|(target, _)| !own.contains(target)).map(|(_, entry)| entry);
    // An entry named by a variable is known when the tests run.
    let literal = by_command.filter(|entry| !Syntax::Variable.is_in(entry));
    let undefined: BTreeSet<&String> = literal.filter(|entry| !defined.contains(&entry.as_str())).collect();
    let warning = |entry: &String| {
        Diagnostic::new(Code::UndefinedTarget, format!("target `{entry}` of the suite is not defined"))
            .at(place.clone())
            .help(suggest::did_you_mean_or_known(entry, &defined))
    };
    undefined.into_iter().map(warning).collect()
}

/// The nearest targets file of a suite; the outer `None` where the path of the suite is not known.
pub(super) fn find(request: &Request) -> Option<Option<PathBuf>> {
    Some(find_targets_file(suite_directory(&entry_path(request)?), &request.package_root))
}
