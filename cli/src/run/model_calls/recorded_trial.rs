//! A trial whose calls are recorded: the calls so far, and the recording once the trial has ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use evalsuite::tooling::{BeginTrial, Placeholders};

use super::recording::{RecordedCall, RecordedPart, RecordedRequest, RecordedResponse, Recording};
use super::secrets::{KeysOfCall, KnownSecrets};

/// How long the end of a trial waits for the ends of responses: clients leave when they have read the last event.
const GRACE: Duration = Duration::from_secs(1);

/// The calls of a running trial.
#[derive(Debug)]
pub(super) struct RecordedTrial {
    trial: BeginTrial,
    base_paths: BTreeMap<String, String>,
    calls: Mutex<CallsSoFar>,
}

#[derive(Debug, Default)]
struct CallsSoFar {
    calls: Vec<Arc<CallSoFar>>,
    keys: BTreeSet<String>,
    secrets: KnownSecrets,
    /// The first call without an answer, and why.
    unanswered: Option<String>,
}

/// A call while its response arrives.
#[derive(Debug)]
pub(super) struct CallSoFar {
    request: RecordedRequest,
    response: Mutex<ResponseSoFar>,
}

#[derive(Debug)]
struct ResponseSoFar {
    response: RecordedResponse,
    /// The parts as bytes.
    parts: Vec<(u64, Vec<u8>)>,
    last: Instant,
    has_ended: bool,
}

impl RecordedTrial {
    pub(super) fn new(trial: BeginTrial, base_paths: BTreeMap<String, String>, mut secrets: KnownSecrets) -> Self {
        secrets.add(trial.secrets.iter().cloned(), []);
        Self { trial, base_paths, calls: Mutex::new(CallsSoFar { secrets, ..CallsSoFar::default() }) }
    }

    /// A call begins.
    pub(super) fn begin(&self, request: RecordedRequest, keys: &KeysOfCall) -> Arc<CallSoFar> {
        let response = RecordedResponse { status: 0, headers: [].into(), parts: Vec::new(), is_cut: true };
        let response = ResponseSoFar { response, parts: Vec::new(), last: Instant::now(), has_ended: false };
        let call = Arc::new(CallSoFar { request, response: Mutex::new(response) });
        let mut so_far = lock(&self.calls);
        so_far.secrets.add_call(keys);
        so_far.keys.extend(keys.variables.iter().cloned());
        so_far.calls.push(Arc::clone(&call));
        call
    }

    /// A call has no answer of the service: it has to be recorded again.
    pub(super) fn has_no_answer(&self, call: &CallSoFar, reason: &str) {
        lock(&call.response).has_ended = true;
        let text = format!("{} got no answer: {reason}", call.request.label());
        lock(&self.calls).unanswered.get_or_insert(text);
    }

    /// Ends the trial and writes its recording. The error is why there is none.
    pub(super) fn end(&self, is_complete: bool) -> Result<usize, String> {
        if !is_complete {
            return Err("the trial ended in an error".to_owned());
        }
        let end = Instant::now() + GRACE;
        while lock(&self.calls).calls.iter().any(|call| !lock(&call.response).has_ended) && Instant::now() < end {
            thread::sleep(Duration::from_millis(2));
        }
        let so_far = lock(&self.calls);
        if let Some(unanswered) = &so_far.unanswered {
            return Err(unanswered.clone());
        }
        let secrets = so_far.secrets.placeholders();
        let calls = so_far.calls.iter().map(|call| call.recorded(secrets)).collect::<Result<Vec<_>, _>>()?;
        let count = calls.len();
        let is_called = |variable: &String| calls.iter().any(|call| call.request.variable == *variable);
        let base_paths = self.base_paths.clone().into_iter().filter(|(variable, _)| is_called(variable)).collect();
        let recording = Recording::new(&self.trial, so_far.keys.clone(), base_paths, calls);
        let file = &self.trial.file;
        recording.write(file, secrets).map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
        Ok(count)
    }
}

impl CallSoFar {
    /// The head of the response has arrived.
    pub(super) fn answered(&self, status: u16, headers: impl IntoIterator<Item = (String, String)>) {
        let mut so_far = lock(&self.response);
        so_far.response.status = status;
        so_far.response.headers = headers.into_iter().collect();
    }

    /// A part of the body has arrived.
    pub(super) fn add(&self, part: &[u8]) {
        let mut so_far = lock(&self.response);
        let after = u64::try_from(so_far.last.elapsed().as_millis()).unwrap_or(u64::MAX);
        so_far.last = Instant::now();
        so_far.parts.push((after, part.to_owned()));
    }

    /// The response has ended, or broken off.
    pub(super) fn end(&self, is_cut: bool) {
        let mut so_far = lock(&self.response);
        so_far.response.is_cut = is_cut;
        so_far.has_ended = true;
    }

    fn recorded(&self, secrets: &Placeholders) -> Result<RecordedCall, String> {
        let so_far = lock(&self.response);
        let mut response = so_far.response.clone();
        response.parts = recorded_parts(&so_far.parts, secrets)
            .ok_or_else(|| format!("the response to {} is binary and contains a key", self.request.label()))?;
        Ok(RecordedCall { request: self.request.clone(), response })
    }
}

/// The parts of a body. Those of a text with a key that is split between two parts become one, in which the key is found. `None`: it
/// cannot be hidden.
fn recorded_parts(parts: &[(u64, Vec<u8>)], secrets: &Placeholders) -> Option<Vec<RecordedPart>> {
    let whole: Vec<u8> = parts.iter().flat_map(|(_, bytes)| bytes).copied().collect();
    let is_hidden = |bytes: &[u8]| str::from_utf8(bytes).is_ok() || secrets.secret_in(bytes).is_none();
    let separate = || parts.iter().map(|(after, bytes)| RecordedPart::new(*after, bytes)).collect();
    let text: String =
        parts.iter().map(|(_, bytes)| secrets.hide(&String::from_utf8_lossy(bytes)).into_owned()).collect();
    if secrets.secret_in(text.as_bytes()).is_none() && parts.iter().all(|(_, bytes)| is_hidden(bytes)) {
        return Some(separate());
    }
    let after = parts.iter().map(|(after, _)| after).sum();
    is_hidden(&whole).then(|| vec![RecordedPart::new(after, &whole)])
}

/// What was recorded before a panic elsewhere is still valid.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
