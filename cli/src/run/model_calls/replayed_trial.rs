//! A trial whose calls are answered from its recording.

use std::sync::Mutex;

use evalsuite::tooling::{BeginTrial, EndedCalls, Placeholders};
use evalsuite_schema::diagnostics::counted;

use super::difference::RequestDifference;
use super::ignored_parts::IgnoredParts;
use super::recorded_trial::lock;
use super::recording::{RecordedRequest, RecordedResponse, Recording};
use super::secrets::{KeysOfCall, KnownSecrets};

/// A recording with the calls that were made of it.
#[derive(Debug)]
pub(super) struct ReplayedTrial {
    recording: Recording,
    /// Its requests, without what is not compared.
    requests: Vec<RecordedRequest>,
    ignored: IgnoredParts,
    calls: Mutex<CallsSoFar>,
}

#[derive(Debug)]
struct CallsSoFar {
    /// Whether each call of the recording was made.
    made: Vec<bool>,
    /// Number of calls, including others.
    count: usize,
    difference: Option<String>,
    /// Number of calls after the first difference that are not in the recording.
    more: usize,
    secrets: KnownSecrets,
}

impl ReplayedTrial {
    /// Opens the recording of a trial. The error is why it cannot be replayed.
    pub(super) fn open(trial: &BeginTrial, mut secrets: KnownSecrets) -> Result<Self, String> {
        secrets.add(trial.secrets.iter().cloned(), []);
        let recording = Recording::read(&trial.file).map_err(|error| error.to_string())?.ok_or_else(|| {
            format!("there is no recording of the model calls of this trial at {}", trial.file.display())
        })?;
        secrets.add(recording.keys.iter().cloned(), []);
        let ignored = IgnoredParts::new(&trial.ignored)?;
        let requests = recording.calls.iter().map(|call| ignored.removed_from(call.request.clone())).collect();
        let made = vec![false; recording.calls.len()];
        let calls = CallsSoFar { made, count: 0, difference: None, more: 0, secrets };
        Ok(Self { recording, requests, ignored, calls: Mutex::new(calls) })
    }

    /// The response to a call: that of the first equal call that was not made yet. The error is how the call differs.
    pub(super) fn answer(
        &self,
        request: &RecordedRequest,
        keys: &KeysOfCall,
    ) -> Result<(&RecordedResponse, Placeholders), String> {
        let mut so_far = lock(&self.calls);
        so_far.secrets.add_call(keys);
        so_far.count += 1;
        let secrets = so_far.secrets.placeholders().clone();
        let made = hidden(request, &secrets).map_err(|error| format!("the call cannot be compared: {error}"))?;
        let made = self.ignored.removed_from(made);
        let requests = &self.requests;
        let equal: Vec<usize> = (0..requests.len()).filter(|index| requests[*index] == made).collect();
        if let Some(index) = equal.iter().copied().find(|index| !so_far.made[*index]) {
            so_far.made[index] = true;
            return Ok((&self.recording.calls[index].response, secrets));
        }
        let message = format!("model call {} {}", so_far.count, mismatch(requests, &so_far.made, &equal, &made));
        match so_far.difference {
            None => so_far.difference = Some(message.clone()),
            Some(_) => so_far.more += 1,
        }
        Err(message)
    }

    /// Number of calls that were made.
    pub(super) fn count(&self) -> usize {
        lock(&self.calls).count
    }

    /// What differed.
    pub(super) fn end(&self) -> EndedCalls {
        let so_far = lock(&self.calls);
        let difference = so_far.difference.clone().map(|difference| match so_far.more {
            0 => difference,
            more => format!("{difference}; {} not in the recording either", after(more)),
        });
        let unmade = so_far.made.iter().zip(&self.recording.calls).enumerate().filter(|(_, (is_made, _))| !**is_made);
        let labels: Vec<String> =
            unmade.map(|(index, (_, call))| format!("call {} ({})", index + 1, call.request.label())).collect();
        let note = match labels.len() {
            0 => None,
            1 => Some(format!("1 recorded call was not made: {}", labels[0])),
            unmade => Some(format!("{unmade} recorded calls were not made: {}", labels.join(", "))),
        };
        EndedCalls { difference, note }
    }
}

fn after(calls: usize) -> String {
    if calls == 1 { "1 call after it is".to_owned() } else { format!("{calls} calls after it are") }
}

/// How a call differs from those of the recording.
fn mismatch(calls: &[RecordedRequest], is_made: &[bool], equal: &[usize], made: &RecordedRequest) -> String {
    let label = made.label();
    if !equal.is_empty() {
        return format!("({label}) is in the recording only {}", counted(equal.len(), "time"));
    }
    let unmade = (0..calls.len()).filter(|index| !is_made[*index]);
    let differences = unmade.map(|index| (index, RequestDifference::new(&calls[index], made)));
    match differences.min_by_key(|(_, difference)| difference.places()) {
        Some((index, difference)) => format!("differs from call {} of the recording, at {difference}", index + 1),
        None if calls.is_empty() => format!("({label}) is not in the recording, which has no calls"),
        None => format!("({label}) comes after the last of {} in the recording", counted(calls.len(), "call")),
    }
}

/// The request as it would be recorded.
fn hidden(request: &RecordedRequest, secrets: &Placeholders) -> serde_json::Result<RecordedRequest> {
    evalsuite_schema::json::from_str(&secrets.hide_in(request)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use evalsuite_schema::json::json;

    use super::*;
    use crate::run::model_calls::recording::{RecordedBody, RecordedCall, RecordedPart};

    fn request(body: &str) -> RecordedRequest {
        RecordedRequest {
            variable: "OPENAI_BASE_URL".into(),
            method: "POST".into(),
            path: "/chat".into(),
            headers: [].into(),
            body: Some(RecordedBody::Json(json!({"prompt": body}))),
        }
    }

    fn call(body: &str, answer: &str) -> RecordedCall {
        let parts = vec![RecordedPart::new(0, answer.as_bytes())];
        let response = RecordedResponse { status: 200, headers: [].into(), parts, is_cut: false };
        RecordedCall { request: request(body), response }
    }

    fn replayed(calls: &[RecordedCall]) -> ReplayedTrial {
        replayed_without(calls, &[])
    }

    fn replayed_without(calls: &[RecordedCall], ignored: &[&str]) -> ReplayedTrial {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a/trial-000.calls.json");
        let ignored = ignored.iter().map(|pointer| (*pointer).to_owned()).collect();
        let trial = BeginTrial { file, ignored, ..BeginTrial::default() };
        Recording::new(&trial, [].into(), [].into(), calls.to_vec())
            .write(&trial.file, &Placeholders::default())
            .unwrap();
        ReplayedTrial::open(&trial, KnownSecrets::default()).unwrap()
    }

    fn answer(trial: &ReplayedTrial, body: &str) -> Result<String, String> {
        let (response, secrets) = trial.answer(&request(body), &KeysOfCall::default())?;
        let parts = response.parts.iter().flat_map(|part| part.bytes(&secrets).unwrap()).collect();
        Ok(String::from_utf8(parts).unwrap())
    }

    #[test]
    fn equal_calls_are_answered_in_order_and_others_in_any_order() {
        let trial = replayed(&[call("a", "1"), call("b", "2"), call("a", "3")]);
        assert_eq!(answer(&trial, "b").as_deref(), Ok("2"));
        assert_eq!(answer(&trial, "a").as_deref(), Ok("1"));
        assert_eq!(answer(&trial, "a").as_deref(), Ok("3"));
        assert_eq!(trial.end(), EndedCalls::default());
        let again = answer(&trial, "a").unwrap_err();
        assert_eq!(again, "model call 4 (POST /chat of OPENAI_BASE_URL) is in the recording only 2 times");
    }

    #[test]
    fn the_first_difference_and_calls_that_were_not_made_are_named() {
        let trial = replayed(&[call("a", "1"), call("b", "2")]);
        assert_eq!(answer(&trial, "a").as_deref(), Ok("1"));
        let message = answer(&trial, "c").unwrap_err();
        let expected = "model call 2 differs from call 2 of the recording, at `/prompt` of the body: expected `\"b\"`, got `\"c\"`";
        assert_eq!(message, expected);
        answer(&trial, "d").unwrap_err();
        let ended = trial.end();
        assert_eq!(ended.difference, Some(format!("{expected}; 1 call after it is not in the recording either")));
        assert_eq!(ended.note.as_deref(), Some("1 recorded call was not made: call 2 (POST /chat of OPENAI_BASE_URL)"));
        let none = replayed(&[]);
        assert_eq!(
            answer(&none, "a").unwrap_err(),
            "model call 1 (POST /chat of OPENAI_BASE_URL) is not in the recording, which has no calls"
        );
    }

    #[test]
    fn parts_that_are_ignored_are_no_difference() {
        let trial = replayed_without(&[call("a", "1"), call("b", "2")], &["/prompt"]);
        assert_eq!(answer(&trial, "c").as_deref(), Ok("1"));
        assert_eq!(answer(&trial, "d").as_deref(), Ok("2"));
    }

    #[test]
    fn files_that_are_no_recordings_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let open = |file: PathBuf| {
            ReplayedTrial::open(&BeginTrial { file, ..BeginTrial::default() }, KnownSecrets::default()).unwrap_err()
        };
        let missing = open(directory.path().join("none.json"));
        assert!(missing.starts_with("there is no recording of the model calls of this trial at /"), "{missing}");
        for (text, part) in [
            ("{", "is not a recording of model calls"),
            (
                r#"{"schema":"x/1","suite":"","case_id":"","target":"","trial":0,"keys":[],"base_paths":{},"calls":[]}"#,
                "`schema` is x/1",
            ),
        ] {
            let file = directory.path().join("broken.json");
            fs::write(&file, text).unwrap();
            let message = open(file);
            assert!(message.contains(part), "{message}");
        }
    }
}
