use std::{io, path::Path};

use evalsuite_schema::record::{Note, TrialRecord};
use serde_json::{Value, json};

use crate::{
    model::{evidence::Evidence, messages::answer, recording::Recording},
    platform::files::replace_json,
    record::trajectory::{self, Work},
    run::{plan::Plan, trial_record::first_of_answer},
};

/// Name of the file in the trial's directory.
const FILE: &str = "trajectory.json";

/// What is known of an agent's work.
pub(crate) enum Done {
    /// It came to an outcome; these tools were offered to its models.
    Reported(Evidence<'static>, Vec<Value>),
    /// It did not; this is what it recorded until then.
    Recorded(Box<Recording>),
}

/// What was used until the call ended, however it ended.
pub(crate) fn count(recording: &Recording, record: &mut TrialRecord) {
    let reported = recording.outcome.clone();
    record.usage = recording.known_usage();
    record.cost_usd = recording.known_cost();
    record.model = reported.model.or(recording.captured.model.clone());
    record.state = reported.state;
    record.agent_metadata = reported.metadata;
    if let Some(text) = reported.text {
        let (answer, truncated) = first_of_answer(&text);
        (record.answer, record.answer_truncated) = (Some(answer), truncated);
    }
}

/// Notes why spans may be missing, where the agent reported nothing in another way.
pub(crate) fn doubt(recording: &Recording, evidence: &Evidence<'_>, record: &mut TrialRecord) {
    if let (Some(doubt), None) = (&recording.captured.doubt, evidence.transcript()) {
        record.notes.push(Note::new("spans_not_seen", doubt.as_str()));
    }
}

/// Writes the trajectory of a trial whose agent was called.
///
/// # Errors
///
/// If the file cannot be written.
pub(crate) fn keep(plan: &Plan<'_>, directory: &Path, done: &Done, record: &mut TrialRecord) -> io::Result<()> {
    let trial = directory.file_name().unwrap_or_default().to_string_lossy();
    let (transcript, text, tools, turns) = match done {
        Done::Reported(evidence, tools) => {
            (evidence.transcript(), evidence.answer().to_owned(), tools, evidence.facts().turns.as_slice())
        }
        Done::Recorded(recording) => {
            let transcript = recording.transcript();
            let reported = recording.outcome.text.clone();
            let text = reported.unwrap_or_else(|| answer(transcript.unwrap_or_default()));
            (transcript, text, &recording.captured.tools, [].as_slice())
        }
    };
    let document = trajectory::document(
        &Work {
            session: format!("{}/{}", record.run_id, record.case_key),
            trial: &trial,
            agent: &record.agent,
            agent_version: plan.suite.package_version,
            model: record.model.as_deref(),
            tools,
            transcript,
            answer: &text,
            turns,
            usage: record.usage,
            cost_usd: record.cost_usd,
            verdict: verdict(record),
        },
        &plan.redactor,
    );
    replace_json(&directory.join(FILE), &document, &plan.redactor)?;
    record.trajectory = Some(FILE.to_owned());
    Ok(())
}

/// What graders said, for those who read nothing but the trajectory.
fn verdict(record: &TrialRecord) -> Value {
    let graders: Vec<Value> = record
        .graders
        .iter()
        .map(|grader| {
            json!({"name": grader.name, "state": grader.state, "verdict": grader.verdict, "value": grader.value})
        })
        .collect();
    json!({"outcome": record.outcome, "score": record.score, "reason": record.reason, "graders": graders})
}
