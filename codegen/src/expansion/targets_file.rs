//! The file that says which commands agents and judges are.

use std::path::PathBuf;

use evalsuite_loader::{Request, find_targets_file};
use evalsuite_schema::diagnostic::{Code, Diagnostic};

use super::{Context, targets};
use crate::binding::{Agent, Binding};
use crate::suite_facts::SuiteFacts;

/// A warning if commands are the agents of a suite that has no targets file. It may still be named when the tests run.
pub(super) fn missing(binding: &Binding, context: &Context, facts: &SuiteFacts) -> Option<Diagnostic> {
    let has_commands = matches!(binding.agent, Agent::Commands);
    if !has_commands || targets::all_have_agents(binding, facts) {
        return None;
    }
    if find(&context.request)?.is_some() {
        return None;
    }
    let message = format!("no targets.yaml for `{}`, from its directory up to the package", context.request.entry);
    let help = "add one with a command for each target, or set `EVALSUITE_TARGETS` when the tests run";
    Some(Diagnostic::new(Code::NoTargetsFile, message).help(help))
}

/// The nearest targets file of a suite; the outer `None` where the path of the suite is not known.
pub(super) fn find(request: &Request) -> Option<Option<PathBuf>> {
    Some(find_targets_file(&suite_root(request)?, &request.package_root))
}

/// Directory of the suite.
fn suite_root(request: &Request) -> Option<PathBuf> {
    let base = match request.entry.strip_prefix("./") {
        Some(rest) => request.source_dir.as_ref()?.join(rest),
        None => request.package_root.join(&request.entry),
    };
    // Components as they are written: `suites/x/` and `suites/./x` are `suites/x`.
    let entry: PathBuf = base.components().collect();
    if entry.is_dir() { Some(entry) } else { entry.parent().map(ToOwned::to_owned) }
}
