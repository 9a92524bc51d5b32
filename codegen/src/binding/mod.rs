//! What connects a suite to Rust code: agents, graders, judges and options. The macro fills it from its arguments, `generate` from
//! its builder methods; `expansion` makes code of it.

mod checks;
mod problem;

use proc_macro2::{Ident, Span};
use syn::{Expr, LitInt, LitStr, Path};

pub use problem::Problem;

pub(crate) use evalsuite_loader::registered_graders::folded;

pub(crate) use problem::limited;

/// Agents, graders, judges and options for one suite.
#[derive(Clone)]
pub struct Binding {
    /// Path of the suite.
    pub entry: LitStr,
    /// Path of the crate `evalsuite`, where it is not `::evalsuite`.
    pub crate_path: Option<Path>,
    /// The agent of targets that have no agent of their own.
    pub agent: Agent,
    /// Agents of single targets.
    pub agents: Vec<NamedExpr>,
    /// The registered graders.
    pub graders: Vec<NamedExpr>,
    /// The judge of graders that name none.
    pub judge: Option<Judge>,
    /// Judges that graders name.
    pub judges: Vec<NamedExpr>,
    /// Number of judgements after a failing one.
    pub judge_confirm: Option<LitInt>,
    /// The tokio runtime of async code, where it is not evalsuite's.
    pub runtime: Option<Expr>,
    /// The target matrix, for a suite whose files have none.
    pub targets: Vec<LitStr>,
    /// Environment variables without which cases are skipped.
    pub require_env: Vec<LitStr>,
    /// Programs without which cases are skipped.
    pub require_commands: Vec<LitStr>,
    /// Name of the generated module; `None`: the suite's name.
    pub name: Option<Ident>,
    /// Why the tests are ignored.
    pub ignore: Option<LitStr>,
    /// Whether `workspace/` and `fixture_*` of a task are its fixtures.
    pub fixtures: bool,
    /// Whether the files that cases need are embedded in the test program.
    pub embed: bool,
    /// Whether warnings are errors.
    pub deny_warnings: bool,
    /// Names of warnings that are not shown.
    pub allow: Vec<LitStr>,
}

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
    /// A binding with the defaults of all arguments.
    pub fn new(entry: LitStr) -> Self {
        Self {
            entry,
            crate_path: None,
            agent: Agent::ByName,
            agents: Vec::new(),
            graders: Vec::new(),
            judge: None,
            judges: Vec::new(),
            judge_confirm: None,
            runtime: None,
            targets: Vec::new(),
            require_env: Vec::new(),
            require_commands: Vec::new(),
            name: None,
            ignore: None,
            fixtures: true,
            embed: true,
            deny_warnings: false,
            allow: Vec::new(),
        }
    }

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
