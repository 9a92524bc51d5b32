//! The problems that the phases of an expansion report.
//!
//! Warnings as the compiler prints them for cargo.
//!
//! On stable Rust, a macro warns by using something deprecated, and rustc then calls the problem of a suite the `use of a deprecated constant`.
//! But cargo has rustc print a JSON object per line to standard error, which the macro shares. What cargo reads there is shown, counted, stored
//! and shown again for a build that is fresh, and language servers put it into the file of the suite.

use evalsuite_schema::diagnostics::{Diagnostic, Severity, render};
use serde_json::{Value, json};

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

/// The line for a warning, if the compiler with these arguments prints such lines. `None` also if warnings are errors for it: then it is rustc
/// that has to report the warning.
///
/// `call` is the place of the call.
pub fn compiler_message(problem: &Problem, call: Option<&str>, arguments: &[String]) -> Option<String> {
    if !arguments.iter().any(|argument| argument == "--error-format=json") || denies_warnings(arguments) {
        return None;
    }
    let has = |form: &str| arguments.iter().any(|argument| argument.starts_with("--json=") && argument.contains(form));
    let rendered = match problem.as_diagnostic() {
        Some(diagnostic) if has("diagnostic-short") => render::one_line(diagnostic),
        Some(diagnostic) if has("diagnostic-rendered-ansi") => render::text(diagnostic, render::Style::Colored),
        Some(diagnostic) => render::text(diagnostic, render::Style::Plain),
        None => format!("warning: {}", problem.text()),
    };
    // Cargo prints a text once, of however many calls.
    let call = call.map(|call| format!("\n  = note: included at {call}")).filter(|_| !has("diagnostic-short"));
    let rendered = format!("{}{}\n\n", rendered.trim_end(), call.unwrap_or_default());
    let message = problem.as_diagnostic().map_or_else(|| problem.text(), |diagnostic| diagnostic.message.clone());
    let line = json!({
        "$message_type": "diagnostic",
        "message": message,
        "code": null,
        "level": "warning",
        "spans": span(problem).into_iter().collect::<Vec<_>>(),
        "children": [],
        "rendered": rendered,
    });
    Some(line.to_string())
}

/// The place of the problem as rustc describes places in its own files.
fn span(problem: &Problem) -> Option<Value> {
    let place = problem.as_diagnostic()?.place.as_ref()?;
    let (start, end) = place.range?;
    Some(json!({
        "file_name": place.file,
        "byte_start": 0,
        "byte_end": 0,
        "line_start": start.line,
        "line_end": end.line,
        "column_start": start.column,
        "column_end": end.column,
        "is_primary": true,
        "text": [],
        "label": null,
        "suggested_replacement": null,
        "suggestion_applicability": null,
        "expansion": null,
    }))
}

/// Whether `-D warnings`, `-F warnings` or one of the lint that reports a use of something deprecated is among the arguments.
fn denies_warnings(arguments: &[String]) -> bool {
    let is_lint = |name: &str| name == "warnings" || name == "deprecated";
    let is_denied = |(index, argument): (usize, &String)| match argument.as_str() {
        "-D" | "-F" | "--deny" | "--forbid" => arguments.get(index + 1).is_some_and(|lint| is_lint(lint)),
        argument => {
            ["-D", "-F", "--deny=", "--forbid="].iter().any(|flag| argument.strip_prefix(flag).is_some_and(is_lint))
        }
    };
    arguments.iter().enumerate().any(is_denied)
}

#[cfg(test)]
mod tests {
    use evalsuite_schema::diagnostics::{Code, Diagnostic, Position, SourceRange};
    use proc_macro2::Span;

    use super::*;

    fn message(arguments: &[&str]) -> Option<Value> {
        let (start, end) = (Position { line: 3, column: 5 }, Position { line: 3, column: 9 });
        let place = SourceRange::new("suites/shop/EVAL.yaml", start, end, None);
        let diagnostic = Diagnostic::new(Code::NoEffect, "`cache` has no effect").at(place);
        line(diagnostic, arguments)
    }

    fn line(diagnostic: Diagnostic, arguments: &[&str]) -> Option<Value> {
        let problem = Problem::diagnostic(Span::call_site(), diagnostic);
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        compiler_message(&problem, Some("tests/evals.rs:3:1"), &arguments)
            .map(|line| serde_json::from_str(&line).unwrap())
    }

    #[test]
    fn cargo_gets_a_warning_in_the_words_of_the_suite() {
        let message = message(&["rustc", "--error-format=json", "--json=artifacts,future-incompat"]).unwrap();
        let rendered = message["rendered"].as_str().unwrap();
        assert!(rendered.starts_with("warning[W004 no-effect]: `cache` has no effect\n"), "{rendered}");
        let span = &message["spans"][0];
        assert_eq!(
            (&span["file_name"], &span["line_start"], &span["column_end"]),
            (&json!("suites/shop/EVAL.yaml"), &json!(3), &json!(9))
        );
    }

    #[test]
    fn a_warning_names_the_place_of_the_call() {
        let diagnostic = Diagnostic::new(Code::UnusedGrader, "grader `short` is not used").help("delete it");
        let message = line(diagnostic, &["rustc", "--error-format=json"]).unwrap();
        let expected = "warning[W016 unused-grader]: grader `short` is not used\n  = help: delete it\n  = note: included at tests/evals.rs:3:1\n\n";
        assert_eq!(message["rendered"], expected);
        assert_eq!(message["spans"], json!([]));
    }

    #[test]
    fn rustc_reports_what_it_has_to_deny_and_what_people_read() {
        assert_eq!(message(&["rustc"]), None);
        for denied in [&["-D", "warnings"][..], &["-Dwarnings"], &["--deny=warnings"], &["-F", "deprecated"]] {
            assert_eq!(message(&[&["rustc", "--error-format=json"], denied].concat()), None, "{denied:?}");
        }
        assert!(message(&["rustc", "--error-format=json", "-D", "unused"]).is_some());
    }
}
