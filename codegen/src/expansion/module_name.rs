//! The name of the generated module.

use evalsuite_loader::names;
use syn::spanned::Spanned;
use syn::{Expr, Path};

use crate::binding::{Agent, Binding, Judge, Problem};

/// The name for an entry path, where the suite says nothing else: its last component without extension.
pub(super) fn of_entry(entry: &str) -> String {
    let last = entry.trim_end_matches('/').rsplit('/').next().unwrap_or(entry);
    let stem = match last.rsplit_once('.') {
        Some((stem, "jsonl" | "yaml" | "yml" | "json")) => stem.strip_suffix(".eval").unwrap_or(stem),
        _ => last,
    };
    names::segment(stem)
}

/// An error for every path of the binding that starts with the name of the module: the module hides a crate of this name.
pub(super) fn hidden_paths(binding: &Binding, module: &str) -> Vec<Problem> {
    let agent = if let Agent::Expression(agent) = &binding.agent { Some(&**agent) } else { None };
    let judge = if let Some(Judge::Expression(judge)) = &binding.judge { Some(&**judge) } else { None };
    let named = [&binding.agents, &binding.graders, &binding.judges, &binding.users]
        .into_iter()
        .flatten()
        .map(|item| &item.value);
    let paths = agent.into_iter().chain(judge).chain(named).filter_map(path).chain(&binding.crate_path);
    let hidden = paths.filter_map(|path| {
        let first = path.segments.first()?;
        let is_hidden = path.leading_colon.is_none() && path.segments.len() > 1 && first.ident == module;
        is_hidden.then(|| {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Vec<_>>();
            let message = format!(
                "`{module}` is the name of the suite's module, which hides the crate; write `::{}`, or name the module: `name = {module}_suite`",
                segments.join("::")
            );
            Problem::argument(path.span(), message)
        })
    });
    hidden.collect()
}

fn path(expression: &Expr) -> Option<&Path> {
    match expression {
        Expr::Path(path) => Some(&path.path),
        Expr::Group(group) => path(&group.expr),
        _ => None,
    }
}
