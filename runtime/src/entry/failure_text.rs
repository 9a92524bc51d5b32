//! The text of a failing test: everything needed to fix the case without opening another file.

use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

use evalsuite_records::record::{
    Assertion, CaseRecord, GraderRecord, GraderState, ReasonCode, Rule, Status, TrialRecord, TurnRecord, Verdict,
};
use evalsuite_schema::Location;
use evalsuite_schema::decimal::{at_least, is_same, shown_against, shown_beside};

use crate::grade::assertion_text::shorten;
use crate::platform::excerpt::{escaped, first_chars};
use crate::record::run_directory::layout::{CASE_RECORD, TRIAL_RECORD, trial_directory_name};
use crate::run::case_report::CaseReport;
use crate::run::selection;

/// Characters shown of an answer, a rationale, or the text of an assertion.
const LONG_TEXT: usize = 600;
/// Characters shown of the user's message in a turn.
const TURN: usize = 80;

impl fmt::Display for CaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        write(&mut text, self)?;
        f.write_str(&self.redacted(&text))
    }
}

fn write(out: &mut String, report: &CaseReport) -> std::fmt::Result {
    let record = report.record();
    headline(out, record)?;
    let mut trials = String::new();
    self::trials(&mut trials, report)?;
    // The place of a grader leads to the same file.
    if !trials.contains(&format!("{}:", record.location.file)) {
        writeln!(out, "  {}", record.location)?;
    }
    if report.trials().is_empty()
        && let Some(place) = record.reason.as_ref().and_then(|reason| reason.location.as_ref())
        && *place != record.location
    {
        writeln!(out, "  {place}")?;
    }
    out.push_str(&trials);
    if record.planned > 1 && !report.trials().is_empty() {
        writeln!(out, "  {}", tally(record, report.trials().len()))?;
    }
    crate::run::baseline_check::write_text(out, record)?;
    let decisive = report.trials().iter().find(|trial| trial.outcome == record.outcome);
    let file = match decisive {
        Some(trial) => report.directory().join(trial_directory_name(trial.trial, trial.attempt)).join(TRIAL_RECORD),
        None => report.directory().join(CASE_RECORD),
    };
    let base = base_of_places(report);
    let shown = |path: &Path| {
        let below = base.as_deref().and_then(|base| path.strip_prefix(base).ok());
        below.unwrap_or(path).display().to_string()
    };
    writeln!(out, "  record: {}", shown(&file))?;
    // One without changes has nothing to see.
    let changed = decisive.and_then(|trial| trial.workspace.as_ref()).filter(|workspace| {
        let changes = [&workspace.created, &workspace.modified, &workspace.deleted];
        workspace.kept && changes.iter().any(|files| !files.is_empty())
    });
    if let Some(workspace) = changed {
        writeln!(out, "  workspace: {}", shown(Path::new(&workspace.path)))?;
    }
    writeln!(out, "  repeat: {}", selection::command(report.suite.package, &report.record().test_name))
}

/// The directory that the places in a suite's files are relative to: the root of the package, or of the workspace it belongs to. Paths
/// relative to it are found from where cargo is run.
fn base_of_places(report: &CaseReport) -> Option<PathBuf> {
    let package = report.suite.package_root();
    let has_case = |directory: &&Path| directory.join(&report.record().location.file).is_file();
    let base = package.ancestors().find(has_case).map(Path::to_owned);
    base.or_else(|| std::env::current_dir().ok())
}

fn headline(out: &mut String, record: &CaseRecord) -> std::fmt::Result {
    let target = match record.target.as_str() {
        "default" => String::new(),
        target => format!(", target {target}"),
    };
    let name = format!("{} ({}{target})", record.case_id, record.suite);
    let reason = record.reason.as_ref();
    let message = reason.map(|reason| reason.message.as_str()).unwrap_or_default();
    match record.outcome {
        Status::Passed => writeln!(out, "evaluation passed: {name}  score {}", score(record.score)),
        Status::Skipped => writeln!(out, "evaluation skipped: {name}  {message}"),
        Status::Error => {
            let place =
                reason.map(|reason| format!("{}/{}", reason.stage.as_str(), reason.code.as_str())).unwrap_or_default();
            writeln!(out, "evaluation error ({place}): {name}  {}", indented(message, 4))
        }
        Status::Failed => {
            write!(out, "evaluation failed: {name}  score ")?;
            match record.score.filter(|score| !at_least(*score, record.threshold)) {
                Some(score) => write!(out, "{}", below(score, record.threshold))?,
                None => write!(out, "{}", score(record.score))?,
            }
            // The headline has the score and its threshold already.
            match reason {
                Some(reason)
                    if reason.code != ReasonCode::ThresholdNotMet
                        || record.score.is_some_and(|score| at_least(score, record.threshold)) =>
                {
                    writeln!(out, ", {}", reason.message)
                }
                _ => writeln!(out),
            }
        }
    }
}

/// The trials that did not pass. One that ended like an earlier one refers to it.
fn trials(out: &mut String, report: &CaseReport) -> std::fmt::Result {
    let record = report.record();
    let is_only = record.planned <= 1 && report.trials().len() == 1;
    let indent = if is_only { "  " } else { "    " };
    let mut told: Vec<(u32, String)> = Vec::new();
    for trial in report.trials().iter().filter(|trial| trial.outcome != Status::Passed) {
        let mut text = String::new();
        self::trial(&mut text, trial, record, indent)?;
        if !is_only {
            let (number, planned, outcome) = (trial.trial + 1, trial.trials_planned, trial.outcome.as_str());
            write!(out, "  trial {number} of {planned}  {outcome}  {}", score(trial.score))?;
            if let Some((earlier, _)) = told.iter().find(|(_, earlier)| !text.is_empty() && *earlier == text) {
                writeln!(out, ", like trial {earlier}")?;
                continue;
            }
            writeln!(out)?;
            told.push((number, text.clone()));
        }
        out.push_str(&text);
    }
    Ok(())
}

fn trial(out: &mut String, trial: &TrialRecord, case: &CaseRecord, indent: &str) -> std::fmt::Result {
    if let (Status::Error | Status::Skipped, Some(reason)) = (trial.outcome, &trial.reason) {
        // The headline has said it already where there is only one trial.
        if case.reason.as_ref() != Some(reason) || case.trials.len() > 1 {
            writeln!(out, "{indent}{}", indented(&reason.message, indent.len()))?;
        }
        // The places of the case and of its graders are said elsewhere.
        let is_said =
            |place: &Location| *place == case.location || trial.graders.iter().any(|grader| grader.location == *place);
        if let Some(place) = reason.location.as_ref().filter(|place| !is_said(place)) {
            writeln!(out, "{indent}{place}")?;
        }
    }
    let reason = trial.reason.as_ref().map(|reason| reason.message.as_str()).unwrap_or_default();
    let mut answer = Answer::new(trial.answer.as_deref());
    let turns = trial.turns.as_deref().unwrap_or_default();
    turns.iter().try_for_each(|turn| self::turn(out, turn, indent))?;
    let graded = turns.iter().filter(|turn| !turn.is_ungraded());
    folded(out, graded.map(|turn| turn.outcome == Status::Passed), "turns ", indent)?;
    if let Some(user) = &trial.user {
        graders(out, &user.graders, reason, &mut answer, indent)?;
    }
    graders(out, &trial.graders, reason, &mut answer, indent)?;
    if let Some(answer) = answer.unshown() {
        let shown = if answer.is_empty() { "(empty)".to_owned() } else { first_chars(answer, LONG_TEXT) };
        writeln!(out, "{indent}answer: {}", indented(&shown, indent.len() + 8))?;
    }
    Ok(())
}

/// A turn of a conversation that did not pass, with its graders.
fn turn(out: &mut String, turn: &TurnRecord, indent: &str) -> std::fmt::Result {
    if turn.outcome == Status::Passed || turn.is_ungraded() {
        return Ok(());
    }
    let (number, outcome) = (turn.index + 1, turn.outcome.as_str());
    let said = first_chars(first_line(turn.input.trim()), TURN);
    let simulated = if turn.simulated { "  (simulated user)" } else { "" };
    writeln!(
        out,
        "{indent}turn {number}  {outcome}  {}  {}{simulated}",
        score(turn.score),
        indented(&said, indent.len())
    )?;
    let below = format!("{indent}  ");
    graders(out, &turn.graders, "", &mut Answer::new(turn.answer.as_deref()), &below)
}

/// The graders that did not pass, and the number of those that did.
fn graders(
    out: &mut String,
    graders: &[GraderRecord],
    reason: &str,
    answer: &mut Answer<'_>,
    indent: &str,
) -> std::fmt::Result {
    let unfolded = graders.iter().filter(|grader| !is_folded(grader));
    unfolded.into_iter().try_for_each(|grader| write_grader(out, grader, reason, answer, indent))?;
    folded(out, graders.iter().map(is_folded), "graders ", indent)
}

/// `3 of 4 passed`, unless all did or none did.
fn folded(out: &mut String, passed: impl Iterator<Item = bool>, what: &str, indent: &str) -> std::fmt::Result {
    let passed: Vec<bool> = passed.collect();
    match passed.iter().filter(|passed| **passed).count() {
        0 => Ok(()),
        count => writeln!(out, "{indent}{count} of {} {what}passed", passed.len()),
    }
}

fn tally(record: &CaseRecord, run: usize) -> String {
    let rule = match record.rule {
        Rule::Any => "one has to pass",
        Rule::Every => "all have to pass",
        Rule::Mean => "the mean of their scores decides",
        Rule::ConfidenceInterval => "the lower end of the confidence interval of their mean score decides",
    };
    let mut text = format!("trials: {} of {run} passed", record.passed);
    if record.errors > 0 {
        text.push_str(&format!(", {} with an error", record.errors));
    }
    text.push_str(&format!(" ({rule})"));
    if record.truncated {
        let why = if record.cost_limited { "did not run, as a limit was reached" } else { "were not needed" };
        text.push_str(&format!("; {} of {} planned {why}", record.planned as usize - run, record.planned));
    }
    text
}

fn score(score: Option<f64>) -> String {
    score.map_or_else(|| "–".to_owned(), two_places)
}

/// Two decimals, or three if there are exactly three.
fn two_places(value: f64) -> String {
    let short = format!("{value:.2}");
    match short.parse::<f64>() {
        Ok(rounded) if !is_same(rounded, value) && is_same(value * 1000.0, (value * 1000.0).round()) => {
            format!("{value:.3}")
        }
        _ => short,
    }
}

/// A score and the threshold that it is below; with all decimals if two do not show that.
fn below(score: f64, threshold: f64) -> String {
    let short = two_places(score);
    let is_below = short.parse().is_ok_and(|shown| !at_least(shown, threshold));
    let shown = if is_below { short } else { shown_beside(score, threshold) };
    format!("{shown} < {}", shown_against(threshold, threshold))
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The text with its further lines indented. Control characters are escaped: the text is that of agents and graders.
fn indented(text: &str, columns: usize) -> String {
    let text = escaped(text.trim_end(), &['\n', '\t']);
    text.replace('\n', &format!("\n{}", " ".repeat(columns)))
}

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
struct Answer<'t> {
    text: Option<&'t str>,
    /// As assertions show it.
    excerpt: Option<String>,
    is_shown: bool,
}

impl<'t> Answer<'t> {
    fn new(text: Option<&'t str>) -> Self {
        Self { text, excerpt: text.map(shorten), is_shown: false }
    }

    /// The answer, unless an assertion has shown it.
    fn unshown(&self) -> Option<&'t str> {
        self.text.filter(|_| !self.is_shown)
    }

    /// Whether an actual value is the answer, and has been shown before.
    fn is_repeated_by(&mut self, actual: &str) -> bool {
        let is_answer = self.excerpt.as_deref() == Some(actual) && !actual.is_empty();
        is_answer && std::mem::replace(&mut self.is_shown, true)
    }
}

/// Whether the grader is only counted: it passed, and it counts.
fn is_folded(grader: &GraderRecord) -> bool {
    grader.state == GraderState::Decided && grader.verdict == Some(Verdict::Pass) && grader.advisory.is_none()
}

/// Writes a grader: what it is, where it is, and what failed. `reason` has been said already.
fn write_grader(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_below_its_threshold_looks_smaller() {
        for (score, threshold, expected) in [
            (0.5, 0.8, "0.50 < 0.80"),
            (0.625, 0.8, "0.625 < 0.80"),
            (0.7975, 0.8, "0.7975 < 0.80"),
            (0.7996, 0.8, "0.7996 < 0.80"),
            (0.799_999_9, 0.8, "0.7999999 < 0.80"),
            (7.0 / 9.0, 0.78, "0.7778 < 0.78"),
            (7.0 / 9.0, 0.7778, "0.77778 < 0.7778"),
            (0.121, 0.123_45, "0.121 < 0.12345"),
            (0.1234, 0.123_45, "0.12 < 0.12345"),
        ] {
            assert_eq!(below(score, threshold), expected);
        }
    }
}
