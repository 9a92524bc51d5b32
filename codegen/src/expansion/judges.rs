//! Registered judges against those that the suite's graders and the binding name.

use evalsuite_loader::{LoadedTargets, load_targets};
use evalsuite_schema::diagnostics::{Code, Diagnostic, suggest};

use super::{Context, targets};
use crate::binding::{self, Binding, folded};
use crate::suite_facts::SuiteFacts;

fn is_registered(binding: &Binding, name: &str) -> bool {
    binding.judges.iter().any(|judge| folded(&judge.name.value()) == folded(name))
}

/// Whether a judge of the suite may be a command of a targets file: also one that only the environment names.
pub(super) fn may_be_commands(binding: &Binding, facts: Option<&SuiteFacts>) -> bool {
    are_commands(binding, facts) || facts.is_some_and(|facts| facts.asks_judges)
}

/// Whether a judge that is named has to be a command of a targets file.
pub(super) fn are_commands(binding: &Binding, facts: Option<&SuiteFacts>) -> bool {
    commands(binding, facts).next().is_some()
}

/// The judges that are named and have to be commands of a targets file.
pub(super) fn commands(binding: &Binding, facts: Option<&SuiteFacts>) -> impl Iterator<Item = String> {
    let by_graders = facts.into_iter().flat_map(|facts| &facts.named_judges).map(|judge| judge.name.clone());
    let all = by_graders.chain(binding::values(binding.default_judges()));
    all.filter(|name| !is_registered(binding, name))
}

/// A warning for every judge that is named, but neither registered nor a command of a targets file, as far as that is known
/// while compiling.
pub(super) fn unknown(binding: &Binding, context: &Context, facts: &SuiteFacts) -> Vec<Diagnostic> {
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
    let Some(file) = targets::find_file(&context.request) else { return Vec::new() };
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
