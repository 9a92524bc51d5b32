//! The text of a failing test: everything needed to fix the case without opening another file.

use std::fmt;
use std::fmt::Write;
use std::path::Path;

use evalsuite_schema::record::{
    Assertion, CaseOutcome, CaseRecord, GraderRecord, GraderState, ReasonCode, Rule, TrialRecord, TurnRecord, Verdict,
};

use crate::platform::excerpt::{escaped, first_chars};
use crate::record::run_directory::layout::{CASE_RECORD, TRIAL_RECORD, trial_directory_name};
use crate::run::case_report::CaseReport;
use crate::run::rerun;

/// Largest number of failed assertions shown per grader.
const ASSERTIONS: usize = 20;
/// Characters shown of an answer.
const ANSWER: usize = 600;
/// Characters shown of the user's message in a turn.
const TURN: usize = 80;
/// Characters shown of an expected or actual value.
const VALUE: usize = 300;

impl fmt::Display for CaseReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.redacted(&describe(self)))
    }
}

pub(crate) fn describe(report: &CaseReport) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, report);
    text
}

fn write(out: &mut String, report: &CaseReport) -> std::fmt::Result {
    let record = report.record();
    headline(out, record)?;
    writeln!(out, "  {}", record.location)?;
    if report.trials().is_empty()
        && let Some(place) = record.reason.as_ref().and_then(|reason| reason.location.as_ref())
        && *place != record.location
    {
        writeln!(out, "  {place}")?;
    }
    for trial in report.trials() {
        self::trial(out, trial, record)?;
    }
    if record.planned > 1 && !report.trials().is_empty() {
        writeln!(out, "  {}", tally(record, report.trials().len()))?;
    }
    let decisive = report.trials().iter().find(|trial| trial.outcome == record.outcome);
    let file = match decisive {
        Some(trial) => report.directory().join(trial_directory_name(trial.trial, trial.attempt)).join(TRIAL_RECORD),
        None => report.directory().join(CASE_RECORD),
    };
    writeln!(out, "  record: {}", shown_path(&file))?;
    if let Some(workspace) = decisive.and_then(|trial| trial.workspace.as_ref()).filter(|workspace| workspace.kept) {
        writeln!(out, "  workspace: {}", shown_path(Path::new(&workspace.path)))?;
    }
    writeln!(out, "  repeat: {}", rerun::command(report.suite().package, &report.record().test_name))
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
        CaseOutcome::Passed => writeln!(out, "evaluation passed: {name}  score {}", score(record.score)),
        CaseOutcome::Skipped => writeln!(out, "evaluation skipped: {name}  {message}"),
        CaseOutcome::Error => {
            let place =
                reason.map(|reason| format!("{}/{}", reason.stage.as_str(), reason.code.as_str())).unwrap_or_default();
            writeln!(out, "evaluation error ({place}): {name}  {}", indented(message, 4))
        }
        CaseOutcome::Failed => {
            write!(out, "evaluation failed: {name}  score {}", score(record.score))?;
            if record.score.is_some_and(|score| score < record.threshold) {
                write!(out, " < {}", two_places(record.threshold))?;
            }
            // The headline has the score and its threshold already.
            match reason {
                Some(reason)
                    if reason.code != ReasonCode::ThresholdNotMet || record.score >= Some(record.threshold) =>
                {
                    writeln!(out, ", {}", reason.message)
                }
                _ => writeln!(out),
            }
        }
    }
}

fn trial(out: &mut String, trial: &TrialRecord, case: &CaseRecord) -> std::fmt::Result {
    let number = trial.trial + 1;
    writeln!(out, "  trial {number} of {}  {}  {}", trial.trials_planned, trial.outcome.as_str(), score(trial.score))?;
    if trial.outcome == CaseOutcome::Passed {
        return Ok(());
    }
    if let (CaseOutcome::Error | CaseOutcome::Skipped, Some(reason)) = (trial.outcome, &trial.reason) {
        // The headline has said it already where there is only one trial.
        if case.reason.as_ref() != Some(reason) || case.trials.len() > 1 {
            writeln!(out, "    {}", indented(&reason.message, 4))?;
        }
        // The case's own place is said above.
        if let Some(place) = reason.location.as_ref().filter(|place| **place != case.location) {
            writeln!(out, "    {place}")?;
        }
    }
    trial.turns.iter().flatten().try_for_each(|turn| self::turn(out, turn))?;
    let columns = Columns::of(&trial.graders);
    trial.graders.iter().try_for_each(|grader| self::grader(out, grader, &columns, "    "))?;
    if let Some(answer) = &trial.answer {
        let shown = if answer.is_empty() { "(empty)".to_owned() } else { first_chars(answer, ANSWER) };
        writeln!(out, "    answer: {}", indented(&shown, 12))?;
    }
    Ok(())
}

/// A turn of a conversation, with its graders unless it passed.
fn turn(out: &mut String, turn: &TurnRecord) -> std::fmt::Result {
    let (number, outcome) = (turn.index + 1, turn.outcome.as_str());
    let said = first_chars(first_line(turn.input.trim()), TURN);
    writeln!(out, "    turn {number}  {outcome:<7}  {}  {}", score(turn.score), indented(&said, 4))?;
    if turn.outcome == CaseOutcome::Passed {
        return Ok(());
    }
    let columns = Columns::of(&turn.graders);
    turn.graders.iter().try_for_each(|grader| self::grader(out, grader, &columns, "      "))
}

/// Column widths of the table of graders.
struct Columns {
    name: usize,
    weight: usize,
    required: bool,
}

impl Columns {
    fn of(graders: &[GraderRecord]) -> Self {
        let widest = |text: fn(&GraderRecord) -> String| {
            graders.iter().map(|grader| text(grader).chars().count()).max().unwrap_or(0)
        };
        Self {
            name: widest(|grader| grader.name.clone()),
            weight: widest(|grader| grader.weight.to_string()),
            required: graders.iter().any(|grader| grader.required),
        }
    }
}

fn grader(out: &mut String, grader: &GraderRecord, columns: &Columns, indent: &str) -> std::fmt::Result {
    let mark = match (grader.state, grader.verdict) {
        (GraderState::Error, _) => "ERR ",
        (GraderState::Undecided, _) => "n/a ",
        (GraderState::Decided, Some(Verdict::Pass)) => "pass",
        (GraderState::Decided, _) => "FAIL",
    };
    let (name_width, weight_width) = (columns.name, columns.weight);
    write!(
        out,
        "{indent}{mark}  {:<name_width$}  {:<4}  weight {:<weight_width$}",
        first_line(&grader.name),
        score(grader.value),
        grader.weight
    )?;
    if columns.required {
        write!(out, "  {:<8}", if grader.required { "required" } else { "" })?;
    }
    writeln!(out, "  {}", grader.location)?;
    let below = format!("{indent}      ");
    if let Some(advice) = &grader.advisory {
        writeln!(out, "{below}decides nothing: {}", indented(advice, below.len()))?;
    }
    if let Some(error) = &grader.error {
        writeln!(out, "{below}{}", indented(error, below.len()))?;
    }
    if grader.verdict == Some(Verdict::Pass) {
        return Ok(());
    }
    let failed: Vec<&Assertion> = grader.assertions.iter().filter(|assertion| !assertion.passed).collect();
    for assertion in failed.iter().take(ASSERTIONS) {
        self::assertion(out, assertion, &below)?;
    }
    if failed.len() > ASSERTIONS {
        writeln!(out, "{below}… and {} more", failed.len() - ASSERTIONS)?;
    }
    match &grader.rationale {
        Some(rationale) if failed.is_empty() => {
            writeln!(out, "{below}{}", indented(&first_chars(rationale, ANSWER), below.len()))
        }
        _ => Ok(()),
    }
}

fn assertion(out: &mut String, assertion: &Assertion, indent: &str) -> std::fmt::Result {
    writeln!(out, "{indent}{}", indented(&first_chars(&assertion.text, ANSWER), indent.len()))?;
    let values = [("expected", &assertion.expected), ("actual", &assertion.actual), ("evidence", &assertion.evidence)];
    for (label, value) in values {
        if let Some(value) = value {
            let label = format!("{label}:");
            let value = indented(&first_chars(value, VALUE), indent.len() + 12);
            writeln!(out, "{indent}  {label:<9} {value}")?;
        }
    }
    Ok(())
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
        text.push_str(&format!("; {} of {} planned were not needed", record.planned as usize - run, record.planned));
    }
    text
}

/// The path relative to the working directory, if it is below it.
fn shown_path(path: &Path) -> String {
    let current = std::env::current_dir().ok();
    let relative = current.as_deref().and_then(|current| path.strip_prefix(current).ok());
    relative.unwrap_or(path).display().to_string()
}

fn score(score: Option<f64>) -> String {
    score.map_or_else(|| "–".to_owned(), two_places)
}

/// Two decimals, or three if rounding would hide that a score is below its threshold.
fn two_places(value: f64) -> String {
    let short = format!("{value:.2}");
    match short.parse::<f64>() {
        Ok(rounded) if (rounded - value).abs() > 1e-9 && (value * 1000.0 - (value * 1000.0).round()).abs() < 1e-9 => {
            format!("{value:.3}")
        }
        _ => short,
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// The text with its further lines indented. Control characters are escaped: the text is that of agents and graders.
fn indented(text: &str, columns: usize) -> String {
    let text = escaped(text.trim_end(), &['\n', '\t']);
    text.replace('\n', &format!("\n{}", " ".repeat(columns)))
}
