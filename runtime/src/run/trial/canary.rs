//! The canary of a suite, a GUID in its files: an agent that repeats it has seen the answers.

use std::path::PathBuf;

use evalsuite_records::record::{Reason, ReasonCode, Stage};
use evalsuite_schema::json::{ToJson, json};

use crate::model::evidence::Evidence;
use crate::platform::json;
use crate::platform::package_file::read_package_file;
use crate::run::trial::graded::Graded;
use crate::run::trial::prepared::Prepared;
use crate::workspace::snapshot::Snapshot;

/// Largest input file that is searched, in bytes.
const LARGEST: u64 = 16 << 20;

/// Ends a trial whose agent saw the answers in an error, whatever its graders say: it shows what the files say, and not what the agent can
/// do. An input that has the canary shows nothing, which is noted.
pub(crate) fn check(prepared: &Prepared<'_>, before: &Snapshot, graded: &mut Graded) {
    let trial = prepared.trial;
    let (Some(canary), Some(captured)) = (&trial.plan.data.canary, &graded.captured) else { return };
    let canary = Canary(canary.to_ascii_lowercase());
    let Some(place) = canary.place(&captured.evidence) else { return };
    if let Some(given) = canary.given(prepared, before) {
        let message = format!("the canary of the suite is in {given}: it cannot show that the agent saw the answers");
        return trial.note("canary_in_input", message);
    }
    let mut message = format!("the agent saw the answers: the canary of the suite is in {place}");
    if let Some(reason) = graded.score.reason.as_ref().filter(|_| graded.score.score.is_none()) {
        message.push_str(&format!("; the trial also ended with {}: {}", reason.code.as_str(), reason.message));
    }
    graded.end(trial, Reason::new(Stage::Grading, ReasonCode::SawAnswers, message).into());
}

/// In lower case.
struct Canary(String);

impl Canary {
    fn is_in(&self, text: &str) -> bool {
        text.to_ascii_lowercase().contains(&self.0)
    }

    /// A GUID has no character that JSON escapes.
    fn is_in_data(&self, data: &dyn ToJson) -> bool {
        json::compact(data, None).is_ok_and(|text| self.is_in(&text))
    }

    /// Where in the work of an agent it is.
    fn place(&self, evidence: &Evidence<'_>) -> Option<String> {
        let facts = evidence.facts();
        if self.is_in(&facts.answer) {
            return Some("its answer".to_owned());
        }
        for (number, message) in (1..).zip(facts.transcript.iter().flatten()) {
            if let Some(call) = message.tool_calls.iter().find(|call| self.is_in_data(*call)) {
                return Some(format!("a call of the tool `{}`, in message {number} of the transcript", call.tool));
            }
            if self.is_in_data(message) {
                return Some(format!("message {number} of the transcript ({})", message.role.as_str()));
            }
        }
        if self.is_in(&facts.diff) {
            return Some("a file that it changed".to_owned());
        }
        let is_reported = self.is_in_data(&facts.state) || self.is_in_data(&facts.agent_metadata);
        is_reported.then(|| "the data that it reported".to_owned())
    }

    /// Where in what an agent is given it is.
    fn given(&self, prepared: &Prepared<'_>, before: &Snapshot) -> Option<&'static str> {
        let case = &prepared.case;
        if self.is_in_data(&json!([case.input, case.conversation, case.metadata])) {
            return Some("the input of the case");
        }
        if before.texts().any(|text| self.is_in(text)) {
            return Some("the workspace of the case");
        }
        let has_canary = |path: &PathBuf| {
            read_package_file(path, LARGEST).is_ok_and(|text| self.is_in(&String::from_utf8_lossy(&text)))
        };
        prepared.answer_files().input.iter().any(has_canary).then_some("an input file of the case")
    }
}
