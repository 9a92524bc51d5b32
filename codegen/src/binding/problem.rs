//! A problem with a binding or with the suite that it names.

use evalsuite_loader::render;
use evalsuite_schema::diagnostic::{Diagnostic, Severity};
use proc_macro2::Span;
use syn::LitStr;

/// Most errors, and most warnings, that are reported about one suite: more would fill the screen.
const MAX_REPORTED: usize = 20;

/// A problem with a binding or with the suite that it names, and where in the caller's code it is reported.
#[derive(Debug, Clone)]
pub struct Problem {
    span: Span,
    severity: Severity,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    /// An argument without a meaning.
    Argument(String),
    Diagnostic(Box<Diagnostic>),
}

impl Problem {
    /// An argument without a meaning.
    pub fn argument(span: Span, message: impl Into<String>) -> Self {
        Self { span, severity: Severity::Error, kind: Kind::Argument(message.into()) }
    }

    /// A diagnostic with the severity of its code.
    pub(crate) fn diagnostic(span: Span, diagnostic: Diagnostic) -> Self {
        Self { span, severity: diagnostic.severity(), kind: Kind::Diagnostic(Box::new(diagnostic)) }
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

    /// The text for compilers and cargo, which say themselves whether it is an error: the fact, then place, source line and help,
    /// each on lines of their own.
    pub fn text(&self) -> String {
        match &self.kind {
            Kind::Argument(message) => message.clone(),
            Kind::Diagnostic(diagnostic) => render::text_without_severity(diagnostic),
        }
    }
}

/// The errors, then the warnings. Of many, the last one that is reported counts the rest.
pub(crate) fn limited(problems: Vec<Problem>, entry: &LitStr) -> Vec<Problem> {
    let (mut errors, mut warnings) = problems.into_iter().partition::<Vec<_>, _>(Problem::is_error);
    for (severity, problems) in [(Severity::Error, &mut errors), (Severity::Warning, &mut warnings)] {
        if problems.len() > MAX_REPORTED {
            let rest = problems.drain(MAX_REPORTED - 1..).len();
            let (word, path) = (severity.as_str(), entry.value());
            let message = format!("and {rest} more {word}s; `cargo evalsuite check {path}` lists all");
            problems.push(Problem { span: entry.span(), severity, kind: Kind::Argument(message) });
        }
    }
    errors.append(&mut warnings);
    errors
}
