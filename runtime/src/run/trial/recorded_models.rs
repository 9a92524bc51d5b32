//! A trial whose calls of models are recorded or replayed by the command line.

use std::io;

use evalsuite_records::record::{ModelCalls, Note, Reason, ReasonCode, Stage};

use crate::record::model_calls::{BeginTrial, MODEL_CALLS_FILE, ModelCallServer, TrialCalls};
use crate::run::plan::Plan;
use crate::run::trial::trial_attempt::{EarlyEnd, TrialAttempt};

/// Waits until no other trial runs, and says which one begins. `None`: calls are neither recorded nor replayed.
pub(crate) fn begin(plan: &Plan<'_>, index: u32) -> Result<Option<TrialCalls>, EarlyEnd> {
    let Some(server) = plan.settings.model_calls else { return Ok(None) };
    let trial = BeginTrial {
        suite: plan.suite.name.to_owned(),
        case_id: plan.entry.id.to_owned(),
        test: plan.identity.test_name.clone(),
        target: plan.identity.target.clone(),
        trial: index,
        file: plan.recording(index)?.with_extension(&MODEL_CALLS_FILE[1..]),
        secrets: plan.secrets.clone(),
        ignored: plan.evals.ignored_request_parts.iter().cloned().collect(),
    };
    match server.begin(&trial) {
        Ok(Ok(calls)) => Ok(Some(calls)),
        Ok(Err(problem)) => {
            let message = format!("{problem}; {}", how_to_record(plan));
            Err(EarlyEnd::error(Stage::Setup, ReasonCode::RecordingMissing, message))
        }
        Err(error) => Err(lost(server, &error).into()),
    }
}

/// Notes what became of the calls. Returns why the trial is an error: a call is not a recorded one, whatever the agent made of the answer
/// that said so.
pub(crate) fn end(calls: Option<TrialCalls>, trial: &TrialAttempt<'_>, is_decided: bool) -> Option<Reason> {
    let (calls, server) = (calls?, trial.plan.settings.model_calls?);
    trial.journal.borrow_mut().model_calls = Some(server.calls);
    match calls.end(is_decided) {
        Ok(ended) => {
            trial.add_notes(ended.note.map(|note| Note::new("model_calls", note)));
            let message = format!("{}; {}", ended.difference?, how_to_record(trial.plan));
            Some(Reason::new(Stage::Agent, ReasonCode::RecordingStale, message))
        }
        Err(error) => Some(lost(server, &error)),
    }
}

fn lost(server: ModelCallServer, error: &io::Error) -> Reason {
    let does = if server.calls == ModelCalls::Replayed { "replays" } else { "records" };
    let message = format!("the command that {does} the calls of models cannot be reached: {error}");
    Reason::new(Stage::Setup, ReasonCode::RecordingMissing, message)
}

fn how_to_record(plan: &Plan<'_>) -> String {
    format!("to record it: `cargo evalsuite run --record -p {} {}`", plan.suite.package, plan.identity.test_name)
}
