//! What connects a suite to Rust code: agents, graders, judges and options; and what is wrong with it. The macro fills it from its
//! arguments, `generate` from its builder methods; `expansion` makes code of it.

pub(crate) mod argument_table;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_schema::diagnostics::{Code, Diagnostic, Severity, render, suggest};
use evalsuite_schema::grader::BUILT_IN;
use proc_macro2::{Ident, Span};
use syn::{Expr, LitStr};

pub use self::argument_table::Binding;

pub(crate) use evalsuite_loader::registered_graders::folded;

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
            let problem = problem_of_allowed(&name.value());
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

/// Most errors, and most warnings, that are reported about one suite: more would fill the screen.
const MAX_REPORTED: usize = 20;

/// Most problems with one code that are reported about one suite, so that they do not hide the others.
const MAX_OF_ONE_CODE: usize = 8;

/// A problem with a binding or with the suite that it names, and where in the caller's code it is reported.
#[derive(Debug, Clone)]
pub struct Problem {
    span: Span,
    severity: Severity,
    kind: ProblemKind,
}

#[derive(Debug, Clone)]
enum ProblemKind {
    /// An argument without a meaning.
    Argument(String),
    Diagnostic(Box<Diagnostic>),
}

impl Problem {
    /// An argument without a meaning.
    pub fn argument(span: Span, message: impl Into<String>) -> Self {
        Self { span, severity: Severity::Error, kind: ProblemKind::Argument(message.into()) }
    }

    /// A diagnostic with the severity of its code.
    pub(crate) fn diagnostic(span: Span, diagnostic: Diagnostic) -> Self {
        Self { span, severity: diagnostic.severity(), kind: ProblemKind::Diagnostic(Box::new(diagnostic)) }
    }

    /// The same as an error.
    pub(crate) fn denied(mut self) -> Self {
        self.severity = Severity::Error;
        self
    }

    /// Where in the caller's code it is reported.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Whether it fails the build.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// The problem of the suite; `None` for an argument.
    pub fn as_diagnostic(&self) -> Option<&Diagnostic> {
        match &self.kind {
            ProblemKind::Argument(_) => None,
            ProblemKind::Diagnostic(diagnostic) => Some(diagnostic),
        }
    }

    /// The text for compilers and cargo, which say themselves whether it is an error: the fact, then place, source line and help,
    /// each on lines of their own.
    pub fn text(&self) -> String {
        match &self.kind {
            ProblemKind::Argument(message) => message.clone(),
            ProblemKind::Diagnostic(diagnostic) => render::text_without_severity(diagnostic),
        }
    }
}

/// Leaves `MAX_OF_ONE_CODE` problems of each code. Of more, the last one counts the rest.
fn limit_each_code(problems: &mut Vec<Problem>, severity: Severity, entry: &LitStr) {
    let mut of_codes: BTreeMap<Code, usize> = BTreeMap::new();
    for diagnostic in problems.iter().filter_map(Problem::as_diagnostic) {
        *of_codes.entry(diagnostic.code).or_default() += 1;
    }
    of_codes.retain(|_, number| *number > MAX_OF_ONE_CODE);
    for code in of_codes.into_keys() {
        let mut seen = 0;
        let (shown, rest): (Vec<_>, Vec<_>) = problems.drain(..).partition(|problem| {
            seen += usize::from(problem.as_diagnostic().is_some_and(|diagnostic| diagnostic.code == code));
            seen < MAX_OF_ONE_CODE || problem.as_diagnostic().is_none_or(|diagnostic| diagnostic.code != code)
        });
        let places = rest.iter().filter_map(|problem| problem.as_diagnostic()?.place.as_ref());
        let files: BTreeSet<&str> = places.map(|place| place.file.as_str()).collect();
        let number = match files.len() {
            0 => format!("{} more", rest.len()),
            1 => format!("{} more in one file", rest.len()),
            several => format!("{} more in {several} files", rest.len()),
        };
        let message = format!("[{code}] and {number}; `cargo evalsuite check {}` lists all", entry.value());
        *problems = shown;
        problems.push(Problem { span: entry.span(), severity, kind: ProblemKind::Argument(message) });
    }
}

/// The errors, then the warnings. Of many, the last one that is reported counts the rest.
pub(crate) fn limited(problems: Vec<Problem>, entry: &LitStr) -> Vec<Problem> {
    let (mut errors, mut warnings) = problems.into_iter().partition::<Vec<_>, _>(Problem::is_error);
    for (severity, problems) in [(Severity::Error, &mut errors), (Severity::Warning, &mut warnings)] {
        limit_each_code(problems, severity, entry);
        if problems.len() > MAX_REPORTED {
            let rest = problems.drain(MAX_REPORTED - 1..).len();
            let (word, path) = (severity.as_str(), entry.value());
            let message = format!("and {rest} more {word}s; `cargo evalsuite check {path}` lists all");
            problems.push(Problem { span: entry.span(), severity, kind: ProblemKind::Argument(message) });
        }
    }
    errors.append(&mut warnings);
    errors
}

/// Accepts cases with a docker workspace, which are skipped when they run.
pub(crate) const UNSUPPORTED_DOCKER: &str = "unsupported-docker";

/// Why `name` cannot be allowed; `None` if it can.
pub(crate) fn problem_of_allowed(name: &str) -> Option<String> {
    if name == UNSUPPORTED_DOCKER {
        return None;
    }
    match Code::from_name(name).map(Code::severity) {
        Some(Severity::Warning) => None,
        Some(Severity::Error) => Some(format!("`{name}` is an error: only warnings can be allowed")),
        None => {
            let warnings = Code::ALL.iter().filter(|code| code.severity() == Severity::Warning).map(|code| code.name());
            let known: Vec<&str> = warnings.chain([UNSUPPORTED_DOCKER]).collect();
            Some(format!("unknown diagnostic `{name}`; {}", suggest::did_you_mean_or_known(name, &known)))
        }
    }
}
