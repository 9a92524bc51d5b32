//! What connects a suite to Rust code: agents, graders, judges and options. The macro fills it from its arguments, `generate` from
//! its builder methods; `expansion` makes code of it.

pub(crate) mod argument_table;
pub(crate) mod argument_values;
mod checks;
mod problem;

use proc_macro2::{Ident, Span};
use syn::{Expr, LitStr};

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
    /// Commands of a targets file.
    Commands,
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
