//! Registered graders against those that the files name.

use std::collections::BTreeSet;

use evalsuite_loader::{GraderUse, source::Files};
use evalsuite_schema::diagnostic::{Code, Diagnostic};
use evalsuite_schema::grader::BUILT_IN;

use super::suggest;

/// How names are compared: `-` and `_` are the same.
pub(crate) fn fold(name: &str) -> String {
    name.replace('_', "-")
}

/// What is wrong with the registered names themselves, each with the index of the name.
pub fn registration_problems(registered: &[String]) -> Vec<(usize, String)> {
    let mut problems = Vec::new();
    for (index, name) in registered.iter().enumerate() {
        let folded = fold(name);
        let code = Code::GraderRegistration;
        if BUILT_IN.contains(&folded.as_str()) {
            problems.push((
                index,
                format!(
                    "[{code}] `{name}` is a built-in grader type\n  = help: register it under another name: `\"my-{folded}\" => {name}`"
                ),
            ));
        } else if let Some(first) = registered[..index].iter().find(|other| fold(other) == folded) {
            let same = if first == name { String::new() } else { format!(", which is the same as `{first}`") };
            problems.push((
                index,
                format!("[{code}] grader `{name}` is registered twice{same}\n  = help: register it under another name: `\"other-name\" => {name}`"),
            ));
        }
    }
    problems
}

/// Whether every used grader is registered and every registered one is used.
pub(crate) fn agree(registered: &[String], used: &[String]) -> bool {
    let registered: BTreeSet<String> = registered.iter().map(|name| fold(name)).collect();
    let used: BTreeSet<String> = used.iter().map(|name| fold(name)).collect();
    registered == used
}

/// A diagnostic for every use of a grader that is not registered.
pub(crate) fn unknown(registered: &[String], uses: &[GraderUse], files: &Files) -> Vec<Diagnostic> {
    let folded: BTreeSet<String> = registered.iter().map(|name| fold(name)).collect();
    let unknown = uses.iter().filter(|grader| !folded.contains(&fold(&grader.name)));
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
    let near = suggest::nearest(name, own.iter().copied().chain(BUILT_IN.iter().copied()));
    let meant = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    if own.is_empty() {
        let list = "no grader is registered: list it in the macro, `graders = [";
        return format!("{meant}{list}{}]`", name.replace('-', "_"));
    }
    format!("{meant}registered: {}", suggest::list(&own))
}

/// A sentence for every registered grader that no case uses.
pub(crate) fn unused<'u>(registered: &[String], used: impl IntoIterator<Item = &'u str>, entry: &str) -> Vec<String> {
    let used: BTreeSet<&str> = used.into_iter().collect();
    let folded: BTreeSet<String> = used.iter().map(|name| fold(name)).collect();
    let names: Vec<&str> = used.into_iter().collect();
    let help = match names.as_slice() {
        [] => "its files name built-in graders only".to_owned(),
        names => format!("its files name {}", suggest::list(names)),
    };
    registered
        .iter()
        .filter(|name| !folded.contains(&fold(name)))
        .map(|name| {
            let code = Code::UnusedGrader;
            format!("[{code}] grader `{name}` is registered, but no case of `{entry}` uses it\n  = help: {help}")
        })
        .collect()
}
