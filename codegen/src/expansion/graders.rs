//! Registered graders against those that the suite's files name.

use std::collections::BTreeSet;

use evalsuite_loader::source::Files;
use evalsuite_loader::{GraderUse, suggest};
use evalsuite_schema::diagnostic::{Code, Diagnostic};
use evalsuite_schema::grader::BUILT_IN;

use crate::binding::folded;

fn all_folded<'n>(names: impl IntoIterator<Item = &'n String>) -> BTreeSet<String> {
    names.into_iter().map(|name| folded(name)).collect()
}

/// Whether every used grader is registered and every registered one is used.
pub(super) fn agree(registered: &[String], used: &[String]) -> bool {
    all_folded(registered) == all_folded(used)
}

/// An error for every use of a grader that is not registered.
pub(super) fn unknown(registered: &[String], uses: &[GraderUse], files: &Files) -> Vec<Diagnostic> {
    let folded_names = all_folded(registered);
    let unknown = uses.iter().filter(|grader| !folded_names.contains(&folded(&grader.name)));
    unknown
        .map(|grader| {
            Diagnostic::new(Code::UnknownGrader, format!("unknown grader `{}`", grader.name))
                .at(files.locate(grader.span))
                .help(help(registered, &grader.name))
        })
        .collect()
}

fn help(registered: &[String], name: &str) -> String {
    let own: Vec<&str> = registered.iter().map(String::as_str).collect();
    let meant = suggest::did_you_mean(name, own.iter().chain(BUILT_IN).copied());
    let known = if own.is_empty() {
        format!("no grader is registered: list it in the macro, `graders = [{}]`", name.replace('-', "_"))
    } else {
        format!("registered: {}", suggest::listed(&own))
    };
    meant.into_iter().chain([known]).collect::<Vec<_>>().join(" ")
}

/// A warning for every registered grader that no case uses.
pub(super) fn unused(registered: &[String], uses: &[GraderUse], entry: &str) -> Vec<Diagnostic> {
    let used: BTreeSet<&str> = uses.iter().map(|grader| grader.name.as_str()).collect();
    let folded_names: BTreeSet<String> = used.iter().map(|name| folded(name)).collect();
    let names: Vec<&str> = used.into_iter().collect();
    let help = match names.as_slice() {
        [] => "its files name built-in graders only".to_owned(),
        names => format!("its files name {}", suggest::listed(names)),
    };
    let unused = registered.iter().filter(|name| !folded_names.contains(&folded(name)));
    unused
        .map(|name| {
            let message = format!("grader `{name}` is registered, but no case of `{entry}` uses it");
            Diagnostic::new(Code::UnusedGrader, message).help(&help)
        })
        .collect()
}
