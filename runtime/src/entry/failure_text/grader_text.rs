//! A grader that did not pass, in the text of a failing test.

use std::fmt::{self, Write};

use evalsuite_records::record::{Assertion, GraderRecord, GraderState, Verdict};

use super::{LONG_TEXT, first_line, folded, indented, two_places};
use crate::grade::assertion_text::shorten;
use crate::platform::excerpt::first_chars;

/// Largest number of failed assertions shown per grader.
const ASSERTIONS: usize = 20;
/// Largest length of a statement on the line of its grader, in characters.
const ONE_LINE: usize = 160;
/// Characters shown of an expected or actual value.
const VALUE: usize = 300;
/// Marks what failed.
const FAILED: &str = "✗";

/// Types of graders whose assertions have the expected and the actual value in their text.
const VALUES_IN_TEXT: [&str; 4] = ["latency", "cost", "token-usage", "execution-metrics"];

/// The answer of the trial, which is shown once: as the actual value of an assertion, or else by itself.
pub(super) struct Answer<'t> {
    text: Option<&'t str>,
    /// As assertions show it.
    excerpt: Option<String>,
    is_shown: bool,
}

impl<'t> Answer<'t> {
    pub(super) fn new(text: Option<&'t str>) -> Self {
        Self { text, excerpt: text.map(shorten), is_shown: false }
    }

    /// The answer, unless an assertion has shown it.
    pub(super) fn unshown(&self) -> Option<&'t str> {
        self.text.filter(|_| !self.is_shown)
    }

    /// Whether an actual value is the answer, and has been shown before.
    fn is_repeated_by(&mut self, actual: &str) -> bool {
        let is_answer = self.excerpt.as_deref() == Some(actual) && !actual.is_empty();
        is_answer && std::mem::replace(&mut self.is_shown, true)
    }
}

/// Whether the grader is only counted: it passed, and it counts.
pub(super) fn is_folded(grader: &GraderRecord) -> bool {
    grader.state == GraderState::Decided && grader.verdict == Some(Verdict::Pass) && grader.advisory.is_none()
}

/// Writes a grader: what it is, where it is, and what failed. `reason` has been said already.
pub(super) fn write(
    out: &mut String,
    grader: &GraderRecord,
    reason: &str,
    answer: &mut Answer<'_>,
    indent: &str,
) -> fmt::Result {
    let below = format!("{indent}    ");
    let passed = grader.verdict == Some(Verdict::Pass);
    let failed: Vec<&Assertion> = grader.assertions.iter().filter(|assertion| !assertion.passed && !passed).collect();
    let (statement, values) = match (&grader.error, &grader.rationale, grader.assertions.as_slice(), failed.as_slice())
    {
        _ if passed => (None, Vec::new()),
        (Some(error), ..) => (Some(error.clone()).filter(|error| !reason.contains(error)), Vec::new()),
        (None, _, [_], [only]) => {
            let (text, values) = statement(only, grader, answer);
            (Some(text), values)
        }
        (None, Some(rationale), _, []) => (Some(rationale.clone()), Vec::new()),
        _ => (None, Vec::new()),
    };
    let (beside, own_lines) = match statement.as_deref().map(str::trim_end) {
        Some(text) if is_one_line(text) => (Some(text), None),
        text => (None, text),
    };
    first_line_of(out, grader, beside, indent)?;
    if let Some(text) = own_lines {
        writeln!(out, "{below}{}", indented(&first_chars(text, LONG_TEXT), below.len()))?;
    }
    if let Some(advice) = &grader.advisory {
        writeln!(out, "{below}decides nothing: {}", indented(advice, below.len()))?;
    }
    if statement.is_some() {
        return self::values(out, &values, &below);
    }
    for assertion in failed.iter().take(ASSERTIONS) {
        let (text, values) = self::statement(assertion, grader, answer);
        writeln!(out, "{below}{FAILED} {}", indented(&first_chars(&text, LONG_TEXT), below.len() + 2))?;
        self::values(out, &values, &format!("{below}  "))?;
    }
    if failed.len() > ASSERTIONS {
        writeln!(out, "{below}… and {} more", failed.len() - ASSERTIONS)?;
    }
    if passed {
        return Ok(());
    }
    folded(out, grader.assertions.iter().map(|assertion| assertion.passed), "", &below)
}

fn first_line_of(out: &mut String, grader: &GraderRecord, statement: Option<&str>, indent: &str) -> fmt::Result {
    let mark = match (grader.state, grader.verdict) {
        (GraderState::Error, _) => "ERR",
        (GraderState::Undecided, _) => "n/a",
        (GraderState::Decided, Some(Verdict::Pass)) => "pass",
        (GraderState::Decided, _) => FAILED,
    };
    write!(out, "{indent}{mark} {}", indented(first_line(&grader.name), 0))?;
    if let Some(statement) = statement {
        write!(out, ": {}", indented(statement, 0))?;
    }
    if let Some(value) = grader.value.filter(|value| *value > 0.0) {
        write!(out, "  {}", two_places(value))?;
    }
    #[allow(clippy::float_cmp, reason = "1 is the weight of a grader that sets none")]
    if grader.weight != 1.0 {
        write!(out, "  weight {}", grader.weight)?;
    }
    out.push_str(match (grader.required, grader.guard) {
        (true, _) => "  required",
        (_, true) => "  guard",
        _ => "",
    });
    writeln!(out, "  {}", grader.location)
}

/// The text of a failed assertion, and its values that neither the text nor an earlier line has. Evidence without other values
/// is part of the text: `apologises: no word of regret`.
fn statement<'a>(
    assertion: &'a Assertion,
    grader: &GraderRecord,
    answer: &mut Answer<'_>,
) -> (String, Vec<(&'static str, &'a str)>) {
    let text = assertion.text.trim_end().to_owned();
    let states_values = VALUES_IN_TEXT.contains(&grader.grader_type.as_str());
    let unshown = |value: &'a Option<String>| value.as_deref().filter(|value| !text.contains(*value));
    let expected = unshown(&assertion.expected).filter(|_| !states_values);
    let actual = unshown(&assertion.actual).filter(|_| !states_values).filter(|actual| !answer.is_repeated_by(actual));
    match (expected, actual, unshown(&assertion.evidence)) {
        (None, None, Some(evidence)) if is_one_line(&format!("{text}: {evidence}")) => {
            (format!("{text}: {evidence}"), Vec::new())
        }
        (expected, actual, evidence) => {
            let labelled = [("expected:", expected), ("actual:", actual), ("evidence:", evidence)];
            (text, labelled.into_iter().filter_map(|(label, value)| Some((label, value?))).collect())
        }
    }
}

fn values(out: &mut String, values: &[(&str, &str)], indent: &str) -> fmt::Result {
    let width = values.iter().map(|(label, _)| label.len()).max().unwrap_or_default();
    for (label, value) in values {
        let value = indented(&first_chars(value, VALUE), indent.len() + width + 1);
        writeln!(out, "{indent}{label:<width$} {value}")?;
    }
    Ok(())
}

fn is_one_line(text: &str) -> bool {
    !text.contains('\n') && text.chars().count() <= ONE_LINE
}
