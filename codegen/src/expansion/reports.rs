//! The problems that the phases of an expansion report.

use evalsuite_schema::diagnostics::{Diagnostic, Severity, render};

use super::Context;
use crate::binding::{Binding, Problem};

/// A binding in its context, with the problems that were found so far.
pub(super) struct Reports<'a> {
    pub(super) binding: &'a Binding,
    pub(super) context: &'a Context,
    /// Whether the binding has no errors by itself. The graders, judges and commands of an invalid binding are not known.
    pub(super) is_valid: bool,
    pub(super) problems: Vec<Problem>,
    /// Names and one-line texts of all warnings that are not allowed.
    pub(super) recorded_warnings: Vec<(String, String)>,
}

impl<'a> Reports<'a> {
    /// `problems` are those that the caller has found in the binding.
    pub(super) fn new(binding: &'a Binding, context: &'a Context, mut problems: Vec<Problem>) -> Self {
        problems.extend(binding.problems());
        let is_valid = !problems.iter().any(Problem::is_error);
        Self { binding, context, is_valid, problems, recorded_warnings: Vec::new() }
    }

    pub(super) fn has_errors(&self) -> bool {
        self.problems.iter().any(Problem::is_error)
    }

    pub(super) fn add_all(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|diagnostic| self.add(diagnostic));
    }

    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        let name = diagnostic.code.name();
        let is_warning = diagnostic.severity() == Severity::Warning;
        let is_denied = self.binding.deny_warnings || self.context.deny_warnings;
        if is_warning && self.binding.allows(name) {
            return;
        }
        if is_warning && !is_denied {
            self.recorded_warnings.push((name.to_owned(), render::short(&diagnostic)));
        }
        let problem = Problem::diagnostic(self.binding.span(), diagnostic);
        self.problems.push(if is_denied { problem.denied() } else { problem });
    }
}
