//! A problem with a binding or with the suite that it names.

use evalsuite_loader::render;
use evalsuite_schema::diagnostic::{Diagnostic, Severity};
use proc_macro2::Span;

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

    /// What takes the place of `count` further problems.
    pub(crate) fn more(span: Span, severity: Severity, count: usize, entry: &str) -> Self {
        let word = severity.as_str();
        let message = format!("and {count} more {word}s; `cargo evalsuite check {entry}` lists all");
        Self { span, severity, kind: Kind::Argument(message) }
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
