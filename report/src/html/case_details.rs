//! What the page of a case shows beyond its row: input, and for each trial its record, transcript, changes and files.

use evalsuite_records::record::{CaseRecord, TrialRecord};
use evalsuite_schema::json::{Value, json};

use super::HtmlReport;
use crate::formats::trial_path;
use crate::run_data::{CaseData, CaseLookup, Problem, TrialData, TrialFiles, read_record};

impl HtmlReport {
    /// The details of a case as JSON.
    pub(super) fn case_details(
        &self,
        case: &CaseData,
        base: Option<&CaseLookup<'_>>,
        problems: &mut Vec<Problem>,
    ) -> Value {
        let mut input = Value::Null;
        let mut turns = Value::Null;
        let mut trials = Vec::new();
        for trial in &case.trials {
            let files = TrialFiles::read(&self.run, trial, problems);
            if input.is_null() {
                input = files.input.clone().unwrap_or_default();
                turns = files.turns.clone().unwrap_or_default();
            }
            trials.push(trial_details(trial, files));
        }
        let earlier = case.earlier.iter().map(
            |it| json!({ "attempt": it.runner_attempt, "outcome": it.outcome, "score": it.score, "reason": it.reason }),
        );
        let record = &case.record;
        json!({
            "input": input,
            "turns": turns,
            "digests": { "case": record.case_digest, "input": record.input_digest, "graders": record.grader_digest },
            "program": record.program,
            "trials": trials,
            "earlier": earlier.collect::<Vec<_>>(),
            "base": base.and_then(|base| base_trials(base, record)),
        })
    }
}

fn trial_details(trial: &TrialData, files: TrialFiles) -> Value {
    let mut record = evalsuite_schema::json::to_value(&trial.record).expect("records are JSON objects with text keys");
    if let Some(fields) = record.as_object_mut() {
        fields.retain(|name, value| match name.as_str() {
            // The index has them, or all trials of the case share them.
            "schema" | "run_id" | "suite" | "suite_digest" | "layout" | "kind" | "case_id" | "case_key"
            | "test_name" | "target" | "location" | "metadata" | "tags" | "category" | "conversation_id"
            | "failure_bucket" | "trials_planned" | "runner_attempt" | "case_digest" | "input_digest"
            | "grader_digest" => false,
            _ => !value.is_null(),
        });
    }
    json!({
        "directory": trial_path(trial),
        "record": record,
        "trajectory": files.trajectory,
        "patch": files.patch,
        "log": files.log,
        "texts": files.texts,
    })
}

/// The answers that the base has for this case; `None` if it has not run there.
fn base_trials(base: &CaseLookup<'_>, record: &CaseRecord) -> Option<Value> {
    let theirs = base.get(record)?;
    let root = &base.run.directory;
    let directory = root.join(&theirs.directory);
    let mut trials = Vec::new();
    for summary in &theirs.record.trials {
        let file = directory.join(&summary.path);
        // Without its record, the answer of a trial is not known; its outcome is.
        let trial: Option<TrialRecord> = read_record(root, &file, &mut Vec::new());
        trials.push(json!({
            "index": summary.index,
            "outcome": summary.outcome,
            "score": summary.score,
            "answer": trial.and_then(|trial| trial.answer),
        }));
    }
    Some(json!({ "run": base.run.run_id, "trials": trials }))
}
