//! Checks of a binding by itself, without its suite.

use std::collections::BTreeSet;

use evalsuite_diagnostics::{Code, Diagnostic};
use evalsuite_schema::grader::BUILT_IN;
use syn::LitStr;

use super::{Binding, NamedExpr, Problem, folded};
use crate::allowed_warnings;

impl Binding {
    /// What is wrong with the binding, whatever suite it is for.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut problems = registration_problems(&self.graders);
        for name in &self.allow {
            let problem = allowed_warnings::problem(&name.value());
            problems.extend(problem.map(|problem| Problem::argument(name.span(), problem)));
        }
        for items in [&self.agents, &self.judges] {
            problems.extend(repeated(items.iter().map(|item| &item.name), ""));
        }
        let default_judges = self.default_judges();
        let blank = default_judges.iter().filter(|name| name.value().trim().is_empty());
        problems.extend(blank.map(|name| Problem::argument(name.span(), "the name of a judge is blank")));
        problems.extend(repeated(default_judges, "judge "));
        if let Some(number) = &self.judge_confirm
            && !number.base10_parse::<u32>().is_ok_and(|number| number <= 10 && number.is_multiple_of(2))
        {
            let message = format!("`judge_confirm` is an even number from 0 to 10, found `{number}`");
            problems.push(Problem::argument(number.span(), message));
        }
        problems
    }
}

fn repeated<'n>(names: impl IntoIterator<Item = &'n LitStr>, what: &str) -> Vec<Problem> {
    let mut seen = BTreeSet::new();
    let repeated = names.into_iter().filter(|name| !seen.insert(name.value()));
    let problem = |name: &LitStr| Problem::argument(name.span(), format!("{what}`{}` is given twice", name.value()));
    repeated.map(problem).collect()
}

fn registration_problems(graders: &[NamedExpr]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for grader in graders {
        let name = grader.name.value();
        let message = if BUILT_IN.contains(&folded(&name).as_str()) {
            Some((format!("`{name}` is a built-in grader type"), format!("my-{}", folded(&name))))
        } else {
            let first = seen.iter().find(|other| folded(other) == folded(&name));
            first.map(|first| {
                let same = if *first == name { String::new() } else { format!(", which is the same as `{first}`") };
                (format!("grader `{name}` is registered twice{same}"), "other-name".to_owned())
            })
        };
        if let Some((message, other)) = message {
            let help = format!("register it under another name: `\"{other}\" => {name}`");
            let diagnostic = Diagnostic::new(Code::GraderRegistration, message).help(help);
            problems.push(Problem::diagnostic(grader.name.span(), diagnostic));
        }
        seen.push(name);
    }
    problems
}
