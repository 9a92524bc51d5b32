//! Simulated users: those that cases name against the registered ones.

use evalsuite_loader::{names, registered_graders};
use evalsuite_schema::Location;
use evalsuite_schema::diagnostics::{Code, Diagnostic, Diagnostics, SourceRange, suggest};

use crate::binding::{self, Binding, Problem, folded};
use crate::suite_facts::SuiteFacts;

/// An error for every user that a case names and the binding does not list, with all places that name it.
pub(super) fn unknown(binding: &Binding, facts: &SuiteFacts) -> Vec<Diagnostic> {
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
pub(super) fn without_feature(binding: &Binding, facts: &SuiteFacts) -> Option<Problem> {
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
