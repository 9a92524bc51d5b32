//! A trial whose calls are answered from its recording, or differ from it.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::sync::Mutex;

use evalsuite::tooling::{BeginTrial, EndedCalls, Placeholders};
use evalsuite_schema::Value;
use evalsuite_schema::diagnostics::counted;
use evalsuite_schema::json::key_of_step;

use super::recorded_calls::{KeysOfCall, KnownSecrets, RecordedBody, RecordedRequest, RecordedResponse, Recording};
use super::recorded_trial::lock;
use crate::platform::json_difference::each_difference;

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
    let hidden: Value = evalsuite_schema::json::from_str(&secrets.hide_in(request)?)?;
    evalsuite_schema::json::from_value(hidden)
}

/// Length of the part of a value that a message shows, in characters.
const SHOWN: usize = 80;
/// How many characters before the first difference of two texts are shown.
const BEFORE: usize = 20;

/// Where two requests differ.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RequestDifference {
    first: Option<Place>,
    /// Number of places.
    places: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct Place {
    place: String,
    recorded: String,
    made: String,
}

impl RequestDifference {
    /// Compares a request with a recorded one.
    pub(super) fn new(recorded: &RecordedRequest, made: &RecordedRequest) -> Self {
        let mut difference = Self::default();
        if (&recorded.variable, &recorded.method, &recorded.path) != (&made.variable, &made.method, &made.path) {
            difference.add("the address", || recorded.label(), || made.label());
        }
        let names: BTreeSet<&String> = recorded.headers.keys().chain(made.headers.keys()).collect();
        for name in names {
            let (old, new) = (recorded.headers.get(name), made.headers.get(name));
            if old != new {
                let shown = |value: Option<&String>| value.map_or("nothing".to_owned(), |value| format!("`{value}`"));
                difference.add(&format!("the header `{name}`"), || shown(old), || shown(new));
            }
        }
        match (&recorded.body, &made.body) {
            (Some(RecordedBody::Json(old)), Some(RecordedBody::Json(new))) => {
                difference.compare(old, new);
            }
            (old, new) if old == new => {}
            (old, new) => {
                let text = |body: &Option<RecordedBody>| match body {
                    None => Value::Null,
                    Some(RecordedBody::Json(value)) => value.clone(),
                    Some(RecordedBody::Text(text) | RecordedBody::Base64(text)) => text.clone().into(),
                };
                let (old, new) = (text(old), text(new));
                let (recorded, made) = shown_pair(&old, &new);
                difference.add("the body", || recorded, || made);
            }
        }
        difference
    }

    /// Number of places that differ.
    pub(super) fn places(&self) -> usize {
        self.places
    }

    fn add(&mut self, place: &str, recorded: impl FnOnce() -> String, made: impl FnOnce() -> String) {
        self.places += 1;
        if self.first.is_none() {
            self.first = Some(Place { place: place.to_owned(), recorded: recorded(), made: made() });
        }
    }

    /// Compares bodies.
    fn compare(&mut self, old: &Value, new: &Value) {
        each_difference(old, new, Value::eq, &mut |pointer, old, new| {
            let (recorded, made) = match (old, new) {
                (Some(old), Some(new)) => shown_pair(old, new),
                (old, new) => {
                    let shown = |value: Option<&Value>| {
                        value.map_or("nothing".to_owned(), |value| shown(&value.to_string(), 0))
                    };
                    (shown(old), shown(new))
                }
            };
            self.add(&format!("`{pointer}` of the body"), || recorded, || made);
        });
    }
}

impl Display for RequestDifference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(Place { place, recorded, made }) = &self.first else { return f.write_str("no difference") };
        write!(f, "{place}: expected {recorded}, got {made}")?;
        match self.places {
            1 => Ok(()),
            places => write!(f, " (and {} more)", places - 1),
        }
    }
}

/// Two values that differ. Of long texts, the part around the first difference.
fn shown_pair(old: &Value, new: &Value) -> (String, String) {
    let (old, new) = (old.to_string(), new.to_string());
    let same = old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count();
    let start = if old.chars().count().max(new.chars().count()) <= SHOWN { 0 } else { same.saturating_sub(BEFORE) };
    (shown(&old, start), shown(&new, start))
}

/// A part of a text that starts at a character.
fn shown(text: &str, start: usize) -> String {
    let part: String = text.chars().skip(start).take(SHOWN).collect();
    let before = if start > 0 { "…" } else { "" };
    let after = if text.chars().count() > start + SHOWN { "…" } else { "" };
    format!("`{before}{part}{after}`")
}

/// JSON pointers, in which `*` is every key or index.
#[derive(Debug)]
pub(super) struct IgnoredParts(Vec<Vec<String>>);

impl IgnoredParts {
    /// The error names a text that is not a pointer.
    pub(super) fn new(pointers: &[String]) -> Result<Self, String> {
        let parse = |pointer: &String| {
            let steps = pointer.strip_prefix('/').ok_or_else(|| {
                format!("`record_ignore` has `{pointer}`, which is not a JSON pointer: it starts with `/`")
            })?;
            Ok(steps.split('/').map(key_of_step).collect())
        };
        pointers.iter().map(parse).collect::<Result<_, _>>().map(Self)
    }

    /// The request without these parts.
    pub(super) fn removed_from(&self, mut request: RecordedRequest) -> RecordedRequest {
        if let Some(RecordedBody::Json(body)) = &mut request.body {
            self.0.iter().for_each(|steps| remove(body, steps));
        }
        request
    }
}

fn remove(value: &mut Value, steps: &[String]) {
    let Some((step, rest)) = steps.split_first() else { return };
    let is_here = |key: &str| step == "*" || step == key;
    match value {
        Value::Object(object) if rest.is_empty() => object.retain(|key, _| !is_here(key)),
        Value::Object(object) => {
            object.iter_mut().filter(|(key, _)| is_here(key)).for_each(|(_, value)| remove(value, rest));
        }
        Value::Array(items) => {
            let here = items.iter_mut().enumerate().filter(|(index, _)| is_here(&index.to_string()));
            // The places of the others stay.
            here.for_each(|(_, item)| if rest.is_empty() { *item = Value::Null } else { remove(item, rest) });
        }
        _ => {}
    }
}

#[cfg(test)]
mod replayed_trial_tests {
    use std::fs;
    use std::path::PathBuf;

    use evalsuite_schema::json::json;

    use super::*;
    use crate::run::model_calls::recorded_calls::{RecordedBody, RecordedCall, RecordedPart};

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

#[cfg(test)]
mod difference_tests {
    use evalsuite_schema::json::json;

    use super::*;

    fn request(body: Value) -> RecordedRequest {
        RecordedRequest {
            variable: "OPENAI_BASE_URL".into(),
            method: "POST".into(),
            path: "/chat/completions".into(),
            headers: [("anthropic-beta".to_owned(), "a".to_owned())].into(),
            body: Some(RecordedBody::Json(body)),
        }
    }

    fn shown(old: &RecordedRequest, new: &RecordedRequest) -> String {
        RequestDifference::new(old, new).to_string()
    }

    #[test]
    fn the_first_difference_is_shown_with_its_place() {
        let old = request(json!({"model": "m", "messages": [{"role": "user", "content": "refund 4711"}]}));
        assert_eq!(RequestDifference::new(&old, &old.clone()).places(), 0);
        let reordered = request(json!({"messages": [{"content": "refund 4711", "role": "user"}], "model": "m"}));
        assert_eq!(RequestDifference::new(&old, &reordered).places(), 0, "the order of keys has no meaning");
        let new = request(json!({"model": "m", "messages": [{"role": "user", "content": "refund 4712"}], "n": 1}));
        assert_eq!(
            shown(&old, &new),
            "`/messages/0/content` of the body: expected `\"refund 4711\"`, got `\"refund 4712\"` (and 1 more)"
        );
    }

    #[test]
    fn of_long_texts_the_part_around_the_difference_is_shown() {
        let text = |end: &str| request(json!({"a/b": format!("{}{end}{}", "x".repeat(500), "y".repeat(500))}));
        assert_eq!(
            shown(&text("1"), &text("2")),
            format!(
                "`/a~1b` of the body: expected `…{0}1{1}…`, got `…{0}2{1}…`",
                "x".repeat(BEFORE),
                "y".repeat(SHOWN - BEFORE - 1)
            )
        );
    }

    #[test]
    fn addresses_headers_and_other_bodies_differ() {
        let old = request(json!({}));
        let mut new = old.clone();
        new.path = "/responses".into();
        assert_eq!(
            shown(&old, &new),
            "the address: expected POST /chat/completions of OPENAI_BASE_URL, got POST /responses of OPENAI_BASE_URL"
        );
        let mut new = old.clone();
        new.headers.clear();
        assert_eq!(shown(&old, &new), "the header `anthropic-beta`: expected `a`, got nothing");
        let mut new = old.clone();
        new.body = Some(RecordedBody::Text("hi".into()));
        assert_eq!(shown(&old, &new), "the body: expected `{}`, got `\"hi\"`");
        let missing = request(json!({"tools": [1]}));
        assert_eq!(shown(&missing, &old), "`/tools` of the body: expected `[1]`, got nothing");
    }
}

#[cfg(test)]
mod ignored_parts_tests {
    use evalsuite_schema::json::json;

    use super::*;

    fn without(pointers: &[&str], mut body: Value) -> Value {
        let pointers: Vec<String> = pointers.iter().map(|pointer| (*pointer).to_owned()).collect();
        IgnoredParts::new(&pointers).unwrap().0.iter().for_each(|steps| remove(&mut body, steps));
        body
    }

    #[test]
    fn pointers_name_keys_indices_and_all_of_them() {
        let body = json!({"id": 1, "a/b": 2, "messages": [{"id": 1, "text": "x"}, {"id": 2}], "n": [1, 2]});
        assert_eq!(
            without(&["/id", "/a~1b", "/messages/*/id", "/n/0", "/missing/x", "/n/0/y"], body.clone()),
            json!({"messages": [{"text": "x"}, {}], "n": [null, 2]})
        );
        assert_eq!(without(&[], body.clone()), body);
    }

    #[test]
    fn another_text_is_an_error() {
        let error = IgnoredParts::new(&["messages".to_owned()]).unwrap_err();
        assert_eq!(error, "`record_ignore` has `messages`, which is not a JSON pointer: it starts with `/`");
    }
}
