//! CSV: a row per trial.

use std::io::{self, Write};

use super::ids::trial_path;
use crate::failure_text::FailureText;
use crate::run_data::{CaseData, Problem, RunData, TrialData};

const COLUMNS: [&str; 22] = [
    "run_id",
    "suite",
    "case_id",
    "target",
    "trial",
    "case_outcome",
    "outcome",
    "score",
    "threshold",
    "message",
    "file",
    "line",
    "duration_ms",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cost_usd",
    "judge_cost_usd",
    "model",
    "tags",
    "started_at",
    "record",
];

/// The run as CSV with a header: a row per trial, and one for each case without trials. Values that are not known are empty, tags
/// are separated by spaces, `record` is relative to the run directory.
pub(super) fn csv(run: &RunData, out: &mut dyn Write) -> io::Result<Vec<Problem>> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(COLUMNS)?;
    for case in run.suites.iter().flat_map(|suite| &suite.cases) {
        if case.trials.is_empty() {
            writer.write_record(case_row(run, case))?;
        }
        for trial in &case.trials {
            writer.write_record(trial_row(run, case, trial))?;
        }
    }
    writer.flush()?;
    Ok(Vec::new())
}

fn case_row(run: &RunData, case: &CaseData) -> Vec<String> {
    let record = &case.record;
    let failure = FailureText::of_case(case);
    let mut row = vec![run.run_id.clone(), record.suite.clone(), record.case_id.clone(), record.target.clone()];
    row.push(String::new());
    row.extend([record.outcome.as_str().to_owned(), record.outcome.as_str().to_owned(), number(record.score)]);
    row.extend([record.threshold.to_string(), failure.message, record.location.file.clone()]);
    row.push(record.location.line.to_string());
    row.resize(COLUMNS.len(), String::new());
    row
}

fn trial_row(run: &RunData, case: &CaseData, trial: &TrialData) -> Vec<String> {
    let (record, usage) = (&trial.record, trial.record.usage.unwrap_or_default());
    let is_passed = record.outcome == evalsuite_records::record::Status::Passed;
    let failure = (!is_passed).then(|| FailureText::of_trial(record));
    let place = failure.as_ref().map_or(&record.location, |failure| &failure.location).clone();
    let tokens = |count: u64| if record.usage.is_some() { count.to_string() } else { String::new() };
    vec![
        run.run_id.clone(),
        record.suite.clone(),
        record.case_id.clone(),
        record.target.clone(),
        (record.trial + 1).to_string(),
        case.record.outcome.as_str().to_owned(),
        record.outcome.as_str().to_owned(),
        number(record.score),
        record.threshold.to_string(),
        failure.map(|failure| failure.message).unwrap_or_default(),
        place.file,
        place.line.to_string(),
        record.duration_ms.map(|duration| duration.to_string()).unwrap_or_default(),
        tokens(usage.input),
        tokens(usage.output),
        tokens(usage.cached),
        number(record.cost_usd),
        number(record.judge_cost_usd),
        record.model.clone().unwrap_or_default(),
        record.tags.join(" "),
        record.started_at.clone(),
        trial_path(trial),
    ]
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
