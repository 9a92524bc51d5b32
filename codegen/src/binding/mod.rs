//! What connects a suite to Rust code: agents, graders, judges and options. The macro fills it from its arguments, `generate` from
//! its builder methods; `expansion` makes code of it.

pub(crate) mod argument_table;
pub(crate) mod argument_values;
mod problem;

use std::collections::BTreeSet;

use evalsuite_schema::diagnostics::{Code, Diagnostic};
use evalsuite_schema::grader::BUILT_IN;
use proc_macro2::{Ident, Span};
use syn::{Expr, LitStr};

use crate::allowed_warnings;

pub use argument_table::Binding;
pub use problem::Problem;

pub(crate) use evalsuite_loader::registered_graders::folded;

pub(crate) use problem::limited;

/// The agent of targets that have no agent of their own.
#[derive(Clone)]
pub enum Agent {
    /// The function called like the suite's `agent_name`.
    ByName,
    /// A Rust expression.
    Expression(Box<Expr>),
    /// Commands of a targets file. `acp`: the binding says that some of them speak the Agent Client Protocol.
    Commands { acp: bool },
    /// No agent, and so no tests.
    None,
}

/// The judge of graders that name none.
#[derive(Clone)]
pub enum Judge {
    /// A Rust expression.
    Expression(Box<Expr>),
    /// Names of judges; the majority decides.
    Named(Vec<LitStr>),
}

/// A Rust expression with the name that files use for it.
#[derive(Clone)]
pub struct NamedExpr {
    /// The name.
    pub name: LitStr,
    /// The expression.
    pub value: Expr,
}

impl NamedExpr {
    /// A function under the last segment of its path, also where it is cast: `a::polite as fn(_) -> _` is `polite`. `None` for
    /// other expressions.
    pub fn from_path(value: Expr) -> Option<Self> {
        let ident = function_name(&value)?;
        let written = ident.to_string();
        let name = LitStr::new(written.strip_prefix("r#").unwrap_or(&written), ident.span());
        Some(Self { name, value })
    }
}

fn function_name(expression: &Expr) -> Option<&Ident> {
    match expression {
        Expr::Path(path) => path.path.segments.last().map(|segment| &segment.ident),
        Expr::Cast(cast) => function_name(&cast.expr),
        Expr::Group(group) => function_name(&group.expr),
        Expr::Paren(paren) => function_name(&paren.expr),
        _ => None,
    }
}

impl Binding {
    /// Where problems of the suite itself are reported.
    pub(crate) fn span(&self) -> Span {
        self.entry.span()
    }

    /// Whether there is an agent that tests can call.
    pub(crate) fn has_tests(&self) -> bool {
        !matches!(self.agent, Agent::None)
    }

    /// Names of the judges that graders name none of.
    pub(crate) fn default_judges(&self) -> &[LitStr] {
        match &self.judge {
            Some(Judge::Named(names)) => names,
            Some(Judge::Expression(_)) | None => &[],
        }
    }

    /// Whether the warning with this name is not shown.
    pub(crate) fn allows(&self, name: &str) -> bool {
        self.allow.iter().any(|allowed| allowed.value() == name)
    }

    /// What is wrong with the binding, whatever suite it is for.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut problems = registration_problems(&self.graders);
        for name in &self.allow {
            let problem = allowed_warnings::problem(&name.value());
            problems.extend(problem.map(|problem| Problem::argument(name.span(), problem)));
        }
        for items in [&self.agents, &self.judges, &self.users] {
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

/// The names of `items`.
pub(crate) fn names(items: &[NamedExpr]) -> Vec<String> {
    items.iter().map(|item| item.name.value()).collect()
}

/// The values of string literals.
pub(crate) fn values(literals: &[LitStr]) -> Vec<String> {
    literals.iter().map(LitStr::value).collect()
}

#[cfg(test)]
mod tests;
