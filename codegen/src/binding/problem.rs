//! A problem with a binding or with the suite that it names.

use std::collections::{BTreeMap, BTreeSet};

use evalsuite_schema::diagnostics::{Code, Diagnostic, Severity, render};
use proc_macro2::Span;
use syn::LitStr;

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
