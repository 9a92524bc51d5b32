//! CSV: a row per trial.

use std::io::{self, Write};

use evalsuite_records::record::{CaseRecord, Status, TrialRecord};

use super::ids::trial_path;
use crate::failure_text::FailureText;
use crate::run_data::{Problem, RunData, TrialData};

/// A row: a trial, or a case without trials.
struct Row<'a> {
    run: &'a RunData,
    case: &'a CaseRecord,
    /// The trial; of a case without trials, what is known of one.
    record: &'a TrialRecord,
    trial: Option<&'a TrialData>,
    failure: FailureText,
}

type Cell = fn(&Row<'_>) -> String;

/// Names of the columns, and what they hold.
const COLUMNS: [(&str, Cell); 22] = [
    ("run_id", |row| row.run.run_id.clone()),
    ("suite", |row| row.record.suite.clone()),
    ("case_id", |row| row.record.case_id.clone()),
    ("target", |row| row.record.target.clone()),
    ("trial", |row| row.trial.map(|trial| (trial.record.trial + 1).to_string()).unwrap_or_default()),
    ("case_outcome", |row| row.case.outcome.as_str().to_owned()),
    ("outcome", |row| row.record.outcome.as_str().to_owned()),
    ("score", |row| text(row.record.score)),
    ("threshold", |row| row.record.threshold.to_string()),
    ("message", |row| row.failure.message.clone()),
    ("file", |row| row.failure.location.file.clone()),
    ("line", |row| row.failure.location.line.to_string()),
    ("duration_ms", |row| text(row.record.duration_ms)),
    ("input_tokens", |row| text(row.record.usage.map(|usage| usage.input))),
    ("output_tokens", |row| text(row.record.usage.map(|usage| usage.output))),
    ("cached_tokens", |row| text(row.record.usage.map(|usage| usage.cached))),
    ("cost_usd", |row| text(row.record.cost_usd)),
    ("judge_cost_usd", |row| text(row.record.judge_cost_usd)),
    ("model", |row| row.record.model.clone().unwrap_or_default()),
    ("tags", |row| row.record.tags.join(" ")),
    ("started_at", |row| row.record.started_at.clone()),
    ("record", |row| row.trial.map(trial_path).unwrap_or_default()),
];

pub(super) fn csv(run: &RunData, out: &mut dyn Write) -> io::Result<Vec<Problem>> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(COLUMNS.map(|(name, _)| name))?;
    for case in run.suites.iter().flat_map(|suite| &suite.cases) {
        let mut write = |row: Row<'_>| writer.write_record(COLUMNS.map(|(_, cell)| field(&cell(&row))));
        if case.trials.is_empty() {
            let mut record = TrialRecord::of_case(case.record.clone());
            (record.outcome, record.score) = (case.record.outcome, case.record.score);
            let failure = FailureText::of_case(case);
            write(Row { run, case: &case.record, record: &record, trial: None, failure })?;
        }
        for trial in &case.trials {
            let record = &trial.record;
            let failure = match record.outcome {
                Status::Passed => FailureText { location: record.location.clone(), ..FailureText::default() },
                _ => FailureText::of_trial(record),
            };
            write(Row { run, case: &case.record, record, trial: Some(trial), failure })?;
        }
    }
    writer.flush()?;
    Ok(Vec::new())
}

/// A text without control characters, which CSV does not have and some readers refuse. They are shown as in Rust, such as `\u{0}`.
fn field(text: &str) -> String {
    let mut field = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\t' | '\n' | '\r' => field.push(character),
            _ if character.is_control() => field.extend(character.escape_unicode()),
            _ => field.push(character),
        }
    }
    field
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
